// Words out of files and command lines, made fit for a message: one line that a terminal only
// shows. May use: std.
#pragma once

#include <string>
#include <string_view>

namespace ahead {

/// `text` in one line of valid UTF-8: runs of blanks and line breaks become one blank, and broken
/// bytes and what a terminal would obey instead of showing it (escape sequences, changes of
/// direction) become '?' each.
[[nodiscard]] std::string printable(std::string_view text);

/// A value: printable, in quotes; the beginning of one that is longer than 100 bytes.
[[nodiscard]] std::string in_quotes(std::string_view value);

/// A path, likewise; the end of a long one, where the file's name stands.
[[nodiscard]] std::string path_in_quotes(std::string_view path);

}  // namespace ahead
