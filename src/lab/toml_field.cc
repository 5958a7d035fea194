// See toml_field.h. May use: base, include/ahead, toml++.
#include "lab/toml_field.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "ahead/error.h"
#include "base/printable.h"

namespace ahead::lab {
namespace {

std::string shown(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::string kind_of(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "a list";
  if (const auto* text = node.as_string()) return in_quotes(text->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point()) return shown(number->get());
  return "a date or time";
}

}  // namespace

void TomlField::refuse(const std::string& what) const {
  const auto line = node_.source().begin.line;
  throw Error(ErrorKind::kInvalidArgument, in_quotes(file_) + ", line " + std::to_string(line) +
                                               ": " + (key_.empty() ? "" : key_ + " ") + what);
}

std::string TomlField::full(std::string_view name) const {
  return (key_.empty() ? "" : key_ + ".") + std::string(name);
}

const toml::table& TomlField::table() const {
  const toml::table* table = node_.as_table();
  if (table == nullptr) refuse("is " + kind_of(node_) + "; it takes a table of keys and values");
  return *table;
}

void TomlField::allow_only(std::initializer_list<std::string_view> names) const {
  for (const auto& [key, value] : table()) {
    if (std::find(names.begin(), names.end(), key.str()) != names.end()) continue;
    std::string known;
    for (const std::string_view name : names) {
      known.append(known.empty() ? "" : ", ").append(name);
    }
    TomlField(file_, full(key.str()), value).refuse("is no key here; the keys are " + known);
  }
}

std::optional<TomlField> TomlField::find(std::string_view name) const {
  const toml::node* node = table().get(name);
  if (node == nullptr) return std::nullopt;
  return TomlField(file_, full(name), *node);
}

TomlField TomlField::at(std::string_view name) const {
  auto field = find(name);
  if (!field) refuse("has no " + std::string(name) + ", which must be there");
  return *field;
}

std::vector<TomlField> TomlField::items() const {
  const toml::array* list = node_.as_array();
  if (list == nullptr) refuse("is " + kind_of(node_) + "; it takes a list");
  std::vector<TomlField> items;
  for (std::size_t i = 0; i < list->size(); ++i) {
    items.emplace_back(file_, key_ + "[" + std::to_string(i) + "]", (*list)[i]);
  }
  return items;
}

std::string TomlField::text() const {
  const auto* text = node_.as_string();
  if (text == nullptr) refuse("is " + kind_of(node_) + "; it takes a text in quotes");
  return text->get();
}

std::vector<std::string> TomlField::texts() const {
  std::vector<std::string> texts;
  for (const TomlField& item : items()) texts.push_back(item.text());
  return texts;
}

std::map<std::string, std::string> TomlField::texts_by_name() const {
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : table()) {
    texts.emplace(key.str(), TomlField(file_, full(key.str()), value).text());
  }
  return texts;
}

bool TomlField::boolean() const {
  const auto* flag = node_.as_boolean();
  if (flag == nullptr) refuse("is " + kind_of(node_) + "; it takes true or false");
  return flag->get();
}

std::int64_t TomlField::whole(const Range& range) const {
  const auto* number = node_.as_integer();
  if (number == nullptr || static_cast<double>(number->get()) < range.least ||
      static_cast<double>(number->get()) > range.most) {
    refuse("is " + kind_of(node_) + "; it takes a whole number from " + shown(range.least) +
           " to " + shown(range.most));
  }
  return number->get();
}

double TomlField::real(const Range& range) const {
  const auto value = node_.value<double>();
  if (!value || !(*value >= range.least && *value <= range.most)) {
    refuse("is " + kind_of(node_) + "; it takes a number from " + shown(range.least) + " to " +
           shown(range.most));
  }
  return *value;
}

}  // namespace ahead::lab
