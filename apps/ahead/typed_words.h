// For tests of options: words as somebody types them, read by a command. Tests that use it need not
// compile CLI11 themselves. May use: include/ahead, GoogleTest; typed_words.cc CLI11.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace ahead::cli {

/// What stands between the spaces of `line`.
[[nodiscard]] std::vector<std::string> split_at_spaces(std::string_view line);

/// Has a command with the options that `add` adds read `words`, in the order of a command line.
/// Throws what CLI11 or an option throws.
void read_words(const std::vector<std::string>& words, const std::function<void(CLI::App&)>& add);

/// The message with which `read` refuses its words; "accepted" where it does not. Another error
/// than Error(kInvalidArgument) fails the test.
[[nodiscard]] std::string refusal_of(const std::function<void()>& read);

}  // namespace ahead::cli
