// Renders chat templates: the text that a model was trained to read of a conversation, as Hugging
// Face renders it with Jinja2. May use: std, ahead/error, the library of chat_template/.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ahead::text {

/// Bounds of one rendering: a template comes with a model's file, which nobody has to trust.
struct ChatLimits {
  /// Each instruction, and each 64 bytes of everything that is made, cost one: some seconds and
  /// some hundred megabytes at most.
  std::uint64_t work = 4'000'000;
  std::size_t output_bytes = std::size_t{16} << 20U;
};

struct ChatRendering {
  /// A JSON object of what the template may read: messages, tools, add_generation_prompt,
  /// bos_token and so on.
  std::string_view values;
  /// What strftime_now() takes for now, since 1970.
  std::chrono::seconds now{0};
  ChatLimits limits;
};

/// Renders `source`. Throws Error(kInvalidArgument) with the template's own words where it refuses
/// the conversation (raise_exception), and for values that are no JSON object; Error(kInvalidModel)
/// where it is no template, asks for what there is not, or goes over a limit. Each says the
/// template's line. Thread-safe.
[[nodiscard]] std::string render_chat(std::string_view source, const ChatRendering& rendering);

}  // namespace ahead::text
