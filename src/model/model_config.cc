// See model_config.h. May use: base, JSON.
#include "model/model_config.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "ahead/error.h"
#include "base/input_file.h"
#include "base/printable.h"
#include "base/python_json.h"
#include "model/file_kind.h"

namespace ahead::model {
namespace {

using Json = nlohmann::json;

// Far above any real config.json. What is nested deeper is passed over: a file that is all brackets
// would fill memory.
constexpr std::uint64_t kMaxBytes = 16 << 20;
constexpr int kMaxDepth = 64;

[[noreturn]] void invalid(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::kInvalidModel,
              path_in_quotes(path) + " " + what + "; correct it, or export the model again");
}

Json parse(const std::string& path, const std::string& text) {
  try {
    return Json::parse(plain_json(text),
                       [](int depth, Json::parse_event_t, Json&) { return depth <= kMaxDepth; });
  } catch (const Json::parse_error& error) {
    const std::size_t at = error.byte == 0 ? 0 : error.byte - 1;
    invalid(path, "is no JSON at " + place_in(text, at));
  }
}

std::int64_t context_in(const Json& object) {
  const auto found = object.find("max_position_embeddings");
  if (found == object.end() || !found->is_number_integer()) return 0;
  // Above the largest signed number it would turn negative, which is no context either.
  return found->get<std::int64_t>();
}

/// What is said of the rotary positions, but at most a line of it.
std::string rotation_in(const Json& object) {
  constexpr std::size_t kMost = 300;
  std::string out;
  for (const char* key : {"rope_theta", "rope_local_base_freq", "partial_rotary_factor",
                          "rotary_pct", "rope_scaling", "rope_parameters"}) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) continue;
    const std::string value =
        found->dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
    out += (out.empty() ? "" : ", ") + std::string(key) + " " + printable(value.substr(0, kMost));
  }
  return out.substr(0, kMost);
}

}  // namespace

ModelConfig read_model_config(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "config.json";
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return {};
  if (error) invalid(path.string(), "cannot be read: " + error.message());
  const InputFile file(path.string());
  if (file.size() > kMaxBytes) {
    invalid(file.path(), "has " + std::to_string(file.size()) + " bytes, which is too many");
  }
  const std::string text = file.read({.at = 0, .bytes = file.size()});
  const FileKind kind = kind_of(text.substr(0, kBeginningBytes), text.size());
  if (kind == FileKind::kLfsPointer || kind == FileKind::kHtml) throw no_model(file);
  const Json json = parse(file.path(), text);
  if (!json.is_object()) invalid(file.path(), "is not a JSON object");

  ModelConfig config;
  const auto type = json.find("model_type");
  if (type != json.end() && type->is_string()) {
    constexpr std::size_t kMost = 60;
    config.architecture = printable(type->get<std::string>().substr(0, kMost));
  }
  config.context = context_in(json);
  config.rotation = rotation_in(json);
  // Models that see or hear name it inside.
  const auto inner = json.find("text_config");
  if (config.context <= 0 && inner != json.end() && inner->is_object()) {
    config.context = context_in(*inner);
    if (config.rotation.empty()) config.rotation = rotation_in(*inner);
  }
  return config;
}

}  // namespace ahead::model
