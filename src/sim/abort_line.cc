// A handler for SIGABRT, and the line it writes. May use: std.
#include "sim/abort_line.h"

#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>

namespace ahead::sim {
namespace {

/// What a signal handler may read: the line to write, ready made.
char abort_line[160];
std::size_t abort_length = 0;

extern "C" void say_seed(int /*signal*/) {
  (void)!write(STDERR_FILENO, abort_line, abort_length);
  // The default action follows: abort() ends the program when the handler returns.
}

}  // namespace

AbortLine::AbortLine(std::uint64_t seed) {
  const auto number = static_cast<unsigned long long>(seed);
  const int length = std::snprintf(
      abort_line, sizeof abort_line,
      "seed %llu: broken: abort: the runtime's own check\n  again: ahead sim --seed %llu\n", number,
      number);
  abort_length = static_cast<std::size_t>(std::max(length, 0));
  before_ = std::signal(SIGABRT, say_seed);
}

AbortLine::~AbortLine() { std::signal(SIGABRT, before_); }

}  // namespace ahead::sim
