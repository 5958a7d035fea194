// What one seed stands for: a ladder, requests on it, what everything costs, and what goes wrong.
// Plain data. May use: include/ahead.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ahead/axes.h"

namespace ahead::sim {

using std::chrono::nanoseconds;

/// What can go wrong.
enum class FaultKind {
  kCompileFailsOnce,       ///< the nth compile
  kCompileFailsAlways,     ///< every compile of one rung
  kCompileHangs,           ///< the nth compile never ends; the request is stopped after `after`
  kCompileSlow,            ///< the nth compile takes ten times as long
  kCompileRaces,           ///< the nth compile ends with the step that fills the rung
  kWrongDevice,            ///< the nth compile reports another device
  kDeviceFailsAtFirstUse,  ///< the nth artifact, when it is first run
  kDeviceFailsAtStep,      ///< the nth step
  kStopAtEvent,            ///< the request is told to stop at the nth event
  kStopAtTime,             ///< the same `after` its begin
  kPagesRefused,           ///< the nth call for memory that may fail
};
[[nodiscard]] std::span<const FaultKind> fault_kinds();
[[nodiscard]] std::string_view to_string(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kCompileFailsOnce;
  std::int64_t nth = 1;
  std::int64_t rung = 0;
  /// Of a race: how long after the step's end the compile ends.
  nanoseconds after{0};
};

struct RequestScenario {
  std::vector<std::vector<std::int32_t>> prompts;
  std::int64_t max_new_tokens = 0;
  /// By sequence: at which token the caller ends it; 0: never.
  std::vector<std::int64_t> ends_at;
};

/// Everything from the seed.
struct Scenario {
  std::uint64_t seed = 0;
  Axes axes;
  bool cut = false;  ///< the model is compiled in parts
  std::int64_t chunk = 16;
  /// Of schedule planned: chunks to choose from, forms of the decoder, and whether what one request
  /// learned of costs is known to the next.
  std::vector<std::int64_t> chunks;
  std::size_t tiers = 1;
  bool remembers = false;
  std::size_t resident = 2;
  std::size_t block_rows = 16;
  std::int64_t window = 0;                ///< of the last layer; 0: it has none
  std::vector<RequestScenario> requests;  ///< one after the other, on one set of programs
  std::vector<Fault> faults;
  bool abandon = false;  ///< what compiles when the programs go is dropped, not ended

  struct {
    nanoseconds call{0};            ///< of one device call
    nanoseconds row{0};             ///< of one cache row read
    nanoseconds compile{0};         ///< of one program
    nanoseconds compile_row{0};     ///< of a program, for a row of its rung
    nanoseconds compile_body{0};    ///< of the first program of a batch and token count
    nanoseconds free{0};            ///< of freeing programs
    nanoseconds allocation{0};      ///< of one region
    nanoseconds caller{0};          ///< of the caller's work on a token
    std::int64_t jitter = 0;        ///< percent a cost may be higher
    std::int64_t contention = 100;  ///< percent a device call takes while something compiles
  } cost;
};

[[nodiscard]] Scenario scenario_of(std::uint64_t seed);

/// One line for people.
[[nodiscard]] std::string to_string(const Scenario& scenario);

}  // namespace ahead::sim
