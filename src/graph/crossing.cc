// Types and numbers of values between pieces. May use: base, model, OpenVINO.
#include "graph/crossing.h"

#include <optional>
#include <utility>

#include "ahead/error.h"
#include "openvino/core/node.hpp"

namespace ahead::graph {
namespace {

std::optional<ElementType> type_of(const ov::Output<ov::Node>& value) {
  const ov::element::Type type = value.get_element_type();
  if (type == ov::element::f32) return ElementType::kF32;
  if (type == ov::element::f16) return ElementType::kF16;
  if (type == ov::element::i32) return ElementType::kI32;
  return std::nullopt;
}

}  // namespace

bool can_cross(const ov::Output<ov::Node>& value) { return type_of(value).has_value(); }

Crossings::Crossings(std::string architecture) : architecture_(std::move(architecture)) {}

Port Crossings::operator()(const ov::Output<ov::Node>& value) {
  const std::optional<ElementType> type = type_of(value);
  if (!type) {
    throw Error(ErrorKind::kUnsupportedModel,
                "architecture '" + architecture_ + "' cannot be cut: '" +
                    value.get_node()->get_friendly_name() + "' of type " +
                    value.get_element_type().to_string() +
                    " would cross the cut; use --partition whole");
  }
  const auto number = static_cast<std::int64_t>(numbers_.size());
  return {.role = Role::kInternal,
          .layer = numbers_.emplace(value, number).first->second,
          .type = *type,
          .shape = value.get_partial_shape()};
}

}  // namespace ahead::graph
