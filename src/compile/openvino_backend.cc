// Graph to compiled model to bound requests. May use: base, graph, OpenVINO.
#include "compile/openvino_backend.h"

#include <algorithm>
#include <utility>

#include "ahead/error.h"
#include "base/text.h"
#include "compile/openvino_request.h"
#include "graph/panel_weights.h"
#include "graph/pause.h"
#include "openvino/core/version.hpp"
#include "openvino/runtime/intel_cpu/properties.hpp"
#include "openvino/runtime/properties.hpp"

namespace ahead::compile {
namespace {

class OpenVinoArtifact final : public Artifact {
 public:
  struct Options {
    ov::CompiledModel model;
    std::vector<std::vector<ov::Tensor>> weight_sets;  ///< views of the decoder's memory
    std::size_t pauses = 0;
    std::shared_ptr<PauseRelay> relay;
  };
  explicit OpenVinoArtifact(Options options) : options_(std::move(options)) {}

  [[nodiscard]] std::unique_ptr<Request> create_request(std::size_t weights) override {
    static const std::vector<ov::Tensor> kInside;
    return std::make_unique<OpenVinoRequest>(OpenVinoRequest::Options{
        .model = options_.model,
        .weights = options_.weight_sets.empty() ? kInside : options_.weight_sets.at(weights),
        .pauses = options_.pauses,
        .relay = options_.relay});
  }
  [[nodiscard]] std::vector<std::string> execution_devices() const override {
    return options_.model.get_property(ov::execution_devices);
  }

 private:
  Options options_;
};

/// Who hears the graph's pauses, if it has any; they are counted in `pauses`.
std::shared_ptr<PauseRelay> relay_of(const ov::Model& graph, std::size_t& pauses) {
  std::shared_ptr<PauseRelay> relay;
  for (const auto& node : graph.get_ops()) {
    const auto pause = ov::as_type_ptr<graph::Pause>(node);
    if (!pause) continue;
    if (!relay) relay = std::make_shared<PauseRelay>();
    pause->set_handler(relay);
    ++pauses;
  }
  return relay;
}

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
  return decoder(shape).spec(shape);
}

std::shared_ptr<Artifact> OpenVinoBackend::compile(const graph::ProgramShape& shape,
                                                   std::size_t part) {
  const std::shared_ptr<ov::Model> graph = decoder(shape).build(shape, part);
  ov::AnyMap settings;
  if (options_.device == "CPU") {
    const graph::ProgramSpec spec = decoder(shape).spec(shape);
    const bool f16 = is_of_f16(spec, part) && computes_in_f16(*options_.core, options_.device);
    const bool decodes_only = spec.parts.at(part).depends_on_tokens && shape.tokens == 1;
    settings = cpu_settings(decodes_only ? options_.decoding_threads : options_.reading_threads,
                            f16 ? ov::element::f16 : ov::element::f32);
  }
  OpenVinoArtifact::Options made{.weight_sets = decoder(shape).weight_sets(part)};
  made.relay = relay_of(*graph, made.pauses);
  made.model = options_.core->compile_model(graph, options_.device, settings);
  return std::make_shared<OpenVinoArtifact>(std::move(made));
}

// The CPU device does; an NPU's compiler wants every dimension.
bool takes_any_tokens(const std::string& device) { return device == "CPU"; }

// It is the only one in OpenVINO that runs an operation by its evaluate().
bool runs_host_operations(const std::string& device) { return device == "CPU"; }

bool host_products_pay(const std::string& device, int decoding_threads) {
  return runs_host_operations(device) && decoding_threads == 1 && graph::PanelWeights::pays_here();
}

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
