// Where the OpenVINO tokenizers extension is. May use: std, ahead/error; the .cc OpenVINO.
#pragma once

#include <string>

namespace ahead::text {

/// How a tokenizer is built.
struct TokenizerOptions {
  /// Path of libopenvino_tokenizers.so; empty: default_tokenizers_library().
  std::string library;
};

/// The extension's path: the environment's AHEAD_TOKENIZERS_LIBRARY when it is set, else beside
/// libopenvino.so, else where the build expected it. Throws Error(kInvalidArgument), naming the
/// places, when the file is in none of them.
[[nodiscard]] std::string default_tokenizers_library();

}  // namespace ahead::text
