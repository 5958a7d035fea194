// See cores.h. May use: base.
#include "plan/cores.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "plan/phrases.h"

namespace ahead::plan {
namespace {

bool contains(const std::vector<int>& cores, int core) {
  return std::find(cores.begin(), cores.end(), core) != cores.end();
}

/// The first thread of each physical core.
std::vector<CpuCore> physical_cores(const CpuLimits& limits) {
  std::vector<CpuCore> out;
  for (const CpuCore& core : limits.cores) {
    const auto same = [&](const CpuCore& other) { return other.physical == core.physical; };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back(core);
  }
  return out;
}

/// A thread that the quota cannot feed makes the others wait for it.
int fed_by(std::optional<double> quota, int threads) {
  if (!quota) return threads;
  return std::clamp(static_cast<int>(std::ceil(std::min(*quota, 1e6))), 1, std::max(1, threads));
}

/// What decoding leaves: not the other threads of its physical cores where there are more.
std::vector<int> left_by(const std::vector<CpuCore>& decoding, const CpuLimits& limits) {
  std::vector<int> apart;
  std::vector<int> others;
  for (const CpuCore& core : limits.cores) {
    const auto same = [&](const CpuCore& one) { return one.physical == core.physical; };
    const auto itself = [&](const CpuCore& one) { return one.number == core.number; };
    if (std::none_of(decoding.begin(), decoding.end(), same)) apart.push_back(core.number);
    if (std::none_of(decoding.begin(), decoding.end(), itself)) others.push_back(core.number);
  }
  return apart.empty() ? others : apart;
}

std::vector<int> numbers_of(const std::vector<CpuCore>& cores) {
  std::vector<int> out;
  for (const CpuCore& core : cores) out.push_back(core.number);
  return out;
}

CoreChoice as_named(const CoreQuery& query) {
  CoreChoice choice{.device_cores = query.device_cores, .reason = "the device's cores were named"};
  choice.reading_threads = choice.decoding_threads = static_cast<int>(query.device_cores.size());
  for (const CpuCore& core : query.limits.cores) {
    if (!contains(query.device_cores, core.number)) choice.compile_cores.push_back(core.number);
  }
  return choice;
}

CoreChoice by_rule(const CoreQuery& query) {
  const std::vector<CpuCore> all = physical_cores(query.limits);
  const ThreadGain gain = query.gain.value_or(measured_gain(query.limits.wide_vectors));
  const int physical = static_cast<int>(all.size());
  const bool shares = query.compiles_beside && physical >= kCoresToShare;
  const int free = physical - (shares ? 1 : 0);
  const int most = fed_by(query.limits.quota_cores, free);
  CoreChoice choice;
  choice.reading_threads = gain.reading > 1 ? most : 1;
  choice.decoding_threads = gain.decoding > 1 ? std::min(most, kMostDecoding) : 1;
  if (!query.decodes_apart) choice.decoding_threads = choice.reading_threads;
  const auto device =
      static_cast<std::ptrdiff_t>(std::max(choice.reading_threads, choice.decoding_threads));
  choice.device_cores = numbers_of({all.begin(), all.begin() + device});
  choice.compile_cores =
      left_by({all.begin(), all.begin() + choice.decoding_threads}, query.limits);

  choice.reason = in_cores(physical);
  if (most < free) choice.reason += ", a quota of " + in_cores(*query.limits.quota_cores);
  if (shares && most == free) choice.reason += ", one left to compiles while prompts are read";
  if (!query.decodes_apart) {
    choice.reason += ", the same programs read and decode";
  } else if (gain.decoding <= 1 && choice.reading_threads > 1) {
    choice.reason += ", a second thread slows decoding";
  }
  return choice;
}

}  // namespace

// Reading 900 tokens, and 300 tokens behind 128: SmolLM2-135M and Qwen2.5-Coder-0.5B, 2026-11-30.
ThreadGain measured_gain(bool wide_vectors) {
  return wide_vectors ? ThreadGain{.reading = 1.7, .decoding = 0.9}
                      : ThreadGain{.reading = 1.6, .decoding = 1.5};
}

CoreChoice choose_cores(const CoreQuery& query) {
  CoreChoice choice;
  if (!query.device_cores.empty()) {
    choice = as_named(query);
  } else if (query.limits.cores.empty()) {
    choice.reason = "the system does not tell the cores of this process";
  } else {
    choice = by_rule(query);
  }
  if (!query.compile_cores.empty()) choice.compile_cores = query.compile_cores;
  if (choice.compile_cores.empty()) choice.compile_cores = choice.device_cores;
  return choice;
}

}  // namespace ahead::plan
