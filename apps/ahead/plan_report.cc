// See plan_report.h. May use: include/ahead, base, nlohmann-json.
#include "plan_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "ahead/llm_pipeline.h"
#include "base/printable.h"
#include "wording.h"

namespace ahead::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string list(const std::vector<std::int64_t>& values) {
  std::string out;
  for (const std::int64_t value : values) out += (out.empty() ? "" : ",") + std::to_string(value);
  return out;
}

std::string short_s(double value) { return fixed(value, value < 100 ? 2 : 1) + " s"; }

std::string partition_text(const PlanForecast& row) {
  std::string out = to_string(row.axes.partition);
  for (const Partition& faster : row.faster) out += ", then " + to_string(faster);
  return out;
}

// A column that stays apart from the one before.
std::string column(const std::string& text, std::size_t width) {
  return " " + right(text, width - 1);
}

// What there is to say of a rung's program.
std::string verdict(const PlanRung& rung) {
  if (!rung.used) return "not reached";
  if (rung.wait_s > 0) return "late by " + short_s(rung.wait_s);
  return rung.window_s ? "ready" : "first";
}

std::string rungs_table(const PlanForecast& row) {
  std::string out = right("rung", 8) + right("token", 11) + right("window", 11) +
                    right("tokens", 8) + right("compile", 11) + right("slack", 11) +
                    "  verdict              costs\n";
  for (const PlanRung& rung : row.rungs) {
    const bool successor = rung.window_s.has_value();
    out += right(std::to_string(rung.rung), 8) + column(fixed(rung.token_s * 1e3, 2) + " ms", 11) +
           column(successor ? short_s(*rung.window_s) : "-", 11) +
           column(successor ? std::to_string(rung.window_tokens) : "-", 8) +
           column(short_s(rung.compile_s), 11) +
           column(rung.slack_s ? short_s(*rung.slack_s) : "-", 11) + "  " +
           left(verdict(rung), 21) + std::string(to_string(rung.source)) + "\n";
  }
  return out;
}

std::string totals_table(const PlanReport& report) {
  std::size_t widest = 10;
  for (const PlanForecast& row : report.forecasts) {
    widest = std::max(widest, partition_text(row).size() + 2);
  }
  std::string out = left("  schedule", 13) + left("partition", widest) + left("design", 7) +
                    right("first token", 12) + right("foreground", 12) + right("hidden", 11) +
                    right("wait", 11) + right("decode", 11) + right("critical path", 15) + "\n";
  for (std::size_t index = 0; index < report.forecasts.size(); ++index) {
    const PlanForecast& row = report.forecasts[index];
    out += (index == report.shown ? "> " : "  ") + left(to_string(row.axes.schedule), 11) +
           left(partition_text(row), widest) + left(row.design.empty() ? "-" : row.design, 7) +
           column(short_s(row.first_token_s), 12) + column(short_s(row.foreground_compile_s), 12) +
           column(short_s(row.hidden_compile_s), 11) + column(short_s(row.boundary_wait_s), 11) +
           column(short_s(row.decode_s), 11) + column(short_s(row.critical_path_s), 15) + "\n";
  }
  return out;
}

std::string start_text(const PlanForecast& row) {
  return "rung " + std::to_string(row.first_rung) + ", " +
         (row.first_chunk == 1 ? "the prompt through the decode program"
                               : "the prompt in chunks of " + std::to_string(row.first_chunk));
}

Json axes_object(const PlanForecast& row) {
  Json faster = Json::array();
  for (const Partition& partition : row.faster) faster.push_back(to_string(partition));
  return {{"ladder", row.axes.ladder},
          {"schedule", to_string(row.axes.schedule)},
          {"kv", to_string(row.axes.kv)},
          {"partition", to_string(row.axes.partition)},
          {"then", std::move(faster)}};
}

