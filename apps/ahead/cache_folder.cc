// See cache_folder.h. May use: std.
#include "cache_folder.h"

#include <cstdlib>
#include <filesystem>

namespace ahead::cli {

std::string default_history() {
  const auto folder_in = [](const char* variable) {
    const char* const value = std::getenv(variable);
    // The specification: a path that is not absolute is to be ignored.
    std::filesystem::path folder = value != nullptr ? value : "";
    return folder.is_absolute() ? folder : std::filesystem::path();
  };
  std::filesystem::path folder = folder_in("XDG_CACHE_HOME");
  if (folder.empty()) {
    folder = folder_in("HOME");
    if (folder.empty()) return {};
    folder /= ".cache";
  }
  return (folder / "ahead" / "history.json").string();
}

}  // namespace ahead::cli
