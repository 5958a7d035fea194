// Headers with one thing more than a model needs: refused by name where it counts, and only there.
#include "model/gguf_heeded.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/gguf_readable.h"

namespace ahead::model {
namespace {

using Reason = std::optional<std::string>;

/// A header as files of the family have it.
class Header {
 public:
  explicit Header(const std::string& architecture = "llama") : prefix_(architecture + ".") {
    text("general.architecture", architecture);
    number("block_count", 13).number("attention.head_count", 4).number("embedding_length", 64);
    number("context_length", 2048);
    fraction("attention.layer_norm_rms_epsilon", 1e-5).fraction("rope.freq_base", 1e4);
    array("tokenizer.ggml.tokens", GgufType::kString);
    for (const char* name : {"token_embd.weight", "output_norm.weight", "blk.0.attn_q.weight",
                             "blk.12.ffn_gate.weight"}) {
      tensor(name);
    }
  }
  Header& text(const std::string& key, const std::string& value) {
    header_.types[key] = GgufType::kString;
    header_.strings[key] = value;
    return *this;
  }
  Header& number(const std::string& key, std::int64_t value, GgufType type = GgufType::kUint32) {
    header_.types[prefix_ + key] = type;
    header_.integers[prefix_ + key] = value;
    return *this;
  }
  Header& fraction(const std::string& key, double value, GgufType type = GgufType::kFloat32) {
    header_.types[prefix_ + key] = type;
    header_.floats[prefix_ + key] = value;
    return *this;
  }
  Header& own_text(const std::string& key, const std::string& value) {
    return text(prefix_ + key, value);
  }
  Header& global(const std::string& key, std::int64_t value, GgufType type = GgufType::kUint32) {
    header_.types[key] = type;
    header_.integers[key] = value;
    return *this;
  }
  Header& array(const std::string& key, GgufType type, std::optional<std::int64_t> same = {}) {
    header_.types[key] = GgufType::kArray;
    header_.arrays[key] = {.type = type, .count = 2, .same = same};
    return *this;
  }
  Header& tensor(const std::string& name, std::vector<float> factors = {}) {
    header_.tensors.push_back({.name = name, .type = 0, .elements = 2});
    if (!factors.empty()) header_.rope_factors[name] = std::move(factors);
    return *this;
  }
  Header& no_tensors() {
    header_.tensors.clear();
    return *this;
  }
  operator const GgufHeader&() const { return header_; }  // NOLINT: it is one, made in steps

 private:
  std::string prefix_;
  GgufHeader header_;
};

struct Row {
  Header header;
  std::string word;  ///< of the reason; empty: there is none
};

void expect(const std::vector<Row>& rows, Reason (*asked)(const GgufHeader&)) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Reason reason = asked(rows[i].header);
    if (rows[i].word.empty()) {
      EXPECT_EQ(reason, std::nullopt) << "row " << i;
    } else {
      ASSERT_TRUE(reason.has_value()) << "row " << i << ": " << rows[i].word;
      EXPECT_NE(reason->find(rows[i].word), std::string::npos) << *reason;
    }
  }
}

TEST(GgufHeeded, WhatIsNoWholeTextModelIsNamed) {
  expect(
      {
          {Header(), ""},
          {Header().global("split.count", 1, GgufType::kUint16), ""},
          {Header().global("split.count", 3, GgufType::kUint16).global("split.no", 1),
           "part 2 of 3"},
          {Header().global("split.count", 3).global("split.no", 0), "llama-gguf-split --merge"},
          {Header().text("general.type", "model"), ""},
          {Header().text("general.type", "adapter"), "an adapter"},
          {Header().text("adapter.type", "lora"), "an adapter"},
          {Header().text("general.type", "mmproj"), "see or hear"},
          {Header("clip"), "see or hear"},
          {Header("controlvector"), "control vector"},
          {Header().text("general.type", "imatrix"), "importance matrix"},
          {Header().no_tensors(), "a vocabulary without weights"},
      },
      no_text_model);
}