Json rung_object(const PlanRung& rung) {
  return {{"rung", rung.rung},
          {"used", rung.used},
          {"token_s", rung.token_s},
          {"window_s", rung.window_s ? Json(*rung.window_s) : Json()},
          {"window_tokens", rung.window_tokens},
          {"compile_s", rung.compile_s},
          {"slack_s", rung.slack_s ? Json(*rung.slack_s) : Json()},
          {"wait_s", rung.wait_s},
          {"tokens", rung.tokens},
          {"verdict", verdict(rung)},
          {"costs", to_string(rung.source)}};
}

Json row_object(const PlanForecast& row) {
  Json rungs = Json::array();
  Json compiles = Json::array();
  Json decisions = Json::array();
  for (const PlanRung& rung : row.rungs) rungs.push_back(rung_object(rung));
  for (const CompileRecord& compile : row.compiles) {
    compiles.push_back({{"part", compile.part},
                        {"rung", compile.rung},
                        {"begin_s", compile.begin_s},
                        {"end_s", compile.end_s},
                        {"foreground", compile.foreground},
                        {"waited_s", compile.waited_s},
                        {"reason", compile.reason}});
  }
  for (const PlanDecision& decision : row.decisions) {
    decisions.push_back({{"at_s", decision.at_s},
                         {"at_token", decision.at_token},
                         {"what", decision.what},
                         {"reason", decision.reason}});
  }
  return {{"design", row.design},
          {"axes", axes_object(row)},
          {"first_rung", row.first_rung},
          {"first_chunk", row.first_chunk},
          {"time_s",
           {{"foreground_compile", row.foreground_compile_s},
            {"hidden_compile", row.hidden_compile_s},
            {"prefill", row.prefill_s},
            {"ttft", row.first_token_s},
            {"decode", row.decode_s},
            {"boundary_wait", row.boundary_wait_s},
            {"migration", row.migration_s},
            {"critical_path", row.critical_path_s}}},
          {"rungs", std::move(rungs)},
          {"compiles", std::move(compiles)},
          {"decisions", std::move(decisions)}};
}

}  // namespace

std::string plan_text(const PlanReport& report) {
  const PlanForecast& shown = report.forecasts.at(report.shown);
  std::string out = "profile  " + printable(report.profile) + "\n";
  for (const std::string& note : report.notes) out += "  - " + printable(note) + "\n";
  out += "request  ladder " + list(report.ladder) + ", a prompt of " +
         std::to_string(report.prompt) + " tokens, " + std::to_string(report.tokens) +
         " to generate\n\n" + totals_table(report);
  out += "\n> " + std::string(to_string(shown.axes.schedule)) + " " + partition_text(shown) +
         ", rung by rung; it begins on " + start_text(shown) + "\n" + rungs_table(shown);
  const PlanForecast& choice = report.choice;
  out += "\nchoice   --ladder " + list(choice.axes.ladder) + " --schedule " +
         std::string(to_string(choice.axes.schedule)) + " --partition " +
         to_string(choice.axes.partition) + " --chunks " + list(report.choice_chunks) + "\n";
  out += "         begins on " + start_text(choice) + "\n";
  for (const Partition& faster : choice.faster) {
    out += "         goes on in " + to_string(faster) + " when that is ready\n";
  }
  return out + "         " + report.choice_reason + "\n";
}

std::string plan_json(const PlanReport& report) {
  Json forecasts = Json::array();
  for (const PlanForecast& row : report.forecasts) forecasts.push_back(row_object(row));
  Json choice = row_object(report.choice);
  choice["chunks"] = report.choice_chunks;
  choice["reason"] = report.choice_reason;
  const Json object = {
      {"ahead", version()},
      {"profile", report.profile},
      {"notes", report.notes},
      {"request",
       {{"ladder", report.ladder}, {"prompt", report.prompt}, {"tokens", report.tokens}}},
      {"forecasts", std::move(forecasts)},
      {"shown", report.shown},
      {"choice", std::move(choice)}};
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ahead::cli
