// Graph to compiled model to bound requests. May use: base, graph, OpenVINO.
#include "compile/openvino_backend.h"

#include <algorithm>
#include <utility>

#include "ahead/error.h"
#include "base/check.h"
#include "base/text.h"
#include "graph/element_type.h"
#include "openvino/core/version.hpp"
#include "openvino/runtime/intel_cpu/properties.hpp"
#include "openvino/runtime/properties.hpp"

namespace ahead::compile {
namespace {

ov::Tensor to_tensor(const TensorView& tensor) {
  return {graph::to_openvino(tensor.type), ov::Shape(tensor.shape), tensor.data};
}

class OpenVinoRequest final : public Request {
 public:
  /// `weights` go to the last inputs.
  OpenVinoRequest(ov::CompiledModel& model, const std::vector<ov::Tensor>& weights)
      : request_(model.create_infer_request()), inputs_(model.inputs()), outputs_(model.outputs()) {
    AHEAD_CHECK(weights.size() <= inputs_.size(), "weights are inputs");
    std::size_t port = inputs_.size() - weights.size();
    for (const ov::Tensor& tensor : weights) bind(inputs_[port++], tensor);
  }

  void bind_input(std::size_t port, const TensorView& tensor) override {
    bind(inputs_.at(port), to_tensor(tensor));
  }
  void bind_output(std::size_t port, const TensorView& tensor) override {
    bind(outputs_.at(port), to_tensor(tensor));
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
  void bind(const ov::Output<const ov::Node>& port, const ov::Tensor& tensor) {
    try {
      request_.set_tensor(port, tensor);
    } catch (const std::exception& error) {
      throw Error(ErrorKind::kDevice,
                  "the device refused a tensor of " + std::to_string(tensor.get_byte_size()) +
                      " bytes: " + reason_of(error.what()) + "; run the request again");
    }
  }

  ov::InferRequest request_;
  std::vector<ov::Output<const ov::Node>> inputs_;
  std::vector<ov::Output<const ov::Node>> outputs_;
};

class OpenVinoArtifact final : public Artifact {
 public:
  OpenVinoArtifact(ov::CompiledModel model, std::vector<std::vector<ov::Tensor>> weight_sets)
      : model_(std::move(model)), weight_sets_(std::move(weight_sets)) {}

  [[nodiscard]] std::unique_ptr<Request> create_request(std::size_t weights) override {
    static const std::vector<ov::Tensor> kInside;
    return std::make_unique<OpenVinoRequest>(
        model_, weight_sets_.empty() ? kInside : weight_sets_.at(weights));
  }
  [[nodiscard]] std::vector<std::string> execution_devices() const override {
    return model_.get_property(ov::execution_devices);
  }

 private:
  ov::CompiledModel model_;
  const std::vector<std::vector<ov::Tensor>> weight_sets_;  ///< views of the decoder's memory
};

/// Settings that make the CPU device run on the caller's cores with the numerics of the graph.
ov::AnyMap cpu_settings(int device_threads, const ov::element::Type& precision) {
  return {ov::num_streams(1), ov::inference_num_threads(device_threads),
          ov::hint::enable_cpu_pinning(false), ov::hint::inference_precision(precision),
          // Quantising activations on the fly turns 1e-7 differences into different tokens.
          ov::hint::dynamic_quantization_group_size(0)};
}

/// Whether a part's own operands come rounded to f16: an attention without weights over a cache of
/// that type. Computed in f16 it reads the cache as it stands.
bool is_of_f16(const graph::ProgramSpec& spec, std::size_t part) {
  return !spec.parts.at(part).holds_weights &&
         std::any_of(spec.values.begin(), spec.values.end(), [](const graph::ValueSpec& value) {
           return value.role == graph::Role::kCacheK && value.type == ElementType::kF16;
         });
}

}  // namespace

OpenVinoBackend::OpenVinoBackend(Options options) : options_(std::move(options)) {}

const graph::PartitionedDecoder& OpenVinoBackend::decoder(const graph::ProgramShape& shape) const {
  return options_.tiers.at(static_cast<std::size_t>(shape.tier));
}

graph::ProgramSpec OpenVinoBackend::spec(const graph::ProgramShape& shape) const {
  graph::ProgramSpec spec = decoder(shape).spec(shape);
  if (!options_.tiers_share) {
    for (graph::PartSpec& part : spec.parts) part.depends_on_tier = true;
  }
  return spec;
}

std::shared_ptr<Artifact> OpenVinoBackend::compile(const graph::ProgramShape& shape,
                                                   std::size_t part) {
  const std::shared_ptr<ov::Model> graph = decoder(shape).build(shape, part);
  ov::AnyMap settings;
  if (options_.device == "CPU") {
    const bool f16 = is_of_f16(decoder(shape).spec(shape), part) &&
                     computes_in_f16(*options_.core, options_.device);
    settings = cpu_settings(options_.device_threads, f16 ? ov::element::f16 : ov::element::f32);
  }
  return std::make_shared<OpenVinoArtifact>(
      options_.core->compile_model(graph, options_.device, settings),
      decoder(shape).weight_sets(part));
}

// The CPU device does; an NPU's compiler wants every dimension.
bool takes_any_tokens(const std::string& device) { return device == "CPU"; }

// The CPU device lists FP16 only where the processor has instructions for it.
bool computes_in_f16(const ov::Core& core, const std::string& device) {
  const auto capabilities = core.get_property(device, ov::device::capabilities);
  return std::find(capabilities.begin(), capabilities.end(), ov::device::capability::FP16) !=
         capabilities.end();
}

std::string identity_of(const ov::Core& core, const std::string& device) {
  return "OpenVINO " + std::string(ov::get_openvino_version().buildNumber) + ", " + device + " " +
         core.get_property(device, ov::device::full_name);
}

void check_device(const ov::Core& core, const std::string& device) {
  const std::vector<std::string> devices = core.get_available_devices();
  if (std::find(devices.begin(), devices.end(), device) != devices.end()) return;
  std::string known;
  for (const std::string& name : devices) known += (known.empty() ? "" : ", ") + name;
  throw Error(ErrorKind::kInvalidArgument,
              "device '" + device + "' is not there; this machine has: " + known);
}

}  // namespace ahead::compile
