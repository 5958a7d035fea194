// Graph to compiled model to bound requests. May use: base, graph, OpenVINO.
#include "compile/openvino_backend.h"

#include <algorithm>
#include <utility>

#include "ahead/error.h"
#include "base/text.h"
#include "graph/element_type.h"
#include "openvino/runtime/intel_cpu/properties.hpp"
#include "openvino/runtime/properties.hpp"

namespace ahead::compile {
namespace {

ov::Tensor to_tensor(const TensorView& tensor) {
  return {graph::to_openvino(tensor.type), ov::Shape(tensor.shape), tensor.data};
}

class OpenVinoRequest final : public Request {
 public:
  OpenVinoRequest(ov::CompiledModel& model)
      : request_(model.create_infer_request()),
        inputs_(model.inputs()),
        outputs_(model.outputs()) {}

  void bind_input(std::size_t port, const TensorView& tensor) override {
    bind(inputs_.at(port), tensor);
  }
  void bind_output(std::size_t port, const TensorView& tensor) override {
    bind(outputs_.at(port), tensor);
  }
  void run() override {
    try {
      request_.infer();
    } catch (const std::exception& error) {
      throw Error(ErrorKind::kDevice, "the device failed during a step: " +
                                          reason_of(error.what()) + "; run the request again");
    }
  }

 private:
  void bind(const ov::Output<const ov::Node>& port, const TensorView& tensor) {
    try {
      request_.set_tensor(port, to_tensor(tensor));
    } catch (const std::exception& error) {
      throw Error(ErrorKind::kDevice,
                  "the device refused a tensor of " + std::to_string(tensor.bytes()) +
                      " bytes: " + reason_of(error.what()) + "; run the request again");
    }
  }

  ov::InferRequest request_;
  std::vector<ov::Output<const ov::Node>> inputs_;
  std::vector<ov::Output<const ov::Node>> outputs_;
};

class OpenVinoArtifact final : public Artifact {
 public:
  explicit OpenVinoArtifact(ov::CompiledModel model) : model_(std::move(model)) {}

  [[nodiscard]] std::unique_ptr<Request> create_request() override {
    return std::make_unique<OpenVinoRequest>(model_);
  }
  [[nodiscard]] std::vector<std::string> execution_devices() const override {
    return model_.get_property(ov::execution_devices);
  }

 private:
  ov::CompiledModel model_;
};

/// Settings that make the CPU device run on the caller's cores with the numerics of the graph.
ov::AnyMap cpu_settings(int device_threads) {
  return {ov::num_streams(1), ov::inference_num_threads(device_threads),
          ov::hint::enable_cpu_pinning(false), ov::hint::inference_precision(ov::element::f32),
          // Quantising activations on the fly turns 1e-7 differences into different tokens.
          ov::hint::dynamic_quantization_group_size(0)};
}

}  // namespace

OpenVinoBackend::OpenVinoBackend(Options options) : options_(std::move(options)) {}

graph::ProgramSpec OpenVinoBackend::spec(const graph::ProgramShape& shape) const {
  return options_.decoder.spec(shape);
}

std::shared_ptr<Artifact> OpenVinoBackend::compile(const graph::ProgramShape& shape,
                                                   std::size_t part) {
  const std::shared_ptr<ov::Model> graph = options_.decoder.build(shape, part);
  const ov::AnyMap settings =
      options_.device == "CPU" ? cpu_settings(options_.device_threads) : ov::AnyMap{};
  return std::make_shared<OpenVinoArtifact>(
      options_.core->compile_model(graph, options_.device, settings));
}

// The CPU device does; an NPU's compiler wants every dimension.
bool takes_any_tokens(const std::string& device) { return device == "CPU"; }

void check_device(const ov::Core& core, const std::string& device) {
  const std::vector<std::string> devices = core.get_available_devices();
  if (std::find(devices.begin(), devices.end(), device) != devices.end()) return;
  std::string known;
  for (const std::string& name : devices) known += (known.empty() ? "" : ", ") + name;
  throw Error(ErrorKind::kInvalidArgument,
              "device '" + device + "' is not there; this machine has: " + known);
}

}  // namespace ahead::compile
