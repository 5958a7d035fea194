// Look up, scale, or guess. May use: base.
#include "plan/cost_model.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>

namespace ahead::plan {
namespace {

History::CompileId id_of(const CompileKey& key) {
  return {key.form, key.parts, key.shape.tokens, key.shape.batch, key.shape.rung};
}

History::StepId id_of(const StepKey& key) {
  return {key.form, key.shape.tokens, key.shape.batch, key.shape.rung};
}

/// Adds a sample; the oldest goes where there are many, and a table that is full takes no new name.
template <typename Table, typename Id>
void add(Table& table, const Id& id, double seconds) {
  if (!History::plausible(seconds)) return;
  if (table.size() >= History::kEntries && table.find(id) == table.end()) return;
  std::vector<double>& samples = table[id];
  samples.push_back(seconds);
  if (samples.size() > History::kSamples) samples.erase(samples.begin());
}

/// The entry that differs in the rung alone, and least. The rung is what a table is ordered by
/// last.
template <typename Table, typename Id>
typename Table::const_iterator nearest_rung(const Table& table, const Id& id) {
  constexpr std::size_t kRung = std::tuple_size_v<Id> - 1;
  const auto distance = [&](typename Table::const_iterator entry) {
    Id same = entry->first;
    std::get<kRung>(same) = std::get<kRung>(id);
    return same == id ? std::abs(std::get<kRung>(entry->first) - std::get<kRung>(id))
                      : std::numeric_limits<std::int64_t>::max();
  };
  auto best = table.end();
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  const auto above = table.lower_bound(id);
  if (above != table.begin() && distance(std::prev(above)) < least) {
    best = std::prev(above);
    least = distance(best);
  }
  if (above != table.end() && distance(above) < least) best = above;
  return best;
}

}  // namespace

bool History::plausible(double seconds) { return seconds > 0 && seconds < 3600; }

CostModel::CostModel(History history) : history_(std::move(history)) {}

void CostModel::compiled(const CompileKey& key, const GraphSize& size, double seconds) {
  if (History::plausible(seconds)) {
    compiled_s_ += seconds;
    guessed_s_ += guess_compile(size).typical_s;
  }
  add(history_.compiles_s, id_of(key), seconds);
}

void CostModel::stepped(const StepKey& key, double seconds) {
  add(history_.steps_s, id_of(key), seconds);
}

Estimate CostModel::guess(const GraphSize& size) const {
  Estimate guess = guess_compile(size);
  if (guessed_s_ <= 0) return guess;
  // Compilers differ by more than an order of magnitude, parts of one model by much less.
  constexpr double kLate = 3;
  guess.typical_s *= compiled_s_ / guessed_s_;
  guess.late_s = kLate * guess.typical_s;
  guess.source = Source::kScaled;
  return guess;
}

Estimate CostModel::compile(const CompileKey& key, const GraphSize& size) const {
  if (key.parts.empty()) return {.source = Source::kMeasured};  // every part is there
  const auto near = nearest_rung(history_.compiles_s, id_of(key));
  if (near == history_.compiles_s.end()) return guess(size);
  const std::int64_t rung = std::get<4>(near->first);
  const Estimate known = estimate_from(near->second);
  if (rung == key.shape.rung) return known;
  // A compile hardly depends on the rung: measured 0.8 to 1.7 s from 1024 to 8192 rows on an NPU.
  return scaled(known,
                std::pow(static_cast<double>(key.shape.rung) / static_cast<double>(rung), 0.4));
}

Estimate CostModel::step(const StepKey& key, const StepSize& size) const {
  const auto near = nearest_rung(history_.steps_s, id_of(key));
  if (near == history_.steps_s.end()) return guess_step(size);
  const std::int64_t rung = std::get<3>(near->first);
  const Estimate known = estimate_from(near->second);
  if (rung == key.shape.rung) return known;
  StepSize there = size;
  const double rows = static_cast<double>(rung) / static_cast<double>(key.shape.rung);
  there.cache_bytes = static_cast<std::int64_t>(static_cast<double>(size.cache_bytes) * rows);
  const double there_s = guess_step(there).typical_s;
  const double factor = there_s > 0 ? guess_step(size).typical_s / there_s : 1;  // sizes may be 0
  return scaled(known, factor);
}

}  // namespace ahead::plan
