// Incremental detokenisation. May use: std, base.
#include "text/utf8_stream.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/utf8.h"

namespace ahead::text {

std::string Utf8Stream::bytes_of(std::int32_t id) {
  const std::array<std::int32_t, 1> alone = {id};
  if (!anchor_.has_value()) {
    std::string own = decode_(alone);
    if (own.empty()) return own;
    anchor_ = id;
    anchor_text_ = own;
    return own;
  }
  const std::array<std::int32_t, 2> pair = {*anchor_, id};
  const std::string both = decode_(pair);
  if (both == anchor_text_) return {};  // a special token: the one before it stays the anchor
  std::string own = decode_(alone);
  // Text that was given out cannot be taken back, so a decoder that rewrites the predecessor is
  // not followed.
  std::string added = both.starts_with(anchor_text_) ? both.substr(anchor_text_.size()) : own;
  anchor_ = id;
  anchor_text_ = std::move(own);
  return added;
}

std::string Utf8Stream::push(std::int32_t id) {
  pending_ += bytes_of(id);
  std::string text;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const Utf8Step step = next_utf8(rest);
    if (step.kind == Utf8Step::Kind::kIncomplete) break;
    text += step.kind == Utf8Step::Kind::kCharacter ? rest.substr(0, step.bytes)
                                                    : kReplacementCharacter;
    rest.remove_prefix(step.bytes);
  }
  pending_.erase(0, pending_.size() - rest.size());
  return text;
}

std::string Utf8Stream::flush() { return to_valid_utf8(std::exchange(pending_, {})); }

}  // namespace ahead::text
