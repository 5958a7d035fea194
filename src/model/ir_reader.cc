// Folder check, stateless form, canonical form. May use: base, OpenVINO.
#include "model/ir_reader.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "ahead/error.h"
#include "base/text.h"
#include "model/canonicalise.h"
#include "openvino/pass/manager.hpp"
#include "openvino/pass/stateful_to_stateless.hpp"

namespace ahead::model {
namespace {

using Json = nlohmann::json;

[[noreturn]] void invalid(const std::filesystem::path& file, const std::string& reason) {
  throw Error(ErrorKind::kInvalidModel,
              "'" + file.string() + "' " + reason + "; export the model for OpenVINO GenAI again");
}

std::int64_t integer(const Json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

// Far above any real config.json. What is nested deeper is passed over: a file that is all brackets
// would fill memory.
constexpr std::uintmax_t kMaxConfigBytes = 16 << 20;
constexpr int kMaxConfigDepth = 64;

/// config.json beside the model, or an empty object.
Json read_config(const std::filesystem::path& folder) {
  const auto file = folder / "config.json";
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error) return Json::object();
  const std::uintmax_t bytes = error ? 0 : std::filesystem::file_size(file, error);
  if (error) invalid(file, "cannot be read: " + error.message());
  if (bytes > kMaxConfigBytes) {
    invalid(file, "has " + std::to_string(bytes) + " bytes, which is too many");
  }
  std::ifstream stream(file);
  Json config = Json::parse(
      stream, [](int depth, Json::parse_event_t, Json&) { return depth <= kMaxConfigDepth; },
      /*allow_exceptions=*/false);
  if (!config.is_object()) invalid(file, "is not a JSON object");
  return config;
}

/// The trained context, which models that see or hear name inside "text_config"; 0: unknown.
std::int64_t context_of(const Json& config) {
  constexpr const char* kKey = "max_position_embeddings";
  const std::int64_t context = plausible_context(integer(config, kKey));
  const auto inner = config.find("text_config");
  if (context != 0 || inner == config.end() || !inner->is_object()) return context;
  return plausible_context(integer(*inner, kKey));
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

/// Cache variables become inputs and outputs.
void make_stateless(const std::shared_ptr<ov::Model>& graph, const std::string& architecture) {
  try {
    ov::pass::Manager passes;
    passes.register_pass<ov::pass::StatefulToStateless>();
    passes.run_passes(graph);
  } catch (const std::exception& error) {
    throw Error(ErrorKind::kUnsupportedModel,
                "architecture '" + architecture +
                    "' cannot be run: its cache cannot be taken out " + "of the graph: " +
                    reason_of(error.what()) + "; export the model for OpenVINO GenAI again");
  }
}

}  // namespace

ReadModel read_ir_folder(ov::Core& core, const std::filesystem::path& folder) {
  const auto xml = folder / "openvino_model.xml";
  const auto weights = folder / "openvino_model.bin";
  std::error_code error;
  for (const auto& file : {xml, weights}) {
    if (std::filesystem::is_regular_file(file, error)) continue;
    if (error && error != std::errc::no_such_file_or_directory) {
      invalid(file, "cannot be read: " + error.message());
    }
    invalid(file, "is missing");
  }
  if (std::filesystem::file_size(weights, error) == 0) invalid(weights, "is empty");
  const Json config = read_config(folder);
  const std::shared_ptr<ov::Model> graph = read_graph(core, xml);
  const std::string architecture = text(config, "model_type", "unknown");
  make_stateless(graph, architecture);

  ReadModel read;
  read.weights = weights;
  read.tokenizer_folder = folder;
  read.decoder = canonicalise(graph, {.architecture = architecture,
                                      .tokens_input = "input_ids",
                                      .positions_input = "position_ids",
                                      .logit_rows_input = "",
                                      .mask_input = "",
                                      .trained_context = context_of(config),
                                      .token_shape = {1, -1}});
  return read;
}

}  // namespace ahead::model
