// Shapes, element types and views of memory, as every room but the OpenVINO ones sees tensors.
// May use: std.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ahead {

/// Dimensions, outermost first; concrete.
using Shape = std::vector<std::size_t>;

/// The element types that cross a program's border.
enum class ElementType { kF32, kF16, kI32 };

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(ElementType type) {
  return type == ElementType::kF16 ? 2 : 4;
}

/// Number of elements.
[[nodiscard]] inline std::size_t element_count(const Shape& shape) {
  std::size_t count = 1;
  for (const std::size_t dimension : shape) count *= dimension;
  return count;
}

/// Contiguous memory somebody else owns.
struct TensorView {
  ElementType type = ElementType::kF32;
  Shape shape;
  void* data = nullptr;

  [[nodiscard]] std::size_t bytes() const { return element_count(shape) * size_of(type); }
};

}  // namespace ahead
