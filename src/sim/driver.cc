// A program that runs seeds and needs no OpenVINO: the simulator's one test of many worlds, and
// what the mutants link. May use: include/ahead, and everything of this room.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "ahead/simulation.h"
#include "sim/abort_line.h"
#include "sim/coverage.h"
#include "sim/run.h"

namespace {

constexpr const char* kUsage =
    "usage: %s --seeds A..B [--fresh N] [--covering]\n"
    "  --seeds A..B  runs these, up to the first that breaks a rule\n"
    "  --fresh N     then N more, from a seed that is drawn anew each time and printed\n"
    "  --covering    fails too when something that occurs in a few thousand worlds did not\n";

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t last = 0;
};

std::optional<Seeds> seeds_of(const std::string& text) {
  char* rest = nullptr;
  const std::uint64_t first = std::strtoull(text.c_str(), &rest, 10);
  if (std::string_view(rest).substr(0, 2) != "..") return std::nullopt;
  const std::uint64_t last = std::strtoull(rest + 2, &rest, 10);
  if (*rest != '\0' || first > last) return std::nullopt;
  return Seeds{.first = first, .last = last};
}

/// Far from the seeds that always run; small enough to be typed.
Seeds fresh_seeds(std::uint64_t count) {
  std::random_device device;
  const std::uint64_t first = 1'000'000 + device() % 1'000'000'000;
  return {.first = first, .last = first + count - 1};
}

/// False after the first that broke a rule.
bool run(const Seeds& seeds, const char* kind, ahead::sim::Coverage& coverage) {
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const ahead::sim::AbortLine line(seed);
    const ahead::sim::Scenario scenario = ahead::sim::scenario_of(seed);
    ahead::sim::Outcome outcome = ahead::sim::run(scenario);
    coverage.add(outcome);
    const auto verdict = ahead::sim::verdict_of(scenario, std::move(outcome));
    if (verdict.passed) continue;
    std::printf("%s", ahead::to_string(verdict).c_str());
    return false;
  }
  std::printf("%s %llu..%llu: passed\n", kind, static_cast<unsigned long long>(seeds.first),
              static_cast<unsigned long long>(seeds.last));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<Seeds> seeds;
  std::uint64_t fresh = 0;
  bool covering = false;
  bool understood = true;
  for (int at = 1; at < argc; ++at) {
    const std::string word = argv[at];
    if (word == "--covering") {
      covering = true;
    } else if (word == "--seeds" && at + 1 < argc) {
      seeds = seeds_of(argv[++at]);
    } else if (word == "--fresh" && at + 1 < argc) {
      fresh = std::strtoull(argv[++at], nullptr, 10);
    } else {
      understood = false;
    }
  }
  if (!understood || !seeds) {
    std::fprintf(stderr, kUsage, argv[0]);
    return 2;
  }
  ahead::sim::Coverage coverage;
  if (!run(*seeds, "seeds", coverage)) return 1;
  const auto missing = coverage.missing();
  for (const std::string& what : missing) {
    if (covering) std::printf("no world showed: %s\n", what.c_str());
  }
  if (covering && !missing.empty()) return 1;
  if (fresh > 0 && !run(fresh_seeds(fresh), "fresh seeds", coverage)) return 1;
  return 0;
}
