// A GGUF file's header, read and checked against the file before OpenVINO sees it: a truncated or
// hostile file ends in one clear error here. Format: ggml's docs/gguf.md, versions 2 and 3.
// May use: base.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ahead::model {

/// Scalar metadata of a GGUF file; arrays are checked and passed over.
struct GgufHeader {
  std::uint32_t version = 0;
  std::uint64_t tensor_count = 0;
  std::map<std::string, std::string> strings;
  std::map<std::string, std::int64_t> integers;

  /// general.architecture in one short line, or "unknown".
  [[nodiscard]] std::string architecture() const;
  /// `<architecture>.<key>`, when it is there and an integer.
  [[nodiscard]] std::optional<std::int64_t> of_architecture(const std::string& key) const;
};

/// Throws Error(kInvalidModel) naming the path and the byte where the file stops making sense.
[[nodiscard]] GgufHeader read_gguf_header(const std::string& path);

}  // namespace ahead::model
