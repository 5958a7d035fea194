// Writing a file as a whole, wherever its path leads. May use: std, the kernel.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

namespace ahead {

/// Where `path` leads: what stands behind symbolic links, also when the last one's end is not there
/// yet.
[[nodiscard]] std::string place_of(const std::string& path);

/// Throws Error(kInvalidArgument) that names `path` when replace_file() could not write it for a
/// reason that is known before anything is computed: no such folder, no permission, a folder
/// itself, a disk. Leaves nothing behind.
void check_replaceable(const std::string& path);

/// Writes `contents` beside the file and renames, so that it is whole or as it was; its permissions
/// and its owner stay. Where a rename is not possible, or would part the file from its other names
/// (a mounted file, a folder that may not be written to, hard links), it is written in place. A
/// pipe or a device is written directly, and waits for its reader until shortly after `stop`.
/// Throws Error(kIo) that names `path`; no draft is left behind.
void replace_file(const std::string& path, std::string_view contents, std::stop_token stop = {});

}  // namespace ahead
