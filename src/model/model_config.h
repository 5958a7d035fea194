// What an IR folder's config.json says of the model. May use: base, JSON in the .cc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace ahead::model {

struct ModelConfig {
  std::string architecture = "unknown";  ///< "model_type", printable
  std::int64_t context = 0;              ///< trained context as the file says; 0: it does not
  /// "rope_theta" and "rope_scaling" and their kin, as they stand there; printable.
  std::string rotation;
};

/// Reads config.json in `folder`; where there is none, nothing is known. Throws
/// Error(kInvalidModel) naming the file, and the line and column where it stops being JSON.
[[nodiscard]] ModelConfig read_model_config(const std::filesystem::path& folder);

}  // namespace ahead::model
