// Tensors over the caller's memory, and values copied there and back at a pause.
// May use: base, graph, OpenVINO.
#include "compile/openvino_request.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "ahead/error.h"
#include "base/check.h"
#include "base/text.h"
#include "graph/element_type.h"

namespace ahead::compile {
namespace {

ov::Tensor to_tensor(const TensorView& tensor) {
  return {graph::to_openvino(tensor.type), ov::Shape(tensor.shape), tensor.data};
}

/// A value that goes out, as the caller stores it.
void store(const ov::Tensor& value, const TensorView& to) {
  AHEAD_CHECK(value.get_size() == element_count(to.shape), "a value fits where it is bound");
  if (value.get_element_type() == graph::to_openvino(to.type)) {
    std::memcpy(to.data, value.data(), value.get_byte_size());
    return;
  }
  AHEAD_CHECK(value.get_element_type() == ov::element::f32 && to.type == ElementType::kF16,
              "values are stored as they are, or rounded to f16");
  const auto* from = value.data<float>();
  std::transform(from, from + value.get_size(), static_cast<ov::float16*>(to.data),
                 [](float number) { return ov::float16(number); });
}

}  // namespace

void PauseRelay::pause(std::size_t index, const ov::TensorVector& values,
                       ov::Tensor& answer) noexcept {
  AHEAD_CHECK(receiver_ != nullptr, "a graph pauses only while a request runs");
  receiver_->pause(index, values, answer);
}

OpenVinoRequest::OpenVinoRequest(const Options& options)
    : request_(options.model.create_infer_request()),
      inputs_(options.model.inputs()),
      outputs_(options.model.outputs()),
      pauses_(options.pauses),
      relay_(options.relay) {
  AHEAD_CHECK(pauses_.empty() == (relay_ == nullptr), "pauses have a relay");
  AHEAD_CHECK(options.weights.size() <= inputs_.size(), "weights are inputs");
  std::size_t port = inputs_.size() - options.weights.size();
  for (const ov::Tensor& tensor : options.weights) bind(inputs_[port++], tensor);
}

void OpenVinoRequest::bind_input(std::size_t port, const TensorView& tensor) {
  if (port < inputs_.size()) return bind(inputs_[port], to_tensor(tensor));
  pauses_.at(port - inputs_.size()).answer = tensor;
}

void OpenVinoRequest::bind_output(std::size_t port, const TensorView& tensor) {
  if (port < outputs_.size()) return bind(outputs_[port], to_tensor(tensor));
  const std::size_t behind = port - outputs_.size();
  pauses_.at(behind / 3).values.at(behind % 3) = tensor;
}

void OpenVinoRequest::run(const AtPause& at_pause) {
  if (pauses_.empty()) return infer();
  AHEAD_CHECK(at_pause != nullptr, "somebody goes on where a part pauses");
  at_pause_ = &at_pause;
  paused_ = 0;
  failed_ = nullptr;
  relay_->set_receiver(this);
  struct Leave {
    PauseRelay& relay;
    ~Leave() { relay.set_receiver(nullptr); }
  };
  const Leave leave{*relay_};
  try {
    infer();
  } catch (const Error&) {
    if (!failed_) throw;  // otherwise that came first
  }
  if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
  // The CPU device may lose an exception of its own on the way: then it is known by what is
  // missing.
  if (paused_ == pauses_.size()) return;
  throw Error(ErrorKind::kDevice, "the device ended a step at pause " + std::to_string(paused_) +
                                      " of " + std::to_string(pauses_.size()) +
                                      " and gave no reason; run the request again");
}

void OpenVinoRequest::infer() {
  try {
    request_.infer();
  } catch (const std::exception& error) {
    throw Error(ErrorKind::kDevice, "the device failed during a step: " + reason_of(error.what()) +
                                        "; run the request again");
  }
}

void OpenVinoRequest::pause(std::size_t index, const ov::TensorVector& values,
                            ov::Tensor& answer) noexcept {
  ++paused_;
  if (failed_) return;
  try {
    const PausePorts& ports = pauses_.at(index);
    AHEAD_CHECK(values.size() == ports.values.size(), "as many values go out as are bound");
    for (std::size_t i = 0; i < values.size(); ++i) store(values[i], ports.values[i]);
    (*at_pause_)(index);
    AHEAD_CHECK(answer.get_byte_size() == ports.answer.bytes(),
                "an answer fits where it is wanted");
    std::memcpy(answer.data(), ports.answer.data, answer.get_byte_size());
  } catch (...) {
    failed_ = std::current_exception();
  }
}

void OpenVinoRequest::bind(const ov::Output<const ov::Node>& port, const ov::Tensor& tensor) {
  try {
    request_.set_tensor(port, tensor);
  } catch (const std::exception& error) {
    throw Error(ErrorKind::kDevice,
                "the device refused a tensor of " + std::to_string(tensor.get_byte_size()) +
                    " bytes: " + reason_of(error.what()) + "; run the request again");
  }
}

}  // namespace ahead::compile
