// A text as editors write it: pure functions from a file's bytes to the text that was meant.
// May use: include/ahead, base.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ahead::cli {

/// A file's text, and what its reader should be told of it.
struct PlainText {
  std::string text;
  std::vector<std::string> notes;  ///< at most one
};

/// Of a byte order mark nothing is left, and nothing of the line end at the very end; line ends of
/// other systems (CR LF, or CR alone where there is no LF) become LF. Bytes that are no UTF-8 stay
/// and are told. `source` names the file in messages, like "--prompt-file 'p.txt'". Throws
/// Error(kInvalidArgument) for UTF-16 and UTF-32, with or without their mark.
[[nodiscard]] PlainText plain_text(std::string_view source, std::string bytes);

/// Lines without their ends; blank lines at the end are none.
[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);

/// A note where `text` is not all UTF-8, otherwise nothing: how many faults there are, and where
/// the first is.
[[nodiscard]] std::vector<std::string> note_on_utf8(std::string_view source, std::string_view text);

}  // namespace ahead::cli
