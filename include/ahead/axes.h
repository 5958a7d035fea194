// The four independent axes of a context ladder, and the presets over them.
//
// Nothing but the table behind `designs()` knows a preset's name: code branches on axes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ahead {

/// When the programs of a ladder are compiled.
enum class Schedule {
  kEager,     ///< everything before the first token
  kOneAhead,  ///< what the next step needs first, then exactly one successor in the background
  kOnDemand,  ///< each program when it is needed; the negative control
  /// By what compiles and steps are known or estimated to take: each as late as is safe, and what
  /// works faster behind what works sooner.
  kPlanned,
};

/// How the KV cache's memory grows.
enum class KvPolicy {
  kSharedMax,  ///< the last rung is reserved and touched from the start
  kCopyGrow,   ///< sized to the rung; at a boundary allocate the next, copy live blocks, free the
               ///< old
  /// Address space for the last rung, memory as rows are written; growing moves and copies nothing.
  kInPlace,
};

/// The element type the KV cache stores.
enum class KvType { kF32, kF16 };

/// How the decoder is cut into separately compiled parts.
struct Partition {
  enum class Kind {
    kWhole,  ///< one graph per rung
    /// Some consecutive layers a graph, with the weights as inputs: one serves every group of
    /// layers of the same structure. Embedding and head are compiled once for all rungs.
    kBlocks,
    /// Cut on both sides of every attention: what holds weights is compiled once for all rungs, a
    /// rung is one small weightless graph.
    kAttention,
  };

  Kind kind = Kind::kWhole;
  std::int64_t block_layers = 0;  ///< with kBlocks layers a graph, from 1; otherwise 0

  static const Partition kWhole;
  static const Partition kAttention;
  [[nodiscard]] static constexpr Partition blocks(std::int64_t layers) {
    return {Kind::kBlocks, layers};
  }

  friend bool operator==(const Partition&, const Partition&) = default;
};

inline constexpr Partition Partition::kWhole{Partition::Kind::kWhole, 0};
inline constexpr Partition Partition::kAttention{Partition::Kind::kAttention, 0};

/// A point in the space of designs.
struct Axes {
  /// Rung capacities in tokens, strictly increasing. Empty: default_ladder() of the model.
  std::vector<std::int64_t> ladder;
  Schedule schedule = Schedule::kPlanned;
  KvPolicy kv = KvPolicy::kInPlace;
  Partition partition = Partition::kAttention;
};

/// A named preset over the axes.
struct Design {
  std::string_view name;
  std::string_view summary;
  /// Keep only the last rung of the ladder asked for.
  bool last_rung_only;
  Schedule schedule;
  KvPolicy kv;
  Partition partition;
};

/// The presets, baselines first.
[[nodiscard]] std::span<const Design> designs();

/// The preset the command line and the API use when none is named.
[[nodiscard]] const Design& default_design();

/// Throws Error(kInvalidArgument), listing the known names, when `name` is none of them.
[[nodiscard]] const Design& find_design(std::string_view name);

/// The axes of `design` over `ladder`.
[[nodiscard]] Axes axes_of(const Design& design, const std::vector<std::int64_t>& ladder);

/// Spelled as on the command line and in the JSON: "one-ahead", "copy-grow", "f16", "blocks:4".
[[nodiscard]] std::string_view to_string(Schedule value);
[[nodiscard]] std::string_view to_string(KvPolicy value);
[[nodiscard]] std::string_view to_string(KvType value);
[[nodiscard]] std::string to_string(Partition value);
/// For lists of what there is: "blocks:N" stands for every number.
[[nodiscard]] std::string_view to_string(Partition::Kind value);

/// Every value of an axis, in the order in which they are listed to people.
[[nodiscard]] std::span<const Schedule> schedules();
[[nodiscard]] std::span<const KvPolicy> kv_policies();
[[nodiscard]] std::span<const KvType> kv_types();
[[nodiscard]] std::span<const Partition::Kind> partitions();

/// The inverse; throw Error(kInvalidArgument) naming the value and the values that exist.
[[nodiscard]] Schedule parse_schedule(std::string_view text);
[[nodiscard]] KvPolicy parse_kv_policy(std::string_view text);
[[nodiscard]] KvType parse_kv_type(std::string_view text);
[[nodiscard]] Partition parse_partition(std::string_view text);

/// Parses "1024,2048,4096". Throws Error(kInvalidArgument) when it is empty, not numbers, not
/// strictly increasing, or below 16 tokens.
[[nodiscard]] std::vector<std::int64_t> parse_ladder(std::string_view text);

/// What the ladder that nobody named depends on.
struct LadderQuery {
  std::int64_t trained_context = 0;  ///< tokens; 0: the model does not say
  Schedule schedule = Schedule::kPlanned;
  KvPolicy kv = KvPolicy::kInPlace;
};
/// The ladder that default_ladder() chose.
struct DefaultLadder {
  std::vector<std::int64_t> rungs;
  std::string note;  ///< why it ends below the trained context; empty where it does not
};

/// Doubles from 1024 tokens to the trained context, whose last 127 tokens may go unused: a rung
/// that a request does not come to costs it nothing. It stays at kDefaultTop where the schedule
/// compiles the top before the first token or the policy holds memory for it, and where the model
/// does not say its context. Throws Error(kUnsupportedModel) where not even the smallest rung fits.
[[nodiscard]] DefaultLadder default_ladder(const LadderQuery& query);

/// Where a default ladder ends when its top has a price, or the model's context is not known.
inline constexpr std::int64_t kDefaultTop = 8192;

/// Throws Error(kInvalidArgument) when `ladder` is empty, not strictly increasing, has a rung below
/// 16 tokens or one beyond `trained_context_tokens`.
void check_ladder(const std::vector<std::int64_t>& ladder, std::int64_t trained_context_tokens);

}  // namespace ahead
