// A GGUF file's header, read and checked against the file before OpenVINO sees it: a truncated or
// hostile file ends in one clear error here. Format: ggml's docs/gguf.md, versions 2 and 3.
// May use: base.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/input_file.h"

namespace ahead::model {

/// How a value of GGUF's metadata is stored; the numbers are the format's.
enum class GgufType : std::uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64
};

/// "u32", "an array" and so on.
[[nodiscard]] std::string name_of(GgufType type);

/// "Q4_K" and so on, as ggml has them; "type 99" for a number that is not in use.
[[nodiscard]] std::string name_of_ggml_type(std::uint32_t type);

/// Metadata and tensors of a GGUF file; of arrays only what they hold, and how much.
struct GgufHeader {
  struct Array {
    GgufType type = GgufType::kUint8;
    std::uint64_t count = 0;
    /// Of whole numbers that are all the same: that number.
    std::optional<std::int64_t> same;
    /// Of whole numbers: the smallest.
    std::optional<std::int64_t> least = {};
  };
  struct Tensor {
    std::string name;
    std::uint32_t type = 0;  ///< of ggml; 0 is f32
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;  ///< as stored
  };

  std::uint32_t version = 0;
  std::map<std::string, GgufType> types;  ///< of every key
  std::map<std::string, std::string> strings;
  std::map<std::string, std::int64_t> integers;  ///< booleans too
  std::map<std::string, double> floats;
  std::map<std::string, Array> arrays;
  std::vector<Tensor> tensors;
  /// Values of the small f32 tensors that divide the rotation's frequencies, by name.
  std::map<std::string, std::vector<float>> rope_factors;

  /// general.architecture in one short line, or "unknown".
  [[nodiscard]] std::string architecture() const;
  /// `<architecture>.<key>`, when it is there and an integer.
  [[nodiscard]] std::optional<std::int64_t> of_architecture(const std::string& key) const;
  /// A number of any type under `key`.
  [[nodiscard]] std::optional<double> number(const std::string& key) const;
};

/// Throws Error(kInvalidModel) naming the path and the byte where the file stops making sense, or
/// saying what the file is instead.
[[nodiscard]] GgufHeader read_gguf_header(const InputFile& file);
[[nodiscard]] GgufHeader read_gguf_header(const std::string& path);

}  // namespace ahead::model
