// Weights of 4 bits in the order in which one vector's product with them reads memory once, and
// that product. A host's stand-in for the one kernel that the CPU device lacks: see
// docs/decisions/0010. May use: std, base.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ahead::graph {

/// A matrix [rows, columns] of codes from 0 to 15, each of which stands for
/// scale * (code - zero point); a group of columns in a row has one scale and one zero point, which
/// need not be whole, both in f16: so OpenVINO's reader gives GGUF's Q4_0 and Q4_1. Immutable; any
/// thread.
class PanelWeights {
 public:
  /// Rows of a panel: what a vector register of 512 bits holds in f32.
  static constexpr std::size_t kPanelRows = 16;
  /// Columns whose codes fill a word of 32 bits.
  static constexpr std::size_t kWordColumns = 8;

  /// Of the matrix, and the columns that share a scale.
  struct Size {
    std::size_t rows = 0;     ///< a multiple of kPanelRows
    std::size_t columns = 0;  ///< a multiple of `group`
    std::size_t group = 0;    ///< a multiple of kWordColumns
  };
  /// The matrix as it stands elsewhere; read while panels are made of it, and no longer.
  struct Source {
    Size size;
    std::span<const std::byte> codes;       ///< row by row, two to a byte, the lower half first
    std::span<const std::uint16_t> scales;  ///< [rows, columns / group], bits of f16, finite
    std::span<const std::uint16_t> zero_points;  ///< likewise
  };

  /// Whether weights of that size can be had as panels.
  [[nodiscard]] static bool can_hold(const Size& size);
  /// Whether this processor makes products of panels faster than a general library's (AVX2 or
  /// better).
  [[nodiscard]] static bool pays_here();

  /// Copies. `can_hold(source.size)`.
  explicit PanelWeights(const Source& source);

  [[nodiscard]] const Size& size() const { return size_; }
  /// Memory held.
  [[nodiscard]] std::size_t bytes() const;

  /// y = weights * x, computed and summed in f32. `x` has columns, `y` rows. Runs on the caller's
  /// thread and allocates nothing.
  void multiply(std::span<const float> x, std::span<float> y) const;

  /// Loops that this processor can run: the first is for any, the last the fastest.
  [[nodiscard]] static std::size_t loops_here();
  struct With {
    std::size_t loop = 0;  ///< below loops_here()
  };
  /// The same with a loop of the caller's choice: for tests.
  void multiply(With with, std::span<const float> x, std::span<float> y) const;

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  Size size_;
  std::size_t groups_at_ = 0;  ///< bytes from the begin to the scales and zero points
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace ahead::graph
