// The whole contract with the operating system's memory, in one header. May use: base.
#pragma once

#include <cstddef>

namespace ahead::kv {

/// A run of whole pages.
struct Region {
  std::byte* data = nullptr;
  std::size_t bytes = 0;  ///< as asked for, not rounded
};

/// Hands out zeroed, page-aligned memory. Used from the decode thread only.
class PageProvider {
 public:
  virtual ~PageProvider() = default;

  /// Memory that reads as zero and is committed by the kernel as pages are first written. `bytes`
  /// is above 0. Throws Error(kOutOfMemory) that says how many bytes were wanted.
  virtual Region allocate(std::size_t bytes) = 0;

  /// Address space that reads as zero: nothing is charged for it before a page is first written,
  /// and then that page alone. Throws Error(kOutOfMemory) that says how many bytes were wanted.
  virtual Region reserve(std::size_t bytes) = 0;

  /// Gives a region of allocate() or reserve() back.
  virtual void release(Region region) noexcept = 0;

  /// Bytes of `region` that physical memory of this process's own backs now, by the kernel's
  /// account: the shared zero page does not count. Never more than `region.bytes`. Throws
  /// Error(kIo) where the kernel gives no account.
  [[nodiscard]] virtual std::size_t committed_bytes(Region region) const = 0;
};

/// mmap, munmap and /proc/self/pagemap.
class OsPages final : public PageProvider {
 public:
  Region allocate(std::size_t bytes) override;
  Region reserve(std::size_t bytes) override;
  void release(Region region) noexcept override;
  [[nodiscard]] std::size_t committed_bytes(Region region) const override;
};

}  // namespace ahead::kv
