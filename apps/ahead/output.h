// What the program writes: text to standard output as it is made, whole files at the end.
// May use: include/ahead, POSIX.
#pragma once

#include <string>
#include <string_view>

namespace ahead::cli {

/// Writes `text` to a file descriptor, through partial writes and interruptions. 0, or errno.
[[nodiscard]] int write_all(int fd, std::string_view text);

/// Unbuffered text that may lose its reader. SIGPIPE must be ignored.
class TextOutput {
 public:
  explicit TextOutput(int fd) : fd_(fd) {}

  /// False once the reader is gone or a write failed; nothing is written from then on.
  bool write(std::string_view text);

  /// Ends an unfinished line.
  void end_line();

  /// The reader closed its end, or was never there: not worth a word.
  [[nodiscard]] bool reader_gone() const;
  /// Empty, or why text was lost.
  [[nodiscard]] std::string error() const;

 private:
  int fd_;
  int errno_ = 0;
  bool line_open_ = false;
};

/// Puts /dev/null where the program was started without a standard descriptor, so that no other
/// file takes its number and with it what is meant for the user. Standard output then refuses to
/// be written.
void fill_standard_descriptors();

/// Throws Error(kInvalidArgument) when `path` can not be written for a reason that is known before
/// anything is computed: no such folder, no permission, a folder itself. Leaves nothing behind.
void check_writable(const std::string& path);

/// Writes a file that is either whole or not there: beside its place first, then renamed. A path
/// that is there and not a regular file (a pipe, a device) is written directly. Throws Error(kIo).
void write_file(const std::string& path, std::string_view contents);

}  // namespace ahead::cli
