// See sim_options.h. May use: include/ahead, CLI11.
#include "sim_options.h"

#include <memory>

#include "ahead/error.h"
#include "option_values.h"

namespace ahead::cli {
namespace {

constexpr std::uint64_t kSeedsPerReport = 10'000;

struct Seeds {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// What is typed.
struct SimFlags {
  SimRequest request;  ///< all but the seeds
  std::optional<Seeds> seeds;
  std::optional<std::uint64_t> seed;
};

// "1..2000".
std::optional<Seeds> range(const std::string& typed) {
  const CLI::Validator seed = number<std::uint64_t>(0);
  const std::size_t dots = typed.find("..");
  std::string first = typed.substr(0, dots);
  std::string last = dots == std::string::npos ? "" : typed.substr(dots + 2);
  if (!seed(first).empty() || !seed(last).empty()) return std::nullopt;
  const Seeds seeds{.first = std::stoull(first), .last = std::stoull(last)};
  return seeds.first <= seeds.last ? std::optional(seeds) : std::nullopt;
}

SimRequest checked(const SimFlags& flags) {
  SimRequest request = flags.request;
  if (flags.seed.has_value() == flags.seeds.has_value()) {
    throw Error(ErrorKind::kInvalidArgument,
                flags.seed ? "--seed and --seeds were both given; give one of them"
                           : "no seeds were given; give --seeds A..B, like 1..2000, or --seed N");
  }
  if (flags.seeds && (request.trace || request.events)) {
    throw Error(ErrorKind::kInvalidArgument,
                std::string(request.trace ? "--trace" : "--events") +
                    " shows one world; give it with --seed N instead of --seeds");
  }
  request.single = flags.seed.has_value();
  request.first = request.single ? *flags.seed : flags.seeds->first;
  request.last = request.single ? *flags.seed : flags.seeds->last;
  return request;
}

}  // namespace

void add_sim_options(CLI::App& command, const std::function<void(const SimRequest&)>& run) {
  const auto flags = std::make_shared<SimFlags>();
  SimRequest& request = flags->request;
  help_comes_first(command);
  OptionGroup group(command);
  group.read(flags->seeds, {"--seeds", "A..B", "Worlds to run, up to the first that fails"}, range,
             "two whole numbers, the first no larger, like 1..2000");
  group.option(flags->seed, {"--seed", "N", "One world, to look at"},
               {number<std::uint64_t>(0), "a whole number from 0, like 17"});
  group.option(request.trace, {"--trace", "FILE", "With --seed: write its timeline for Perfetto"});
  group.flag(request.events, "--events", "With --seed: list everything that happens");
  group.flag(request.quiet, "--quiet", "Say nothing but what fails");
  command.callback([flags, run] { run(checked(*flags)); });
}

SimulationVerdict run_seeds(const SimRequest& request, const SimRun& run) {
  SimulationVerdict verdict;
  for (std::uint64_t seed = request.first;; ++seed) {
    verdict = run.simulate({.seed = seed, .keep_events = request.events});
    const std::uint64_t done = seed - request.first + 1;
    if (!verdict.passed || seed == request.last) break;
    if (!request.quiet && done % kSeedsPerReport == 0) {
      run.progress(std::to_string(done) + " seeds passed\n");
    }
  }
  for (const std::string& event : verdict.events) run.write(event + "\n");
  if (!verdict.passed || request.single) {
    run.write(to_string(verdict));
  } else if (!request.quiet) {
    run.write("seeds " + std::to_string(request.first) + " to " + std::to_string(request.last) +
              ": all passed\n");
  }
  return verdict;
}

}  // namespace ahead::cli
