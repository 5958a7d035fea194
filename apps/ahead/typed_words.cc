// See typed_words.h. May use: include/ahead, CLI11, GoogleTest.
#include "typed_words.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "ahead/error.h"

namespace ahead::cli {

std::vector<std::string> split_at_spaces(std::string_view line) {
  return CLI::detail::split(std::string(line), ' ');
}

void read_words(const std::vector<std::string>& words, const std::function<void(CLI::App&)>& add) {
  CLI::App command;
  add(command);
  std::vector<std::string> backwards(words.rbegin(), words.rend());  // as CLI11 wants them
  command.parse(std::move(backwards));
}

std::string refusal_of(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

}  // namespace ahead::cli
