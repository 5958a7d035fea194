// End tokens before text, characters before stop strings. May use: text.
#include "api/text_output.h"

#include <algorithm>
#include <utility>

namespace ahead {

TextOutput::TextOutput(const text::Tokenizer& tokenizer, const GenerationConfig& config,
                       const Streamer& streamer, std::optional<std::int32_t> behind)
    : tokenizer_(tokenizer),
      streamer_(streamer),
      ignore_eos_(config.ignore_eos || !config.forced_token_ids.empty()),
      characters_([this](std::span<const std::int32_t> ids) { return tokenizer_.decode(ids); },
                  behind),
      stops_(config.stop_strings) {}

std::optional<FinishReason> TextOutput::accept(std::int32_t id) {
  ids_.push_back(id);
  const auto& ends = tokenizer_.end_tokens();
  if (!ignore_eos_ && std::find(ends.begin(), ends.end(), id) != ends.end()) {
    return FinishReason::kStop;
  }
  if (!emit(stops_.push(characters_.push(id)))) return wish_;
  if (stops_.stopped()) return FinishReason::kStop;
  return std::nullopt;
}

bool TextOutput::emit(const std::string& piece) {
  if (piece.empty()) return true;
  text_ += piece;
  if (!streamer_) return true;
  switch (streamer_(piece)) {
    case StreamingStatus::kRunning:
      return true;
    case StreamingStatus::kStop:
      wish_ = FinishReason::kStopped;
      return false;
    case StreamingStatus::kCancel:
      wish_ = FinishReason::kCancelled;
      return false;
  }
  return true;
}

void TextOutput::finish(RowResult& row) {
  if (!stops_.stopped() && !wish_) {
    const std::string tail = characters_.flush();
    if (emit(stops_.push(tail)) && !stops_.stopped()) emit(stops_.flush());
  }
  row.text = std::move(text_);
  row.token_ids = std::move(ids_);
  row.generated = static_cast<std::int64_t>(row.token_ids.size());
}

}  // namespace ahead
