// See summary.h. May use: include/ahead, base.
#include "summary.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "wording.h"

namespace ahead::cli {
namespace {

constexpr std::size_t kLabel = 15;
using Row = std::vector<std::string>;

// Right-aligned columns, as wide as their widest cell, behind an indent.
std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string out;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += "  " + right(row[i], widths[i]);
    }
    out += "\n";
  }
  return out;
}

std::string item(std::string_view label, const std::string& value) {
  return left(label, kLabel) + value + "\n";
}

std::string joined(const std::vector<std::int64_t>& values) {
  std::string out;
  for (const std::int64_t value : values) {
    out += (out.empty() ? "" : ",") + std::to_string(value);
  }
  return out;
}

std::string arrow(std::int64_t from, std::int64_t to) {
  return std::to_string(from) + " -> " + std::to_string(to);
}

std::string design_line(const RunResult& result) {
  std::string out = result.design.empty() ? "custom" : result.design;
  out += ": ladder " + joined(result.axes.ladder);
  const std::string partition = to_string(result.axes.partition);
  for (const std::string_view word : {to_string(result.axes.schedule), to_string(result.axes.kv),
                                      std::string_view(partition), to_string(result.kv_type)}) {
    out += ", " + std::string(word);
  }
  return out + ", on " + result.device;
}

// "2 to read, 1 to decode, compiles on 1 (2 cores, ...)".
std::string cores_line(const RunResult& result) {
  const auto& cores = result.cores;
  std::string out = std::to_string(cores.reading_threads) + " to read, " +
                    std::to_string(cores.decoding_threads) + " to decode";
  if (!cores.compile.empty()) {
    out += ", compiles on " + std::to_string(cores.compile.size());
  }
  out += " (" + cores.reason + ")";
  return out + (cores.pinned || cores.device.empty() ? "" : ", not pinned: the kernel refused");
}

std::string rung_table(const RunResult& result) {
  std::vector<Row> rows = {{"rung", "tokens", "decode", "tok/s"}};
  for (const auto& [rung, tokens] : result.tokens.by_rung) {
    const auto count = static_cast<double>(tokens.count);
    rows.push_back({std::to_string(rung), std::to_string(tokens.count), seconds(tokens.seconds),
                    tokens.seconds > 0 ? fixed(count / tokens.seconds, 1) : "-"});
  }
  return rows.size() > 1 ? table(rows) : "";
}

std::string boundary_table(const RunResult& result) {
  std::vector<Row> rows = {{"boundary", "at token", "ready", "wait", "migration", "copied"}};
  for (const BoundaryRecord& boundary : result.boundaries) {
    rows.push_back({arrow(boundary.from, boundary.to), std::to_string(boundary.at_token),
                    boundary.ready ? "yes" : "no", seconds(boundary.wait_s),
                    seconds(boundary.migration_s), bytes(boundary.copied_bytes)});
  }
  return rows.size() > 1 ? table(rows) : "";
}

}  // namespace

std::string summary(const RunResult& result) {
  const auto& time = result.time_s;
  const auto& memory = result.memory;
  std::string out;
  out += item("design", design_line(result));
  if (result.model.verified_by.empty()) {
    out += item("unverified",
                "no test shows that '" + result.model.architecture + "' models are computed right");
  }
  if (result.cores.reading_threads > 0) out += item("cores", cores_line(result));
  if (!result.chat.empty()) {
    out += item("prompt", "a message, by the chat template of " + printable(result.chat));
  }
  out += item("tokens", std::to_string(result.tokens.prompt) + " prompt, " +
                            std::to_string(result.tokens.generated) + " generated, ended by " +
                            std::string(to_string(result.finish_reason)));
  out += item("first token",
              seconds(time.ttft) + " (" + seconds(time.ttft_cold) + " with reading the model)");
  out += item("compile", seconds(time.foreground_compile) + " foreground, " +
                             seconds(time.hidden_compile) + " hidden");
  out += item("prefill", seconds(time.prefill));
  out += item("decode", seconds(time.decode));
  out += rung_table(result);
  out += item("boundaries", std::to_string(result.boundaries.size()) + ", " +
                                seconds(time.boundary_wait) + " wait, " + seconds(time.migration) +
                                " migration");
  out += boundary_table(result);
  out += item("KV reserved", bytes(memory.kv_reserved_avg_bytes) + " average, " +
                                 bytes(memory.kv_reserved_peak_bytes) + " peak");
  out += item("KV committed", memory.kv_committed_peak_bytes < 0
                                  ? "not known: the kernel does not tell"
                                  : bytes(memory.kv_committed_avg_bytes) + " average, " +
                                        bytes(memory.kv_committed_peak_bytes) + " peak");
  if (!result.kv_fallback.empty()) {
    out += item("KV fallback", result.kv_fallback);
  }
  out += item("process memory", bytes(memory.rss_peak_bytes) + " peak");
  return out;
}

std::string verify_table(const VerifyReport& report) {
  std::string out = item("verify", report.note.empty() ? "against an eager control" : report.note);
  std::vector<Row> rows = {{"boundary", "top-1", "min cosine"}};
  for (const BoundaryVerdict& verdict : report.boundaries) {
    rows.push_back({arrow(verdict.from, verdict.to),
                    std::to_string(verdict.top1_equal) + "/" + std::to_string(verdict.expected),
                    verdict.compared > 0 ? fixed(verdict.min_cosine, 8) : "-"});
  }
  if (rows.size() > 1) {
    out += table(rows);
  }
  return out + item("", report.passed ? "passed" : "FAILED");
}

std::string verify_failure(const VerifyReport& report) {
  const auto bad = std::find_if(report.boundaries.begin(), report.boundaries.end(),
                                [](const BoundaryVerdict& verdict) { return !verdict.passed; });
  if (bad != report.boundaries.end() && bad->expected == 0) {
    return "--verify proves nothing: " + report.note;
  }
  std::string out = "the run differs from its eager control";
  if (bad != report.boundaries.end()) {
    out += " at the boundary " + arrow(bad->from, bad->to) + ": top-1 equal at " +
           std::to_string(bad->top1_equal) + " of " + std::to_string(bad->expected) +
           " steps, lowest cosine " + fixed(bad->min_cosine, 8);
  }
  return out;
}

}  // namespace ahead::cli
