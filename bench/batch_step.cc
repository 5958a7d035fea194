// Tokens a second of sequences decoded together, one core.
//
//   build/release/batch_step --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "base/affinity.h"
#include "rig.h"

namespace ahead::bench {
namespace {

constexpr std::int64_t kRung = 1024;
constexpr std::int64_t kLive = 500;

void add(const std::string& name, Rig::Options options) {
  options.first_rung = options.last_rung = kRung;
  for (const std::int64_t batch : {1, 2, 4, 8}) {
    options.batch = batch;
    struct Contender {
      std::unique_ptr<Rig> rig;
      std::shared_ptr<compile::Program> program;
    };
    const auto kept = std::make_shared<Contender>();
    benchmark::RegisterBenchmark(
        (name + "/batch:" + std::to_string(batch)).c_str(),
        [kept, options, batch](benchmark::State& state) {
          if (!kept->rig) {
            kept->rig = std::make_unique<Rig>(options);
            kept->program = kept->rig->program(kRung);
            kept->rig->fill(kLive);
            kept->rig->bind(*kept->program);
            kept->rig->aim(*kept->program);
          }
          for (auto _ : state) kept->program->run();
          state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * batch);
        })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->MinTime(0.5);
  }
}

}  // namespace
}  // namespace ahead::bench

int main(int argc, char** argv) {
  using ahead::KvType;
  using ahead::Partition;
  ahead::pin_current_thread({ahead::allowed_cores().front()});
  ahead::bench::add("attention/f16", {.partition = Partition::kAttention, .kv_type = KvType::kF16});
  // What a single sequence changes to, and the same for batches, which the library has not.
  ahead::bench::add("attention/f16/joined bodies", {.partition = Partition::kAttention,
                                                    .kv_type = KvType::kF16,
                                                    .open_tokens = false,
                                                    .joined = true});
  ahead::bench::add("attention/f16/joined panels", {.partition = Partition::kAttention,
                                                    .kv_type = KvType::kF16,
                                                    .open_tokens = false,
                                                    .joined = true,
                                                    .panels = true});
  ahead::bench::add("whole/f32", {.partition = Partition::kWhole, .kv_type = KvType::kF32});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("model", ahead::bench::model_path());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
