// What a switch itself costs, by policy, rung and batch: growing the caches and binding the next
// program, and the first step behind it beside the twenty that follow. Rows are filled in without a
// model's run, so that all switches are there in a minute; whole requests are switches.cc's.
// Prints one JSON object a switch.
//
//   build/release/migration
#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/affinity.h"
#include "base/clock.h"
#include "rig.h"

namespace ahead::bench {
namespace {

double ms(TimePoint begin, TimePoint end) { return 1e3 * to_seconds(end - begin); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// All switches of a ladder, one after the other.
void climb(KvPolicy policy, std::int64_t batch) {
  const std::vector<std::int64_t> ladder = {1024, 2048, 4096, 8192};
  const SteadyClock clock;
  Rig rig({.partition = Partition::kAttention,
           .kv_type = KvType::kF16,
           .kv = policy,
           .batch = batch,
           .first_rung = ladder.front(),
           .last_rung = ladder.back()});
  std::shared_ptr<compile::Program> program = rig.program(ladder.front());
  rig.bind(*program);
  for (std::size_t index = 0; index + 1 < ladder.size(); ++index) {
    const std::int64_t from = ladder[index];
    const std::int64_t to = ladder[index + 1];
    rig.fill(from - 1);
    rig.aim(*program);
    for (int warm = 0; warm < 3; ++warm) program->run();
    rig.fill(from);
    std::shared_ptr<compile::Program> next = rig.program(to);  // behind decoding, in a request
    for (std::int64_t row = 0; row < batch; ++row) {
      (void)rig.cache(row).prefault(
          {.capacity = static_cast<std::size_t>(to), .budget_bytes = std::size_t{1} << 40U});
    }

    std::size_t copied = 0;
    const TimePoint begin = clock.now();
    for (std::int64_t row = 0; row < batch; ++row) {
      copied += rig.cache(row).grow(static_cast<std::size_t>(to)).copied_bytes;
    }
    rig.bind(*next);
    const TimePoint bound = clock.now();
    for (std::int64_t row = 0; row < batch; ++row) rig.cache(row).release_old();
    const TimePoint released = clock.now();

    std::vector<double> steps;
    for (int step = 0; step < 21; ++step) {
      rig.fill(from + step);
      rig.aim(*next);
      const TimePoint stepping = clock.now();
      next->run();
      steps.push_back(ms(stepping, clock.now()));
    }
    const nlohmann::ordered_json out = {
        {"kv", to_string(policy)},
        {"batch", batch},
        {"from", from},
        {"to", to},
        {"copied_bytes", copied},
        {"migration_ms", ms(begin, released)},
        {"migration_ms_a_sequence", ms(begin, released) / static_cast<double>(batch)},
        {"grow_and_bind_ms", ms(begin, bound)},
        {"first_step_ms", steps.front()},
        {"next_twenty_ms", median({steps.begin() + 1, steps.end()})}};
    std::cout << out.dump() << std::endl;
    program = std::move(next);
    rig.release(from);
  }
}

}  // namespace
}  // namespace ahead::bench

int main() {
  ahead::pin_current_thread({ahead::allowed_cores().front()});
  for (const std::int64_t batch : {1, 8}) {
    for (const ahead::KvPolicy policy : {ahead::KvPolicy::kInPlace, ahead::KvPolicy::kCopyGrow}) {
      ahead::bench::climb(policy, batch);
    }
  }
  return 0;
}