/// The frontend divides by the one and reads past the end of a table with the other: it crashed.
TEST(GgufHeeded, HeadsThatDoNotGoTogetherAreNamed) {
  expect(
      {
          {Header().number("rope.dimension_count", 16), ""},
          {Header().number("rope.dimension_count", 0), "rope.dimension_count is 0"},
          {Header().number("rope.dimension_count", 15), "of a head's 16 dimensions an even number"},
          {Header().number("rope.dimension_count", 18), "rope.dimension_count is 18"},
          {Header().number("rope.dimension_count", 32).number("attention.key_length", 32), ""},
          {Header().number("attention.head_count_kv", 2), ""},
          {Header().number("attention.head_count_kv", 0), "attention.head_count_kv is 0"},
          {Header().number("attention.head_count_kv", 3),
           "does not divide attention.head_count, 4"},
          {Header().array("llama.attention.head_count_kv", GgufType::kUint32, 0), "kv is 0"},
          {Header().number("attention.head_count", 3), "does not divide embedding_length, 64"},
          {Header().number("attention.head_count", 3).number("attention.key_length", 16), ""},
          {Header().number("block_count", 0), "block_count is 0"},
          {Header().number("embedding_length", 1LL << 31), "which no model has"},
      },
      unreadable);
}

TEST(GgufHeeded, TypesThatTheFrontendDoesNotReadAreNamed) {
  expect(
      {
          {Header(), ""},
          {Header().number("block_count", 2, GgufType::kUint64),
           "llama.block_count is stored as u64, and OpenVINO's GGUF frontend reads one u32 only"},
          {Header().number("context_length", 8192, GgufType::kInt32), "llama.context_length"},
          {Header().global("general.file_type", 1, GgufType::kUint64), "general.file_type"},
          {Header().global("general.alignment", 32, GgufType::kUint64), "general.alignment"},
          {Header().fraction("rope.freq_base", 1e4, GgufType::kFloat64), "reads one f32 only"},
          {Header().number("rope.freq_base", 10000), "llama.rope.freq_base is stored as u32"},
          {Header().number("expert_weights_norm", 1), "reads one bool only"},
          // Layer by layer, and the frontend takes the first for all.
          {Header().array("llama.attention.head_count", GgufType::kUint32),
           "an array of u32, which are not the same"},
          {Header().array("llama.attention.head_count", GgufType::kUint32, 4), ""},
          {Header().array("llama.attention.head_count", GgufType::kInt32, 4), "an array of i32"},
          {Header()
               .number("block_count", 2)
               .array("llama.attention.head_count_kv", GgufType::kUint32),
           ""},
          {Header()
               .number("block_count", 2)
               .array("llama.attention.head_count_kv", GgufType::kInt32),
           ""},
          {Header().array("llama.attention.head_count_kv", GgufType::kInt32),
           "2 entries for 13 layers"},
          {Header().array("llama.attention.head_count_kv", GgufType::kUint64, 2), "u64"},
          {Header().array("llama.attention.sliding_window_pattern", GgufType::kBool), ""},
          {Header().array("x.nested", GgufType::kArray), "--remove-metadata x.nested"},
          // What nobody needs does no harm.
          {Header().array("x.bools", GgufType::kBool), ""},
          {Header().global("x.count", 7, GgufType::kUint64), ""},
          {Header().array("general.tags", GgufType::kString), ""},
      },
      unreadable);
}

TEST(GgufHeeded, ScaledPositionsAreHeededOrNamed) {
  const auto scaled = [](const std::string& type, double factor) {
    return Header().own_text("rope.scaling.type", type).fraction("rope.scaling.factor", factor);
  };
  expect(
      {
          {scaled("linear", 4), ""},
          {scaled("yarn", 4), ""},
          {Header().fraction("rope.scaling.factor", 4), ""},
          {scaled("none", 1), ""},
          {Header().own_text("rope.scaling.type", "none"), ""},
          {scaled("none", 4), "'none', with a factor of 4"},
          {scaled("spiral", 4), "llama.rope.scaling.type is 'spiral'"},
          {scaled("longrope", 1), "'longrope'"},
          {scaled("a\nb\x1B[31m", 1), "'a b?[31m'"},
          {Header().fraction("rope.scale_linear", 4), "llama.rope.scale_linear is 4"},
          {Header().fraction("rope.scale_linear", 1), ""},
          {scaled("linear", 4).fraction("rope.scale_linear", 4), ""},
          {scaled("yarn", 4).fraction("rope.scaling.yarn_ext_factor", 0.5),
           "yarn_ext_factor is 0.5"},
          {scaled("yarn", 4).fraction("rope.scaling.yarn_ext_factor", 1), ""},
          {scaled("linear", 4).fraction("rope.scaling.yarn_ext_factor", 1), "yarn_ext_factor"},
          {scaled("yarn", 4).fraction("rope.scaling.yarn_beta_fast", 64), "yarn_beta_fast is 64"},
          {scaled("yarn", 4).fraction("rope.scaling.yarn_beta_slow", 1), ""},
          {scaled("linear", 4).fraction("rope.scaling.yarn_beta_fast", 64), ""},
          {scaled("yarn", 4).fraction("rope.scaling.yarn_log_multiplier", 0.1), "log_multiplier"},
          {scaled("yarn", 4).fraction("rope.scaling.attn_factor", 1.2), "attn_factor is 1.2"},
          {Header().tensor("rope_freqs.weight", {1, 1}), ""},
          {Header().tensor("rope_freqs.weight", {1, 8}), ""},  // put into the graph
          {Header("qwen2").tensor("rope_freqs.weight", {1, 8}), "'rope_freqs.weight'"},
          {Header().tensor("rope_factors_long.weight", {1, 1}), ""},
          {Header().tensor("rope_factors_short.weight", {2, 1}), "'rope_factors_short.weight'"},
          {Header().tensor("rope_freqs.weight"), "'rope_freqs.weight'"},  // its values unknown
      },
      unheeded);
}

