// One loop, compiled for what processors have. May use: std, base.
#include "graph/panel_weights.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "base/check.h"

namespace ahead::graph {
namespace {

constexpr std::size_t kRows = PanelWeights::kPanelRows;

// Vectors of the compiler (GCC and Clang alike), which makes of them what the target has.
using Floats = float __attribute__((vector_size(kRows * sizeof(float))));
using Words = std::uint32_t __attribute__((vector_size(kRows * sizeof(std::uint32_t))));
using Ints = std::int32_t __attribute__((vector_size(kRows * sizeof(std::int32_t))));

/// How far ahead codes are asked for. Measured: from 1 to 4 KiB it saves a fifth to a quarter of
/// the time of weights that come from memory, most at 2 to 3, because a processor's own prefetching
/// ends with a page.
constexpr std::size_t kPrefetchBytes = 2048;
constexpr std::size_t kLineBytes = 64;

/// What one call reads and writes.
struct Operands {
  const std::byte* codes;
  const std::byte* groups;
  const float* x;
  float* y;
  std::size_t panels;
  std::size_t panel_groups;
  std::size_t group_words;
};

/// Finite f16 in the lower half of every word, exactly. Small numbers are computed rather than left
/// to the processor, which may be told to take them for zero.
[[gnu::always_inline]] inline void widen(const Words& halves, Floats& floats) {
  constexpr std::uint32_t kRebias = 112U << 23U;  // from an exponent's bias of 15 to one of 127
  const Words sign = (halves & 0x8000U) << 16U;
  const Words exponent = halves & 0x7C00U;
  const Words moved = ((halves & 0x7FFFU) << 13U) + kRebias;
  const Words normal = reinterpret_cast<Words>(exponent != 0U);
  const Words raised = moved + (1U << 23U);  // 2^-14 and the small number on top of it
  const Floats small = reinterpret_cast<Floats>(raised) - 0x1p-14F;
  floats = reinterpret_cast<Floats>(
      ((moved & normal) | (reinterpret_cast<Words>(small) & ~normal)) | sign);
}

// A panel's codes of one group are words by columns, and in these by rows: a register has a word of
// every row, and shifting it brings eight columns by turns to where they are converted. A group's
// scale and zero point are applied once: sum(s * (c - z) * x) = s * (sum(c * x) - z * sum(x)).
[[gnu::always_inline]] inline void multiply_panels(const Operands& in) {
  const std::byte* codes = in.codes;
  const std::byte* groups = in.groups;
  for (std::size_t panel = 0; panel < in.panels; ++panel) {
    Floats total = {};
    const float* x = in.x;
    for (std::size_t group = 0; group < in.panel_groups; ++group) {
      std::array<Floats, 4> sums = {};  // apart, so that one addition does not wait for another
      std::array<float, 4> plain = {};
      for (std::size_t word = 0; word < in.group_words; ++word) {
        Words eight;
        std::memcpy(&eight, codes, sizeof(eight));
        __builtin_prefetch(codes + kPrefetchBytes);
#pragma GCC unroll 8
        for (std::size_t column = 0; column < PanelWeights::kWordColumns; ++column) {
          const auto code = reinterpret_cast<Ints>((eight >> (4 * column)) & 15U);
          sums[column % 4] += x[column] * __builtin_convertvector(code, Floats);
          plain[column % 4] += x[column];
        }
        codes += sizeof(eight);
        x += PanelWeights::kWordColumns;
      }
      Words both;
      std::memcpy(&both, groups, sizeof(both));
      __builtin_prefetch(groups + kPrefetchBytes / 4);
      groups += sizeof(both);
      Floats scale;
      Floats zero_point;
      widen(both & 0xFFFFU, scale);
      widen(both >> 16U, zero_point);
      total += scale * (((sums[0] + sums[1]) + (sums[2] + sums[3])) -
                        zero_point * ((plain[0] + plain[1]) + (plain[2] + plain[3])));
    }
    std::memcpy(in.y + panel * kRows, &total, sizeof(total));
  }
}

void multiply_anywhere(const Operands& in) { multiply_panels(in); }

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void multiply_avx2(const Operands& in) { multiply_panels(in); }
[[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]] void multiply_avx512(
    const Operands& in) {
  multiply_panels(in);
}

// What of x86-64-v3 and -v4 the loop comes to; Clang 16 does not know the levels by name here.
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

using Multiply = void (*)(const Operands&);

/// What runs here, the fastest last.
std::vector<Multiply> loops() {
  std::vector<Multiply> made = {multiply_anywhere};
#if defined(__x86_64__)
  if (has_avx2()) made.push_back(multiply_avx2);
  if (has_avx512()) made.push_back(multiply_avx512);
#endif
  return made;
}

}  // namespace

void PanelWeights::Free::operator()(std::byte* memory) const noexcept { std::free(memory); }

bool PanelWeights::can_hold(const Size& size) {
  return size.rows > 0 && size.rows % kPanelRows == 0 && size.group > 0 &&
         size.group % kWordColumns == 0 && size.columns > 0 && size.columns % size.group == 0;
}

std::size_t PanelWeights::loops_here() { return loops().size(); }

bool PanelWeights::pays_here() { return loops_here() > 1; }

std::size_t PanelWeights::bytes() const {
  return groups_at_ + size_.rows * (size_.columns / size_.group) * sizeof(std::uint32_t);
}

PanelWeights::PanelWeights(const Source& source) : size_(source.size) {
  const auto& [rows, columns, group] = size_;
  AHEAD_CHECK(can_hold(size_), "panels are whole");
  const std::size_t groups = columns / group;
  AHEAD_CHECK(source.codes.size() == rows * columns / 2 && source.scales.size() == rows * groups &&
                  source.zero_points.size() == rows * groups,
              "codes, scales and zero points are those of the size");
  groups_at_ = rows * columns / 2;
  static_assert(kRows * sizeof(std::uint32_t) == kLineBytes, "every panel begins with a line");
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kLineBytes, bytes())));
  if (!memory_) throw std::bad_alloc();

  const std::size_t words = columns / kWordColumns;
  auto* to_codes = reinterpret_cast<std::uint32_t*>(memory_.get());
  auto* to_groups = reinterpret_cast<std::uint32_t*>(memory_.get() + groups_at_);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t panel = row / kRows;
    const std::size_t lane = row % kRows;
    const std::byte* from = source.codes.data() + row * columns / 2;
    for (std::size_t word = 0; word < words; ++word) {
      std::uint32_t eight = 0;
      for (std::size_t byte = 0; byte < sizeof(eight); ++byte) {
        eight |= std::to_integer<std::uint32_t>(from[word * sizeof(eight) + byte]) << (8 * byte);
      }
      to_codes[(panel * words + word) * kRows + lane] = eight;
    }
    for (std::size_t g = 0; g < groups; ++g) {
      const std::size_t flat = row * groups + g;
      to_groups[(panel * groups + g) * kRows + lane] =
          source.scales[flat] | std::uint32_t{source.zero_points[flat]} << 16U;
    }
  }
}

void PanelWeights::multiply(std::span<const float> x, std::span<float> y) const {
  static const std::size_t fastest = loops_here() - 1;
  multiply({.loop = fastest}, x, y);
}

void PanelWeights::multiply(With with, std::span<const float> x, std::span<float> y) const {
  static const std::vector<Multiply> known = loops();
  AHEAD_CHECK(x.size() == size_.columns && y.size() == size_.rows, "vectors fit the weights");
  known.at(with.loop)({.codes = memory_.get(),
                       .groups = memory_.get() + groups_at_,
                       .x = x.data(),
                       .y = y.data(),
                       .panels = size_.rows / kRows,
                       .panel_groups = size_.columns / size_.group,
                       .group_words = size_.group / kWordColumns});
}

}  // namespace ahead::graph
