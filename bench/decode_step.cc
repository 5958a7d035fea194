// One decode step on one core: the specialised graph against the plain static graph a runtime would
// use without it (append by concat, repeated KV heads, f16 cache), at the same rung, in one
// process.
//
//   build/release/decode_step --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true
#include <benchmark/benchmark.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/affinity.h"
#include "compile/openvino_backend.h"
#include "compile/program.h"
#include "graph/partition.h"
#include "kv/kv_cache.h"
#include "model/reader.h"
#include "openvino/frontend/extension/decoder_transformation.hpp"
#include "openvino/frontend/gguf/adapt_to_genai.hpp"
#include "openvino/frontend/gguf/make_stateful.hpp"
#include "openvino/frontend/manager.hpp"
#include "openvino/openvino.hpp"
#include "openvino/pass/manager.hpp"
#include "openvino/pass/stateful_to_stateless.hpp"

namespace ahead {
namespace {

constexpr std::int64_t kBlockRows = 128;

std::string model_path() {
  const char* path = std::getenv("AHEAD_BENCH_GGUF");
  return path != nullptr ? path : AHEAD_DEFAULT_GGUF;
}

/// The specialised program of a rung with its cache, all rows but the last live.
class Specialised {
 public:
  Specialised(std::int64_t rung, KvType kv_type)
      : core_(std::make_shared<ov::Core>()),
        decoder_(std::make_shared<const model::Decoder>(
            model::read_model(*core_, model_path()).decoder)),
        type_(kv_type == KvType::kF16 ? ElementType::kF16 : ElementType::kF32) {
    const graph::ProgramShape shape{.batch = 1, .tokens = 1, .rung = rung};
    compile::OpenVinoBackend backend(
        {.core = core_,
         .decoder = graph::PartitionedDecoder(decoder_,
                                              {.cache = {.type = type_, .block_rows = kBlockRows}}),
         .device = "CPU",
         .device_threads = 1});
    graph::ProgramSpec spec = backend.spec(shape);
    std::vector<std::shared_ptr<compile::Artifact>> artifacts;
    for (std::size_t part = 0; part < spec.parts.size(); ++part) {
      artifacts.push_back(backend.compile(shape, part));
    }
    program_ = std::make_unique<compile::Program>(std::move(spec), std::move(artifacts));

    kv::Layout layout;
    for (const auto& layer : decoder_->layers) {
      layout.layers.push_back(
          {static_cast<std::size_t>(layer.kv_heads), static_cast<std::size_t>(layer.head_dim)});
    }
    layout.block_rows = kBlockRows;
    layout.type = type_;
    const auto rows = static_cast<std::size_t>(rung);
    cache_ =
        kv::make_cache(KvPolicy::kSharedMax,
                       {.layout = layout, .first_capacity = rows, .last_capacity = rows}, pages_);
    std::vector<compile::KeyValue> layers;
    for (std::size_t layer = 0; layer < layout.layers.size(); ++layer) {
      layers.push_back({cache_->k(layer), cache_->v(layer)});
    }
    program_->bind_cache(0, layers);
    program_->set_live_rows(0, rung - 1);
    program_->tokens()[0] = 5;
    program_->positions()[0] = static_cast<std::int32_t>(rung - 1);
  }

  void step() { program_->run(); }

 private:
  std::shared_ptr<ov::Core> core_;
  std::shared_ptr<const model::Decoder> decoder_;
  ElementType type_;
  kv::OsPages pages_;
  std::unique_ptr<kv::KvCache> cache_;
  std::unique_ptr<compile::Program> program_;
};

/// The GGUF frontend's decoder, made stateless and static, as it stands.
class PlainStatic {
 public:
  explicit PlainStatic(std::int64_t rung) {
    ov::frontend::FrontEndManager manager;
    const auto frontend = manager.load_by_framework("gguf");
    frontend->add_extension(std::make_shared<ov::frontend::DecoderTransformationExtension>(
        [](const std::shared_ptr<ov::Model>& graph) {
          return ov::frontend::gguf::pass::GGUFMakeStateful().run_on_model(graph);
        }));
    const auto graph = frontend->convert(frontend->load(model_path()));
    ov::frontend::gguf::pass::AdaptToGenAI().run_on_model(graph);
    ov::pass::Manager passes;
    passes.register_pass<ov::pass::StatefulToStateless>();
    passes.run_passes(graph);
    std::map<ov::Output<ov::Node>, ov::PartialShape> shapes;
    for (const auto& input : graph->inputs()) {
      ov::PartialShape shape = input.get_partial_shape();
      const std::string name = input.get_any_name();
      for (auto& dimension : shape) {
        if (dimension.is_dynamic()) dimension = shape.size() == 4 ? rung : 1;
      }
      if (shape.size() == 4) shape[0] = 1;
      if (name == "attention_mask") shape[1] = rung + 1;
      shapes[input] = shape;
    }
    graph->reshape(shapes);
    request_ = core_
                   .compile_model(graph, "CPU",
                                  ov::AnyMap{ov::num_streams(1), ov::inference_num_threads(1),
                                             ov::hint::enable_cpu_pinning(false),
                                             ov::hint::inference_precision(ov::element::f32),
                                             ov::hint::dynamic_quantization_group_size(0)})
                   .create_infer_request();
    for (const auto& input : graph->inputs()) {
      ov::Tensor tensor(input.get_element_type(), input.get_shape());
      std::memset(tensor.data(), 0, tensor.get_byte_size());
      if (input.get_any_name() == "attention_mask") {
        std::fill_n(tensor.data<std::int64_t>(), tensor.get_size(), 1);
      }
      request_.set_tensor(input, tensor);
    }
  }

  void step() { request_.infer(); }

 private:
  ov::Core core_;
  ov::InferRequest request_;
};

/// Keeps one contender alive, so that interleaved repetitions do not compile anew.
template <typename Contender, typename... Args>
Contender& kept(const std::string& name, Args... args) {
  static std::map<std::string, std::unique_ptr<Contender>> contenders;
  auto& contender = contenders[name];
  if (!contender) contender = std::make_unique<Contender>(args...);
  return *contender;
}

void BM_SpecialisedF32(benchmark::State& state) {
  auto& step =
      kept<Specialised>("f32 " + std::to_string(state.range(0)), state.range(0), KvType::kF32);
  for (auto _ : state) step.step();
}

void BM_SpecialisedF16(benchmark::State& state) {
  auto& step =
      kept<Specialised>("f16 " + std::to_string(state.range(0)), state.range(0), KvType::kF16);
  for (auto _ : state) step.step();
}

void BM_PlainStatic(benchmark::State& state) {
  auto& step = kept<PlainStatic>(std::to_string(state.range(0)), state.range(0));
  for (auto _ : state) step.step();
}

#define AHEAD_STEP(function)          \
  BENCHMARK(function)                 \
      ->Arg(1024)                     \
      ->Arg(8192)                     \
      ->Unit(benchmark::kMillisecond) \
      ->UseRealTime()                 \
      ->MinTime(1)

AHEAD_STEP(BM_SpecialisedF32);
AHEAD_STEP(BM_SpecialisedF16);
AHEAD_STEP(BM_PlainStatic);

}  // namespace
}  // namespace ahead

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  ahead::pin_current_thread({ahead::allowed_cores().front()});
  benchmark::AddCustomContext("model", ahead::model_path());
  benchmark::AddCustomContext("openvino", ov::get_openvino_version().buildNumber);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
