// One run's result as the JSON that `ahead run --json` writes: the names and their order are a
// contract, additions stand beside them. May use: base, include/ahead, nlohmann-json.
#include "api/result_json.h"

#include <array>
#include <utility>

#include "ahead/llm_pipeline.h"
#include "base/check.h"

namespace ahead {
namespace {

using Json = nlohmann::ordered_json;

Json axes_object(const Axes& axes) {
  return {{"ladder", axes.ladder},
          {"schedule", to_string(axes.schedule)},
          {"kv", to_string(axes.kv)},
          {"partition", to_string(axes.partition)}};
}

Json windows_array(const ModelFacts& model) {
  Json windows = Json::array();
  for (const ModelFacts::Window& window : model.windows) {
    windows.push_back({{"tokens", window.tokens},
                       {"layers", window.layers},
                       {"kv_values_per_token", window.kv_values_per_token}});
  }
  return windows;
}

Json model_object(const RunResult& result) {
  const ModelFacts& model = result.model;
  return {{"path", model.path},
          {"sha256", result.model_sha256.empty() ? Json() : Json(result.model_sha256)},
          {"architecture", model.architecture},
          {"verified_by", model.verified_by.empty() ? Json() : Json(model.verified_by)},
          {"layers", model.layers},
          {"q_heads", model.q_heads},
          {"kv_heads", model.kv_heads},
          {"head_dim", model.head_dim},
          {"value_dim", model.value_dim},
          {"vocabulary", model.vocabulary},
          {"trained_context", model.trained_context},
          {"kv_values_per_token", model.kv_values_per_token},
          {"windows", windows_array(model)},
          {"sink_layers", model.sink_layers},
          {"kv_type", to_string(result.kv_type)}};
}

Json tokens_object(const RunResult& result) {
  Json by_rung = Json::object();
  for (const auto& [rung, tokens] : result.tokens.by_rung) {
    by_rung[std::to_string(rung)] = {{"count", tokens.count}, {"seconds", tokens.seconds}};
  }
  return {{"prompt", result.tokens.prompt},
          {"kept", result.tokens.kept},
          {"generated", result.tokens.generated},
          {"by_rung", std::move(by_rung)}};
}

Json time_object(const RunResult& result) {
  const auto& time = result.time_s;
  return {
      {"load", time.load},
      {"foreground_compile", time.foreground_compile},
      {"hidden_compile", time.hidden_compile},
      {"prefill", time.prefill},
      {"ttft", time.ttft},
      {"ttft_cold", time.ttft_cold},
      {"decode", time.decode},
      {"boundary_wait", time.boundary_wait},
      {"migration", time.migration},
      {"kv_allocation", time.kv_allocation},
      {"critical_path", time.critical_path},
      {"first_runs", {{"prefill", time.first_runs_prefill}, {"decode", time.first_runs_decode}}}};
}

Json compile_object(const CompileRecord& compile) {
  return {
      {"part", compile.part},         {"rung", compile.rung},   {"tier", compile.tier},
      {"begin_s", compile.begin_s},   {"end_s", compile.end_s}, {"foreground", compile.foreground},
      {"waited_s", compile.waited_s}, {"cache", compile.cache}, {"reason", compile.reason}};
}

Json boundary_object(const BoundaryRecord& boundary) {
  return {{"from", boundary.from},
          {"to", boundary.to},
          {"at_token", boundary.at_token},
          {"ready", boundary.ready},
          {"wait_s", boundary.wait_s},
          {"migration_s", boundary.migration_s},
          {"copied_bytes", boundary.copied_bytes},
          {"live_blocks", boundary.live_blocks},
          {"row", boundary.row}};
}

/// Null where nobody knows.
Json known_bytes(std::int64_t bytes) { return bytes < 0 ? Json() : Json(bytes); }

Json cores_object(const RunResult& result) {
  return {{"device", result.cores.device},
          {"reading_threads", result.cores.reading_threads},
          {"decoding_threads", result.cores.decoding_threads},
          {"compile", result.cores.compile},
          {"pinned", result.cores.pinned},
          {"reason", result.cores.reason}};
}

Json memory_object(const RunResult& result) {
  const auto& memory = result.memory;
  return {{"kv_reserved_avg_bytes", memory.kv_reserved_avg_bytes},
          {"kv_reserved_peak_bytes", memory.kv_reserved_peak_bytes},
          {"kv_committed_avg_bytes", known_bytes(memory.kv_committed_avg_bytes)},
          {"kv_committed_peak_bytes", known_bytes(memory.kv_committed_peak_bytes)},
          {"kv_live_avg_bytes", memory.kv_live_avg_bytes},
          {"rss_peak_bytes", memory.rss_peak_bytes}};
}

Json row_object(const RowResult& row) {
  return {{"prompt", row.prompt}, {"generated", row.generated},
          {"rung", row.rung},     {"finish_reason", to_string(row.finish_reason)},
          {"error", row.error},   {"output", {{"text", row.text}, {"token_ids", row.token_ids}}}};
}

template <typename Record>
Json list(const std::vector<Record>& records, Json (*object)(const Record&)) {
  Json out = Json::array();
  for (const Record& record : records) {
    out.push_back(object(record));
  }
  return out;
}

}  // namespace

std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kMaxTokens:
      return "max_tokens";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kStopped:
      return "stopped";
    case FinishReason::kCancelled:
      return "cancelled";
    case FinishReason::kError:
      return "error";
  }
  AHEAD_CHECK(false, "a finish reason has no spelling");
  return {};
}

nlohmann::ordered_json api::result_object(const RunResult& result) {
  Json object;
  object["ahead"] = version();
  object["design"] = result.design;
  object["chat_template"] = result.chat.empty() ? Json() : Json(result.chat);
  object["axes"] = axes_object(result.axes);
  object["device"] = {{"name", result.device}, {"executed_on", result.executed_on}};
  object["cores"] = cores_object(result);
  object["model"] = model_object(result);
  object["tokens"] = tokens_object(result);
  object["time_s"] = time_object(result);
  object["compiles"] = list(result.compiles, compile_object);
  object["boundaries"] = list(result.boundaries, boundary_object);
  object["memory"] = memory_object(result);
  if (!result.kv_fallback.empty()) object["kv_fallback"] = result.kv_fallback;
  object["finish_reason"] = to_string(result.finish_reason);
  object["error"] = result.error;
  object["output"] = {{"text", result.text}, {"token_ids", result.token_ids}};
  if (!result.rows.empty()) object["rows"] = list(result.rows, row_object);
  return object;
}

std::string api::dump(const nlohmann::ordered_json& object) {
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_json(const RunResult& result) { return api::dump(api::result_object(result)); }

}  // namespace ahead
