// Sets of dependencies by operation, asked for in order of their numbers: the contract of the NPU
// compiler's AsyncDepsInfo (openvinotoolkit/npu_compiler), in our own container, twice: one sorts
// at every question, as the compiler does, the other remembers what it sorted. May use: std.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace ahead::bench {

/// Counts of what was asked and what it took.
struct SetCounts {
  std::uint64_t asked = 0;
  std::uint64_t sorted = 0;

  [[nodiscard]] double hit_rate() const {
    return asked == 0 ? 0 : 1 - static_cast<double>(sorted) / static_cast<double>(asked);
  }
};

/// The sets, and their changes; what is remembered of them is the derived classes' affair.
class PlainSets {
 public:
  using Set = std::unordered_set<std::size_t>;

  [[nodiscard]] std::size_t size() const { return sets_.size(); }
  [[nodiscard]] const Set& set(std::size_t op) const { return sets_.at(op); }
  [[nodiscard]] const SetCounts& counts() const { return counts_; }

 protected:
  [[nodiscard]] std::vector<std::size_t> sort(std::size_t op) {
    ++counts_.sorted;
    std::vector<std::size_t> vector(sets_.at(op).begin(), sets_.at(op).end());
    std::sort(vector.begin(), vector.end());
    return vector;
  }

  std::vector<Set> sets_;
  SetCounts counts_;
};

/// Sorts at every question.
class SortingSets : public PlainSets {
 public:
  void resize(std::size_t size) { sets_.resize(size); }
  void insert(std::size_t op, std::size_t other) { sets_.at(op).insert(other); }
  void erase(std::size_t op, std::size_t other) { sets_.at(op).erase(other); }
  void clear() { sets_.assign(sets_.size(), {}); }

  /// A vector of the caller's own, as the compiler returns it.
  [[nodiscard]] std::vector<std::size_t> sorted(std::size_t op) {
    ++counts_.asked;
    return sort(op);
  }
};

/// Remembers each sorted vector until its set changes. A change that changes nothing (an element
/// that is there already) forgets nothing.
class RememberingSets : public PlainSets {
 public:
  void resize(std::size_t size) {
    sets_.resize(size);
    vectors_.resize(size);
    known_.resize(size, false);
  }
  void insert(std::size_t op, std::size_t other) {
    if (sets_.at(op).insert(other).second) known_[op] = false;
  }
  void erase(std::size_t op, std::size_t other) {
    if (sets_.at(op).erase(other) > 0) known_[op] = false;
  }
  void clear() {
    sets_.assign(sets_.size(), {});
    known_.assign(known_.size(), false);
  }

  /// Until the set changes, or any is added.
  [[nodiscard]] const std::vector<std::size_t>& sorted(std::size_t op) {
    ++counts_.asked;
    if (!known_.at(op)) {
      vectors_[op] = sort(op);
      known_[op] = true;
    }
    return vectors_[op];
  }

 private:
  std::vector<std::vector<std::size_t>> vectors_;
  std::vector<bool> known_;  // whether vectors_ has the sorted set
};

}  // namespace ahead::bench
