// What a file is, told by its bytes and never by its name, and what its owner can do where it is no
// model. May use: base.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ahead/error.h"
#include "base/input_file.h"

namespace ahead::model {

enum class FileKind {
  kGguf,
  kGgufOtherOrder,  ///< written for processors whose bytes stand in the other order
  kGgml,            ///< what came before GGUF: ggml, ggmf, ggjt, and adapters (ggla)
  kEmpty,
  kZeros,
  kLfsPointer,
  kXetPointer,
  kAnnexPointer,
  kHtml,
  kGraph,  ///< the .xml of an OpenVINO IR folder
  kXml,
  kSafetensors,
  kTorch,  ///< a zip archive or a pickle of PyTorch
  kZip,
  kOnnx,
  kHdf5,
  kTflite,
  kGzip,
  kZstd,
  kXz,
  kBzip2,
  kSevenZip,
  kTar,
  kIndex,     ///< JSON that says which file holds which tensor
  kManifest,  ///< JSON of a registry, which names the blobs of a model
  kJson,
  kText,
  kUnknown,
};

/// Bytes of a file's beginning that kind_of() wants to see.
inline constexpr std::size_t kBeginningBytes = 4096;

/// What a file is that begins with `beginning` and has `size` bytes in all.
[[nodiscard]] FileKind kind_of(std::string_view beginning, std::uint64_t size);

/// In words, behind "is ": what it is, and behind a semicolon what to do. Empty for kGguf.
[[nodiscard]] std::string words_of(FileKind kind);

/// An Error(kInvalidModel) for a file that is no GGUF file: what it is, and what to do.
[[nodiscard]] Error no_model(const InputFile& file);

}  // namespace ahead::model
