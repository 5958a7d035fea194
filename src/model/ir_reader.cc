// Folder check, stateless form, canonical form. May use: base, OpenVINO.
#include "model/ir_reader.h"

#include <memory>
#include <string>
#include <system_error>

#include "ahead/error.h"
#include "base/input_file.h"
#include "base/mapped_files.h"
#include "base/printable.h"
#include "base/shortage_error.h"
#include "base/text.h"
#include "model/canonicalise.h"
#include "model/file_kind.h"
#include "model/model_config.h"
#include "openvino/pass/manager.hpp"
#include "openvino/pass/stateful_to_stateless.hpp"

namespace ahead::model {
namespace {

[[noreturn]] void invalid(const std::filesystem::path& file, const std::string& reason) {
  throw Error(ErrorKind::kInvalidModel, path_in_quotes(file.string()) + " " + reason +
                                            "; export the model for OpenVINO GenAI again");
}

/// A file of the folder, as far as its first bytes say what it is not.
std::shared_ptr<const InputFile> opened(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) invalid(path, "is missing");
  auto file = std::make_shared<const InputFile>(path.string());
  const std::string beginning = file->read({.at = 0, .bytes = kBeginningBytes});
  switch (kind_of(beginning, file->size())) {
    case FileKind::kEmpty:
    case FileKind::kLfsPointer:
    case FileKind::kXetPointer:
    case FileKind::kAnnexPointer:
    case FileKind::kHtml:
      throw no_model(*file);
    default:
      return file;
  }
}

/// Files that stood for others are better named here than by whoever stumbles over them.
void look_at_tokenizer(const std::filesystem::path& folder) {
  for (const char* name : {"openvino_tokenizer.xml", "openvino_tokenizer.bin",
                           "openvino_detokenizer.xml", "openvino_detokenizer.bin"}) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(folder / name, ignored)) (void)opened(folder / name);
  }
}

std::shared_ptr<ov::Model> read_graph(ov::Core& core, const std::filesystem::path& xml,
                                      const InputFile& weights) {
  try {
    return core.read_model(xml);
  } catch (const std::exception& error) {
    throw_if_short(error, path_in_quotes(xml.string()) + " cannot be read", weights.size());
    invalid(xml, "cannot be read: " + printable(reason_of(error.what())));
  }
}

/// Cache variables become inputs and outputs.
void make_stateless(const std::shared_ptr<ov::Model>& graph, const std::string& architecture) {
  try {
    ov::pass::Manager passes;
    passes.register_pass<ov::pass::StatefulToStateless>();
    passes.run_passes(graph);
  } catch (const std::exception& error) {
    const std::string what = "architecture '" + architecture +
                             "' cannot be run: its cache cannot be taken out of the graph";
    throw_if_short(error, what);
    throw Error(ErrorKind::kUnsupportedModel, what + ": " + printable(reason_of(error.what())) +
                                                  "; export the model for OpenVINO GenAI again");
  }
}

}  // namespace

IrGraph read_ir_graph(ov::Core& core, const std::filesystem::path& folder) {
  const auto xml = folder / "openvino_model.xml";
  (void)opened(xml);
  const std::shared_ptr<const InputFile> file = opened(folder / "openvino_model.bin");
  watch_mapped(file);
  return {.graph = read_graph(core, xml, *file), .weights = file};
}

ReadModel read_ir_folder(ov::Core& core, const std::filesystem::path& folder) {
  const auto [graph, weights] = read_ir_graph(core, folder);
  look_at_tokenizer(folder);
  const ModelConfig config = read_model_config(folder);
  make_stateless(graph, config.architecture);

  ReadModel read;
  read.weights = weights;
  read.tokenizer_folder = folder;
  read.decoder = canonicalise(graph, {.architecture = config.architecture,
                                      .tokens_input = "input_ids",
                                      .positions_input = "position_ids",
                                      .logit_rows_input = "",
                                      .mask_input = "",
                                      .trained_context = plausible_context(config.context),
                                      .token_shape = {1, -1}});
  return read;
}

}  // namespace ahead::model
