// Stop strings over a stream. May use: std, ahead/error, base.
#include "text/stop_matcher.h"

#include <algorithm>
#include <utility>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/utf8.h"

namespace ahead::text {

StopMatcher::StopMatcher(std::vector<std::string> stop_strings)
    : stop_strings_(std::move(stop_strings)) {
  for (const std::string& stop : stop_strings_) {
    if (stop.empty()) {
      throw Error(ErrorKind::kInvalidArgument,
                  "a stop string is empty and would end every text; leave it out");
    }
    if (!is_valid_utf8(stop)) {
      throw Error(ErrorKind::kInvalidArgument,
                  "the stop string " + in_quotes(stop) + " is not UTF-8; give it in UTF-8");
    }
  }
}

std::size_t StopMatcher::open_bytes() const {
  std::size_t open = 0;
  for (const std::string& stop : stop_strings_) {
    for (std::size_t n = std::min(stop.size() - 1, held_.size()); n > open; --n) {
      if (std::string_view(held_).ends_with(std::string_view(stop).substr(0, n))) open = n;
    }
  }
  return open;
}

std::string StopMatcher::push(std::string_view text) {
  if (stopped_) return {};
  held_ += text;

  std::size_t first_end = std::string::npos;
  std::size_t first_begin = std::string::npos;
  for (const std::string& stop : stop_strings_) {
    const std::size_t begin = held_.find(stop);
    if (begin == std::string::npos) continue;
    const std::size_t end = begin + stop.size();
    if (end < first_end || (end == first_end && begin < first_begin)) {
      first_end = end;
      first_begin = begin;
    }
  }
  if (first_end != std::string::npos) {
    stopped_ = true;
    held_.resize(first_begin);
    return std::exchange(held_, {});
  }

  const std::size_t given = held_.size() - open_bytes();
  std::string out = held_.substr(0, given);
  held_.erase(0, given);
  return out;
}

std::string StopMatcher::flush() { return std::exchange(held_, {}); }

}  // namespace ahead::text
