// A program that runs seeds and needs no OpenVINO: what the mutants link, and what checks the
// simulator where the command line is not built. Usage: PROGRAM A B. May use: include/ahead.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "ahead/simulation.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s FIRST LAST [events]\n", argv[0]);
    return 2;
  }
  const std::uint64_t first = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t last = std::strtoull(argv[2], nullptr, 10);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const auto verdict = ahead::simulate({.seed = seed, .keep_events = argc > 3});
    for (const std::string& event : verdict.events) std::printf("%s\n", event.c_str());
    if (verdict.passed) continue;
    std::printf("%s", ahead::to_string(verdict).c_str());
    return 1;
  }
  std::printf("seeds %s to %s: passed\n", argv[1], argv[2]);
  return 0;
}
