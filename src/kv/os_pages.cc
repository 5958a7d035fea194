// Memory from Linux: private anonymous mappings, and the kernel's own account of which of their
// pages are backed. May use: base.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

#include "ahead/error.h"
#include "base/check.h"
#include "kv/page_provider.h"

namespace ahead::kv {
namespace {

// An entry of /proc/self/pagemap: a page that is present and mapped by this process alone. The
// zero page, which backs what was only read, is present but never exclusive.
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
constexpr std::uint64_t kExclusive = std::uint64_t{1} << 56;
constexpr std::uint64_t kOwned = kPresent | kExclusive;

// Since Linux 5.14; the C library's headers may be older than the kernel.
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;

std::string reason(int error) { return std::generic_category().message(error); }

/// Open for the duration of one reading.
class Pagemap {
 public:
  Pagemap() : file_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) fail(errno);
  }
  ~Pagemap() { close(file_); }
  Pagemap(const Pagemap&) = delete;
  Pagemap& operator=(const Pagemap&) = delete;

  /// Reads up to `count` entries from page number `first` on; at least one.
  std::size_t read(std::uint64_t* entries, std::size_t count, std::size_t first) const {
    ssize_t got = -1;
    do {
      got = pread(file_, entries, count * sizeof *entries,
                  static_cast<off_t>(first * sizeof *entries));
    } while (got < 0 && errno == EINTR);
    if (got < 0) fail(errno);
    const std::size_t read = static_cast<std::size_t>(got) / sizeof *entries;
    if (read == 0) fail(EIO);
    return read;
  }

 private:
  [[noreturn]] static void fail(int error) {
    throw Error(ErrorKind::kIo, "/proc/self/pagemap cannot be read (" + reason(error) +
                                    "), so committed KV memory cannot be told; mount /proc for "
                                    "this process");
  }

  int file_;
};

Region map(std::size_t bytes, int flags) {
  AHEAD_CHECK(bytes > 0, "a region has at least one byte");
  void* const data =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (data == MAP_FAILED) {
    throw Error(ErrorKind::kOutOfMemory, "the kernel refused " + std::to_string(bytes) +
                                             " bytes (" + reason(errno) +
                                             "); use a smaller ladder or free memory");
  }
  // Where transparent huge pages are always on, the first write to 2 MiB of address space would
  // commit all of it: memory that no live row uses. A refusal means a kernel without huge pages.
  madvise(data, bytes, MADV_NOHUGEPAGE);
  return {static_cast<std::byte*>(data), bytes};
}

}  // namespace

// No MAP_NORESERVE: who allocates may come to write all of it, so a kernel that accounts for memory
// should refuse here, where it is an error with a number, not kill at a later write.
Region OsPages::allocate(std::size_t bytes) { return map(bytes, 0); }

Region OsPages::reserve(std::size_t bytes) { return map(bytes, MAP_NORESERVE); }

void OsPages::prefault(Region region, Range range) noexcept {
  if (populate(region, range, kPopulateRead) != EINVAL) return;
  const std::size_t page = page_bytes();
  const std::size_t end = range.begin + range.bytes;
  for (std::size_t at = range.begin; at < end; at = (at / page + 1) * page) {
    static_cast<void>(*static_cast<const volatile std::byte*>(region.data + at));
  }
}

void OsPages::commit(Region region, Range range) {
  const int error = populate(region, range, kPopulateWrite);
  // EAGAIN: the kernel could not now; the write itself will wait for it.
  if (error == 0 || error == EINVAL || error == EAGAIN) return;
  throw Error(ErrorKind::kOutOfMemory,
              "the kernel has no memory for " + std::to_string(range.bytes) + " bytes (" +
                  reason(error) + "); use a smaller ladder or free memory");
}

int OsPages::populate(Region region, Range range, int advice) noexcept {
  AHEAD_CHECK(
      range.bytes > 0 && range.begin <= region.bytes && range.bytes <= region.bytes - range.begin,
      "a range of pages is part of its region");
  if (!populate_) return EINVAL;
  const std::size_t page = page_bytes();
  const std::size_t begin = range.begin / page * page;
  int result = -1;
  do {
    result = madvise(region.data + begin, range.begin + range.bytes - begin, advice);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return 0;
  const int error = errno;
  if (error == EINVAL) populate_ = false;
  return error;
}

std::size_t OsPages::page_bytes() const { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

void OsPages::release(Region region) noexcept {
  AHEAD_CHECK(munmap(region.data, region.bytes) == 0,
              "a region is given back as it was handed out");
}

// Pages that were swapped out do not count; after a fork neither do pages still shared with the
// child.
std::size_t OsPages::committed_bytes(Region region) const {
  const Pagemap pagemap;
  const std::size_t page = page_bytes();
  const std::size_t first = reinterpret_cast<std::uintptr_t>(region.data) / page;
  const std::size_t pages = (region.bytes + page - 1) / page;
  std::array<std::uint64_t, 4096> entries;
  std::size_t committed = 0;
  for (std::size_t done = 0; done < pages;) {
    const std::size_t read =
        pagemap.read(entries.data(), std::min(entries.size(), pages - done), first + done);
    for (std::size_t i = 0; i < read; ++i) {
      if ((entries[i] & kOwned) == kOwned) {
        committed += std::min(page, region.bytes - (done + i) * page);
      }
    }
    done += read;
  }
  return committed;
}

}  // namespace ahead::kv
