// The tables: what GGUF files hold beside models, and the types that the frontend of OpenVINO
// 2026.4 insists on. May use: base.
#include "model/gguf_readable.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "base/printable.h"

namespace ahead::model {
namespace {

using Reason = std::optional<std::string>;

// ------------------------------------------------------------------------ what is no text model

Reason part_of_split(const GgufHeader& header) {
  const auto count = header.number("split.count");
  if (!count || *count <= 1) return std::nullopt;
  const auto number = static_cast<std::int64_t>(header.number("split.no").value_or(0)) + 1;
  return "part " + std::to_string(number) + " of " +
         std::to_string(static_cast<std::int64_t>(*count)) +
         " of a model (split.no, split.count); fetch all parts, join them with 'llama-gguf-split "
         "--merge FIRST-PART WHOLE.gguf' and give the whole";
}

struct OtherType {
  std::string_view type;  ///< general.type
  std::string_view words;
};
constexpr std::array kOtherTypes = {
    OtherType{"adapter", "an adapter (LoRA) for a model"},
    OtherType{"mmproj", "what lets a model see or hear, without the model"},
    OtherType{"imatrix", "an importance matrix for quantising"},
    OtherType{"vocab", "a vocabulary without weights"},
};

Reason other_type(const GgufHeader& header) {
  constexpr std::string_view kGiveModel = "; give the file of the model itself";
  const auto found = header.strings.find("general.type");
  const std::string type = found == header.strings.end() ? "" : found->second;
  for (const OtherType& other : kOtherTypes) {
    if (type == other.type) return std::string(other.words) + std::string(kGiveModel);
  }
  if (header.strings.contains("adapter.type")) {
    return std::string(kOtherTypes[0].words) + std::string(kGiveModel);
  }
  const std::string architecture = header.architecture();
  if (architecture == "clip") return std::string(kOtherTypes[1].words) + std::string(kGiveModel);
  if (architecture == "controlvector") {
    return "a control vector for a model" + std::string(kGiveModel);
  }
  if (header.types.contains("imatrix.chunk_count")) {
    return std::string(kOtherTypes[2].words) + std::string(kGiveModel);
  }
  if (!header.tensors.empty()) return std::nullopt;
  const bool vocabulary = header.types.contains("tokenizer.ggml.tokens");
  return std::string(vocabulary ? kOtherTypes[3].words : "a header without weights") +
         std::string(kGiveModel);
}

// --------------------------------------------------------------------- what cannot be read at all

/// Keys behind "<architecture>." that the frontend reads as u32 and nothing else, in every model.
constexpr std::array kWholeNumbers = {
    "block_count",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.key_length_swa",
    "attention.shared_kv_layers",
    "attention.sliding_window",
    "attention.sliding_window_pattern",
    "context_length",
    "embedding_length",
    "embedding_length_per_layer_input",
    "expert_count",
    "expert_feed_forward_length",
    "expert_shared_count",
    "expert_used_count",
    "full_attention_interval",
    "leading_dense_block_count",
    "nextn_predict_layers",
    "rope.dimension_count",
    "rope.dimension_count_swa",
    "rope.scaling.original_context_length",
    "ssm.conv_kernel",
    "ssm.group_count",
    "ssm.inner_size",
    "ssm.state_size",
    "ssm.time_step_rank",
};
constexpr std::array kFractions = {
    "attention.layer_norm_rms_epsilon",
    "attention.scale",
    "attn_logit_softcapping",
    "embedding_scale",
    "expert_weights_scale",
    "final_logit_softcapping",
    "logit_scale",
    "residual_scale",
    "rope.freq_base",
    "rope.freq_base_swa",
    "rope.scaling.factor",
};

/// An array in a scalar's place: the frontend takes its first number, and for heads of keys and
/// values all of them.
bool array_fits(const std::string& key, const GgufHeader::Array& array, GgufType wanted) {
  if (key.ends_with(".attention.head_count_kv")) {
    return array.type == GgufType::kUint32 || array.type == GgufType::kInt32;
  }
  if (key.ends_with(".attention.sliding_window_pattern") && array.type == GgufType::kBool) {
    return true;
  }
  return array.type == wanted && array.same;
}

/// A whole number, or one that all layers have.
std::optional<std::int64_t> number_of(const GgufHeader& header, const std::string& key) {
  if (const auto found = header.integers.find(key); found != header.integers.end()) {
    return found->second;
  }
  const auto array = header.arrays.find(key);
  return array == header.arrays.end() ? std::nullopt : array->second.same;
}

/// Numbers of heads and their sizes that do not go together: the frontend divides by them and reads
/// past the end of its tables.
Reason contradiction(const GgufHeader& header, const std::string& prefix) {
  constexpr std::int64_t kMost = 1 << 20;  // far above any model
  constexpr std::string_view kConvert = "; the file is broken: fetch it or convert the model again";
  const auto says = [&](const std::string& key, std::int64_t value, const std::string& why) {
    return printable(prefix + key) + " is " + std::to_string(value) + ", " + why +
           std::string(kConvert);
  };
  for (const char* key :
       {"block_count", "embedding_length", "attention.head_count", "attention.head_count_kv",
        "attention.key_length", "attention.value_length", "rope.dimension_count",
        "rope.dimension_count_swa"}) {
    const auto value = number_of(header, prefix + key);
    if (value && (*value <= 0 || *value > kMost)) {
      return says(key, *value, "which no model has");
    }
  }
  // Layer by layer, which the frontend reads of this key alone.
  const auto by_layer = header.arrays.find(prefix + "attention.head_count_kv");
  if (by_layer != header.arrays.end()) {
    const auto& [type, count, same, least] = by_layer->second;
    const auto layers = number_of(header, prefix + "block_count");
    if (least && *least <= 0) {
      return says("attention.head_count_kv", *least, "in one of its layers, which no model has");
    }
    if (layers && static_cast<std::int64_t>(count) != *layers) {
      return printable(by_layer->first) + " has " + std::to_string(count) + " entries for " +
             std::to_string(*layers) + " layers" + std::string(kConvert);
    }
  }
  const auto heads = number_of(header, prefix + "attention.head_count");
  const auto width = number_of(header, prefix + "embedding_length");
  if (!heads || !width) return std::nullopt;  // the frontend says that it is missing
  const auto kv_heads = number_of(header, prefix + "attention.head_count_kv");
  if (kv_heads && *heads % *kv_heads != 0) {
    return says("attention.head_count_kv", *kv_heads,
                "which does not divide attention.head_count, " + std::to_string(*heads));
  }
  const auto key_length = number_of(header, prefix + "attention.key_length");
  if (!key_length && *width % *heads != 0) {
    return says("attention.head_count", *heads,
                "which does not divide embedding_length, " + std::to_string(*width));
  }
  const std::int64_t head = key_length.value_or(*width / *heads);
  for (const char* key : {"rope.dimension_count", "rope.dimension_count_swa"}) {
    const auto rotated = number_of(header, prefix + key);
    if (!rotated || (*rotated <= head && *rotated % 2 == 0)) continue;
    return says(
        key, *rotated,
        "and of a head's " + std::to_string(head) + " dimensions an even number is rotated");
  }
  return std::nullopt;
}

Reason wrong_type(const GgufHeader& header, const std::string& key, GgufType wanted) {
  const auto found = header.types.find(key);
  if (found == header.types.end() || found->second == wanted) return std::nullopt;
  const auto array = header.arrays.find(key);
  const bool is_array = array != header.arrays.end();
  if (is_array && array_fits(key, array->second, wanted)) return std::nullopt;
  const std::string stored = is_array ? "an array of " + name_of(array->second.type) +
                                            (array->second.same ? "" : ", which are not the same")
                                      : name_of(found->second);
  return printable(key) + " is stored as " + stored + ", and OpenVINO's GGUF frontend reads one " +
         name_of(wanted) +
         " only; convert the model with a current converter, which writes that, or use an OpenVINO "
         "IR folder of it";
}

Reason nested_array(const GgufHeader& header) {
  for (const auto& [key, array] : header.arrays) {
    if (array.type != GgufType::kArray) continue;
    return printable(key) +
           " is an array of arrays, which OpenVINO's GGUF frontend does not read, needed or not; "
           "write the file without it (gguf-new-metadata --remove-metadata " +
           printable(key) + " IN OUT)";
  }
  return std::nullopt;
}

}  // namespace

Reason no_text_model(const GgufHeader& header) {
  if (Reason part = part_of_split(header)) return part;
  return other_type(header);
}

Reason unreadable(const GgufHeader& header) {
  const std::string prefix = header.architecture() + ".";
  for (const char* key : kWholeNumbers) {
    if (Reason reason = wrong_type(header, prefix + key, GgufType::kUint32)) return reason;
  }
  for (const char* key : {"general.alignment", "general.file_type"}) {
    if (Reason reason = wrong_type(header, key, GgufType::kUint32)) return reason;
  }
  for (const char* key : kFractions) {
    if (Reason reason = wrong_type(header, prefix + key, GgufType::kFloat32)) return reason;
  }
  if (Reason reason = wrong_type(header, prefix + "expert_weights_norm", GgufType::kBool)) {
    return reason;
  }
  if (Reason reason = wrong_type(header, prefix + "rope.scaling.type", GgufType::kString)) {
    return reason;
  }
  if (Reason reason = contradiction(header, prefix)) return reason;
  return nested_array(header);
}

}  // namespace ahead::model
