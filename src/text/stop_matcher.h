// Ends a stream of text before the first stop string. May use: std, ahead/error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ahead::text {

/// Passes text on, holding back what may be the beginning of a stop string. The match that ends
/// first counts, and of those the longest, so the result does not depend on how the text was cut
/// into pieces. One thread at a time.
class StopMatcher {
 public:
  /// Throws Error(kInvalidArgument) for a stop string that is empty or not UTF-8.
  explicit StopMatcher(std::vector<std::string> stop_strings);

  /// Takes whole UTF-8 characters; gives out text that can no longer be part of a stop string.
  /// Nothing is taken or given once stopped() holds.
  [[nodiscard]] std::string push(std::string_view text);

  /// What is still held back, when the stream ends for another reason.
  [[nodiscard]] std::string flush();

  /// A stop string was met; it is not part of the text given out.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  /// Bytes at the end of held_ that may be the beginning of a stop string.
  [[nodiscard]] std::size_t open_bytes() const;

  const std::vector<std::string> stop_strings_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace ahead::text
