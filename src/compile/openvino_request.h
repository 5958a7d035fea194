// One request of a model that OpenVINO compiled, and what it does where its graph pauses.
// May use: base, graph, OpenVINO.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

#include "compile/backend.h"
#include "graph/pause.h"
#include "openvino/runtime/compiled_model.hpp"
#include "openvino/runtime/infer_request.hpp"

namespace ahead::compile {

/// Who hears a compiled graph's pauses, and hands them to the request that runs: a graph is
/// compiled once and may have many requests, of which one runs at a time.
class PauseRelay final : public graph::PauseHandler {
 public:
  void pause(std::size_t index, const ov::TensorVector& values,
             ov::Tensor& answer) noexcept override;

  /// Who takes pauses from now on; nullptr: nobody.
  void set_receiver(graph::PauseHandler* receiver) { receiver_ = receiver; }

 private:
  graph::PauseHandler* receiver_ = nullptr;
};

/// Its ports are the model's and, behind them, one input and three outputs a pause (cut.h's Piece).
/// Decode thread only.
class OpenVinoRequest final : public Request, private graph::PauseHandler {
 public:
  struct Options {
    ov::CompiledModel& model;
    /// For the last of the model's inputs; must outlive the request.
    const std::vector<ov::Tensor>& weights;
    std::size_t pauses = 0;
    std::shared_ptr<PauseRelay> relay = nullptr;  ///< where there are pauses
  };
  explicit OpenVinoRequest(const Options& options);

  void bind_input(std::size_t port, const TensorView& tensor) override;
  void bind_output(std::size_t port, const TensorView& tensor) override;
  void run(const AtPause& at_pause) override;

 private:
  /// What the caller bound at a pause.
  struct PausePorts {
    std::array<TensorView, 3> values;
    TensorView answer;
  };

  void bind(const ov::Output<const ov::Node>& port, const ov::Tensor& tensor);
  void infer();
  void pause(std::size_t index, const ov::TensorVector& values,
             ov::Tensor& answer) noexcept override;

  ov::InferRequest request_;
  const std::vector<ov::Output<const ov::Node>> inputs_;
  const std::vector<ov::Output<const ov::Node>> outputs_;
  std::vector<PausePorts> pauses_;
  const std::shared_ptr<PauseRelay> relay_;

  // Of the run that is under way:
  const AtPause* at_pause_ = nullptr;
  std::size_t paused_ = 0;
  std::exception_ptr failed_;
};

}  // namespace ahead::compile
