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

}  // namespace ahead::test
