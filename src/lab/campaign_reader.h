// A campaign's file, TOML, to a Campaign. May use: base, include/ahead, toml++.
#pragma once

#include <string>
#include <string_view>

#include "lab/campaign.h"

namespace ahead::lab {

/// Throws Error(kInvalidArgument) that names `path`, the line, the key, what stands there and what
/// should.
[[nodiscard]] Campaign read_campaign(const std::string& path, std::string_view text);

}  // namespace ahead::lab
