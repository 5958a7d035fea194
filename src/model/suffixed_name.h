// A second name for an open file, for a library that goes by how names end. May use: base, the
// kernel.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/input_file.h"

namespace ahead::model {

/// A name that ends in `suffix` and stands for `file` while this lives: the file's own, or else a
/// link in a folder made for it, which goes with it. Nothing is copied.
class SuffixedName {
 public:
  struct Options {
    std::string suffix;
    /// Folders to make the link in; the first that works is used.
    std::vector<std::filesystem::path> folders;
  };

  /// Throws Error(kIo) where no link can be made.
  SuffixedName(const InputFile& file, const Options& options);
  ~SuffixedName();
  SuffixedName(const SuffixedName&) = delete;
  SuffixedName& operator=(const SuffixedName&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  /// Whether a link in `folder` now stands for the file.
  bool link_in(const InputFile& file, const Options& options, const std::filesystem::path& folder);
  void remove() noexcept;

  std::filesystem::path path_;
  std::filesystem::path made_;  ///< the folder made for the link; empty: none was needed
};

/// Where a process may usually write what it needs for a moment: TMPDIR, the usual folders, the
/// user's, the one that holds `file`, the current one.
[[nodiscard]] std::vector<std::filesystem::path> folders_for_links(const InputFile& file);

}  // namespace ahead::model
