// Where tests find real models: the folder scripts/setup.sh --tests fills.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace ahead::test {

/// AHEAD_DEPS_DIR/`name`; a missing one fails the test with the remedy.
inline std::string dependency(const std::string& name) {
  const char* folder = std::getenv("AHEAD_DEPS_DIR");
  const auto path = std::filesystem::path(folder != nullptr ? folder : ".deps") / name;
  EXPECT_TRUE(std::filesystem::exists(path))
      << path << " is missing; run scripts/setup.sh --tests, and the tests through ctest";
  return path.string();
}

inline std::string smollm2_gguf() { return dependency("model/SmolLM2-135M-Instruct.Q4_1.gguf"); }
inline std::string smollm2_ir() { return dependency("test-ir"); }
inline std::string qwen2_gguf() { return dependency("test-qwen2.gguf"); }

}  // namespace ahead::test
