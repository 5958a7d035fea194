// Folder check, stateless form, canonical form. May use: base, OpenVINO.
#include "model/ir_reader.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "ahead/error.h"
#include "base/text.h"
#include "model/canonicalise.h"
#include "openvino/pass/manager.hpp"
#include "openvino/pass/stateful_to_stateless.hpp"

namespace ahead::model {
namespace {

using Json = nlohmann::json;

[[noreturn]] void invalid(const std::filesystem::path& file, const std::string& reason) {
  throw Error(ErrorKind::kInvalidModel, "'" + file.string() + "' " + reason +
                                            "; export the model for OpenVINO GenAI again");
}

/// config.json beside the model, or an empty object.
Json read_config(const std::filesystem::path& folder) {
  const auto file = folder / "config.json";
  if (!std::filesystem::exists(file)) return Json::object();
  std::ifstream stream(file);
  Json config = Json::parse(stream, nullptr, false);
  if (!config.is_object()) invalid(file, "is not a JSON object");
  return config;
}

std::int64_t integer(const Json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string text(const Json& config, const char* key, const char* otherwise) {
  const auto found = config.find(key);
  return found != config.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

std::shared_ptr<ov::Model> read_graph(ov::Core& core, const std::filesystem::path& xml) {
  try {
    return core.read_model(xml);
  } catch (const std::exception& error) {
    invalid(xml, "cannot be read: " + reason_of(error.what()));
  }
}

}  // namespace

ReadModel read_ir_folder(ov::Core& core, const std::filesystem::path& folder) {
  const auto xml = folder / "openvino_model.xml";
  const auto weights = folder / "openvino_model.bin";
  for (const auto& file : {xml, weights}) {
    if (!std::filesystem::is_regular_file(file)) invalid(file, "is missing");
  }
  if (std::filesystem::file_size(weights) == 0) invalid(weights, "is empty");
  const Json config = read_config(folder);
  const std::shared_ptr<ov::Model> graph = read_graph(core, xml);
  ov::pass::Manager passes;
  passes.register_pass<ov::pass::StatefulToStateless>();
  passes.run_passes(graph);

  ReadModel read;
  read.weights = weights;
  read.tokenizer_folder = folder;
  read.decoder = canonicalise(graph, {.architecture = text(config, "model_type", "unknown"),
                                      .tokens_input = "input_ids",
                                      .positions_input = "position_ids",
                                      .logit_rows_input = "",
                                      .mask_input = "",
                                      .trained_context = integer(config, "max_position_embeddings"),
                                      .token_shape = {1, -1}});
  return read;
}

}  // namespace ahead::model
