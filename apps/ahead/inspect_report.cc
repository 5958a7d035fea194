// See inspect_report.h. May use: include/ahead, base, nlohmann-json.
#include "inspect_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "ahead/llm_pipeline.h"
#include "base/printable.h"
#include "wording.h"

namespace ahead::cli {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t kv_bytes(const ModelFacts& facts, std::int64_t rung, KvType type) {
  return facts.kv_values(rung) * (type == KvType::kF32 ? 4 : 2);
}

// What is compiled at once, for a phase of a request.
struct Part {
  std::string_view phase;
  std::string_view graph;
  std::int64_t rung = 0;  // 0: for all rungs
  std::int64_t tokens = 0;
  std::int64_t graphs = 0;  // 0: one for each shape of attention or layers
};

// A chunk of prompt is never longer than the rung it is read on.
std::int64_t chunk_on(std::int64_t rung, const InspectInput& input) {
  return std::min(rung, input.prefill_chunk);
}

// What the graphs of a rung are.
std::string_view graph_of_rung(Partition::Kind kind) {
  switch (kind) {
    case Partition::Kind::kWhole:
      break;
    case Partition::Kind::kBlocks:
      return "block";
    case Partition::Kind::kAttention:
      return "attention";
  }
  return "whole";
}

// The model's whole graph for each rung, or the part of it that depends on the rung.
std::vector<Part> parts_of_rungs(const InspectInput& input) {
  const std::string_view graph = graph_of_rung(input.partition.kind);
  const std::int64_t graphs = input.partition == Partition::kWhole ? 1 : 0;
  std::vector<Part> out;
  for (const std::int64_t rung : input.ladder) {
    out.push_back({"prefill", graph, rung, chunk_on(rung, input), graphs});
    out.push_back({"decode", graph, rung, 1, graphs});
  }
  return out;
}

// What stands before, between and behind the attentions: compiled once for each length of a step.
std::vector<Part> parts_of_all_rungs(const InspectInput& input) {
  if (input.partition == Partition::kWhole) {
    return {};
  }
  const bool blocks = input.partition.kind == Partition::Kind::kBlocks;
  const std::int64_t graphs = blocks ? 2 : input.facts.layers + 1;
  const std::string_view graph = blocks ? "embedding and head" : "body";
  std::vector<Part> out;
  std::int64_t longest = 0;
  for (const std::int64_t rung : input.ladder) {
    if (const std::int64_t tokens = chunk_on(rung, input); tokens > longest) {
      out.push_back({"prefill", graph, 0, tokens, graphs});
      longest = tokens;
    }
  }
  out.push_back({"decode", graph, 0, 1, graphs});
  return out;
}

std::string tokens_text(std::int64_t tokens) {
  return "(" + std::to_string(tokens) + (tokens == 1 ? " token)" : " tokens)");
}

// What the rows of the rungs do not say.
std::string parts_note(const InspectInput& input) {
  std::string out =
      "\nA request needs prefill on the rungs its prompt fills, decode on those it goes on over.\n";
  const std::vector<Part> shared = parts_of_all_rungs(input);
  if (shared.empty()) {
    return out + "Each part is one graph with the weights in it.\n";
  }
  if (input.partition.kind == Partition::Kind::kBlocks) {
    out += "The parts of a rung are groups of " + std::to_string(input.partition.block_layers) +
           " layers that take their weights: a graph for all groups that are alike.\n"
           "Embedding and head stand in graphs for all rungs:";
  } else {
    out +=
        "The parts of a rung are attention alone, without weights: a graph for each of its "
        "shapes.\n"
        "The weights stand in a body for all rungs:";
  }
  for (const Part& part : shared) {
    out += " " + std::string(part.phase) + " " + tokens_text(part.tokens) + " in " +
           std::to_string(part.graphs) + " graphs" + (&part == &shared.back() ? ".\n" : ",");
  }
  out +=
      "A device that takes any number of tokens, as the CPU does, has one set of them for both.\n";
  return out;
}

Json part_object(const Part& part) {
  Json object = {{"part", part.phase},
                 {"graph", part.graph},
                 {"rung", part.rung == 0 ? Json() : Json(part.rung)},
                 {"tokens", part.tokens}};
  if (part.graphs > 0) {
    object["graphs"] = part.graphs;
  }
  return object;
}

std::string item(std::string_view label, const std::string& value) {
  return left(label, 18) + value + "\n";
}

// "none", "512 tokens in 15 of 18 layers".
std::string windows_text(const ModelFacts& facts) {
  std::string out;
  for (const ModelFacts::Window& window : facts.windows) {
    out += (out.empty() ? "" : ", ") + std::to_string(window.tokens) + " tokens in " +
           std::to_string(window.layers) + " of " + std::to_string(facts.layers) + " layers";
  }
  return out.empty() ? "none" : out;
}

Json windows_array(const ModelFacts& facts) {
  Json out = Json::array();
  for (const ModelFacts::Window& window : facts.windows) {
    out.push_back({{"tokens", window.tokens}, {"layers", window.layers}});
  }
  return out;
}

// What is said of the file but its path and architecture.
std::string file_items(const FileFacts& file) {
  std::string stored;
  for (const FileFacts::Stored& some : file.stored) {
    stored += (stored.empty() ? "" : ", ") + some.type + " " + bytes(some.bytes) + " in " +
              std::to_string(some.tensors);
  }
  std::string out = item("format", printable(file.format));
  out += item("stored as", stored.empty() ? "no tensors" : stored);
  out += item("rotation", printable(file.rotation));
  out += item("tokenizer", printable(file.tokenizer));
  return out;
}

std::string verified_text(const std::string& verified_by) {
  return verified_by.empty() ? "not: no test shows that it is computed right; 'ahead run' wants "
                               "--unverified"
                             : "by " + verified_by;
}

Json file_object(const FileFacts& file) {
  Json stored = Json::array();
  for (const FileFacts::Stored& some : file.stored) {
    stored.push_back({{"type", some.type}, {"tensors", some.tensors}, {"bytes", some.bytes}});
  }
  return {{"format", file.format},
          {"architecture", file.architecture},
          {"verified_by", file.verified_by.empty() ? Json() : Json(file.verified_by)},
          {"stored", std::move(stored)},
          {"rotation", file.rotation},
          {"tokenizer", file.tokenizer},
          {"refused", file.refusal.empty() ? Json() : Json(file.refusal)}};
}

// What the chat template takes, in words.
std::string chat_text(const ChatFacts& chat) {
  if (chat.origin.empty()) return "no template: it may be no chat model; --template gives one";
  std::string names;
  for (const std::string& name : chat.names) names += (names.empty() ? "" : ", ") + name;
  return printable(chat.origin) + " (" + printable(names) + "): user, assistant" +
         (chat.system ? ", system" : "") + (chat.tools ? ", tools" : "") +
         (chat.thinking ? "; thinking can be switched" : "");
}

Json chat_object(const ChatFacts& chat) {
  if (chat.origin.empty()) return {};
  return {{"origin", chat.origin},
          {"names", chat.names},
          {"system", chat.system},
          {"tools", chat.tools},
          {"thinking", chat.thinking}};
}

std::string dumped(const Json& object) {
  return object.dump(2, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string file_text(const std::string& path, const FileFacts& file) {
  return item("model", printable(path)) + item("architecture", printable(file.architecture)) +
         item("verified", verified_text(file.verified_by)) + file_items(file) +
         (file.refusal.empty() ? "" : item("refused", "it " + printable(file.refusal)));
}

std::string file_json(const std::string& path, const FileFacts& file) {
  return dumped({{"ahead", version()}, {"path", path}, {"file", file_object(file)}});
}

std::string inspect_text(const InspectInput& input) {
  const ModelFacts& facts = input.facts;
  std::string out;
  out += item("model", printable(facts.path));
  out += item("sha256", input.sha256);
  out += item("architecture", printable(facts.architecture));
  out += item("verified", verified_text(facts.verified_by));
  out += file_items(input.file);
  out += item("chat", chat_text(input.chat));
  std::string ends;
  for (const std::string& end : input.end_tokens) ends += (ends.empty() ? "" : " ") + end;
  out += item("ends at", ends.empty() ? "no token that is known" : printable(ends));
  out += item("layers", std::to_string(facts.layers));
  out += item("heads", std::to_string(facts.q_heads) + " query, " + std::to_string(facts.kv_heads) +
                           " key/value, of " + std::to_string(facts.head_dim) +
                           (facts.value_dim == facts.head_dim
                                ? std::string()
                                : ", V of " + std::to_string(facts.value_dim)));
  out += item("windows", windows_text(facts));
  if (facts.sink_layers > 0) {
    out += item("sinks", "in " + std::to_string(facts.sink_layers) + " layers");
  }
  out += item("vocabulary", std::to_string(facts.vocabulary));
  out += item("trained context", facts.trained_context == 0
                                     ? "not said by the model"
                                     : std::to_string(facts.trained_context) + " tokens");
  out += item("KV a token", bytes(kv_bytes(facts, 1, KvType::kF32)) + " f32, " +
                                bytes(kv_bytes(facts, 1, KvType::kF16)) + " f16");
  out += item("read in", seconds(input.load_s));
  out += item("partition", std::string(to_string(input.partition)));
  out += "\n" + right("rung", 8) + right("KV f32", 14) + right("KV f16", 14) + "  parts\n";
  for (const std::int64_t rung : input.ladder) {
    out += right(std::to_string(rung), 8) + right(bytes(kv_bytes(facts, rung, KvType::kF32)), 14) +
           right(bytes(kv_bytes(facts, rung, KvType::kF16)), 14) + " ";
    for (const Part& part : parts_of_rungs(input)) {
      if (part.rung == rung) {
        out += " " + std::string(part.phase) + "@" + std::to_string(rung) + " " +
               tokens_text(part.tokens);
      }
    }
    out += "\n";
  }
  return out + parts_note(input);
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
  }
  for (const std::vector<Part>& parts : {parts_of_all_rungs(input), parts_of_rungs(input)}) {
    for (const Part& part : parts) {
      part_list.push_back(part_object(part));
    }
  }
  const Json object = {
      {"ahead", version()},
      {"file", file_object(input.file)},
      {"chat", chat_object(input.chat)},
      {"end_tokens", input.end_tokens},
      {"model",
       {{"path", facts.path},
        {"sha256", input.sha256},
        {"architecture", facts.architecture},
        {"verified_by", facts.verified_by.empty() ? Json() : Json(facts.verified_by)},
        {"layers", facts.layers},
        {"q_heads", facts.q_heads},
        {"kv_heads", facts.kv_heads},
        {"head_dim", facts.head_dim},
        {"value_dim", facts.value_dim},
        {"vocabulary", facts.vocabulary},
        {"trained_context", facts.trained_context},
        {"kv_values_per_token", facts.kv_values_per_token},
        {"windows", windows_array(facts)},
        {"sink_layers", facts.sink_layers},
        {"load_s", input.load_s}}},
      {"ladder", std::move(ladder)},
      {"partition", to_string(input.partition)},
      {"parts", std::move(part_list)}};
  return dumped(object);
}

}  // namespace ahead::cli
