// What the parity tests share: each model read once a process, and the text they are forced along.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ahead/llm_pipeline.h"
#include "support/test_models.h"

namespace ahead::test {

inline const Model& smollm2() {
  static const Model kModel(smollm2_gguf());
  return kModel;
}

inline const Model& qwen2() {
  static const Model kModel(qwen2_gguf());
  return kModel;
}

/// The first tokens of data/forced.txt.
inline std::vector<std::int32_t> text_ids(const Model& model, std::size_t count) {
  std::ifstream file(AHEAD_SOURCE_DIR "/data/forced.txt");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::int32_t> ids = model.encode(text.substr(0, count * 16));
  EXPECT_GE(ids.size(), count);
  ids.resize(count);
  return ids;
}

}  // namespace ahead::test
