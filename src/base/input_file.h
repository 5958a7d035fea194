// A file that was opened once: what is read of it later is still that file, though its name may
// stand for another one by then, or for none. May use: std, the kernel.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace ahead {

/// A regular file, open for reading. Reading at a place moves nothing: any thread may.
class InputFile {
 public:
  /// Throws Error(kInvalidModel) where there is no such file, where it may not be read, and for
  /// what is no file: a pipe would make the caller wait, and a device has no end.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return facts_.size; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

  struct Read {
    std::uint64_t at = 0;
    std::size_t bytes = 0;
  };
  /// Fills `into` with what is there, which is less at the end. Throws Error(kIo).
  std::size_t read(const Read& where, char* into) const;
  [[nodiscard]] std::string read(const Read& where) const;

  /// Whether it is as it was when it was opened, as far as the kernel tells: its size, and when it
  /// was last written.
  [[nodiscard]] bool unchanged() const;
  /// Whether `path` still stands for this file.
  [[nodiscard]] bool is_at(const std::string& path) const;

 private:
  struct Facts {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t written_s = 0;
    std::int64_t written_ns = 0;
    bool operator==(const Facts&) const = default;
  };
  static Facts facts_of(const struct stat& status);

  const std::string path_;
  int descriptor_ = -1;
  Facts facts_;
};

}  // namespace ahead
