// See sim_options.h. May use: include/ahead.
#include "sim_options.h"

#include <string_view>

#include "ahead/error.h"
#include "option_values.h"

namespace ahead::cli {
namespace {

constexpr std::string_view kSeedTakes = "a whole number from 0, like 17";
constexpr std::string_view kSeedsTake = "two whole numbers, the first no larger, like 1..2000";
constexpr std::uint64_t kSeedsPerReport = 10'000;

}  // namespace

SimRequest read_sim_options(const SimFlags& flags) {
  if (flags.seed.has_value() == flags.seeds.has_value()) {
    throw Error(ErrorKind::kInvalidArgument,
                flags.seed ? "--seed and --seeds were both given; give one of them"
                           : "no seeds were given; give --seeds A..B, like 1..2000, or --seed N");
  }
  SimRequest request{.events = flags.events, .quiet = flags.quiet, .trace = flags.trace};
  if (flags.seed) {
    const auto seed = parsed<std::uint64_t>(*flags.seed);
    if (!seed) refuse_option("--seed", *flags.seed, kSeedTakes);
    request.first = request.last = *seed;
    request.single = true;
    return request;
  }
  if (flags.trace || flags.events) {
    throw Error(ErrorKind::kInvalidArgument,
                std::string(flags.trace ? "--trace" : "--events") +
                    " shows one world; give it with --seed N instead of --seeds");
  }
  const std::string_view text = *flags.seeds;
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) refuse_option("--seeds", text, kSeedsTake);
  const auto first = parsed<std::uint64_t>(text.substr(0, dots));
  const auto last = parsed<std::uint64_t>(text.substr(dots + 2));
  if (!first || !last || *first > *last) refuse_option("--seeds", text, kSeedsTake);
  request.first = *first;
  request.last = *last;
  return request;
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
