// What one request did: the values behind `ahead run --json` and `--trace`.
//
// Seconds, bytes and tokens throughout; field names are the JSON contract's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ahead/axes.h"

namespace ahead {

/// Why generation ended.
enum class FinishReason {
  kStop,       ///< an end-of-sequence token or a stop string
  kMaxTokens,  ///< max_new_tokens, or the end of the forced tokens
  kLength,     ///< the last rung is full
  kStopped,    ///< the streamer said kStop
  kCancelled,  ///< the streamer said kCancel, or the stop token was triggered
  kError,      ///< a failure after the first token; RunResult::error says which
};

[[nodiscard]] std::string_view to_string(FinishReason reason);

/// Facts about a model, read from its file.
struct ModelFacts {
  std::string path;
  std::string weights;  ///< the file that holds the weights
  std::string architecture;
  /// What shows that the architecture is computed right; empty: nothing does.
  std::string verified_by;
  std::int64_t layers = 0;
  std::int64_t q_heads = 0;
  std::int64_t kv_heads = 0;   ///< of the first layer, when layers differ
  std::int64_t head_dim = 0;   ///< of queries and K
  std::int64_t value_dim = 0;  ///< of V
  std::int64_t vocabulary = 0;
  std::int64_t trained_context = 0;
  std::int64_t kv_values_per_token = 0;  ///< K and V elements over all layers

  /// Layers in which a token sees itself and the `tokens` - 1 before it.
  struct Window {
    std::int64_t tokens = 0;
    std::int64_t layers = 0;
    std::int64_t kv_values_per_token = 0;  ///< over these layers

    friend bool operator==(const Window&, const Window&) = default;
  };
  std::vector<Window> windows;   ///< by size; in none are the layers that see everything
  std::int64_t sink_layers = 0;  ///< whose attention has sinks

  /// K and V elements of one sequence's cache of `rung` tokens, in blocks of `block_rows`: a layer
  /// with a window keeps what the window needs.
  [[nodiscard]] std::int64_t kv_values(std::int64_t rung, std::int64_t block_rows = 128) const;
};

/// One compile of one program.
struct CompileRecord {
  std::string part;  ///< "prefill" or "decode"
  std::int64_t rung = 0;
  std::int64_t tier = 0;  ///< of schedule planned: 0 is the form that is ready soonest
  double begin_s = 0;     ///< since the request began
  double end_s = 0;
  bool foreground = false;    ///< the request waited for at least a part of it
  double waited_s = 0;        ///< how much of it the request waited for
  std::string cache = "off";  ///< "hit", "miss", or "off" while no artifact cache is in use
  std::string reason;         ///< why it was started then
};

/// One move from a rung to the next.
struct BoundaryRecord {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t at_token = 0;  ///< live tokens at the move
  bool ready = false;         ///< the successor was ready when it was needed
  double wait_s = 0;
  double migration_s = 0;
  std::int64_t copied_bytes = 0;
  std::int64_t live_blocks = 0;  ///< blocks that held live rows, over all layers, K and V apart
  std::int64_t row = 0;          ///< sequence of the batch that moved
};

/// Tokens decoded on one rung, and the time of the steps they came from; the sequences of a batch
/// share a step's time.
struct RungTokens {
  std::int64_t count = 0;
  double seconds = 0;
};

/// What one sequence of a batch came to.
struct RowResult {
  std::int64_t prompt = 0;     ///< tokens
  std::int64_t generated = 0;  ///< tokens
  std::int64_t rung = 0;       ///< where it ended
  FinishReason finish_reason = FinishReason::kStop;
  std::string text;
  std::vector<std::int32_t> token_ids;
  std::string error;  ///< empty, or why it did not run
};

/// One event of the timeline: a span on a row, or a counter's value when `counter`.
struct TraceEvent {
  std::string row;  ///< "device", "compiler" or "kv"
  std::string name;
  double begin_s = 0;
  double end_s = 0;
  bool counter = false;
  std::vector<std::pair<std::string, double>> numbers;
  std::vector<std::pair<std::string, std::string>> notes;
};

/// Everything measured about one request.
struct RunResult {
  Axes axes;
  KvType kv_type = KvType::kF32;
  std::string design;  ///< the preset's name, or empty
  /// Where the chat template is from that the prompt went through; empty: none.
  std::string chat;
  std::string device;
  std::vector<std::string> executed_on;  ///< as the compiled programs report it
  /// What the run was given of the processor.
  struct {
    std::vector<int> device;   ///< cores of the decode thread and of the device's threads
    int reading_threads = 0;   ///< of the device, for chunks of a prompt
    int decoding_threads = 0;  ///< for a token
    std::vector<int> compile;  ///< cores of background compiles
    bool pinned = false;       ///< threads are held to these cores; otherwise the system puts them
    std::string reason;        ///< why these, in words
  } cores;
  ModelFacts model;
  /// Of the weights' file; empty until Model::sha256() is asked for: hashing gigabytes takes
  /// seconds.
  std::string model_sha256;

  struct {
    std::int64_t prompt = 0;
    std::int64_t kept = 0;  ///< of the prompt: not read again, the cache had them
    std::int64_t generated = 0;
    std::map<std::int64_t, RungTokens> by_rung;
  } tokens;

  struct {
    double load = 0;
    double foreground_compile = 0;
    double hidden_compile = 0;
    double prefill = 0;
    double ttft = 0;       ///< from the call of generate(); model load apart
    double ttft_cold = 0;  ///< model load included
    double decode = 0;
    double boundary_wait = 0;
    double migration = 0;
    /// Getting the first cache, beside the first compile; no part of the critical path.
    double kv_allocation = 0;
    /// foreground_compile + prefill + decode + boundary_wait + migration.
    double critical_path = 0;
    /// What first runs of programs took beyond the median of their other runs, as far as they had
    /// any: a device packs weights and makes kernels in them. Parts of prefill and of decode.
    double first_runs_prefill = 0;
    double first_runs_decode = 0;
  } time_s;

  std::vector<CompileRecord> compiles;
  std::vector<BoundaryRecord> boundaries;

  struct {
    std::int64_t kv_reserved_avg_bytes = 0;
    std::int64_t kv_reserved_peak_bytes = 0;
    /// Negative when the kernel does not tell what is backed (no /proc/self/pagemap); the JSON then
    /// has null.
    std::int64_t kv_committed_avg_bytes = 0;
    std::int64_t kv_committed_peak_bytes = 0;
    std::int64_t kv_live_avg_bytes = 0;  ///< of the rows that hold tokens: what is needed
    std::int64_t rss_peak_bytes = 0;
  } memory;

  /// Empty, or in words why the cache did not grow as the axes ask.
  std::string kv_fallback;

  /// Of a batch: that of the sequence that ended last, unless the whole batch ended early.
  FinishReason finish_reason = FinishReason::kStop;
  std::string text;
  std::vector<std::int32_t> token_ids;
  /// Empty, or why generation ended early; what was produced until then stands above.
  std::string error;
  /// The sequences of generate_batch(), in the order of the prompts; empty for a single one.
  std::vector<RowResult> rows;

  std::vector<TraceEvent> trace;
};

/// The JSON of `ahead run --json`, indented, one object.
[[nodiscard]] std::string to_json(const RunResult& result);

/// Chrome's trace event format; opens in Perfetto and chrome://tracing.
[[nodiscard]] std::string to_chrome_trace(const RunResult& result);

}  // namespace ahead
