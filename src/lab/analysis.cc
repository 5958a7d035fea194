// See analysis.h. May use: base, nlohmann-json.
#include "lab/analysis.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lab/measure.h"
#include "lab/run_plan.h"

namespace ahead::lab {
namespace {

/// The runs of one set.
class SetRuns {
 public:
  SetRuns(const Campaign& campaign, const Set& set, const Journal& journal)
      : campaign_(campaign), set_(set) {
    for (const RunRecord& run : journal.runs) {
      if (run.key.set == set.name) runs_[run.key.arm].push_back(&run);
    }
    for (auto& [arm, runs] : runs_) {
      std::sort(runs.begin(), runs.end(),
                [](const RunRecord* a, const RunRecord* b) { return a->key.block < b->key.block; });
    }
  }

  [[nodiscard]] SetAnalysis analyse() const {
    SetAnalysis analysis{.set = &set_};
    for (const Endpoint& endpoint : campaign_.endpoints) add(endpoint, analysis);
    for (const Arm& arm : campaign_.arms) {
      const auto found = runs_.find(arm.name);
      if (found == runs_.end()) continue;
      add_boundaries(found->second, analysis.boundaries);
      const auto good = std::find_if(found->second.begin(), found->second.end(),
                                     [](const RunRecord* run) { return !run->failed(); });
      if (good != found->second.end()) analysis.shown.push_back(*good);
    }
    return analysis;
  }

 private:
  /// By key, arm and block.
  using Values = std::map<std::string, std::map<std::string, std::map<std::size_t, double>>>;

  void add(const Endpoint& endpoint, SetAnalysis& analysis) const {
    Values values;
    std::vector<std::string> keys;
    for (const Arm& arm : campaign_.arms) {
      const auto found = runs_.find(arm.name);
      if (found == runs_.end()) continue;
      for (const RunRecord* run : found->second) {
        if (run->failed()) continue;
        for (const Measured& measured : measure(endpoint, run->result)) {
          if (!values.contains(measured.key)) keys.push_back(measured.key);
          values[measured.key][arm.name][run->key.block] = measured.value;
        }
      }
    }
    for (const std::string& key : keys) {
      analysis.endpoints.push_back(table(endpoint, key, values.at(key)));
      for (const Comparison& comparison : campaign_.comparisons) {
        compare(endpoint, key, comparison, values.at(key), analysis.effects);
      }
    }
  }

  [[nodiscard]] EndpointTable table(
      const Endpoint& endpoint, const std::string& key,
      const std::map<std::string, std::map<std::size_t, double>>& values) const {
    EndpointTable table{.endpoint = &endpoint, .key = key};
    for (const Arm& arm : campaign_.arms) {
      const auto runs = runs_.find(arm.name);
      if (runs == runs_.end()) continue;
      ArmValues row{.arm = arm.name};
      row.failed = static_cast<std::size_t>(
          std::count_if(runs->second.begin(), runs->second.end(),
                        [](const RunRecord* run) { return run->failed(); }));
      if (const auto found = values.find(arm.name); found != values.end()) {
        for (const auto& [block, value] : found->second) row.values.push_back(value);
        row.spread = spread(row.values);
      }
      table.arms.push_back(std::move(row));
    }
    return table;
  }

  static void compare(const Endpoint& endpoint, const std::string& key,
                      const Comparison& comparison,
                      const std::map<std::string, std::map<std::size_t, double>>& values,
                      std::vector<Effect>& effects) {
    const auto from = values.find(comparison.from);
    const auto to = values.find(comparison.to);
    if (from == values.end() || to == values.end()) return;
    std::vector<double> a;
    std::vector<double> b;
    for (const auto& [block, value] : from->second) {
      const auto other = to->second.find(block);
      if (other == to->second.end()) continue;
      a.push_back(value);
      b.push_back(other->second);
    }
    if (a.empty()) return;
    effects.push_back({.endpoint = &endpoint,
                       .key = key,
                       .from = comparison.from,
                       .to = comparison.to,
                       .effect = paired_effect({.a = a, .b = b})});
  }

  /// What a rung's cache takes, as the run's facts have it.
  static std::int64_t kv_bytes(const Json& result, std::int64_t rung) {
    const Json& model = result.at("model");
    const std::int64_t wide = model.at("kv_type") == "f16" ? 2 : 4;
    std::int64_t per_token = model.at("kv_values_per_token").get<std::int64_t>() * wide;
    std::int64_t bytes = 0;
    for (const Json& window : model.at("windows")) {
      const std::int64_t values = window.at("kv_values_per_token").get<std::int64_t>() * wide;
      // A ring of whole blocks, and one more (docs/decisions/0011).
      const std::int64_t ring = ((window.at("tokens").get<std::int64_t>() + 127) / 128 + 1) * 128;
      bytes += values * std::min(rung, ring);
      per_token -= values;
    }
    return bytes + per_token * rung;
  }

  static void add_boundaries(const std::vector<const RunRecord*>& runs,
                             std::vector<BoundaryTable>& tables) {
    struct Moves {
      BoundaryTable table;
      std::vector<double> waits;
      std::vector<double> migrations;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Moves> moves;
    for (const RunRecord* run : runs) {
      if (run->failed() || !run->result.contains("boundaries")) continue;
      for (const Json& boundary : run->result.at("boundaries")) {
        const auto from = boundary.at("from").get<std::int64_t>();
        const auto to = boundary.at("to").get<std::int64_t>();
        Moves& found = moves[{from, to}];
        found.table.arm = run->key.arm;
        found.table.from = from;
        found.table.to = to;
        ++found.table.moves;
        found.table.ready += boundary.at("ready").get<bool>() ? 1 : 0;
        found.waits.push_back(boundary.at("wait_s").get<double>());
        found.migrations.push_back(boundary.at("migration_s").get<double>());
        found.table.copied_bytes = boundary.at("copied_bytes").get<std::int64_t>();
        found.table.new_kv_bytes = kv_bytes(run->result, to) - kv_bytes(run->result, from);
      }
      if (!run->result.contains("verify")) continue;
      for (const Json& verified : run->result.at("verify").at("boundaries")) {
        const auto found = moves.find(
            {verified.at("from").get<std::int64_t>(), verified.at("to").get<std::int64_t>()});
        if (found == moves.end()) continue;
        BoundaryTable& table = found->second.table;
        table.compared += verified.at("compared").get<std::int64_t>();
        table.top1_equal += verified.at("top1_equal").get<std::int64_t>();
        const double cosine = verified.at("min_cosine").get<double>();
        table.min_cosine = std::min(table.min_cosine.value_or(cosine), cosine);
      }
    }
    for (auto& [rungs, found] : moves) {
      found.table.wait_s = median(found.waits);
      found.table.migration_s = median(found.migrations);
      tables.push_back(std::move(found.table));
    }
  }

  const Campaign& campaign_;
  const Set& set_;
  std::map<std::string, std::vector<const RunRecord*>> runs_;
};

}  // namespace

Analysis analyse(const Campaign& campaign, const Journal& journal) {
  Analysis analysis;
  for (const Set& set : campaign.sets) {
    analysis.sets.push_back(SetRuns(campaign, set, journal).analyse());
  }
  const std::vector<RunKey> runs = runs_of(campaign);
  const std::set<RunKey> wanted(runs.begin(), runs.end());
  analysis.wanted = wanted.size();
  for (const RunRecord& run : journal.runs) {
    if (wanted.contains(run.key)) ++analysis.made;
    if (run.failed()) analysis.failures.push_back(&run);
  }
  return analysis;
}

}  // namespace ahead::lab
