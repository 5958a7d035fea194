// Header check, frontend, refusals, canonical form. May use: base, OpenVINO.
#include "model/gguf_reader.h"

#include <cstdlib>
#include <memory>
#include <string>

#include "ahead/error.h"
#include "base/input_file.h"
#include "base/mapped_files.h"
#include "base/printable.h"
#include "base/shortage_error.h"
#include "base/text.h"
#include "model/canonicalise.h"
#include "model/gguf_header.h"
#include "model/gguf_heeded.h"
#include "model/gguf_mends.h"
#include "model/gguf_readable.h"
#include "model/graph_mends.h"
#include "model/suffixed_name.h"
#include "openvino/frontend/gguf/make_stateful.hpp"
#include "openvino/frontend/gguf/tokenizer_metadata.hpp"
#include "openvino/frontend/manager.hpp"

namespace ahead::model {
namespace {

namespace gguf = ov::frontend::gguf;

[[noreturn]] void refuse(const std::string& architecture, const std::string& reason) {
  throw Error(ErrorKind::kUnsupportedModel,
              "architecture '" + architecture + "' cannot be run: " + reason +
                  "; Ahead runs decoders with one causal attention per layer");
}

/// Tokens that a layer with a window sees; 0 where there is none, or none that the context needs.
std::int64_t window_of(const GgufHeader& header) {
  const std::int64_t context =
      plausible_context(header.of_architecture("context_length").value_or(0));
  const std::int64_t window = header.of_architecture("attention.sliding_window").value_or(0);
  return window > 0 && (context == 0 || window < context) ? window : 0;
}

/// Tokens for which everybody agrees on what the model computes. OpenVINO's frontend gives Phi-3
/// its window in every second layer, its authors in each, llama.cpp in none: up to the window all
/// are the same.
std::int64_t context_of(const GgufHeader& header) {
  const std::int64_t context = header.of_architecture("context_length").value_or(0);
  const std::int64_t window = window_of(header);
  return header.architecture() == "phi3" && window > 0 ? window : context;
}

/// What the reader says of layers that are no growing cache.
void refuse_other_caches(const GgufHeader& header, const ov::Model& graph) {
  const auto& notes = graph.get_rt_info();
  if (notes.count(gguf::pass::gguf_recurrent_states_key()) != 0) {
    refuse(header.architecture(), "it has recurrent layers");
  }
  if (notes.count(gguf::pass::gguf_imrope_key()) != 0) {
    refuse(header.architecture(), "its positions are multi-dimensional");
  }
}

constexpr const char* kUseIr =
    "; use an OpenVINO IR folder of this model (optimum-cli export openvino)";

/// What the frontend would read and compute as something else.
void refuse_unheeded(const InputFile& file, const GgufHeader& header) {
  if (const auto why = unheeded(header)) {
    throw Error(ErrorKind::kUnsupportedModel, path_in_quotes(file.path()) +
                                                  " would be run wrongly, because OpenVINO's GGUF "
                                                  "frontend leaves this out: " +
                                                  *why + kUseIr);
  }
}

void refuse_from_header(const InputFile& file, const GgufHeader& header) {
  if (const auto what = no_text_model(header)) {
    throw Error(ErrorKind::kInvalidModel, path_in_quotes(file.path()) + " is " + *what);
  }
  if (const auto why = unreadable(header)) {
    throw Error(ErrorKind::kUnsupportedModel,
                path_in_quotes(file.path()) + " cannot be read: " + *why);
  }
  // Of an architecture that it does not know the frontend says so itself.
  if (frontend_knows(header.architecture())) refuse_unheeded(file, header);
}

/// What the frontend says, as an error: of a file from which something is missing, the architecture
/// is not to blame.
Error refusal(const InputFile& file, const GgufHeader& header, const std::string& words) {
  const std::string reason = printable(reason_of(words));
  const auto says = [&](const char* part) { return reason.find(part) != std::string::npos; };
  const std::string path = path_in_quotes(file.path());
  if (says("missing expected weight") || says("missing weight") || says("weight not found")) {
    return {ErrorKind::kInvalidModel,
            path + " lacks weights: " + reason +
                "; fetch the whole file again, or convert the model again"};
  }
  const bool known = frontend_knows(header.architecture());
  if (header.architecture() == "unknown" || (known && says("metadata key is missing"))) {
    return {ErrorKind::kInvalidModel,
            path + " lacks metadata: " + reason + "; convert the model again"};
  }
  const std::string what = "architecture '" + header.architecture() + "' in " + path;
  if (says("metadata key is missing")) {
    return {ErrorKind::kUnsupportedModel,
            what + " is not known to OpenVINO's GGUF frontend" + kUseIr};
  }
  return {ErrorKind::kUnsupportedModel,
          what + " is not read by OpenVINO's GGUF frontend: " + reason + kUseIr};
}

/// Has the frontend keep Q4_K's zero points as the file has them, in f16; by itself it rounds them
/// to whole numbers. It asks the environment. What somebody has set there stays.
void keep_zero_points() { (void)::setenv("OV_GGUF_Q4_K_ZP_F16", "1", /*overwrite=*/0); }

std::shared_ptr<ov::Model> convert(const InputFile& file, const GgufHeader& header) {
  // The frontend reads a file only if its name ends so. It has read all of it when it is done.
  const SuffixedName name(file, {.suffix = ".gguf", .folders = folders_for_links(file)});
  keep_zero_points();
  try {
    ov::frontend::FrontEndManager manager;
    const auto frontend = manager.load_by_framework("gguf");
    return frontend->convert(frontend->load(name.path().string()));
  } catch (const std::exception& error) {
    // It maps the file and makes room for what it unpacks.
    throw_if_short(error, path_in_quotes(file.path()) + " cannot be read", 2 * file.size());
    throw refusal(file, header, error.what());
  }
}

/// tokenizer.chat_template, and tokenizer.chat_template.NAME.
std::map<std::string, std::string> chat_templates_of(const GgufHeader& header) {
  const std::string key = "tokenizer.chat_template";
  std::map<std::string, std::string> templates;
  for (const auto& [name, text] : header.strings) {
    if (name == key) templates["default"] = text;
    if (name.starts_with(key + ".")) templates[name.substr(key.size() + 1)] = text;
  }
  return templates;
}

}  // namespace

ReadModel read_gguf(const std::filesystem::path& path) {
  const auto file = std::make_shared<const InputFile>(path.string());
  watch_mapped(file);  // the frontend maps it, and reads for seconds
  const GgufHeader header = read_gguf_header(*file);
  refuse_from_header(*file, header);
  const std::shared_ptr<ov::Model> graph = convert(*file, header);
  refuse_other_caches(header, *graph);
  refuse_unheeded(*file, header);
  const GgufMends mends = mends_of(header);
  mend(*graph, mends, "inp_pos");

  ReadModel read;
  read.weights = file;
  read.chat_templates = chat_templates_of(header);
  const auto& notes = graph->get_rt_info();
  if (const auto found = notes.find(gguf::gguf_tokenizer_metadata_key()); found != notes.end()) {
    read.gguf_tokenizer = found->second.as<std::shared_ptr<gguf::GGUFTokenizerMetadata>>()->config;
  }
  read.decoder = canonicalise(graph, {.architecture = header.architecture(),
                                      .tokens_input = "inp_tokens",
                                      .positions_input = "inp_pos",
                                      .logit_rows_input = "inp_out_ids",
                                      .mask_input = "self_kq_mask",
                                      .window_mask_input = "self_kq_mask_swa",
                                      .window = window_of(header),
                                      .rotations = {.unrotated_every = mends.unrotated_every,
                                                    .halves = mends.rotate_halves},
                                      .trained_context = context_of(header),
                                      .token_shape = {1, 1, 1, -1}});
  return read;
}

}  // namespace ahead::model
