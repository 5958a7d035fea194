// One decode step on one core at several contexts: the partitions, cache types and block sizes of
// the specialised graph, and the plain static graph a runtime would use without it (append by
// concat, repeated KV heads, f16 cache), in one process.
//
//   build/release/decode_step --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true
#include <benchmark/benchmark.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/affinity.h"
#include "openvino/frontend/extension/decoder_transformation.hpp"
#include "openvino/frontend/gguf/adapt_to_genai.hpp"
#include "openvino/frontend/gguf/make_stateful.hpp"
#include "openvino/frontend/manager.hpp"
#include "openvino/openvino.hpp"
#include "openvino/pass/manager.hpp"
#include "openvino/pass/stateful_to_stateless.hpp"
#include "rig.h"

namespace ahead::bench {
namespace {

/// The rung a context of that many tokens is decoded on.
std::int64_t rung_of(std::int64_t context) {
  std::int64_t rung = 1024;
  while (rung <= context) rung *= 2;
  return rung;
}

/// The specialised program of a context's rung with its cache.
class Specialised {
 public:
  Specialised(Rig::Options options, std::int64_t context) : rig_(sized(options, context)) {
    program_ = rig_.program(rung_of(context));
    rig_.fill(context);
    rig_.bind(*program_);
    rig_.aim(*program_);
  }

  void step() { program_->run(); }

 private:
  static Rig::Options sized(Rig::Options options, std::int64_t context) {
    options.first_rung = options.last_rung = rung_of(context);
    return options;
  }

  Rig rig_;
  std::shared_ptr<compile::Program> program_;
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

/// Keeps contenders alive, so that interleaved repetitions do not compile anew.
template <typename Contender>
class Kept {
 public:
  template <typename... Args>
  Contender& operator()(const std::string& name, const Args&... args) {
    auto& contender = contenders_[name];
    if (!contender) contender = std::make_unique<Contender>(args...);
    return *contender;
  }

 private:
  std::map<std::string, std::unique_ptr<Contender>> contenders_;
};

template <typename Make>
void add(const std::string& name, const Make& make) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [make](benchmark::State& state) {
                                 auto& contender = make();
                                 for (auto _ : state) contender.step();
                               })
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime()
      ->MinTime(0.5);
}

void add_all() {
  const auto kept = std::make_shared<Kept<Specialised>>();
  const auto kept_plain = std::make_shared<Kept<PlainStatic>>();
  struct Variant {
    const char* name;
    Rig::Options options;
  };
  const std::vector<Variant> variants = {
      {"attention/f16", {.partition = Partition::kAttention, .kv_type = KvType::kF16}},
      {"attention/f32", {.partition = Partition::kAttention, .kv_type = KvType::kF32}},
      {"attention/f16/static bodies",
       {.partition = Partition::kAttention, .kv_type = KvType::kF16, .open_tokens = false}},
      {"attention/f16/joined bodies",
       {.partition = Partition::kAttention,
        .kv_type = KvType::kF16,
        .open_tokens = false,
        .joined = true}},
      {"attention/f16/joined panels",
       {.partition = Partition::kAttention,
        .kv_type = KvType::kF16,
        .open_tokens = false,
        .joined = true,
        .panels = true}},
      {"attention/f16/block256",
       {.partition = Partition::kAttention, .kv_type = KvType::kF16, .block_rows = 256}},
      {"attention/f16/block512",
       {.partition = Partition::kAttention, .kv_type = KvType::kF16, .block_rows = 512}},
      {"whole/f32", {.partition = Partition::kWhole, .kv_type = KvType::kF32}},
      {"whole/f16", {.partition = Partition::kWhole, .kv_type = KvType::kF16}},
  };
  for (const Variant& variant : variants) {
    for (const std::int64_t context : {900, 1900, 4000, 8000}) {
      const std::string name = std::string(variant.name) + "/context:" + std::to_string(context);
      add(name, [kept, name, options = variant.options, context]() -> Specialised& {
        return (*kept)(name, options, context);
      });
    }
  }
  for (const std::int64_t rung : {1024, 8192}) {
    const std::string name = "plain static/rung:" + std::to_string(rung);
    add(name, [kept_plain, name, rung]() -> PlainStatic& { return (*kept_plain)(name, rung); });
  }
}

}  // namespace
}  // namespace ahead::bench

int main(int argc, char** argv) {
  ahead::pin_current_thread({ahead::allowed_cores().front()});
  ahead::bench::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("model", ahead::bench::model_path());
  benchmark::AddCustomContext("openvino", ov::get_openvino_version().buildNumber);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
