// From a seed to a scenario. May use: kv's block size, include/ahead.
#include "sim/scenario.h"

#include <algorithm>
#include <array>
#include <set>

#include "kv/layout.h"
#include "sim/random.h"

namespace ahead::sim {
namespace {

using std::chrono::microseconds;

constexpr std::array kFaultKinds = {
    FaultKind::kCompileFailsOnce,      FaultKind::kCompileFailsAlways,
    FaultKind::kCompileHangs,          FaultKind::kCompileSlow,
    FaultKind::kCompileRaces,          FaultKind::kWrongDevice,
    FaultKind::kDeviceFailsAtFirstUse, FaultKind::kDeviceFailsAtStep,
    FaultKind::kStopAtEvent,           FaultKind::kStopAtTime,
    FaultKind::kPagesRefused,
};

constexpr std::int64_t kVocabulary = 53;  // the fake model's
constexpr std::int64_t kLargestRung = 256;

std::vector<std::int64_t> ladder_of(Random& random) {
  const std::int64_t unit = random.pick(std::array<std::int64_t, 4>{16, 16, 20, 32});
  const std::int64_t rungs = random.between(1, 5);
  const std::int64_t top = random.magnitude(rungs, kLargestRung / unit);
  std::set<std::int64_t> chosen;
  while (static_cast<std::int64_t>(chosen.size()) < std::min(rungs, top)) {
    chosen.insert(unit * random.between(1, top));
  }
  return {chosen.begin(), chosen.end()};
}

std::int64_t prompt_length(Random& random, const std::vector<std::int64_t>& ladder) {
  const std::int64_t rung = random.pick(ladder);
  switch (random.between(0, 3)) {
    case 0:  // about a rung's end, where most can go wrong
      return std::clamp<std::int64_t>(rung + random.between(-2, 2), 1, ladder.back());
    case 1:
      return random.between(1, ladder.back());
    default:
      return random.between(1, std::min<std::int64_t>(ladder.front(), 24));
  }
}

RequestScenario request_of(Random& random, const std::vector<std::int64_t>& ladder) {
  RequestScenario request;
  const std::int64_t batch = random.one_in(2) ? 1 : random.between(2, 3);
  for (std::int64_t row = 0; row < batch; ++row) {
    std::vector<std::int32_t> prompt(static_cast<std::size_t>(prompt_length(random, ladder)));
    for (std::int32_t& token : prompt) {
      token = static_cast<std::int32_t>(random.between(0, kVocabulary - 1));
    }
    request.prompts.push_back(std::move(prompt));
    request.ends_at.push_back(random.one_in(4) ? random.magnitude(1, 128) : 0);
  }
  request.max_new_tokens = random.one_in(3) ? 100'000 : random.magnitude(1, 200);
  return request;
}

Fault fault_of(Random& random, const std::vector<std::int64_t>& ladder) {
  Fault fault{.kind = random.pick(kFaultKinds)};
  switch (fault.kind) {
    case FaultKind::kCompileFailsAlways:
      fault.rung = random.pick(ladder);
      break;
    case FaultKind::kStopAtEvent:
      fault.nth = random.magnitude(1, 6000);
      break;
    case FaultKind::kStopAtTime:
      fault.after = nanoseconds(random.magnitude(1'000, 300'000'000));
      break;
    case FaultKind::kDeviceFailsAtStep:
      fault.nth = random.magnitude(1, 300);
      break;
    case FaultKind::kPagesRefused:
      fault.nth = random.magnitude(1, 40);
      break;
    case FaultKind::kCompileRaces:
      fault.nth = random.magnitude(1, 30);
      fault.after = nanoseconds(random.between(0, 1));
      break;
    case FaultKind::kCompileHangs:
      fault.nth = random.magnitude(1, 30);
      fault.after = nanoseconds(random.magnitude(1, 50'000'000));
      break;
    default:
      fault.nth = random.magnitude(1, 30);
  }
  return fault;
}

}  // namespace

std::span<const FaultKind> fault_kinds() { return kFaultKinds; }

std::string_view to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::kCompileFailsOnce:
      return "compile fails once";
    case FaultKind::kCompileFailsAlways:
      return "compile fails always";
    case FaultKind::kCompileHangs:
      return "compile hangs";
    case FaultKind::kCompileSlow:
      return "compile is slow";
    case FaultKind::kCompileRaces:
      return "compile races its boundary";
    case FaultKind::kWrongDevice:
      return "wrong device";
    case FaultKind::kDeviceFailsAtFirstUse:
      return "device fails at first use";
    case FaultKind::kDeviceFailsAtStep:
      return "device fails at a step";
    case FaultKind::kStopAtEvent:
      return "stop at an event";
    case FaultKind::kStopAtTime:
      return "stop at a time";
    case FaultKind::kPagesRefused:
      return "pages refused";
  }
  return "";
}

Scenario scenario_of(std::uint64_t seed) {
  Random random(seed);
  Scenario scenario{.seed = seed};
  scenario.axes.ladder = ladder_of(random);
  scenario.axes.schedule = random.pick(schedules());
  scenario.axes.kv = random.pick(kv_policies());
  scenario.cut = random.one_in(2);
  switch (random.between(0, 2)) {
    case 0:
      scenario.axes.partition = Partition::kWhole;
      scenario.cut = false;
      break;
    case 1:
      scenario.axes.partition = Partition::blocks(1);
      break;
    default:
      scenario.axes.partition = Partition::kAttention;
      scenario.cut = true;
  }
  scenario.chunk = random.pick(std::array<std::int64_t, 6>{1, 5, 8, 16, 32, 64});
  scenario.chunks = {scenario.chunk};
  for (const std::int64_t chunk : {1, 8, 16, 32, 64}) {
    if (chunk > scenario.chunk && random.one_in(2)) scenario.chunks.push_back(chunk);
  }
  scenario.tiers = random.one_in(2) ? 1 : 2;
  scenario.remembers = random.one_in(2);
  scenario.resident = static_cast<std::size_t>(random.between(2, 5));
  scenario.block_rows =
      kv::block_rows_for(scenario.axes.ladder, static_cast<std::size_t>(random.magnitude(1, 32)));
  for (std::int64_t left = random.one_in(2) ? 1 : random.between(2, 3); left > 0; --left) {
    scenario.requests.push_back(request_of(random, scenario.axes.ladder));
  }
  for (std::int64_t left = random.one_in(4) ? 0 : random.between(1, 2); left > 0; --left) {
    scenario.faults.push_back(fault_of(random, scenario.axes.ladder));
  }
  scenario.abandon = random.one_in(2);

  const auto cost = [&](std::int64_t most_us) {
    return nanoseconds(microseconds(random.one_in(8) ? 0 : random.magnitude(1, most_us)));
  };
  scenario.cost = {.call = nanoseconds(random.magnitude(1'000, 30'000'000)),
                   .row = nanoseconds(random.magnitude(1, 10'000)),
                   .compile = cost(200'000),
                   .compile_row = cost(500),
                   .compile_body = cost(300'000),
                   .free = cost(50'000),
                   .allocation = cost(5'000),
                   .caller = random.one_in(2) ? nanoseconds(0) : cost(1'000),
                   .jitter = random.one_in(2) ? 0 : random.between(1, 50),
                   .contention = random.one_in(2) ? 100 : random.between(101, 300)};
  // About the size of blocks and rungs, where most can go wrong.
  if (random.one_in(3)) scenario.window = random.magnitude(1, 64);
  return scenario;
}

std::string to_string(const Scenario& scenario) {
  std::string text = "ladder ";
  for (const std::int64_t rung : scenario.axes.ladder) {
    text += (rung == scenario.axes.ladder.front() ? "" : ",") + std::to_string(rung);
  }
  text += ", " + std::string(to_string(scenario.axes.schedule)) + ", " +
          std::string(to_string(scenario.axes.kv)) + ", " + to_string(scenario.axes.partition) +
          (scenario.cut ? " in parts" : "") + ", chunk " + std::to_string(scenario.chunk) +
          (scenario.tiers > 1 ? ", 2 tiers" : "") + ", resident " +
          std::to_string(scenario.resident) + ", block " + std::to_string(scenario.block_rows) +
          (scenario.window > 0 ? ", window " + std::to_string(scenario.window) : "");
  for (const RequestScenario& request : scenario.requests) {
    text += "; prompts";
    for (const auto& prompt : request.prompts) text += " " + std::to_string(prompt.size());
    text += " and " + std::to_string(request.max_new_tokens) + " tokens";
  }
  for (const Fault& fault : scenario.faults) {
    text += "; fault: " + std::string(to_string(fault.kind));
    if (fault.kind == FaultKind::kCompileFailsAlways) {
      text += " @" + std::to_string(fault.rung);
    } else if (fault.kind != FaultKind::kStopAtTime) {
      text += " " + std::to_string(fault.nth);
    }
  }
  return text;
}

}  // namespace ahead::sim
