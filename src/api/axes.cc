// The spellings of the axes' values: one table an axis, read in both directions.
// May use: base, include/ahead.
#include "ahead/axes.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>

#include "ahead/error.h"
#include "api/wording.h"
#include "base/check.h"
#include "base/printable.h"

namespace ahead {
namespace {

template <typename Enum>
struct Spelling {
  Enum value;
  std::string_view name;
};

constexpr std::array kSchedules = {
    Spelling<Schedule>{Schedule::kEager, "eager"},
    Spelling<Schedule>{Schedule::kOneAhead, "one-ahead"},
    Spelling<Schedule>{Schedule::kOnDemand, "on-demand"},
    Spelling<Schedule>{Schedule::kPlanned, "planned"},
};
constexpr std::array kKvPolicies = {
    Spelling<KvPolicy>{KvPolicy::kSharedMax, "shared-max"},
    Spelling<KvPolicy>{KvPolicy::kCopyGrow, "copy-grow"},
    Spelling<KvPolicy>{KvPolicy::kInPlace, "in-place"},
};
constexpr std::array kKvTypes = {
    Spelling<KvType>{KvType::kF32, "f32"},
    Spelling<KvType>{KvType::kF16, "f16"},
};
constexpr std::array kPartitions = {
    Spelling<Partition::Kind>{Partition::Kind::kWhole, "whole"},
    Spelling<Partition::Kind>{Partition::Kind::kBlocks, "blocks:N"},
    Spelling<Partition::Kind>{Partition::Kind::kAttention, "attention"},
};
constexpr std::string_view kBlocks = "blocks:";

template <typename Enum, std::size_t N>
constexpr std::array<Enum, N> values_in(const std::array<Spelling<Enum>, N>& table) {
  std::array<Enum, N> values{};
  for (std::size_t i = 0; i < N; ++i) {
    values[i] = table[i].value;
  }
  return values;
}

constexpr auto kScheduleValues = values_in(kSchedules);
constexpr auto kKvPolicyValues = values_in(kKvPolicies);
constexpr auto kKvTypeValues = values_in(kKvTypes);
constexpr auto kPartitionValues = values_in(kPartitions);

template <typename Enum, std::size_t N>
std::string_view name_of(const std::array<Spelling<Enum>, N>& table, Enum value) {
  for (const auto& entry : table) {
    if (entry.value == value) {
      return entry.name;
    }
  }
  AHEAD_CHECK(false, "an axis has a value without a spelling");
  return {};
}

template <typename Enum, std::size_t N>
Enum value_of(const std::array<Spelling<Enum>, N>& table, std::string_view axis,
              std::string_view text) {
  std::array<std::string_view, N> names;
  for (std::size_t i = 0; i < N; ++i) {
    if (table[i].name == text) {
      return table[i].value;
    }
    names[i] = table[i].name;
  }
  throw Error(ErrorKind::kInvalidArgument, std::string(axis) + " " + in_quotes(text) +
                                               " is not known; choose " + api::one_of(names));
}

/// N of "blocks:N".
std::optional<std::int64_t> layers_of_blocks(std::string_view text) {
  if (!text.starts_with(kBlocks)) return std::nullopt;
  text.remove_prefix(kBlocks.size());
  std::int64_t layers = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), layers);
  if (error != std::errc() || end != text.data() + text.size() || layers < 1) return std::nullopt;
  return layers;
}

}  // namespace

std::string_view to_string(Schedule value) { return name_of(kSchedules, value); }
std::string_view to_string(KvPolicy value) { return name_of(kKvPolicies, value); }
std::string_view to_string(KvType value) { return name_of(kKvTypes, value); }
std::string_view to_string(Partition::Kind value) { return name_of(kPartitions, value); }
std::string to_string(Partition value) {
  if (value.kind != Partition::Kind::kBlocks) return std::string(to_string(value.kind));
  return std::string(kBlocks) + std::to_string(value.block_layers);
}

std::span<const Schedule> schedules() { return kScheduleValues; }
std::span<const KvPolicy> kv_policies() { return kKvPolicyValues; }
std::span<const KvType> kv_types() { return kKvTypeValues; }
std::span<const Partition::Kind> partitions() { return kPartitionValues; }

Schedule parse_schedule(std::string_view text) { return value_of(kSchedules, "schedule", text); }
KvPolicy parse_kv_policy(std::string_view text) { return value_of(kKvPolicies, "KV policy", text); }
KvType parse_kv_type(std::string_view text) { return value_of(kKvTypes, "KV type", text); }
Partition parse_partition(std::string_view text) {
  if (text.starts_with("blocks")) {
    if (const auto layers = layers_of_blocks(text)) return Partition::blocks(*layers);
    throw Error(ErrorKind::kInvalidArgument,
                "partition " + in_quotes(text) +
                    " is not known; blocks:N takes a whole number of layers from 1, like blocks:4");
  }
  return {value_of(kPartitions, "partition", text), 0};
}

}  // namespace ahead
