// Shape inference, cloning, and the call of the handler. May use: OpenVINO.
#include "graph/pause.h"

namespace ahead::graph {

Pause::Pause(const ov::OutputVector& values, std::size_t index) : Op(values), index_(index) {
  constructor_validate_and_infer_types();
}

void Pause::validate_and_infer_types() {
  ov::PartialShape answer = get_input_partial_shape(0);
  NODE_VALIDATION_CHECK(this, answer.size() == 4 && get_input_partial_shape(2).size() == 4,
                        "a pause takes values of [1, tokens, heads, size]");
  answer[3] = get_input_partial_shape(2)[3];
  set_output_type(0, get_input_element_type(0), answer);
}

bool Pause::visit_attributes(ov::AttributeVisitor& visitor) {
  visitor.on_attribute("index", index_);
  return true;
}

std::shared_ptr<ov::Node> Pause::clone_with_new_inputs(const ov::OutputVector& inputs) const {
  auto clone = std::make_shared<Pause>(inputs, index_);
  clone->set_handler(handler_);
  return clone;
}

bool Pause::evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const {
  if (!handler_) return false;
  ov::Shape answer = inputs.at(0).get_shape();
  answer.at(3) = inputs.at(2).get_shape().at(3);
  outputs.at(0).set_shape(answer);
  handler_->pause(index_, inputs, outputs.at(0));
  return true;
}

}  // namespace ahead::graph
