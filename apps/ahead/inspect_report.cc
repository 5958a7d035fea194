// See inspect_report.h. May use: include/ahead, nlohmann-json.
#include "inspect_report.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "ahead/llm_pipeline.h"
#include "wording.h"

namespace ahead::cli {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t kv_bytes(const ModelFacts& facts, std::int64_t rung, KvType type) {
  return facts.kv_values_per_token * rung * (type == KvType::kF32 ? 4 : 2);
}

struct Part {
  std::string_view name;
  std::int64_t tokens = 0;
};

// Partition `whole`: one part that holds the model, once for a chunk of prompt and once for a
// token.
std::vector<Part> parts(const InspectInput& input) {
  return {{"prefill", input.prefill_chunk}, {"decode", 1}};
}

std::string item(std::string_view label, const std::string& value) {
  return left(label, 18) + value + "\n";
}

}  // namespace

std::string inspect_text(const InspectInput& input) {
  const ModelFacts& facts = input.facts;
  std::string out;
  out += item("model", one_line(facts.path));
  out += item("sha256", input.sha256);
  out += item("architecture", one_line(facts.architecture));
  out += item("layers", std::to_string(facts.layers));
  out += item("heads", std::to_string(facts.q_heads) + " query, " + std::to_string(facts.kv_heads) +
                           " key/value, of " + std::to_string(facts.head_dim));
  out += item("vocabulary", std::to_string(facts.vocabulary));
  out += item("trained context", std::to_string(facts.trained_context) + " tokens");
  out += item("KV a token", bytes(kv_bytes(facts, 1, KvType::kF32)) + " f32, " +
                                bytes(kv_bytes(facts, 1, KvType::kF16)) + " f16");
  out += item("read in", seconds(input.load_s));
  out += "\n" + right("rung", 8) + right("KV f32", 14) + right("KV f16", 14) + "  parts\n";
  for (const std::int64_t rung : input.ladder) {
    out += right(std::to_string(rung), 8) + right(bytes(kv_bytes(facts, rung, KvType::kF32)), 14) +
           right(bytes(kv_bytes(facts, rung, KvType::kF16)), 14) + " ";
    for (const Part& part : parts(input)) {
      out += " " + std::string(part.name) + "@" + std::to_string(rung) + " (" +
             std::to_string(part.tokens) + (part.tokens == 1 ? " token)" : " tokens)");
    }
    out += "\n";
  }
  return out;
}

std::string inspect_json(const InspectInput& input) {
  const ModelFacts& facts = input.facts;
  Json ladder = Json::array();
  Json part_list = Json::array();
  for (const std::int64_t rung : input.ladder) {
    ladder.push_back({{"rung", rung},
                      {"kv_bytes",
                       {{"f32", kv_bytes(facts, rung, KvType::kF32)},
                        {"f16", kv_bytes(facts, rung, KvType::kF16)}}}});
    for (const Part& part : parts(input)) {
      part_list.push_back({{"part", part.name}, {"rung", rung}, {"tokens", part.tokens}});
    }
  }
  const Json object = {{"ahead", version()},
                       {"model",
                        {{"path", facts.path},
                         {"sha256", input.sha256},
                         {"architecture", facts.architecture},
                         {"layers", facts.layers},
                         {"q_heads", facts.q_heads},
                         {"kv_heads", facts.kv_heads},
                         {"head_dim", facts.head_dim},
                         {"vocabulary", facts.vocabulary},
                         {"trained_context", facts.trained_context},
                         {"kv_values_per_token", facts.kv_values_per_token},
                         {"load_s", input.load_s}}},
                       {"ladder", std::move(ladder)},
                       {"partition", to_string(Axes{}.partition)},
                       {"parts", std::move(part_list)}};
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ahead::cli
