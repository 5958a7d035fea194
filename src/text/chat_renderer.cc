// The C border of the Rust library, and its outcomes as errors. May use: std, base.
#include "text/chat_renderer.h"

#include <memory>

#include "ahead/error.h"
#include "base/printable.h"

extern "C" {
// chat_template/src/lib.rs has the same.
struct AheadChatLimits {
  std::uint64_t fuel;
  std::size_t output_bytes;
  std::int64_t now_s;
};
struct AheadChatAnswer {
  char* text;
  std::size_t bytes;
  std::size_t capacity;
  std::int32_t status;
  std::uint32_t line;
};
AheadChatAnswer ahead_chat_render(const char* source, std::size_t source_bytes, const char* values,
                                  std::size_t values_bytes, const AheadChatLimits* limits);
void ahead_chat_free(AheadChatAnswer answer);
}

namespace ahead::text {
namespace {

enum Status : std::int32_t { kDone, kSyntax, kRaised, kFailed, kLimit, kContext, kInternal };

constexpr const char* kOtherwise =
    "; give another template (--template), or the text as the model shall read it (--raw)";

[[noreturn]] void fail(std::int32_t status, const std::string& reason, std::uint32_t line) {
  const std::string at = line == 0 ? std::string() : " (line " + std::to_string(line) + ")";
  switch (status) {
    case kRaised:
      throw Error(ErrorKind::kInvalidArgument,
                  "the chat template refuses this conversation" + at + ": " + reason +
                      "; change the messages, or give another template (--template)");
    case kContext:
      throw Error(ErrorKind::kInvalidArgument,
                  "what the chat template is to render cannot be read: " + reason +
                      "; give messages as valid JSON in UTF-8");
    case kSyntax:
      throw Error(ErrorKind::kInvalidModel,
                  "the chat template is no Jinja template" + at + ": " + reason + kOtherwise);
    case kLimit:
      throw Error(ErrorKind::kInvalidModel,
                  "the chat template goes over its limits of time and size" + at + ": " + reason +
                      kOtherwise);
    default:
      throw Error(ErrorKind::kInvalidModel,
                  "the chat template failed" + at + ": " + reason + kOtherwise);
  }
}

}  // namespace

std::string render_chat(std::string_view source, const ChatRendering& rendering) {
  // Bytes that are no UTF-8 are refused there by status kContext.
  const AheadChatLimits limits{.fuel = rendering.limits.work,
                               .output_bytes = rendering.limits.output_bytes,
                               .now_s = rendering.now.count()};
  const auto text_of = [](std::string_view text) { return text.empty() ? "" : text.data(); };
  const AheadChatAnswer answer = ahead_chat_render(
      text_of(source), source.size(), text_of(rendering.values), rendering.values.size(), &limits);
  const std::unique_ptr<const AheadChatAnswer, void (*)(const AheadChatAnswer*)> owner(
      &answer, [](const AheadChatAnswer* rendered) { ahead_chat_free(*rendered); });
  std::string text(answer.text, answer.bytes);
  if (answer.status == kDone) return text;
  constexpr std::size_t kMost = 300;
  fail(answer.status, printable(text.substr(0, kMost)), answer.line);
}

}  // namespace ahead::text
