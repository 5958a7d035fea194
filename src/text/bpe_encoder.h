// Byte pair encoding of pieces, with whole pieces looked up first. May use: std.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ahead::text {

/// Makes tokens of pieces (Sennrich and others, 2016, on bytes as GPT-2 does it). Immutable once
/// built; every call is thread-safe.
class BpeEncoder {
 public:
  struct Options {
    /// Bytes of every token; a token's id is its index. Of equal ones the first counts.
    std::vector<std::string> tokens;
    /// Bytes left and right, the most urgent first. What has or makes no token is no merge.
    std::vector<std::pair<std::string, std::string>> merges;
    /// A piece that is a token is that token, also where merging would come to others.
    bool whole_pieces = false;
  };
  explicit BpeEncoder(const Options& options);

  /// Adds the ids of `piece`. Bytes that the vocabulary lacks are left out. Takes n log n.
  void encode(std::string_view piece, std::vector<std::int32_t>& ids) const;

 private:
  struct Merge {
    std::int32_t rank = 0;
    std::int32_t made = 0;
  };
  [[nodiscard]] const Merge* merge_of(std::int32_t left, std::int32_t right) const;

  const bool whole_pieces_;
  std::unordered_map<std::string, std::int32_t> whole_;  ///< empty unless whole_pieces_
  std::vector<std::int32_t> bytes_;                      ///< a token each; -1: there is none
  std::unordered_map<std::uint64_t, Merge> merges_;      ///< by the ids of left and right
};

}  // namespace ahead::text
