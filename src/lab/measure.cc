// See measure.h. May use: nlohmann-json.
#include "lab/measure.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace ahead::lab {
namespace {

std::optional<double> number_at(const Json& result, const std::string& pointer) {
  try {
    const Json& value = result.at(Json::json_pointer(pointer));
    if (value.is_number()) return value.get<double>();
  } catch (const Json::exception&) {  // Not there, or no pointer: told as no value.
  }
  return std::nullopt;
}

std::string with_key(std::string pointer, const std::string& key) {
  const std::size_t star = pointer.find('*');
  if (star != std::string::npos) pointer.replace(star, 1, key);
  return pointer;
}

std::vector<std::string> keys_of(const Endpoint& endpoint, const Json& result) {
  for (const std::string& pointer : endpoint.value) {
    const std::size_t star = pointer.find('*');
    if (star == std::string::npos) continue;
    std::vector<std::string> keys;
    try {
      const Json& object = result.at(Json::json_pointer(pointer.substr(0, star - 1)));
      for (const auto& item : object.items()) keys.push_back(item.key());
    } catch (const Json::exception&) {  // As above.
    }
    std::stable_sort(keys.begin(), keys.end(), [](const std::string& a, const std::string& b) {
      return std::atof(a.c_str()) < std::atof(b.c_str());
    });
    return keys;
  }
  return {""};
}

}  // namespace

std::vector<Measured> measure(const Endpoint& endpoint, const Json& result) {
  std::vector<Measured> values;
  for (const std::string& key : keys_of(endpoint, result)) {
    double sum = 0;
    bool whole = true;
    for (const std::string& pointer : endpoint.value) {
      const auto value = number_at(result, with_key(pointer, key));
      whole = whole && value;
      sum += value.value_or(0);
    }
    for (const std::string& pointer : endpoint.less) {
      sum -= number_at(result, with_key(pointer, key)).value_or(0);
    }
    if (!endpoint.per.empty()) {
      const auto per = number_at(result, with_key(endpoint.per, key));
      whole = whole && per;
      sum /= per.value_or(1) - endpoint.per_less;
    }
    if (whole && std::isfinite(sum)) values.push_back({key, sum * endpoint.scale});
  }
  return values;
}

}  // namespace ahead::lab
