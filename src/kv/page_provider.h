// The whole contract with the operating system's memory, in one header. May use: base.
#pragma once

#include <cstddef>

namespace ahead::kv {

/// A run of whole pages.
struct Region {
  std::byte* data = nullptr;
  std::size_t bytes = 0;  ///< as asked for, not rounded
};

/// Bytes of a region. Calls that take one act on every page that holds a byte of it.
struct Range {
  std::size_t begin = 0;  ///< from the region's start
  std::size_t bytes = 0;  ///< above 0; the range ends inside the region
};

/// Hands out zeroed, page-aligned memory. Used from the decode thread only.
///
/// When memory is short: a kernel that accounts for memory, or limits this process's, refuses
/// allocate() with an error, as its whole size is charged up front; of reserve() it may refuse the
/// address space, but the memory is charged page by page. A first write that cannot be backed then
/// is no error to a program but its end, so who writes calls commit() first, which can fail. (A
/// kernel that hands out memory it does not have, or a control group at its limit, may still kill.)
class PageProvider {
 public:
  virtual ~PageProvider() = default;

  /// Memory that reads as zero and is committed by the kernel as pages are first written. `bytes`
  /// is above 0. Throws Error(kOutOfMemory) that says how many bytes were wanted.
  virtual Region allocate(std::size_t bytes) = 0;

  /// Address space that reads as zero: nothing is charged for it before a page is first written,
  /// and then that page alone. Throws Error(kOutOfMemory) that says how many bytes were wanted.
  virtual Region reserve(std::size_t bytes) = 0;

  /// Makes pages ready to be read without a fault each. Commits nothing and changes nothing: what
  /// was never written is mapped to the shared zero page. It saves time only, so it never fails.
  virtual void prefault(Region /*region*/, Range /*range*/) noexcept {}

  /// Backs pages with memory now, keeping what they hold, so that writing them needs nothing of the
  /// kernel any more. Throws Error(kOutOfMemory) that says how many bytes were wanted. Where the
  /// kernel has no such call nothing happens, and pages are backed as they are written.
  virtual void commit(Region /*region*/, Range /*range*/) {}

  /// The unit of prefault() and commit(); a power of two.
  [[nodiscard]] virtual std::size_t page_bytes() const { return 4096; }

  /// Gives a region of allocate() or reserve() back.
  virtual void release(Region region) noexcept = 0;

  /// Bytes of `region` that physical memory of this process's own backs now, by the kernel's
  /// account: the shared zero page does not count. Never more than `region.bytes`. Throws
  /// Error(kIo) where the kernel gives no account.
  [[nodiscard]] virtual std::size_t committed_bytes(Region region) const = 0;
};

/// mmap, munmap, madvise and /proc/self/pagemap.
class OsPages final : public PageProvider {
 public:
  struct Options {
    /// Asks the kernel to populate pages (Linux 5.14 and later), and does without where it refuses.
    bool populate = true;
  };

  OsPages() = default;
  explicit OsPages(Options options) : populate_(options.populate) {}

  Region allocate(std::size_t bytes) override;
  Region reserve(std::size_t bytes) override;
  void prefault(Region region, Range range) noexcept override;
  void commit(Region region, Range range) override;
  [[nodiscard]] std::size_t page_bytes() const override;
  void release(Region region) noexcept override;
  [[nodiscard]] std::size_t committed_bytes(Region region) const override;

 private:
  /// Zero, or why the kernel did not do what `advice` says; EINVAL where it cannot.
  int populate(Region region, Range range, int advice) noexcept;

  bool populate_ = true;  ///< as far as is known
};

}  // namespace ahead::kv
