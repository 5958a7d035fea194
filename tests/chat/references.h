// Test support: the references that make_references.py wrote. May use: std, JSON.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ahead::text {

/// Order matters: templates write what they are given in its order.
using Json = nlohmann::ordered_json;

inline std::vector<std::string> reference_names() {
  std::vector<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator(AHEAD_SOURCE_DIR "/tests/chat/references")) {
    names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline Json reference(const std::string& name) {
  return Json::parse(std::ifstream(AHEAD_SOURCE_DIR "/tests/chat/references/" + name + ".json"));
}

}  // namespace ahead::text
