// Reading end-of-sequence tokens from Hugging Face's JSON files. May use: std, JSON, ahead/error.
#include "text/end_tokens.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "ahead/error.h"

namespace ahead::text {

void add_end_token(std::int32_t id, std::vector<std::int32_t>& ids) {
  if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
}

void add_end_tokens_of(const std::filesystem::path& path, std::vector<std::int32_t>& ids) {
  if (!std::filesystem::exists(path)) return;
  const auto invalid = [&](const std::string& what) {
    return Error(ErrorKind::kInvalidModel,
                 path.string() + " " + what + "; correct it, or export the model again");
  };
  std::ifstream file(path);
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw invalid("is not a JSON object");
  const auto entry = json.find("eos_token_id");
  if (entry == json.end() || entry->is_null()) return;
  const nlohmann::json list = entry->is_array() ? *entry : nlohmann::json::array({*entry});
  for (const nlohmann::json& id : list) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() > kMost) {
      throw invalid("has the eos_token_id " + entry->dump() + ", which is no token id");
    }
    add_end_token(id.get<std::int32_t>(), ids);
  }
}

}  // namespace ahead::text
