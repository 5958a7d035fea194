// For tests and the simulator: pages from the heap, exactly as long as asked for so that
// AddressSanitizer sees every byte beyond, with counts and failures on demand. May use: base.
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <new>
#include <string>

#include "ahead/error.h"
#include "base/check.h"
#include "kv/page_provider.h"

namespace ahead::kv {

/// A region still held when it is destroyed is a broken invariant, and so is a foreign release.
class FakePages final : public PageProvider {
 public:
  FakePages() = default;
  FakePages(const FakePages&) = delete;
  FakePages& operator=(const FakePages&) = delete;
  ~FakePages() override { AHEAD_CHECK(held_.empty(), "every region was released"); }

  Region allocate(std::size_t bytes) override {
    fail_if_due(bytes);
    auto* const data = static_cast<std::byte*>(::operator new(bytes, kPage));
    std::memset(data, 0, bytes);
    held_.emplace(data, bytes);
    held_bytes_ += bytes;
    ++allocations_;
    return {data, bytes};
  }

  /// As allocate(), and counted with it.
  Region reserve(std::size_t bytes) override { return allocate(bytes); }

  void release(Region region) noexcept override {
    const auto found = held_.find(region.data);
    AHEAD_CHECK(found != held_.end() && found->second == region.bytes,
                "a region is given back as it was handed out, and once");
    held_.erase(found);
    held_bytes_ -= region.bytes;
    ::operator delete(region.data, kPage);
  }

  void prefault(Region region, Range range) noexcept override {
    check(region, range);
    prefaulted_bytes_ += range.bytes;
  }

  void commit(Region region, Range range) override {
    check(region, range);
    fail_if_due(range.bytes);
    ++commits_;
  }

  /// All of it: a heap commits what it hands out, zeroed.
  [[nodiscard]] std::size_t committed_bytes(Region region) const override { return region.bytes; }

  /// Makes the n-th call from now on that may fail do so, once: allocate(), reserve() or commit().
  /// 1 is the next, 0 is none.
  void fail_in(std::size_t n) { fail_in_ = n; }
  /// The failure that was asked for has not come yet.
  [[nodiscard]] bool failure_due() const { return fail_in_ > 0; }

  [[nodiscard]] std::size_t allocations() const { return allocations_; }  ///< that succeeded
  [[nodiscard]] std::size_t commits() const { return commits_; }          ///< that succeeded
  [[nodiscard]] std::size_t prefaulted_bytes() const { return prefaulted_bytes_; }
  [[nodiscard]] std::size_t held_regions() const { return held_.size(); }
  [[nodiscard]] std::size_t held_bytes() const { return held_bytes_; }

 private:
  static constexpr std::align_val_t kPage{4096};

  void fail_if_due(std::size_t bytes) {
    if (fail_in_ == 0 || --fail_in_ > 0) return;
    throw Error(ErrorKind::kOutOfMemory,
                "the test refused " + std::to_string(bytes) + " bytes; this is its purpose");
  }

  void check(Region region, Range range) const {
    const auto found = held_.find(region.data);
    AHEAD_CHECK(found != held_.end() && found->second == region.bytes,
                "a region is used as it was handed out");
    AHEAD_CHECK(range.bytes > 0 && range.begin + range.bytes <= region.bytes,
                "a range of pages is part of its region");
  }

  std::map<std::byte*, std::size_t> held_;
  std::size_t held_bytes_ = 0;
  std::size_t allocations_ = 0;
  std::size_t commits_ = 0;
  std::size_t prefaulted_bytes_ = 0;
  std::size_t fail_in_ = 0;
};

}  // namespace ahead::kv
