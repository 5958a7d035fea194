// Reads a GGUF file or an OpenVINO IR folder into the canonical Decoder, with what the tokenizer
// needs beside it. May use: base, OpenVINO.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/input_file.h"
#include "model/decoder.h"
#include "openvino/core/any.hpp"
#include "openvino/runtime/core.hpp"

namespace ahead::model {

struct ReadOptions {
  /// Reads architectures too of which nothing shows that they are computed right.
  bool unverified = false;
};

/// A model as read.
struct ReadModel {
  Decoder decoder;
  /// What shows that the architecture is computed right (verified.h); empty: nothing does.
  std::string verified_by;
  /// The file that holds the weights, open since it was read.
  std::shared_ptr<const InputFile> weights;
  /// The GGUF file's tokenizer metadata; empty for an IR folder.
  ov::AnyMap gguf_tokenizer;
  /// The GGUF file's chat templates, by name; the usual one is "default".
  std::map<std::string, std::string> chat_templates;
  /// The folder that holds openvino_tokenizer.xml; empty for a GGUF file.
  std::filesystem::path tokenizer_folder;
};

/// Reads `path`: a folder is an IR folder, a file that begins as GGUF files do is one, whatever its
/// name. Throws Error(kInvalidModel | kUnsupportedModel | kOutOfMemory | kIo).
[[nodiscard]] ReadModel read_model(ov::Core& core, const std::filesystem::path& path,
                                   const ReadOptions& options = {});

}  // namespace ahead::model
