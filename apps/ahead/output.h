// Text that goes to standard output as it is made. May use: base, POSIX.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/outlet.h"

namespace ahead::cli {

/// Unbuffered text that may lose its reader. SIGPIPE must be ignored.
class TextOutput {
 public:
  explicit TextOutput(int fd, std::stop_token stop = {}) : outlet_(fd, {.stop = std::move(stop)}) {}

  /// Waits for the reader, and once a stop is requested a short while. False when the reader is
  /// gone or a write failed; nothing is written from then on.
  bool write(std::string_view text);

  /// Ends an unfinished line.
  void end_line();

  /// The reader closed its end, or was never there: not worth a word.
  [[nodiscard]] bool reader_gone() const;
  /// A stop was requested while the reader did not read.
  [[nodiscard]] bool given_up() const;
  /// Why text was lost; empty when nothing was, or nobody will miss it.
  [[nodiscard]] std::string error() const;

 private:
  Outlet outlet_;
  int errno_ = 0;
  bool line_open_ = false;
};

/// Writes all of `text` to standard output. Throws Error(kIo) when it is lost, but not when its
/// reader left.
void write_text(std::string_view text);

/// Puts /dev/null where the program was started without a standard descriptor, so that no other
/// file takes its number and with it what is meant for the user. Standard output then refuses to
/// be written.
void fill_standard_descriptors();

}  // namespace ahead::cli
