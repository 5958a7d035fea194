// Where a chat's lines come from: a terminal with editing and history, or a file of lines.
// May use: std, libedit.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace ahead::cli {

class LineReader {
 public:
  virtual ~LineReader() = default;
  /// The next message without its line end; nothing at the end of the input. A line that ends in a
  /// backslash goes on in the next.
  virtual std::optional<std::string> read() = 0;
};

/// Lines of standard input, edited and remembered by libedit where both standard input and output
/// are a terminal.
[[nodiscard]] std::unique_ptr<LineReader> standard_lines();

}  // namespace ahead::cli
