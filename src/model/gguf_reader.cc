// Header check, frontend, refusals, canonical form. May use: base, OpenVINO.
#include "model/gguf_reader.h"

#include <string>

#include "ahead/error.h"
#include "base/text.h"
#include "model/canonicalise.h"
#include "model/gguf_header.h"
#include "openvino/frontend/gguf/make_stateful.hpp"
#include "openvino/frontend/gguf/tokenizer_metadata.hpp"
#include "openvino/frontend/manager.hpp"

namespace ahead::model {
namespace {

namespace gguf = ov::frontend::gguf;

[[noreturn]] void refuse(const std::string& architecture, const std::string& reason) {
  throw Error(ErrorKind::kUnsupportedModel,
              "architecture '" + architecture + "' cannot be run: " + reason +
                  "; Ahead runs decoders with one plain causal attention per layer");
}

/// What the header and the reader say of layers that are no plain growing cache.
void refuse_other_caches(const GgufHeader& header, const ov::Model& graph) {
  const std::int64_t context =
      plausible_context(header.of_architecture("context_length").value_or(0));
  const auto window = header.of_architecture("attention.sliding_window");
  const auto& notes = graph.get_rt_info();
  if ((window && *window > 0 && (context == 0 || *window < context)) ||
      notes.count(gguf::pass::gguf_swa_window_key()) != 0) {
    refuse(header.architecture(), "it attends through a sliding window of " +
                                      std::to_string(window.value_or(0)) + " tokens");
  }
  if (notes.count(gguf::pass::gguf_recurrent_states_key()) != 0) {
    refuse(header.architecture(), "it has recurrent layers");
  }
  if (notes.count(gguf::pass::gguf_imrope_key()) != 0) {
    refuse(header.architecture(), "its positions are multi-dimensional");
  }
}

std::shared_ptr<ov::Model> convert(const std::filesystem::path& path, const GgufHeader& header) {
  try {
    ov::frontend::FrontEndManager manager;
    const auto frontend = manager.load_by_framework("gguf");
    return frontend->convert(frontend->load(path.string()));
  } catch (const std::exception& error) {
    throw Error(ErrorKind::kUnsupportedModel,
                "architecture '" + header.architecture() + "' in '" + path.string() +
                    "' is not read by OpenVINO's GGUF frontend: " + reason_of(error.what()));
  }
}

}  // namespace

ReadModel read_gguf(const std::filesystem::path& path) {
  const GgufHeader header = read_gguf_header(path.string());
  const std::shared_ptr<ov::Model> graph = convert(path, header);
  refuse_other_caches(header, *graph);

  ReadModel read;
  read.weights = path;
  const auto& notes = graph->get_rt_info();
  if (const auto found = notes.find(gguf::gguf_tokenizer_metadata_key()); found != notes.end()) {
    read.gguf_tokenizer = found->second.as<std::shared_ptr<gguf::GGUFTokenizerMetadata>>()->config;
  }
  read.decoder =
      canonicalise(graph, {.architecture = header.architecture(),
                           .tokens_input = "inp_tokens",
                           .positions_input = "inp_pos",
                           .logit_rows_input = "inp_out_ids",
                           .mask_input = "self_kq_mask",
                           .trained_context = header.of_architecture("context_length").value_or(0),
                           .token_shape = {1, 1, 1, -1}});
  return read;
}

}  // namespace ahead::model