TEST(GgufHeeded, WhatChangesTheModelIsNamedAndNeutralValuesAreNot) {
  const auto no = [](std::int64_t value) {
    return Header().number("attention.causal", value, GgufType::kBool);
  };
  expect(
      {
          {Header(), ""},
          {no(1), ""},
          {no(0), "llama.attention.causal is 0"},
          {Header().fraction("attention.clamp_kqv", 8), "clamp_kqv is 8"},
          {Header().fraction("attention.clamp_kqv", 0), ""},
          {Header().fraction("attention.max_alibi_bias", 8), "max_alibi_bias"},
          {Header().fraction("attention.temperature_scale", 0.1), "temperature_scale"},
          {Header().number("attention.value_length", 16), ""},
          {Header().number("attention.value_length", 32), "value_length is 32, and keys are 16"},
          {Header().number("pooling_type", 0), ""},
          {Header().number("pooling_type", 3), "pooling_type is 3"},
          {Header().number("token_shift_count", 2), "token_shift_count"},
          {Header().number("nextn_predict_layers", 1), "nextn_predict_layers"},
          {Header().number("swin_norm", 1, GgufType::kBool), "swin_norm"},
          // The frontend heeds these itself.
          {Header().fraction("logit_scale", 0.5).fraction("embedding_scale", 12), ""},
          {Header().fraction("residual_scale", 0.2).fraction("attention.scale", 0.1), ""},
          {Header().fraction("final_logit_softcapping", 30), ""},
          {Header("smollm3"), ""},  // likewise
          {Header("exaone4"), "norms"},
          {Header("llama-embed"), "vectors"},
          {Header().tensor("blk.1.ffn_up.bias").tensor("blk.1.ffn_down.bias"), ""},
          {Header().tensor("blk.1.ffn_down.bias"), "'blk.1.ffn_down.bias'"},
          {Header().tensor("blk.1.attn_norm.bias"), "'blk.1.attn_norm.bias'"},
          {Header().tensor("blk.1.exp_probs_b.bias"), "'blk.1.exp_probs_b.bias'"},
          {Header().tensor("blk.1.attn_q.scale"), "'blk.1.attn_q.scale'"},
          {Header().tensor("blk.13.attn_q.weight"), "block_count is 13"},
          {Header().tensor("blk.x.attn_q.weight"), "'blk.x.attn_q.weight'"},
          {Header().tensor("position_embd.weight"), "'position_embd.weight'"},
      },
      unheeded);
}

TEST(GgufHeeded, ExpertsAreWeighedAsTheArchitectureDoes) {
  const auto moe = [](const std::string& architecture) {
    return Header(architecture).number("expert_count", 4);
  };
  const auto normalised = [&](const std::string& architecture) {
    return moe(architecture).number("expert_weights_norm", 1, GgufType::kBool);
  };
  expect(
      {
          {moe("qwen3moe"), ""},  // the graph is mended
          {normalised("qwen3moe"), ""},
          {moe("llama"), ""},
          {normalised("llama"), ""},
          {moe("olmoe"), ""},
          {normalised("qwen3moe").number("expert_gating_func", 1), ""},
          {normalised("qwen3moe").number("expert_gating_func", 2), "expert_gating_func is 2"},
          {moe("gpt-oss").number("expert_gating_func", 3), ""},
          {moe("glm4moe"), "sigmoid"},
          {normalised("qwen3moe").number("expert_group_count", 1), ""},
          {normalised("qwen3moe").number("expert_group_count", 8), "expert_group_count is 8"},
      },
      unheeded);
}

TEST(GgufHeeded, OnlyArchitecturesThatTheFrontendHasAreJudged) {
  EXPECT_TRUE(frontend_knows("llama"));
  EXPECT_FALSE(frontend_knows("gpt2"));
  EXPECT_FALSE(frontend_knows(""));
}

}  // namespace
}  // namespace ahead::model
