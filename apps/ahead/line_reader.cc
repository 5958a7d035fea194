// See line_reader.h. May use: std, libedit.
#include "line_reader.h"

#include <editline/readline.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <memory>

namespace ahead::cli {
namespace {

/// Puts a message of several lines together.
template <typename Line>
std::optional<std::string> joined(const Line& next) {
  std::optional<std::string> message = next("> ");
  while (message && message->ends_with('\\')) {
    message->back() = '\n';
    const std::optional<std::string> more = next(". ");
    if (!more) break;
    *message += *more;
  }
  return message;
}

class PlainLines final : public LineReader {
 public:
  std::optional<std::string> read() override {
    return joined([](const char*) -> std::optional<std::string> {
      std::string line;
      if (!std::getline(std::cin, line)) return std::nullopt;
      if (line.ends_with('\r')) line.pop_back();
      return line;
    });
  }
};

/// Whether Ctrl-D was typed while nobody read, such as at the end of an answer. Once a line is
/// edited the terminal gives it as a NUL, of which libedit makes nothing.
bool ended_before_asked() {
  pollfd terminal{STDIN_FILENO, POLLIN, 0};
  int bytes = 0;
  if (::poll(&terminal, 1, 0) != 1 || ::ioctl(STDIN_FILENO, FIONREAD, &bytes) != 0) return false;
  return bytes == 0;
}

class EditedLines final : public LineReader {
 public:
  EditedLines() {
    rl_readline_name = const_cast<char*>("ahead");
    using_history();
  }

  std::optional<std::string> read() override {
    return joined([](const char* prompt) -> std::optional<std::string> {
      if (ended_before_asked()) return std::nullopt;
      const std::unique_ptr<char, void (*)(void*)> line(readline(prompt), std::free);
      if (line == nullptr) return std::nullopt;
      if (*line != '\0') add_history(line.get());
      return std::string(line.get());
    });
  }
};

}  // namespace

std::unique_ptr<LineReader> standard_lines() {
  if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {
    return std::make_unique<EditedLines>();
  }
  return std::make_unique<PlainLines>();
}

}  // namespace ahead::cli
