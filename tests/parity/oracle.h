// The oracle: the unmodified dynamic model, run by OpenVINO itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ahead::test {

/// Logits of every position of `ids`, [ids][vocabulary], from the graph that OpenVINO's
/// GGUF frontend makes for OpenVINO GenAI.
std::vector<std::vector<float>> gguf_oracle(const std::string& path,
                                            const std::vector<std::int32_t>& ids);

/// The same from a stateful IR folder.
std::vector<std::vector<float>> ir_oracle(const std::string& folder,
                                          const std::vector<std::int32_t>& ids);

/// What a model goes on with by itself.
struct Greedy {
  std::vector<std::int32_t> ids;           ///< the prompt, and the tokens chosen behind it
  std::vector<std::vector<float>> logits;  ///< of every position of `ids`
};

/// `more` greedy tokens behind `prompt`, from a stateful IR folder.
Greedy ir_oracle_greedy(const std::string& folder, std::vector<std::int32_t> prompt,
                        std::size_t more);

}  // namespace ahead::test
