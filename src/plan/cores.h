// How many cores reading prompts, decoding and background compiles get: a pure function of what the
// process may use and of what was measured. May use: base.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/cpu_limits.h"

namespace ahead::plan {

/// How much faster two threads are than one, as measured on the CPU device: docs/PERFORMANCE.md,
/// "Cores". A gain above 1 pays.
struct ThreadGain {
  double reading = 1;
  double decoding = 1;
};

/// Where vectors are wide, one thread's products of 4-bit weights keep up with memory, and a second
/// thread only adds its cost; where they are not, arithmetic bounds a token.
[[nodiscard]] ThreadGain measured_gain(bool wide_vectors);

struct CoreQuery {
  CpuLimits limits;
  std::vector<int> device_cores;   ///< named by the user; empty: to be chosen
  std::vector<int> compile_cores;  ///< likewise
  bool compiles_beside = true;     ///< compiles run while prompts are read and tokens are made
  /// There are programs that only decode; otherwise those that read decode too.
  bool decodes_apart = true;
  std::optional<ThreadGain> gain;  ///< instead of measured_gain()
};

struct CoreChoice {
  /// The decode thread and the device's threads run on these; empty: where the system puts them.
  std::vector<int> device_cores;
  int reading_threads = 1;   ///< of the device, for chunks of a prompt
  int decoding_threads = 1;  ///< for a token
  std::vector<int> compile_cores;
  std::string reason;  ///< in words, for people
};

/// Named cores are taken as they are: the device has a thread for each. Otherwise
/// - reading has a thread for each physical core if that pays, but for one that is left to compiles
///   from kCoresToShare on, and no more than the control group's quota feeds;
/// - decoding has kMostDecoding of them if that pays, otherwise one; where its programs are those
///   that read, it has what they have;
/// - compiles get the cores that decoding leaves, or where it leaves none all of them.
[[nodiscard]] CoreChoice choose_cores(const CoreQuery& query);

/// More were not measured for a token, which has too little work to share with many.
inline constexpr int kMostDecoding = 2;

/// With fewer, a core that reading left idle for a compile would cost it more than sharing does.
inline constexpr int kCoresToShare = 4;

}  // namespace ahead::plan
