// Sums over the graph's constants. May use: base, OpenVINO.
#include "model/ir_facts.h"

#include <algorithm>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "model/folder_kind.h"
#include "model/ir_reader.h"
#include "model/model_config.h"
#include "model/verified.h"
#include "openvino/op/constant.hpp"

namespace ahead::model {

FileFacts ir_facts(const std::filesystem::path& folder) {
  if (!has_ir(folder)) throw no_ir_folder(folder);
  const ModelConfig config = read_model_config(folder);
  std::map<std::string, FileFacts::Stored> by_type;
  ov::Core core;
  const IrGraph read = read_ir_graph(core, folder);
  for (const auto& node : read.graph->get_ops()) {
    const auto constant = ov::as_type_ptr<ov::op::v0::Constant>(node);
    if (!constant) continue;
    FileFacts::Stored& stored = by_type[constant->get_element_type().to_string()];
    ++stored.tensors;
    stored.bytes += static_cast<std::int64_t>(constant->get_byte_size());
  }
  std::vector<FileFacts::Stored> all;
  for (auto& [type, stored] : by_type) {
    stored.type = type;
    all.push_back(std::move(stored));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  std::error_code ignored;
  const bool tokenizer = std::filesystem::exists(folder / "openvino_tokenizer.xml", ignored);
  return {.format = "OpenVINO IR",
          .architecture = config.architecture,
          .verified_by = std::string(verified_by(Format::kIr, config.architecture)),
          .stored = std::move(all),
          .rotation = config.rotation.empty() ? "nothing is said" : config.rotation,
          .tokenizer = tokenizer ? "the folder's own (openvino_tokenizer.xml)" : "none",
          .refusal = {}};
}

}  // namespace ahead::model
