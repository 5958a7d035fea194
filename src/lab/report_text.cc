// See report_text.h. May use: base, nlohmann-json.
#include "lab/report_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "lab/measure.h"

namespace ahead::lab {
namespace {

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string signed_readable(double value) { return (value > 0 ? "+" : "") + readable(value); }

/// In a cell of a table, or in a line.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\\');
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string named(const Endpoint& endpoint, const std::string& key) {
  return cell(endpoint.label + (key.empty() ? "" : " [" + key + "]") + ", " + endpoint.unit);
}

void add_endpoints(const SetAnalysis& set, std::string& out) {
  if (set.endpoints.empty()) return;
  out += "| endpoint |";
  std::string line = "|---|";
  for (const ArmValues& arm : set.endpoints.front().arms) {
    out += " " + cell(arm.arm) + " |";
    line += "---|";
  }
  out += "\n" + line + "\n";
  for (const EndpointTable& table : set.endpoints) {
    out += "| " + named(*table.endpoint, table.key) + " |";
    for (const ArmValues& arm : table.arms) {
      if (arm.values.empty()) {
        out += arm.failed > 0 ? " failed |" : " |";
        continue;
      }
      out += " " + readable(arm.spread.median);
      if (arm.values.size() > 1) {
        out += " (" + readable(arm.spread.least) + " to " + readable(arm.spread.most) + ")";
      }
      if (arm.failed > 0) out += ", " + std::to_string(arm.failed) + " failed";
      out += " |";
    }
    out += "\n";
  }
  out += "\n";
}

void add_effects(const SetAnalysis& set, std::string& out) {
  if (set.effects.empty()) return;
  out +=
      "| effect | pairs | mean before | mean after | difference | 95 % interval | % | p |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const Effect& compared : set.effects) {
    const PairedEffect& effect = compared.effect;
    out += "| " + cell(compared.from) + " → " + cell(compared.to) + ": " +
           named(*compared.endpoint, compared.key) + " | " + std::to_string(effect.pairs) + " | " +
           readable(effect.mean_a) + " | " + readable(effect.mean_b) + " | " +
           signed_readable(effect.difference) + " | ";
    out += effect.interval ? signed_readable(effect.interval->low) + " to " +
                                 signed_readable(effect.interval->high)
                           : "of one pair, none";
    out += " | ";
    out += std::isfinite(effect.percent) ? signed_readable(effect.percent) : "";
    out += " | ";
    if (effect.sign_flip_p) {
      out += fixed(*effect.sign_flip_p, 4) + " (least: " + fixed(effect.least_p, 4) + ")";
    }
    out += " |\n";
  }
  out += "\n";
}

void add_boundaries(const SetAnalysis& set, std::string& out) {
  if (set.boundaries.empty()) return;
  out +=
      "| arm | boundary | new KV, MiB | ready | wait, s | migration, ms | copied, MiB | top-1 | "
      "least cosine |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const BoundaryTable& table : set.boundaries) {
    constexpr double kMiB = 1 << 20;
    out += "| " + cell(table.arm) + " | " + std::to_string(table.from) + " → " +
           std::to_string(table.to) + " | " +
           readable(static_cast<double>(table.new_kv_bytes) / kMiB) + " | " +
           std::to_string(table.ready) + "/" + std::to_string(table.moves) + " | " +
           readable(table.wait_s) + " | " + readable(1e3 * table.migration_s) + " | " +
           readable(static_cast<double>(table.copied_bytes) / kMiB) + " | ";
    if (table.compared > 0) {
      out += std::to_string(table.top1_equal) + "/" + std::to_string(table.compared);
    }
    out += " | ";
    if (table.min_cosine) out += fixed(*table.min_cosine, 7);
    out += " |\n";
  }
  out += "\n";
}

std::string text_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return "not known";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? "\"\"" : std::string(1, c));
  return quoted + "\"";
}

}  // namespace

std::string readable(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 0.001) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2g", value);
    return text;
  }
  const int digits = std::clamp(2 - static_cast<int>(std::floor(std::log10(size))), 0, 5);
  std::string text = fixed(value, digits);
  if (digits == 0) {
    const std::size_t first = text.front() == '-' ? 1 : 0;
    for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, 1, ',');
  }
  return text;
}

std::string report_markdown(const Campaign& campaign, const Journal& journal,
                            const Analysis& analysis) {
  std::string out = "# " + campaign.title + "\n\n";
  if (!campaign.question.empty()) out += campaign.question + "\n\n";
  out +=
      "Campaign `" + campaign.name + "`: " + std::to_string(analysis.made) + " of " +
      std::to_string(analysis.wanted) + " runs, " + std::to_string(analysis.failures.size()) +
      " failed. Medians, with the least and the most in "
      "brackets; effects are means of pairs from the same block, with Student's interval and the "
      "exact two-sided sign-flip p.";
  if (const auto turn = campaign.protocol.turn.count(); turn > 0) {
    out += " The arms of a block ran at once and took turns of " + std::to_string(turn) +
           " ms; seconds are those in which a process ran.";
  }
  out += "\n\n";
  for (const Json& session : journal.sessions) {
    out += "- " + text_of(session, "began") + ": " + text_of(session, "machine") + "; Ahead " +
           text_of(session, "ahead") + ", commit " + text_of(session, "commit") + "; " +
           text_of(session, "system") + "\n";
  }
  for (const std::string& limit : campaign.limits) out += "- Not shown: " + limit + "\n";
  for (const Arm& arm : campaign.arms) {
    if (arm.mark.empty() && arm.note.empty()) continue;
    out += "- `" + arm.name + "`: " + arm.mark +
           (arm.mark.empty() || arm.note.empty() ? "" : ", ") + arm.note + "\n";
  }
  out += "\n";
  for (const SetAnalysis& set : analysis.sets) {
    out += "## " + set.set->name + "\n\n";
    add_endpoints(set, out);
    add_effects(set, out);
    add_boundaries(set, out);
  }
  if (!analysis.failures.empty()) out += "## Runs that failed\n\n";
  for (const RunRecord* run : analysis.failures) {
    out += "- " + run->key.set + ", block " + std::to_string(run->key.block + 1) + ", `" +
           run->key.arm + "`: " + cell(run->error) + "\n";
  }
  return out;
}

std::string report_csv(const Campaign& campaign, const Journal& journal) {
  std::string out = "set,block,arm,endpoint,key,unit,value,error\n";
  for (const RunRecord& run : journal.runs) {
    const std::string begin = csv_cell(run.key.set) + "," + std::to_string(run.key.block + 1) +
                              "," + csv_cell(run.key.arm) + ",";
    if (run.failed()) {
      out += begin + ",,,," + csv_cell(run.error) + "\n";
      continue;
    }
    for (const Endpoint& endpoint : campaign.endpoints) {
      for (const Measured& measured : measure(endpoint, run.result)) {
        char value[64];
        std::snprintf(value, sizeof value, "%.9g", measured.value);
        out += begin + csv_cell(endpoint.name) + "," + csv_cell(measured.key) + "," +
               csv_cell(endpoint.unit) + "," + value + ",\n";
      }
    }
  }
  return out;
}

}  // namespace ahead::lab
