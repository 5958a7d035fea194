// The end-of-sequence tokens an OpenVINO IR folder names. May use: std, JSON, ahead/error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace ahead::text {

/// Adds `id` unless it is there.
void add_end_token(std::int32_t id, std::vector<std::int32_t>& ids);

/// Adds "eos_token_id", a number or a list of them, of the JSON file `path`; nothing when there is
/// no such file or no such entry. Throws Error(kInvalidModel) for anything else.
void add_end_tokens_of(const std::filesystem::path& path, std::vector<std::int32_t>& ids);

}  // namespace ahead::text
