// Products of a graph that the host computes, from weights in panels. For a device that runs code
// of the host, and one thread. May use: OpenVINO.
#pragma once

#include <cstddef>
#include <memory>

#include "graph/panel_weights.h"
#include "openvino/core/model.hpp"
#include "openvino/op/op.hpp"

namespace ahead::graph {

/// x [..., columns] f32 -> [..., rows] f32.
class PanelProduct : public ov::op::Op {
 public:
  OPENVINO_OP("PanelProduct", "ahead");

  PanelProduct() = default;
  PanelProduct(const ov::Output<ov::Node>& x, std::shared_ptr<const PanelWeights> weights);

  void validate_and_infer_types() override;
  bool visit_attributes(ov::AttributeVisitor& visitor) override;
  [[nodiscard]] std::shared_ptr<ov::Node> clone_with_new_inputs(
      const ov::OutputVector& inputs) const override;
  [[nodiscard]] bool has_evaluate() const override { return true; }
  bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override;

 private:
  std::shared_ptr<const PanelWeights> weights_;
};

/// Replaces every product whose weights are 4-bit codes with a scale, and maybe a zero point, a
/// group of inputs, where panels can hold them; the others stay the device's. What the graph
/// computes is the same but for the order of sums. Returns how many were replaced.
std::size_t use_panels(const std::shared_ptr<ov::Model>& graph);

}  // namespace ahead::graph
