// See gguf_mends.h. May use: base.
#include "model/gguf_mends.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ahead::model {
namespace {

constexpr const char* kFactors = "rope_freqs.weight";

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Of those that the frontend reads, the architectures whose rotation llama.cpp divides by the
/// tensor.
bool has_frequency_factors(const std::string& architecture) {
  constexpr auto kWithFactors = std::to_array<std::string_view>({"llama", "mistral3"});
  return among(kWithFactors, architecture);
}

bool normalises_experts(const GgufHeader& header, const std::string& architecture) {
  constexpr auto kNormalised = std::to_array<std::string_view>(
      {"ernie4_5-moe", "hunyuan-moe", "llama", "mistral3", "qwen3moe"});
  const std::string prefix = architecture + ".";
  return among(kNormalised, architecture) &&
         header.number(prefix + "expert_count").value_or(0) != 0 &&
         header.number(prefix + "expert_weights_norm").value_or(0) == 0;
}

}  // namespace

GgufMends mends_of(const GgufHeader& header) {
  const std::string architecture = header.architecture();
  GgufMends mends;
  const auto factors = header.rope_factors.find(kFactors);
  if (factors != header.rope_factors.end() && is_mended_tensor(header, kFactors) &&
      std::any_of(factors->second.begin(), factors->second.end(),
                  [](float factor) { return factor != 1.0F; })) {
    mends.frequency_factors = factors->second;
  }
  if (architecture == "smollm3") mends.unrotated_every = 4;
  mends.rotate_halves = architecture == "qwen3moe";
  mends.softmax_over_experts = architecture == "gpt-oss";
  mends.normalise_experts = normalises_experts(header, architecture);
  return mends;
}

bool is_mended_tensor(const GgufHeader& header, const std::string& name) {
  return name == kFactors && has_frequency_factors(header.architecture()) &&
         header.rope_factors.contains(name);
}

}  // namespace ahead::model
