// What to do where memory, threads or open files ran out, told from an exception of any library.
// May use: std.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace ahead {

/// What a process may run out of, other than what a model or an option is to blame for.
enum class Shortage {
  kMemory,
  kThreads,  ///< or the address space of their stacks: the kernel says the same of both
  kOpenFiles,
};

/// Whether the text of an exception means that something ran out.
[[nodiscard]] std::optional<Shortage> shortage_in(std::string_view what);

/// The same by its type and code as well; std::bad_alloc and std::system_error are known.
[[nodiscard]] std::optional<Shortage> shortage_in(const std::exception& error);

/// What to do, as the end of an error's line, without a full stop.
[[nodiscard]] std::string remedy_of(Shortage shortage);

/// The remedy when something ran out; otherwise nothing, and the caller knows a better one.
[[nodiscard]] std::optional<std::string> resource_remedy(std::string_view what);
[[nodiscard]] std::optional<std::string> resource_remedy(const std::exception& error);

}  // namespace ahead
