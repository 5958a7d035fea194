// Options as every command adds them: CLI11 reads, converts and checks their values, and what is
// refused is said in one way. May use: include/ahead, base, CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "ahead/error.h"
#include "base/printable.h"

namespace ahead::cli {

/// Throws Error(kInvalidArgument): "--ladder is 'x'; it takes ...".
[[noreturn]] inline void refuse_option(std::string_view option, std::string_view value,
                                       std::string_view takes) {
  throw Error(ErrorKind::kInvalidArgument, std::string(option) + " is " + ahead::in_quotes(value) +
                                               "; it takes " + std::string(takes));
}

/// What an option takes, and the words for it.
struct Takes {
  CLI::Validator check;
  std::string words;
};

/// A number in that range, in decimal. CLI11 alone would read "010" as eight, "0x10", " 5" and "+5"
/// as numbers, what is too large as the largest, and let "nan" into every range.
template <typename Number>
[[nodiscard]] CLI::Validator number(Number least,
                                    Number most = std::numeric_limits<Number>::max()) {
  const CLI::Validator decimal(
      [](std::string& word) {
        Number value{};
        const char* const end = word.data() + word.size();
        const auto read = std::from_chars(word.data(), end, value);
        if (read.ec != std::errc() || read.ptr != end) return std::string("no number");
        if constexpr (std::is_integral_v<Number>) {
          word = std::to_string(value);  // without zeros in front
        } else if (std::isnan(value)) {
          return std::string("no number");
        }
        return std::string();
      },
      "");
  return decimal & CLI::Range(least, most);
}

/// What stands between the commas; of an empty text one item, which is empty. CLI11's own lists
/// leave out what is empty: "--device-cores $A,$B" would lose a core.
[[nodiscard]] inline std::vector<std::string> items(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    out.emplace_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return out;
}

/// Adds options that stand together in a command's help.
class OptionGroup {
 public:
  /// Without a title they are not shown.
  explicit OptionGroup(CLI::App& command, std::string title = "Options")
      : command_(command), title_(std::move(title)) {}

  struct Words {
    const char* name;
    const char* value;  ///< in the help
    std::string help;
  };

  /// Whatever is typed.
  template <typename Value>
  CLI::Option* option(Value& value, const Words& words) {
    return placed(command_.add_option(words.name, value, words.help), words);
  }

  /// What `takes` lets through.
  template <typename Value>
  CLI::Option* option(Value& value, const Words& words, const Takes& takes) {
    return option(value, words)
        ->transform(CLI::Validator(
            [name = words.name, takes](std::string& word) {
              const std::string typed = word;
              if (!takes.check(word).empty()) refuse_option(name, typed, takes.words);
              return std::string();
            },
            ""));
  }

  /// What `reader` makes of the word; it throws where it can make nothing.
  template <typename Value, typename Read>
  CLI::Option* read(Value& value, const Words& words, Read reader) {
    const auto take = [&value, reader](const CLI::results_t& typed) {
      value = reader(typed.front());
      return true;
    };
    return placed(command_.add_option(words.name, CLI::callback_t(take), words.help), words);
  }

  /// Likewise, where it answers with nothing for what the option does not take.
  template <typename Value, typename Read>
  CLI::Option* read(Value& value, const Words& words, Read reader, const char* takes) {
    return read(value, words, [reader, name = words.name, takes](const std::string& typed) {
      auto made = reader(typed);
      if (!made) refuse_option(name, typed, takes);
      return *std::move(made);
    });
  }

  /// Whole numbers between commas, each of which `check` lets through.
  template <typename Number>
  CLI::Option* list(std::vector<Number>& values, const Words& words, const CLI::Validator& check,
                    const char* takes) {
    const auto numbers = [check](const std::string& typed) {
      std::optional<std::vector<Number>> out(std::in_place);
      for (std::string item : items(typed)) {
        if (!check(item).empty()) return decltype(out)();
        out->push_back(static_cast<Number>(std::stoll(item)));
      }
      return out;
    };
    return read(values, words, numbers, takes);
  }

  void flag(bool& value, const char* name, const char* help) {
    command_.add_flag(name, value, help)->group(title_);
  }

 private:
  CLI::Option* placed(CLI::Option* option, const Words& words) {
    return option->type_name(words.value)->group(title_);
  }

  CLI::App& command_;
  std::string title_;
};

/// Makes --help win over a value that can not be; CLI11 would refuse the value first.
inline void help_comes_first(CLI::App& command) {
  command.set_help_flag();
  command.add_flag_callback(
      "-h,--help", [] { throw CLI::CallForHelp(); }, "Print this help message and exit");
}

}  // namespace ahead::cli
