// Tokens that every runtime takes for an end by their names, because files often name one end of
// several, or a wrong one. May use: std.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace ahead::text {

/// Finds a control token of the vocabulary by its name.
using ControlTokenOf = std::function<std::optional<std::int32_t>(std::string_view name)>;

/// Ids of those that the vocabulary has.
[[nodiscard]] std::vector<std::int32_t> named_end_tokens(const ControlTokenOf& id_of);

}  // namespace ahead::text
