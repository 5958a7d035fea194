// Values of a JSON text from somebody else, read with their place in it, so that what is wrong is
// named. May use: base, include/ahead, nlohmann-json.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ahead::api {

/// A value and its path, like "partitions[0].steps". Every reading method throws
/// Error(kInvalidArgument) that names the path, what stands there and what should.
class JsonField {
 public:
  using Json = nlohmann::ordered_json;
  JsonField(const Json& value, std::string path) : value_(value), path_(std::move(path)) {}

  /// Refuses members of other names.
  void allow_only(std::initializer_list<std::string_view> names) const;

  [[nodiscard]] JsonField at(std::string_view name) const;
  [[nodiscard]] std::optional<JsonField> find(std::string_view name) const;
  [[nodiscard]] std::vector<JsonField> items() const;

  struct Member {
    std::string name;
    const Json* value;
  };
  [[nodiscard]] std::vector<Member> members() const;
  [[nodiscard]] JsonField of(const Member& member) const;

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] bool is_number() const { return value_.is_number(); }

  struct Range {
    std::int64_t least = 0;
    std::int64_t most = 0;
  };
  [[nodiscard]] std::int64_t whole(const Range& range) const;
  struct RealRange {
    double least = 0;
    double most = 0;
    std::string_view takes;  ///< "seconds from 0 to a million"
  };
  [[nodiscard]] double real(const RealRange& range) const;

  /// Throws what is wrong here.
  [[noreturn]] void refuse(const std::string& what) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const Json& value_;
  std::string path_;
};

}  // namespace ahead::api
