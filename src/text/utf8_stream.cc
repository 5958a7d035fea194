// Incremental detokenisation. May use: std, base.
#include "text/utf8_stream.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/utf8.h"

namespace ahead::text {

Utf8Stream::Utf8Stream(Decode decode, std::optional<std::int32_t> behind)
    : decode_(std::move(decode)) {
  if (!behind) return;
  anchor_ = {*behind};
  anchor_text_ = decode_(anchor_);
}

std::string Utf8Stream::bytes_of(std::int32_t id) {
  // What has no text may still be a beginning: a space that is dropped there. So many such tokens
  // are kept, so that the cost of a token stays the same.
  constexpr std::size_t kMostSilent = 8;
  std::vector<std::int32_t> all = anchor_;
  all.push_back(id);
  const std::string both = decode_(all);
  if (both == anchor_text_) {  // a special token, or such a space: the one before stays the anchor
    if (anchor_text_.empty() && all.size() <= kMostSilent) anchor_ = std::move(all);
    return {};
  }
  std::string own = decode_(std::array{id});
  // Text that was given out cannot be taken back, so a decoder that rewrites the predecessor is
  // not followed.
  std::string added = both.starts_with(anchor_text_) ? both.substr(anchor_text_.size()) : own;
  anchor_ = {id};
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
