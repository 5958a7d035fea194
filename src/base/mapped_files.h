// Files that a library keeps mapped while they are used: where one is cut short meanwhile, whoever
// reads what is gone would end by a signal. May use: std, the kernel.
#pragma once

#include <memory>

#include "base/input_file.h"

namespace ahead {

/// From now on, for as long as the process runs, pages of mapped files that are gone read as
/// zeroes, and check_mapped() tells; `file` is one that it names. A handler that somebody set for
/// the signal (SIGBUS) is left alone, and then nothing changes. Any thread.
void watch_mapped(const std::shared_ptr<const InputFile>& file);

/// Whether pages that are gone are noticed.
[[nodiscard]] bool mapped_is_watched();

/// Throws Error(kIo) naming the watched files that are not as they were opened, when a page was
/// found to be gone: what was computed since is worth nothing. Cheap otherwise. Any thread.
void check_mapped();

}  // namespace ahead
