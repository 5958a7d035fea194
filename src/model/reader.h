// Reads a GGUF file or an OpenVINO IR folder into the canonical Decoder, with what the tokenizer
// needs beside it. May use: base, OpenVINO.
#pragma once

#include <filesystem>
#include <string>

#include "model/decoder.h"
#include "openvino/core/any.hpp"
#include "openvino/runtime/core.hpp"

namespace ahead::model {

/// A model as read.
struct ReadModel {
  Decoder decoder;
  std::filesystem::path weights;  ///< the file that holds them
  /// The GGUF file's tokenizer metadata; empty for an IR folder.
  ov::AnyMap gguf_tokenizer;
  /// The folder that holds openvino_tokenizer.xml; empty for a GGUF file.
  std::filesystem::path tokenizer_folder;
};

/// Reads `path`: a folder is an IR folder, anything else a GGUF file. Throws
/// Error(kInvalidModel | kUnsupportedModel).
[[nodiscard]] ReadModel read_model(ov::Core& core, const std::filesystem::path& path);

}  // namespace ahead::model
