// Where memory, threads or open files ran out, no file and no option is to blame. May use: std.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace ahead {

/// Throws Error(kOutOfMemory), `what` and the remedy, where `cause` says that something ran out;
/// does nothing otherwise. `what` says what could not be done.
void throw_if_short(const std::exception& cause, const std::string& what);

/// The same for a cause whose words say nothing: also where `bytes` of memory, which the work
/// needed, are not to be had.
void throw_if_short(const std::exception& cause, const std::string& what, std::uint64_t bytes);

/// Whether the process could have that much more address space; nothing is kept of it.
[[nodiscard]] bool has_room_for(std::uint64_t bytes);

/// Finds what an exception needs to pass through the C library, once. The library looks for it when
/// the first one does, and ends the process where memory is short by then.
void prepare_exceptions();

}  // namespace ahead
