// What `ahead inspect` says about a model. May use: include/ahead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ahead/axes.h"
#include "ahead/chat.h"
#include "ahead/file_facts.h"
#include "ahead/run_result.h"

namespace ahead::cli {

struct InspectInput {
  FileFacts file;
  ChatFacts chat;
  std::vector<std::string> end_tokens;  ///< as they are written
  ModelFacts facts;
  std::string sha256;
  double load_s = 0;
  std::vector<std::int64_t> ladder;
  std::int64_t prefill_chunk = 0;
  Partition partition = Partition::kWhole;
};

/// What the file itself says, for people and for programs: what is left where it is refused.
[[nodiscard]] std::string file_text(const std::string& path, const FileFacts& file);
[[nodiscard]] std::string file_json(const std::string& path, const FileFacts& file);

/// For people: the facts, KV bytes on each rung, the parts that requests need compiled, on a rung
/// and for all of them.
[[nodiscard]] std::string inspect_text(const InspectInput& input);
/// The same for programs: one JSON object.
[[nodiscard]] std::string inspect_json(const InspectInput& input);

}  // namespace ahead::cli
