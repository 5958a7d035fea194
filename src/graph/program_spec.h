// What a program is, as plain data: parts, the values that flow between them, and the calls of one
// step in order. The border between the rooms that see OpenVINO and those that do not.
// May use: base.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor_view.h"

namespace ahead::graph {

/// Everything a program's shapes depend on.
struct ProgramShape {
  std::int64_t batch = 1;   ///< sequences
  std::int64_t tokens = 1;  ///< new tokens a sequence and step: 1 decodes, more is prefill
  std::int64_t rung = 0;    ///< cache rows a sequence
  /// Which of the back end's forms of the decoder: 0 is ready soonest, a higher one steps faster.
  std::int64_t tier = 0;

  /// "decode" or "prefill".
  [[nodiscard]] std::string_view phase() const { return tokens == 1 ? "decode" : "prefill"; }

  friend auto operator<=>(const ProgramShape&, const ProgramShape&) = default;
};

/// "decode@1024", "decode@1024 tier 1", for messages and traces.
[[nodiscard]] std::string to_string(const ProgramShape& shape);

/// What a value is for.
enum class Role {
  kTokens,     ///< [batch, tokens] i32
  kPositions,  ///< [batch, tokens] i32
  kLogitRows,  ///< [batch] i32: flat index of the token whose logits are wanted
  /// Per window, which stands in the place of the layer, and sequence: f32, 0 for a cached row that
  /// is seen, kDeadRow for one that is not. Without a window (0) [rung]; with one
  /// [tokens, rows kept], a line for each new token.
  kCacheBias,
  kCacheK,    ///< [blocks, kv_heads, dim, rows], per layer and sequence
  kCacheV,    ///< [blocks, kv_heads, rows, dim], per layer and sequence
  kNewK,      ///< [1, batch * tokens, kv_heads, dim], per layer, of the cache's type
  kNewV,      ///< likewise
  kLogits,    ///< [batch, vocabulary] f32
  kInternal,  ///< from part to part
};

/// Added to the scores of rows that hold nothing: finite, so that no sum is NaN, and within f16.
inline constexpr float kDeadRow = -30000.0F;

/// One value of a step.
struct ValueSpec {
  Role role = Role::kInternal;
  std::int64_t layer = 0;  ///< where the role has layers
  std::int64_t row = 0;    ///< sequence of the batch, where the role has one
  ElementType type = ElementType::kF32;
  Shape shape;
};

/// Instead of a sequence's number: all of them.
inline constexpr std::int64_t kWholeBatch = -1;

/// One part: compiled on its own, used by one call or more.
struct PartSpec {
  std::string name;  ///< its own in the program; parts of one name that depend on no tier are alike
  bool depends_on_rung = true;
  /// Where that is less than the rung: the rows that all layers of the part keep at most. Rungs
  /// above have the same part.
  std::int64_t rows_kept = std::numeric_limits<std::int64_t>::max();
  bool depends_on_batch = true;
  /// Otherwise the part takes any number of tokens, and one artifact serves prefill and decode.
  bool depends_on_tokens = true;
  /// Otherwise every form of the decoder that has the part has the same.
  bool depends_on_tier = true;
  bool holds_weights = true;
  /// Its size: operations of the graph, and bytes of the weights inside it.
  std::int64_t operations = 0;
  std::int64_t weight_bytes = 0;
};

/// A value at a port: whole, or one sequence's share of a value whose batch is outermost. An index
/// alone is the whole value.
struct ValueUse {
  std::size_t value = 0;
  std::int64_t row = kWholeBatch;

  constexpr ValueUse(std::size_t index) : value(index) {}  // NOLINT(google-explicit-constructor)
  constexpr ValueUse(std::size_t index, std::int64_t sequence) : value(index), row(sequence) {}
};

/// Where a call is made in the middle of another.
struct PausePoint {
  std::size_t call = 0;   ///< which one, in front of those within it
  std::size_t pause = 0;  ///< which of its part's pauses
};

/// One invocation of a part: values in the order of the part's ports.
struct CallSpec {
  std::size_t part = 0;
  std::size_t weights = 0;  ///< which set of the part's weights it uses; the back end binds them
  std::int64_t row = kWholeBatch;  ///< the sequence it serves
  std::optional<PausePoint> within = std::nullopt;
  std::vector<ValueUse> inputs;
  std::vector<ValueUse> outputs;
};

/// A program: run the calls in order, but those within another where that pauses, and a step is
/// done.
struct ProgramSpec {
  ProgramShape shape;
  std::vector<PartSpec> parts;
  std::vector<ValueSpec> values;
  std::vector<CallSpec> calls;
};

}  // namespace ahead::graph
