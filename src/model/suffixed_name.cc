// See suffixed_name.h. May use: base, the kernel.
#include "model/suffixed_name.h"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <system_error>

#include "ahead/error.h"
#include "base/printable.h"

namespace ahead::model {
namespace {

namespace fs = std::filesystem;

/// What a link to `file` holds. By its descriptor it is the file that was opened, whatever its name
/// stands for by now.
fs::path target_of(const InputFile& file) {
  const std::string by_descriptor = "/proc/self/fd/" + std::to_string(file.descriptor());
  if (file.is_at(by_descriptor)) return by_descriptor;
  std::error_code error;
  return fs::absolute(file.path(), error);
}

}  // namespace

SuffixedName::SuffixedName(const InputFile& file, const Options& options) : path_(file.path()) {
  // As the standard library splits names: ".gguf" alone is a name without an ending.
  if (path_.extension() == options.suffix && file.is_at(file.path())) return;
  for (const fs::path& folder : options.folders) {
    if (link_in(file, options, folder)) return;
  }
  throw Error(ErrorKind::kIo,
              path_in_quotes(file.path()) + " must be read under a name that ends in '" +
                  options.suffix +
                  "', and no folder was found to make such a link in; name the file so, or set "
                  "TMPDIR to a folder that can be written");
}

SuffixedName::~SuffixedName() { remove(); }

bool SuffixedName::link_in(const InputFile& file, const Options& options, const fs::path& folder) {
  std::string made = (folder / "ahead-XXXXXX").string();
  if (mkdtemp(made.data()) == nullptr) return false;
  made_ = made;
  path_ = made_ / ("model" + options.suffix);
  std::error_code error;
  fs::create_symlink(target_of(file), path_, error);
  // Some mounts keep links but do not follow them.
  if (!error && file.is_at(path_.string())) return true;
  remove();
  return false;
}

void SuffixedName::remove() noexcept {
  if (made_.empty()) return;
  (void)unlink(path_.c_str());
  (void)rmdir(made_.c_str());
  made_.clear();
}

std::vector<fs::path> folders_for_links(const InputFile& file) {
  std::vector<fs::path> folders;
  const auto add_variable = [&](const char* name) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') folders.emplace_back(value);
  };
  add_variable("TMPDIR");
  for (const char* usual : {"/tmp", "/dev/shm", "/var/tmp"}) folders.emplace_back(usual);
  for (const char* variable : {"XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "HOME"}) add_variable(variable);
  const fs::path beside = fs::path(file.path()).parent_path();
  folders.push_back(beside.empty() ? "." : beside);
  folders.emplace_back(".");
  return folders;
}

}  // namespace ahead::model
