// Shape inference and cloning. May use: OpenVINO.
#include "model/cached_attention.h"

#include <memory>

namespace ahead::model {

CachedAttention::CachedAttention(const ov::Output<ov::Node>& q, const ov::Output<ov::Node>& k,
                                 const ov::Output<ov::Node>& v, const Attributes& attributes)
    : CachedAttention(ov::OutputVector{q, k, v}, attributes) {}

CachedAttention::CachedAttention(const ov::OutputVector& inputs, const Attributes& attributes)
    : Op(inputs), attributes_(attributes) {
  constructor_validate_and_infer_types();
}

void CachedAttention::validate_and_infer_types() {
  const auto tokens = get_input_partial_shape(0).rank().is_static() ? get_input_partial_shape(0)[1]
                                                                    : ov::Dimension::dynamic();
  const AttentionShape& shape = attributes_.shape;
  const auto expect = [&](std::size_t port, std::int64_t heads, std::int64_t size) {
    const ov::PartialShape wanted{1, ov::Dimension::dynamic(), heads, size};
    NODE_VALIDATION_CHECK(this, get_input_partial_shape(port).compatible(wanted), "input ", port,
                          " is ", get_input_partial_shape(port), ", expected ", wanted);
  };
  expect(0, shape.q_heads, shape.head_dim);
  expect(1, shape.kv_heads, shape.head_dim);
  expect(2, shape.kv_heads, shape.v_dim());
  NODE_VALIDATION_CHECK(
      this, !has_sinks() || get_input_partial_shape(3).compatible(ov::PartialShape{shape.q_heads}),
      "the sinks are ", get_input_partial_shape(3), ", expected one for each query head");
  set_output_type(0, get_input_element_type(0),
                  ov::PartialShape{1, tokens, shape.q_heads, shape.v_dim()});
}

bool CachedAttention::visit_attributes(ov::AttributeVisitor& visitor) {
  visitor.on_attribute("layer", attributes_.layer);
  visitor.on_attribute("q_heads", attributes_.shape.q_heads);
  visitor.on_attribute("kv_heads", attributes_.shape.kv_heads);
  visitor.on_attribute("head_dim", attributes_.shape.head_dim);
  visitor.on_attribute("value_dim", attributes_.shape.value_dim);
  visitor.on_attribute("window", attributes_.shape.window);
  visitor.on_attribute("scale", attributes_.scale);
  return true;
}

std::shared_ptr<ov::Node> CachedAttention::clone_with_new_inputs(
    const ov::OutputVector& inputs) const {
  check_new_args_count(this, inputs);
  return std::make_shared<CachedAttention>(inputs, attributes_);
}

}  // namespace ahead::model
