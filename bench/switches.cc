// What a switch costs a whole request, in the time of its tokens: migration, copied bytes, and the
// first token behind a boundary beside the twenty that follow it; KV memory by the kernel's account
// beside the bytes of the live rows. One request a policy and batch, along forced tokens, from the
// prompt to the end of the last rung but a few tokens. Prints one JSON object a request.
//
//   build/release/switches MODEL.gguf --ladder 1024,2048,4096,8192 --kv in-place --batch 1
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "ahead/llm_pipeline.h"

namespace ahead::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Asked {
  std::string model;
  std::string ladder = "1024,2048,4096,8192";
  std::string kv = "in-place";
  std::string partition = "attention";
  std::string schedule{to_string(default_design().schedule)};
  std::int64_t prompt = 128;
  std::int64_t resident = 2;
  std::size_t batch = 1;
  std::int64_t behind = 40;  ///< tokens behind the last boundary
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

nlohmann::ordered_json run(const Asked& asked) {
  const Model model(asked.model);
  PipelineConfig config;
  config.axes = {.ladder = parse_ladder(asked.ladder),
                 .schedule = parse_schedule(asked.schedule),
                 .kv = parse_kv_policy(asked.kv),
                 .partition = parse_partition(asked.partition)};
  config.resident_rungs = asked.resident;
  LLMPipeline pipeline(model, "CPU", config);

  const std::vector<std::int64_t>& ladder = config.axes.ladder;
  const std::int64_t end = ladder[ladder.size() - 2] + asked.behind;
  GenerationConfig generation;
  generation.forced_token_ids.assign(static_cast<std::size_t>(end - asked.prompt), 5);
  // Time between the logits of a step and those of the one before, by the position they follow.
  std::vector<double> token_ms(static_cast<std::size_t>(end + 1));
  Clock::time_point last{};
  generation.logits_observer = [&](const StepLogits& step) {
    if (step.row != 0) return;
    const Clock::time_point now = Clock::now();
    token_ms[static_cast<std::size_t>(step.position)] =
        std::chrono::duration<double, std::milli>(now - last).count();
    last = now;
  };
  const std::vector<std::vector<std::int32_t>> prompts(
      asked.batch, std::vector<std::int32_t>(static_cast<std::size_t>(asked.prompt), 7));
  const RunResult result = pipeline.generate_batch(prompts, generation);
  if (!result.error.empty()) throw std::runtime_error(result.error);

  nlohmann::ordered_json out;
  out["kv"] = asked.kv;
  out["kv_type"] = to_string(result.kv_type);
  out["partition"] = asked.partition;
  out["schedule"] = asked.schedule;
  out["batch"] = asked.batch;
  for (const BoundaryRecord& boundary : result.boundaries) {
    const auto first = static_cast<std::size_t>(boundary.at_token);
    const auto next = token_ms.begin() + static_cast<std::ptrdiff_t>(first) + 1;
    const double settled = median({next, next + 20});
    // The first token's time has the switch inside; it is told apart.
    const double step = token_ms[first] - 1e3 * (boundary.migration_s + boundary.wait_s);
    out["boundaries"].push_back({{"row", boundary.row},
                                 {"from", boundary.from},
                                 {"to", boundary.to},
                                 {"ready", boundary.ready},
                                 {"wait_ms", 1e3 * boundary.wait_s},
                                 {"migration_ms", 1e3 * boundary.migration_s},
                                 {"copied_bytes", boundary.copied_bytes},
                                 {"first_token_ms", boundary.row == 0 ? step : 0.0},
                                 {"first_with_switch_ms", boundary.row == 0 ? token_ms[first] : 0},
                                 {"next_twenty_ms", settled}});
  }
  out["committed_avg_bytes"] = result.memory.kv_committed_avg_bytes;
  out["live_avg_bytes"] = result.memory.kv_live_avg_bytes;
  out["committed_peak_bytes"] = result.memory.kv_committed_peak_bytes;
  out["bytes_a_row"] = result.model.kv_values_per_token * (result.kv_type == KvType::kF16 ? 2 : 4);
  out["rows_at_end"] = static_cast<std::int64_t>(asked.batch) * end;
  out["rss_peak_bytes"] = result.memory.rss_peak_bytes;
  return out;
}

}  // namespace
}  // namespace ahead::bench

int main(int argc, char** argv) {
  CLI::App app("What a switch costs");
  ahead::bench::Asked asked;
  app.add_option("MODEL", asked.model)->required();
  app.add_option("--ladder", asked.ladder);
  app.add_option("--kv", asked.kv);
  app.add_option("--partition", asked.partition);
  app.add_option("--schedule", asked.schedule);
  app.add_option("--resident", asked.resident);
  app.add_option("--prompt-tokens", asked.prompt);
  app.add_option("--batch", asked.batch);
  CLI11_PARSE(app, argc, argv);
  try {
    std::cout << ahead::bench::run(asked).dump() << "\n";
  } catch (const std::exception& error) {
    std::cerr << "switches: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
