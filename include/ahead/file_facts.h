// What a model's file says of itself, read without unpacking a weight or compiling anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ahead {

/// Facts about a file or folder, as it says them. Whether and how it runs, ModelFacts knows.
struct FileFacts {
  std::string format;        ///< "GGUF 3" or "OpenVINO IR"
  std::string architecture;  ///< "unknown" where it is not said
  /// What shows that the architecture is computed right; empty: nothing does.
  std::string verified_by;

  /// Weights stored alike.
  struct Stored {
    std::string type;  ///< ggml's or OpenVINO's name, such as "Q4_K" or "u4"
    std::int64_t tensors = 0;
    std::int64_t bytes = 0;

    friend bool operator==(const Stored&, const Stored&) = default;
  };
  std::vector<Stored> stored;  ///< most bytes first

  std::string rotation;   ///< base, scaling and factors of the rotary positions, in words
  std::string tokenizer;  ///< its kind and group, in words
  /// Why it is refused, as far as that can be told without unpacking; empty: it is not.
  std::string refusal;
};

/// Reads the facts of a GGUF file's header, or of an OpenVINO IR folder. Throws
/// Error(kInvalidModel | kIo) for what is neither, or broken.
[[nodiscard]] FileFacts file_facts(const std::string& path);

}  // namespace ahead
