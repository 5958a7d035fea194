// Element types as OpenVINO spells them. May use: base, OpenVINO.
#pragma once

#include "base/tensor_view.h"
#include "openvino/core/type/element_type.hpp"

namespace ahead::graph {

[[nodiscard]] inline ov::element::Type to_openvino(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return ov::element::f32;
    case ElementType::kF16:
      return ov::element::f16;
    case ElementType::kI32:
      return ov::element::i32;
  }
  return ov::element::dynamic;
}

}  // namespace ahead::graph
