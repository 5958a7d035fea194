// See json_field.h. May use: base, include/ahead, nlohmann-json.
#include "api/json_field.h"

#include <algorithm>
#include <cmath>

#include "ahead/error.h"
#include "api/wording.h"
#include "base/printable.h"

namespace ahead::api {
namespace {

std::string shown(const JsonField::Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  return in_quotes(value.dump(-1, ' ', false, JsonField::Json::error_handler_t::replace));
}

}  // namespace

void JsonField::refuse(const std::string& what) const {
  throw Error(ErrorKind::kInvalidArgument,
              (path_.empty() ? std::string("the profile") : in_quotes(path_)) + " " + what);
}

void JsonField::allow_only(std::initializer_list<std::string_view> names) const {
  const std::vector<std::string_view> known(names);
  for (const Member& member : members()) {
    if (std::find(known.begin(), known.end(), member.name) == known.end()) {
      refuse("has the unknown field " + in_quotes(member.name) + "; it takes " + one_of(known));
    }
  }
}

std::optional<JsonField> JsonField::find(std::string_view name) const {
  if (!value_.is_object()) refuse("is " + shown(value_) + "; it takes an object");
  const auto found = value_.find(std::string(name));
  if (found == value_.end()) return std::nullopt;
  return JsonField(*found, (path_.empty() ? "" : path_ + ".") + std::string(name));
}

JsonField JsonField::at(std::string_view name) const {
  if (const auto found = find(name)) return *found;
  refuse("lacks the field " + in_quotes(name));
}

std::vector<JsonField> JsonField::items() const {
  if (!value_.is_array()) refuse("is " + shown(value_) + "; it takes a list");
  std::vector<JsonField> out;
  for (const Json& item : value_) {
    out.emplace_back(item, path_ + "[" + std::to_string(out.size()) + "]");
  }
  return out;
}

std::vector<JsonField::Member> JsonField::members() const {
  if (!value_.is_object()) refuse("is " + shown(value_) + "; it takes an object");
  std::vector<Member> out;
  for (const auto& [name, value] : value_.items()) out.push_back({name, &value});
  return out;
}

JsonField JsonField::of(const Member& member) const {
  return {*member.value, (path_.empty() ? "" : path_ + ".") + member.name};
}

std::string JsonField::text() const {
  if (!value_.is_string()) refuse("is " + shown(value_) + "; it takes a text");
  return value_.get<std::string>();
}

bool JsonField::boolean() const {
  if (!value_.is_boolean()) refuse("is " + shown(value_) + "; it takes true or false");
  return value_.get<bool>();
}

std::int64_t JsonField::whole(const Range& range) const {
  const bool fits = value_.is_number_integer() &&
                    (!value_.is_number_unsigned() ||
                     value_.get<std::uint64_t>() <= static_cast<std::uint64_t>(range.most));
  if (!fits || value_.get<std::int64_t>() < range.least ||
      value_.get<std::int64_t>() > range.most) {
    refuse("is " + shown(value_) + "; it takes a whole number from " + std::to_string(range.least) +
           " to " + std::to_string(range.most));
  }
  return value_.get<std::int64_t>();
}

double JsonField::real(const RealRange& range) const {
  const double value = value_.is_number() ? value_.get<double>() : std::nan("");
  if (!(value >= range.least && value <= range.most)) {
    refuse("is " + shown(value_) + "; it takes " + std::string(range.takes));
  }
  return value;
}

}  // namespace ahead::api
