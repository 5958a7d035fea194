// A run's result as a JSON object, for the files of this room that add to it.
// May use: include/ahead, nlohmann-json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "ahead/run_result.h"

namespace ahead::api {

/// The contract's object, keys in the contract's order.
[[nodiscard]] nlohmann::ordered_json result_object(const RunResult& result);

/// Indented, one object, a newline at the end. Bytes that are not UTF-8 become U+FFFD, numbers that
/// are not finite become null: what a model or a path contains must not lose the result.
[[nodiscard]] std::string dump(const nlohmann::ordered_json& object);

}  // namespace ahead::api
