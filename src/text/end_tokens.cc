// Reading end-of-sequence tokens from Hugging Face's JSON files. May use: std, JSON, base.
#include "text/end_tokens.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/python_json.h"

namespace ahead::text {

void add_end_token(std::int32_t id, std::vector<std::int32_t>& ids) {
  if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
}

namespace {

/// Far above any real file of this kind.
constexpr std::uintmax_t kMaxBytes = 16 << 20;
/// What is nested deeper is passed over: a file that is all brackets would fill memory.
constexpr int kMaxDepth = 64;

/// For a message: never what a file nests, which may be of any size.
std::string shown(const nlohmann::json& value) {
  if (value.is_structured()) return std::string("of type ") + value.type_name();
  const std::string text =
      value.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  return text.size() <= 40 ? text : text.substr(0, 40) + "...";
}

}  // namespace

void add_end_tokens_of(const std::filesystem::path& path, std::vector<std::int32_t>& ids) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return;
  const auto invalid = [&](const std::string& what) {
    return Error(ErrorKind::kInvalidModel, path_in_quotes(path.string()) + " " + what +
                                               "; correct it, or export the model again");
  };
  const std::uintmax_t bytes = error ? 0 : std::filesystem::file_size(path, error);
  if (error) throw invalid("cannot be read: " + error.message());
  if (bytes > kMaxBytes)
    throw invalid("has " + std::to_string(bytes) + " bytes, which is too many");
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  nlohmann::json json;
  try {
    json =
        nlohmann::json::parse(plain_json(text), [](int depth, nlohmann::json::parse_event_t,
                                                   nlohmann::json&) { return depth <= kMaxDepth; });
  } catch (const nlohmann::json::parse_error& cause) {
    throw invalid("is no JSON at " + place_in(text, cause.byte == 0 ? 0 : cause.byte - 1));
  }
  if (!json.is_object()) throw invalid("is not a JSON object");
  const auto entry = json.find("eos_token_id");
  if (entry == json.end() || entry->is_null()) return;
  const auto add = [&](const nlohmann::json& id) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() > kMost) {
      throw invalid("has an eos_token_id " + shown(id) + ", which is no token id");
    }
    add_end_token(id.get<std::int32_t>(), ids);
  };
  if (entry->is_array()) {
    std::ranges::for_each(*entry, add);
  } else {
    add(*entry);
  }
}

}  // namespace ahead::text
