// Told by codes where there are some, otherwise by the words that libraries use. May use: std.
#include "base/resources.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>

namespace ahead {
namespace {

struct Words {
  std::string_view words;  // in small letters
  Shortage shortage;
};

constexpr std::array kWords = {
    Words{"bad_alloc", Shortage::kMemory},
    Words{"bad allocation", Shortage::kMemory},
    Words{"cannot allocate", Shortage::kMemory},
    Words{"can not allocate", Shortage::kMemory},
    Words{"could not allocate", Shortage::kMemory},
    Words{"failed to allocate", Shortage::kMemory},
    Words{"out of memory", Shortage::kMemory},
    Words{"not enough memory", Shortage::kMemory},
    Words{"failed to map segment", Shortage::kMemory},  // the loader, of a library
    Words{"resource temporarily unavailable", Shortage::kThreads},
    Words{"pthread_create", Shortage::kThreads},
    Words{"too many open files", Shortage::kOpenFiles},
};

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::optional<Shortage> shortage_of(int error) {
  switch (error) {
    case ENOMEM:
      return Shortage::kMemory;
    case EAGAIN:
      return Shortage::kThreads;
    case EMFILE:
    case ENFILE:
      return Shortage::kOpenFiles;
    default:
      return std::nullopt;
  }
}

std::optional<std::string> remedy_for(std::optional<Shortage> shortage) {
  return shortage ? std::optional(remedy_of(*shortage)) : std::nullopt;
}

}  // namespace

std::optional<Shortage> shortage_in(std::string_view what) {
  std::string text(what);
  std::transform(text.begin(), text.end(), text.begin(), small);
  for (const Words& entry : kWords) {
    if (text.find(entry.words) != std::string::npos) return entry.shortage;
  }
  return std::nullopt;
}

std::optional<Shortage> shortage_in(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return Shortage::kMemory;
  if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
    const std::error_category& category = system->code().category();
    if (category == std::generic_category() || category == std::system_category()) {
      if (const auto shortage = shortage_of(system->code().value())) return shortage;
    }
  }
  return shortage_in(std::string_view(error.what()));
}

std::string remedy_of(Shortage shortage) {
  switch (shortage) {
    case Shortage::kMemory:
      return "memory ran out: allow the process more (ulimit -v, the control group's memory.max), "
             "or need less with a shorter --ladder or --kv-type f16";
    case Shortage::kThreads:
      return "no more threads can be started: allow more (ulimit -u, the control group's "
             "pids.max), or more memory for their stacks (ulimit -v)";
    case Shortage::kOpenFiles:
      return "no more files can be opened: allow more (ulimit -n)";
  }
  return {};
}

std::optional<std::string> resource_remedy(std::string_view what) {
  return remedy_for(shortage_in(what));
}

std::optional<std::string> resource_remedy(const std::exception& error) {
  return remedy_for(shortage_in(error));
}

}  // namespace ahead
