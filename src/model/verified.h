// Which architectures are known to be computed right, and by what. May use: std.
#pragma once

#include <string>
#include <string_view>

namespace ahead::model {

/// Where a model comes from.
enum class Format {
  kGguf,  ///< general.architecture names the architecture
  kIr,    ///< config.json's model_type does
};

/// What shows that models of `architecture` write what they should: the reference, and the test
/// that holds them against it. Empty where nothing does. Conditions on a file's metadata are
/// gguf_heeded.h's.
[[nodiscard]] std::string_view verified_by(Format format, std::string_view architecture);

/// All that are known in that format, between commas.
[[nodiscard]] std::string verified_architectures(Format format);

}  // namespace ahead::model
