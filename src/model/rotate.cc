// Emits and recognises the form. May use: OpenVINO.
#include "model/rotate.h"

#include <vector>

#include "openvino/op/add.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/multiply.hpp"
#include "openvino/op/reshape.hpp"

namespace ahead::model {
namespace {

using NodeOutput = ov::Output<ov::Node>;
using ov::op::v1::Multiply;

}  // namespace

NodeOutput rotate(const RotatedHeads& heads) {
  const auto turned = std::make_shared<ov::op::v8::Gather>(
      heads.x, heads.tables.permutation, ov::op::v0::Constant::create(ov::element::i32, {}, {-1}));
  return std::make_shared<ov::op::v1::Add>(
      std::make_shared<Multiply>(heads.x, heads.tables.cos),
      std::make_shared<Multiply>(turned, heads.tables.signed_sin));
}

std::optional<RotatedHeads> rotated_heads(const NodeOutput& value) {
  const auto* sum = ov::as_type<ov::op::v1::Add>(value.get_node());
  if (sum == nullptr) return std::nullopt;
  const auto* straight = ov::as_type<Multiply>(sum->get_input_node_ptr(0));
  const auto* crossed = ov::as_type<Multiply>(sum->get_input_node_ptr(1));
  if (straight == nullptr || crossed == nullptr) return std::nullopt;
  const auto* turned = ov::as_type<ov::op::v8::Gather>(crossed->get_input_node_ptr(0));
  if (turned == nullptr || turned->input_value(0) != straight->input_value(0)) return std::nullopt;
  return RotatedHeads{.x = straight->input_value(0),
                      .tables = {.cos = straight->input_value(1),
                                 .signed_sin = crossed->input_value(1),
                                 .permutation = turned->input_value(1)}};
}

NodeOutput as_heads(const NodeOutput& value, std::int64_t heads, std::int64_t head_dim) {
  const ov::PartialShape& shape = value.get_partial_shape();
  if (shape.rank() == 4 && shape[0] == 1 && shape[2] == heads && shape[3] == head_dim) return value;
  return std::make_shared<ov::op::v1::Reshape>(
      value,
      ov::op::v0::Constant::create(ov::element::i64, {4},
                                   std::vector<std::int64_t>{1, -1, heads, head_dim}),
      false);
}

}  // namespace ahead::model
