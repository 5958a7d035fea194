// What the tokenizer tests share: the files they need and how tokenizers are made from them.
// May use: std, OpenVINO, JSON, GoogleTest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <openvino/core/any.hpp>
#include <string>
#include <vector>

#include "ahead/error.h"

namespace ahead::text {

/// One text and what becomes of it.
struct ReferenceCase {
  std::string text;
  std::vector<std::int32_t> ids;
  /// Text of `ids` without special tokens.
  std::string decoded;
  /// With other pre-tokenizers.
  std::vector<std::int32_t> ids_gpt2;
  std::vector<std::int32_t> ids_qwen2;
  /// Of an IR folder, whose expressions take U+180E for a space, without and with an unknown token
  /// for bytes that the vocabulary lacks.
  std::vector<std::int32_t> ids_ir;
  std::vector<std::int32_t> ids_ir_unknown;
};

/// smollm2_reference.json, or the file AHEAD_TEST_REFERENCE names.
[[nodiscard]] const std::vector<ReferenceCase>& reference();

/// The tokenizer metadata of the GGUF file: AHEAD_TEST_GGUF, else the one setup.sh fetches. Throws
/// with a remedy when the file is missing.
[[nodiscard]] const ov::AnyMap& gguf_metadata();

/// The IR folder: AHEAD_TEST_IR, else the one setup.sh makes. Throws with a remedy when there is
/// none.
[[nodiscard]] std::filesystem::path ir_folder();

/// Whether the IR folder's tokenizer has a token for bytes its vocabulary lacks.
[[nodiscard]] bool ir_has_unknown_token();

/// Expects an Error of `kind` with `part` in its text.
void expect_error(ErrorKind kind, const std::string& part, const std::function<void()>& action);

/// For failure messages: printable ASCII, everything else as \x...
[[nodiscard]] std::string printable(const std::string& text);

}  // namespace ahead::text
