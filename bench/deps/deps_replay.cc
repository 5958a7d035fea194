// What it saves a compiler to remember sorted dependencies: a list scheduler's questions over the
// decode graph of a real model, answered by sorting each time and by remembering.
//
//   build/release/deps_replay [--tiles N] [--rungs N] [--rounds N] [--json FILE]
//
// Not the NPU compiler's own code: its container's contract and its places of asking, in a small
// twin. So seconds are those of the twin; counts are what compares. May use: base, graph, OpenVINO.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/affinity.h"
#include "base/clock.h"
#include "deps/list_scheduler.h"
#include "deps/model_tasks.h"
#include "graph/partition.h"
#include "rig.h"

namespace ahead::bench {
namespace {

struct Flags {
  std::size_t tiles = 20;
  std::size_t rungs = 4;
  std::size_t rounds = 3;
  std::size_t memory_kib = 2048;
  std::string json;
};

struct Replay {
  SetCounts counts;
  ScheduleFacts facts;
  double seconds = 0;
};

template <typename Sets>
Replay replay(const std::vector<TaskGraph>& graphs, const ScheduleOptions& options) {
  const SteadyClock clock;
  Replay sum;
  for (const TaskGraph& graph : graphs) {
    const TimePoint begin = clock.now();
    ListScheduler<Sets> scheduler(graph, options);
    const ScheduleFacts facts = scheduler.run();
    sum.seconds += to_seconds(clock.now() - begin);
    sum.facts.checksum = (sum.facts.checksum ^ facts.checksum) * 31;
    sum.facts.cycles += facts.cycles;
    sum.facts.spills += facts.spills;
    sum.counts.asked += scheduler.counts().asked;
    sum.counts.sorted += scheduler.counts().sorted;
  }
  return sum;
}

/// The decode graph of every rung of a ladder, as the whole model is compiled.
std::vector<TaskGraph> graphs_of(const Flags& flags) {
  std::vector<TaskGraph> graphs;
  const graph::PartitionedDecoder whole(loaded().decoder,
                                        {.partition = Partition::kWhole, .cache = {}});
  for (std::size_t rung = 0; rung < flags.rungs; ++rung) {
    const graph::ProgramShape shape{.rung = std::int64_t{1024} << rung};
    graphs.push_back(tasks_of(*whole.build(shape, 0), {.tiles = flags.tiles}));
  }
  return graphs;
}

int run(const Flags& flags) {
  const std::vector<TaskGraph> graphs = graphs_of(flags);
  const ScheduleOptions options{.memory_bytes = flags.memory_kib << 10U};
  std::size_t tasks = 0;
  for (const TaskGraph& graph : graphs) tasks += graph.size();
  std::printf("%zu graphs, %zu tasks, %zu tiles an operation, %zu KiB of fast memory\n",
              graphs.size(), tasks, flags.tiles, flags.memory_kib);
  nlohmann::ordered_json rounds = nlohmann::ordered_json::array();
  for (std::size_t round = 0; round < flags.rounds; ++round) {
    // In turn, the other one first every second time.
    Replay sorting;
    Replay remembering;
    if (round % 2 == 0) sorting = replay<SortingSets>(graphs, options);
    remembering = replay<RememberingSets>(graphs, options);
    if (round % 2 == 1) sorting = replay<SortingSets>(graphs, options);
    if (sorting.facts.checksum != remembering.facts.checksum) {
      std::fprintf(stderr, "the two schedules differ\n");
      return 1;
    }
    std::printf(
        "%.2f million questions, %.2f million sorts with the memo (hits %.2f %%), %llu "
        "spills; %.2f s sorting, %.2f s remembering\n",
        1e-6 * static_cast<double>(sorting.counts.asked),
        1e-6 * static_cast<double>(remembering.counts.sorted), 100 * remembering.counts.hit_rate(),
        static_cast<unsigned long long>(sorting.facts.spills), sorting.seconds,
        remembering.seconds);
    rounds.push_back({{"questions", sorting.counts.asked},
                      {"sorts_without", sorting.counts.sorted},
                      {"sorts_with", remembering.counts.sorted},
                      {"hit_rate", remembering.counts.hit_rate()},
                      {"spills", sorting.facts.spills},
                      {"seconds_without", sorting.seconds},
                      {"seconds_with", remembering.seconds}});
  }
  if (!flags.json.empty()) {
    std::ofstream(flags.json) << nlohmann::ordered_json{{"model", model_path()},
                                                        {"graphs", graphs.size()},
                                                        {"tasks", tasks},
                                                        {"tiles", flags.tiles},
                                                        {"memory_kib", flags.memory_kib},
                                                        {"rounds", rounds}}
                                     .dump(1)
                              << "\n";
  }
  return 0;
}

}  // namespace
}  // namespace ahead::bench

int main(int argc, char** argv) {
  ahead::bench::Flags flags;
  CLI::App app("What it saves a compiler to remember sorted dependencies");
  app.add_option("--tiles", flags.tiles, "Tasks an operation")->check(CLI::Range(1, 64));
  app.add_option("--rungs", flags.rungs, "Decode graphs, from 1024 up")->check(CLI::Range(1, 6));
  app.add_option("--rounds", flags.rounds, "Rounds")->check(CLI::Range(1, 100));
  app.add_option("--memory-kib", flags.memory_kib, "Fast memory")->check(CLI::Range(64, 1 << 20));
  app.add_option("--json", flags.json, "Write what was measured");
  CLI11_PARSE(app, argc, argv);
  ahead::pin_current_thread({ahead::allowed_cores().front()});
  return ahead::bench::run(flags);
}
