// Values of a TOML text from somebody else, read with their key and line, so that what is wrong is
// named. May use: include/ahead, toml++.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/toml.h"

namespace ahead::lab {

/// A value and its key, like "arm[2].options". Every reading method throws Error(kInvalidArgument)
/// that names file, line and key, what stands there and what should. The text must outlive it.
class TomlField {
 public:
  TomlField(const std::string& file, std::string key, const toml::node& node)
      : file_(file), key_(std::move(key)), node_(node) {}

  /// Refuses members of other names.
  void allow_only(std::initializer_list<std::string_view> names) const;
  [[nodiscard]] std::optional<TomlField> find(std::string_view name) const;
  [[nodiscard]] TomlField at(std::string_view name) const;
  /// The elements of a list.
  [[nodiscard]] std::vector<TomlField> items() const;
  [[nodiscard]] std::map<std::string, std::string> texts_by_name() const;

  [[nodiscard]] bool is_text() const { return node_.is_string(); }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::vector<std::string> texts() const;
  [[nodiscard]] bool boolean() const;

  struct Range {
    double least = 0;
    double most = 0;
  };
  [[nodiscard]] std::int64_t whole(const Range& range) const;
  [[nodiscard]] double real(const Range& range) const;

  /// Throws what is wrong here.
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  [[nodiscard]] const toml::table& table() const;
  [[nodiscard]] std::string full(std::string_view name) const;

  const std::string& file_;
  std::string key_;
  const toml::node& node_;
};

}  // namespace ahead::lab
