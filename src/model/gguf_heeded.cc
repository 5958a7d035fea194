// The tables: what llama.cpp heeds for the architectures that the frontend of OpenVINO 2026.4
// reads, without what that frontend heeds itself. May use: base.
#include "model/gguf_heeded.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "model/gguf_mends.h"

namespace ahead::model {
namespace {

using Reason = std::optional<std::string>;

std::string text_of(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

/// A key behind "<architecture>." that does nothing at the neutral values.
struct Number {
  std::string_view key;
  std::array<double, 2> neutral;
  std::string_view does;
};
constexpr double kUnset = 4294967295.0;
constexpr std::array kNumbers = {
    Number{"attention.causal", {1, 1}, "every token sees those behind it too"},
    Number{"attention.clamp_kqv", {0, 0}, "q, k and v are limited to it"},
    Number{"attention.max_alibi_bias", {0, 0}, "distance lowers attention"},
    Number{"attention.temperature_scale", {0, 0}, "q grows with the position"},
    Number{"attention.output_scale", {0, 1}, "attention's output is multiplied by it"},
    Number{"attention.value_scale", {0, 1}, "v is multiplied by it"},
    Number{"rope.scaling.alpha", {0, 1}, "it changes the rotation's base"},
    Number{"rope.scaling.attn_factor", {1, 1}, "rotated q and k are multiplied by it"},
    Number{"rope.scaling.yarn_attn_factor", {1, 1}, "rotated q and k are multiplied by it"},
    Number{"rope.scaling.yarn_log_multiplier", {0, 0}, "it changes attention's scale"},
    Number{"expert_group_count", {0, 1}, "experts are chosen group by group"},
    Number{"interleave_moe_layer_step", {0, 1}, "only some layers have experts"},
    Number{"moe_every_n_layers", {0, 1}, "only some layers have experts"},
    Number{"moe_latent_size", {0, 0}, "experts work in a smaller space"},
    Number{"router_logit_softcapping", {0, 0}, "the router's logits are limited to it"},
    Number{"swiglu_clamp_exp", {0, 0}, "the experts' values are limited to it"},
    Number{"swiglu_clamp_shexp", {0, 0}, "the experts' values are limited to it"},
    Number{"nextn_predict_layers", {0, 0}, "the last layers are no part of the model proper"},
    Number{"n_deepstack_layers", {0, 0}, "layers take in what was seen"},
    Number{"hyper_connection.count", {0, 1}, "layers are connected several times"},
    Number{"use_parallel_residual", {0, 0}, "attention and what follows it run side by side"},
    Number{"swin_norm", {0, 0}, "norms stand behind the layers"},
    Number{"token_shift_count", {0, 0}, "a layer mixes in the token before"},
    Number{"rescale_every_n_layers", {0, 0}, "layers are scaled down"},
    Number{"pooling_type", {0, kUnset}, "it makes one vector of a text, and no next token"},
};

Reason not_neutral(const GgufHeader& header, const std::string& prefix, const Number& rule) {
  const std::string key = prefix + std::string(rule.key);
  const bool array = header.arrays.contains(key);
  const auto value = header.number(key);
  if (!array && !value) return std::nullopt;
  if (value && (*value == rule.neutral[0] || *value == rule.neutral[1])) return std::nullopt;
  return key + " is " + (array ? "an array" : text_of(*value)) + " (" + std::string(rule.does) +
         ")";
}

/// Scaled positions: the frontend divides by the factor whatever the type says, and knows YaRN with
/// the usual parameters.
Reason rope_scaling(const GgufHeader& header, const std::string& prefix) {
  const std::string key = prefix + "rope.scaling.";
  const double factor = header.number(key + "factor").value_or(0);
  const auto found = header.strings.find(key + "type");
  const std::string type = found == header.strings.end() ? "linear" : found->second;
  if (type != "linear" && type != "yarn" && !(type == "none" && (factor == 0 || factor == 1))) {
    return key + "type is " + in_quotes(type) +
           (factor == 0 ? "" : ", with a factor of " + text_of(factor)) +
           " (only linear and yarn are heeded)";
  }
  const double linear = header.number(prefix + "rope.scale_linear").value_or(0);
  if (!header.types.contains(key + "factor") && linear != 0 && linear != 1) {
    return prefix + "rope.scale_linear is " + text_of(linear) + " (positions are divided by it)";
  }
  const bool yarn = type == "yarn";
  const double mixed = header.number(key + "yarn_ext_factor").value_or(-1);
  if (mixed >= 0 && mixed != (yarn ? 1 : 0)) {
    return key + "yarn_ext_factor is " + text_of(mixed) + " (how far YaRN is mixed in)";
  }
  if (!yarn && mixed <= 0) return std::nullopt;
  for (const auto& [name, usual] : {std::pair("yarn_beta_fast", 32.0), {"yarn_beta_slow", 1.0}}) {
    const double value = header.number(key + name).value_or(usual);
    if (value != usual) {
      return key + name + " is " + text_of(value) + ", not " + text_of(usual) +
             " (where YaRN's frequencies change over)";
    }
  }
  return std::nullopt;
}

/// Heads whose values are not as wide as their keys.
Reason value_width(const GgufHeader& header, const std::string& prefix) {
  const auto values = header.number(prefix + "attention.value_length");
  const double heads = header.number(prefix + "attention.head_count").value_or(0);
  const double width = header.number(prefix + "embedding_length").value_or(0);
  const double keys =
      header.number(prefix + "attention.key_length")
          .value_or(heads > 0 ? static_cast<double>(static_cast<std::int64_t>(width / heads)) : 0);
  if (!values || keys == 0 || *values == keys) return std::nullopt;
  return prefix + "attention.value_length is " + text_of(*values) + ", and keys are " +
         text_of(keys) + " wide";
}

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// How experts are chosen and weighed.
Reason experts(const GgufHeader& header, const std::string& architecture) {
  const std::string prefix = architecture + ".";
  if (header.number(prefix + "expert_count").value_or(0) == 0) return std::nullopt;
  constexpr double kSoftmax = 1;
  const double gating = header.number(prefix + "expert_gating_func").value_or(0);
  if (gating != 0 && gating != kSoftmax && architecture != "gpt-oss") {
    return prefix + "expert_gating_func is " + text_of(gating) +
           " (the router's logits become weights by another function than softmax)";
  }
  constexpr auto kBySigmoid =
      std::to_array<std::string_view>({"bailingmoe2", "exaone-moe", "glm4moe", "minimax-m2"});
  if (among(kBySigmoid, architecture)) {
    return "the architecture's experts are weighed by a sigmoid, not by softmax";
  }
  return std::nullopt;
}

Reason architecture_itself(const std::string& architecture) {
  if (architecture == "exaone4") return "norms stand behind the layers in this architecture";
  if (architecture == "llama-embed")
    return "this architecture makes vectors of texts, no next token";
  return std::nullopt;
}

// What the frontend looks up, and what is known to do nothing.
constexpr auto kTensors = std::to_array<std::string_view>({
    "output.weight",
    "output_norm.weight",
    "per_layer_model_proj.weight",
    "per_layer_proj_norm.weight",
    "per_layer_token_embd.weight",
    "rope_freqs.weight",
    "token_embd.weight",
});
constexpr auto kLayerTensors = std::to_array<std::string_view>({"attn_gate.weight",
                                                                "attn_k.bias",
                                                                "attn_k.weight",
                                                                "attn_k_norm.weight",
                                                                "attn_norm.weight",
                                                                "attn_output.bias",
                                                                "attn_output.weight",
                                                                "attn_q.bias",
                                                                "attn_q.weight",
                                                                "attn_q_norm.weight",
                                                                "attn_qkv.bias",
                                                                "attn_qkv.weight",
                                                                "attn_rot_embd.weight",
                                                                "attn_sinks.weight",
                                                                "attn_v.bias",
                                                                "attn_v.weight",
                                                                "ffn_down.bias",
                                                                "ffn_down.weight",
                                                                "ffn_down_exps.bias",
                                                                "ffn_down_exps.weight",
                                                                "ffn_down_shexp.weight",
                                                                "ffn_gate.bias",
                                                                "ffn_gate.weight",
                                                                "ffn_gate_exps.bias",
                                                                "ffn_gate_exps.weight",
                                                                "ffn_gate_inp.bias",
                                                                "ffn_gate_inp.weight",
                                                                "ffn_gate_shexp.weight",
                                                                "ffn_norm.weight",
                                                                "ffn_up.bias",
                                                                "ffn_up.weight",
                                                                "ffn_up_exps.bias",
                                                                "ffn_up_exps.weight",
                                                                "ffn_up_shexp.weight",
                                                                "inp_gate.weight",
                                                                "layer_output_scale.weight",
                                                                "post_attention_norm.weight",
                                                                "post_ffw_norm.weight",
                                                                "post_norm.weight",
                                                                "proj.weight",
                                                                "ssm_a",
                                                                "ssm_alpha.weight",
                                                                "ssm_beta.weight",
                                                                "ssm_conv1d.weight",
                                                                "ssm_dt.bias",
                                                                "ssm_norm.weight",
                                                                "ssm_out.weight"});

/// A tensor of a layer: "blk.12.attn_q.weight".
struct InLayer {
  std::int64_t layer = 0;
  std::string_view name;
};
std::optional<InLayer> in_layer(std::string_view name) {
  if (!name.starts_with("blk.")) return std::nullopt;
  name.remove_prefix(4);
  InLayer found;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), found.layer);
  const auto digits = static_cast<std::size_t>(end - name.data());
  if (error != std::errc() || digits == name.size() || name[digits] != '.') return std::nullopt;
  found.name = name.substr(digits + 1);
  return found;
}

/// The frontend asks for the bias of the middle alone, and then takes the others.
bool is_lost_bias(const std::set<std::string_view>& names, std::string_view name) {
  for (const std::string_view end : {"ffn_gate.bias", "ffn_down.bias"}) {
    if (!name.ends_with(end)) continue;
    const std::string middle =
        std::string(name.substr(0, name.size() - end.size())) + "ffn_up.bias";
    return !names.contains(middle);
  }
  return false;
}

Reason tensors(const GgufHeader& header) {
  const auto layers = header.of_architecture("block_count");
  std::set<std::string_view> names;
  for (const GgufHeader::Tensor& tensor : header.tensors) names.insert(tensor.name);
  for (const GgufHeader::Tensor& tensor : header.tensors) {
    const bool factors = tensor.name == "rope_freqs.weight" ||
                         tensor.name.find("rope_factors_") != std::string::npos;
    if (factors) {
      const auto values = header.rope_factors.find(tensor.name);
      const bool neutral = values != header.rope_factors.end() &&
                           std::all_of(values->second.begin(), values->second.end(),
                                       [](float value) { return value == 1.0F; });
      if (neutral || is_mended_tensor(header, tensor.name)) continue;
      return "the rotation's frequencies are divided by the tensor " + in_quotes(tensor.name);
    }
    const auto place = in_layer(tensor.name);
    if (place && layers && place->layer >= *layers) {
      return "there is a tensor " + in_quotes(tensor.name) + ", though block_count is " +
             std::to_string(*layers);
    }
    const bool known = place ? among(kLayerTensors, place->name) : among(kTensors, tensor.name);
    if (known && !is_lost_bias(names, tensor.name)) continue;
    return "the tensor " + in_quotes(tensor.name) + " takes part in the model";
  }
  return std::nullopt;
}

constexpr auto kKnown = std::to_array<std::string_view>(
    {"llama",       "qwen2",    "qwen3",        "phi3",       "minicpm",       "hunyuan-dense",
     "olmoe",       "qwen3moe", "qwen35",       "gpt-oss",    "gemma",         "gemma2",
     "gemma3",      "gemma4",   "llama-embed",  "exaone4",    "plamo3",        "smollm3",
     "hunyuan-moe", "glm4moe",  "exaone-moe",   "minimax-m2", "ernie4_5-moe",  "bailingmoe2",
     "maincoder",   "mistral3", "muse-glimmer", "mellum",     "deepseek2-ocr", "jais2"});

}  // namespace

bool frontend_knows(const std::string& architecture) { return among(kKnown, architecture); }

Reason unheeded(const GgufHeader& header) {
  const std::string architecture = header.architecture();
  const std::string prefix = architecture + ".";
  if (Reason reason = architecture_itself(architecture)) return reason;
  for (const Number& rule : kNumbers) {
    if (Reason reason = not_neutral(header, prefix, rule)) return reason;
  }
  if (Reason reason = rope_scaling(header, prefix)) return reason;
  if (Reason reason = value_width(header, prefix)) return reason;
  if (Reason reason = experts(header, architecture)) return reason;
  return tensors(header);
}

}  // namespace ahead::model
