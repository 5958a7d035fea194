// The operation at which a graph stops in the middle of a run and has its caller go on: values go
// out, and one comes in. It is code of the host, so only for a device that runs that.
// May use: OpenVINO.
#pragma once

#include <cstddef>
#include <memory>

#include "openvino/op/op.hpp"
#include "openvino/runtime/tensor.hpp"

namespace ahead::graph {

/// Who goes on where a graph pauses. Called on the thread that runs the graph.
class PauseHandler {
 public:
  virtual ~PauseHandler() = default;
  /// Pause `index` of the graph: reads `values`, which are the operation's inputs, and fills
  /// `answer`; both are the device's memory, and only during the call. Does not throw: what becomes
  /// of an exception in the middle of a graph is the device's affair.
  virtual void pause(std::size_t index, const ov::TensorVector& values,
                     ov::Tensor& answer) noexcept = 0;
};

/// Queries, new rows of K and of V, [1, tokens, heads, size] each and of static or open shape ->
/// what is attended: an answer of the queries' type and shape, but with the size of V's heads.
class Pause : public ov::op::Op {
 public:
  OPENVINO_OP("Pause", "ahead");

  Pause() = default;
  Pause(const ov::OutputVector& values, std::size_t index);

  /// Who goes on. Copies of the graph made later, a compiled one's too, keep it.
  void set_handler(std::shared_ptr<PauseHandler> handler) { handler_ = std::move(handler); }

  void validate_and_infer_types() override;
  bool visit_attributes(ov::AttributeVisitor& visitor) override;
  [[nodiscard]] std::shared_ptr<ov::Node> clone_with_new_inputs(
      const ov::OutputVector& inputs) const override;
  [[nodiscard]] bool has_evaluate() const override { return handler_ != nullptr; }
  bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override;

 private:
  std::size_t index_ = 0;
  std::shared_ptr<PauseHandler> handler_;
};

}  // namespace ahead::graph
