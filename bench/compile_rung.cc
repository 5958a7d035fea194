// What a further rung costs to compile, one partition beside the other: the first rung's program is
// there, and the next one's is compiled from what they share. One core, as in the background.
//
//   build/release/compile_rung --benchmark_repetitions=5
//   --benchmark_enable_random_interleaving=true
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "base/affinity.h"
#include "rig.h"

namespace ahead::bench {
namespace {

constexpr std::int64_t kFirst = 1024;

void add(const std::string& name, const Rig::Options& options) {
  const auto rig = std::make_shared<std::unique_ptr<Rig>>();
  for (const std::int64_t rung : {2048, 4096, 8192}) {
    benchmark::RegisterBenchmark((name + "/rung:" + std::to_string(rung)).c_str(),
                                 [rig, options, rung](benchmark::State& state) {
                                   if (!*rig) {
                                     *rig = std::make_unique<Rig>(options);
                                     (void)(*rig)->program(kFirst);
                                   }
                                   for (auto _ : state) {
                                     (void)(*rig)->program(rung);
                                     state.SetIterationTime((*rig)->last_compile_s());
                                     (*rig)->release(rung);
                                   }
                                 })
        ->Unit(benchmark::kMillisecond)
        ->UseManualTime()
        ->Iterations(1);
  }
}

}  // namespace
}  // namespace ahead::bench

int main(int argc, char** argv) {
  using ahead::KvType;
  using ahead::Partition;
  ahead::pin_current_thread({ahead::allowed_cores().front()});
  const auto options = [](Partition partition, KvType type) {
    return ahead::bench::Rig::Options{
        .partition = partition, .kv_type = type, .first_rung = 1024, .last_rung = 1024};
  };
  ahead::bench::add("attention/f16", options(Partition::kAttention, KvType::kF16));
  ahead::bench::add("attention/f32", options(Partition::kAttention, KvType::kF32));
  ahead::bench::add("blocks:5/f32", options(Partition::blocks(5), KvType::kF32));
  ahead::bench::add("whole/f32", options(Partition::kWhole, KvType::kF32));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("model", ahead::bench::model_path());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
