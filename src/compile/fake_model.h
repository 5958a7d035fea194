// For tests and the simulator: a tiny language model by definition. Its logits depend on every row
// of its sequence, so that a lost, repeated, stale or misplaced one changes them. May use: std.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ahead::compile {

/// Rows, logits and greedy tokens without a cache: what every run on one must come to.
class FakeModel {
 public:
  /// With a window, in the last layer a token sees itself and the `window` - 1 before it.
  explicit FakeModel(std::int64_t window = 0) : window_(window) {}

  static constexpr std::size_t kLayers = 2;
  static constexpr std::size_t kKvHeads = 2;
  static constexpr std::size_t kHeadDim = 4;
  static constexpr std::size_t kVocabulary = 53;

  /// One element of a K (side 0) or V (side 1) row; exact in f32 below position 4096.
  struct Element {
    std::size_t layer = 0;
    std::int64_t position = 0;
    std::int32_t token = 0;
    std::size_t side = 0;
    std::size_t head = 0;
    std::size_t dim = 0;
  };
  [[nodiscard]] static float element(const Element& at);

  /// What the row at `position` adds to its layer's state; `read(side, head, dim)` is its content.
  template <typename Read>
  [[nodiscard]] static std::uint64_t row_state(std::int64_t position, const Read& read) {
    std::uint64_t state = mix(static_cast<std::uint64_t>(position) + 1);
    for (std::size_t side = 0; side < 2; ++side) {
      for (std::size_t head = 0; head < kKvHeads; ++head) {
        for (std::size_t dim = 0; dim < kHeadDim; ++dim) {
          state = mix(state ^ std::bit_cast<std::uint32_t>(read(side, head, dim)));
        }
      }
    }
    return state;
  }

  /// Fills `logits` from the state of every layer.
  static void logits(std::span<const std::uint64_t> layers, std::span<float> logits);

  [[nodiscard]] static std::int32_t greedy(std::span<const float> logits);

  /// Takes the next token of the sequence; returns the logits after it.
  std::vector<float> feed(std::int32_t token);

  /// `count` greedy tokens after `prompt`.
  [[nodiscard]] static std::vector<std::int32_t> generate(const std::vector<std::int32_t>& prompt,
                                                          std::size_t count,
                                                          std::int64_t window = 0);

 private:
  static std::uint64_t mix(std::uint64_t bits) {
    bits = (bits + 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 29U)) * 0x94D049BB133111EBU;
    return bits ^ (bits >> 32U);
  }

  std::int64_t window_;
  std::vector<std::uint64_t> states_ = std::vector<std::uint64_t>(kLayers);
  std::vector<std::uint64_t> rows_;  ///< what each row added to the last layer
  std::int64_t position_ = 0;
};

}  // namespace ahead::compile
