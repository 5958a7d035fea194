// Files that options name: which of them are one and the same, and where each output goes.
// May use: include/ahead, base, POSIX.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/outlet.h"
#include "output.h"

namespace ahead::cli {

/// A file as the command line has it: "--json" and its path.
struct NamedFile {
  std::string option;
  std::string path;
};

/// What tells a file from every other, by whatever path, also one that is not there yet.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::string rest;  ///< behind the folder that these are of; empty when the file is there

  bool operator==(const FileIdentity&) const = default;
};

/// Nothing when it cannot be known, or need not be: what /dev/null and its like are given is never
/// lost to another.
[[nodiscard]] std::optional<FileIdentity> identity_of(const std::string& path);
[[nodiscard]] std::optional<FileIdentity> identity_of(int fd);

/// The files of a command.
struct CommandFiles {
  std::vector<NamedFile> inputs;
  std::vector<NamedFile> outputs;
  std::vector<NamedFile> kept;  ///< read and written: a cache

  /// A model: a file, or a folder and each file in it that an exporter writes.
  void read_model(const std::string& option, const std::string& path);
  void read(const std::string& option, const std::optional<std::string>& path);
  void write(const std::string& option, const std::optional<std::string>& path);
};

/// Throws Error(kInvalidArgument) that names both when an output, or a standard stream, is an input
/// or another output, whatever the paths are. An output may be a standard stream.
void check_files(const CommandFiles& files);

/// Where an output goes: into a file, or behind what stands on a standard stream that is the same.
class Destination {
 public:
  /// Throws Error(kInvalidArgument) when it cannot be written, as far as that is known now.
  explicit Destination(NamedFile file);
  [[nodiscard]] static std::optional<Destination> of(const std::string& option,
                                                     const std::optional<std::string>& path);

  struct Streams {
    TextOutput& out;
    Outlet& err;
    std::stop_token stop = {};
  };
  /// Throws Error(kIo) that names the file. What was written to the streams stands before it.
  void write(std::string_view contents, const Streams& streams) const;

 private:
  NamedFile file_;
  std::optional<int> stream_;
};

}  // namespace ahead::cli
