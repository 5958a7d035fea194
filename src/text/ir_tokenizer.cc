// Reading a folder's tokenizer and holding it to Tokenizer's contract. May use: std, OpenVINO,
// base.
#include "text/ir_tokenizer.h"

#include <algorithm>
#include <openvino/op/constant.hpp>
#include <openvino/op/convert.hpp>
#include <openvino/op/slice.hpp>
#include <openvino/runtime/core.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/shortage_error.h"
#include "base/text.h"
#include "text/compiled_tokenizer.h"
#include "text/end_tokens.h"
#include "text/node_factory.h"

namespace ahead::text {
namespace {

std::shared_ptr<ov::Model> read(ov::Core& core, const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw Error(ErrorKind::kInvalidModel, path_in_quotes(path.string()) +
                                              " is missing; export the model with its tokenizer "
                                              "(optimum-cli export openvino does)");
  }
  try {
    return core.read_model(path.string());
  } catch (const std::exception& cause) {
    const std::string what = path_in_quotes(path.string()) + " cannot be read";
    throw_if_short(cause, what);
    throw Error(ErrorKind::kInvalidModel,
                what + ": " + printable(reason_of(cause.what())) + "; export the tokenizer again");
  }
}

bool is_a(const ov::Node& node, std::string_view type) { return node.get_type_info().name == type; }

void refuse_sentencepiece(const ov::Model& model) {
  for (const auto& node : model.get_ops()) {
    if (!std::string_view(node->get_type_info().name).starts_with("Sentencepiece")) continue;
    throw Error(ErrorKind::kUnsupportedModel,
                "the folder's tokenizer uses " + std::string(node->get_type_info().name) +
                    ", which adds tokens and hides bytes; convert the tokenizer without the "
                    "SentencePiece back end");
  }
}

/// Connects whoever reads the node's outputs to the inputs of the same number.
void bypass(const std::shared_ptr<ov::Node>& node, std::size_t outputs) {
  for (std::size_t i = 0; i < outputs; ++i) node->output(i).replace(node->input_value(i));
}

/// CombineSegments takes (begins, ends, ids) per segment; a constant one is a token put round the
/// text, and is emptied.
void empty_constant_segments(const std::shared_ptr<ov::Node>& node) {
  for (std::size_t i = 0; i + 2 < node->get_input_size(); i += 3) {
    if (ov::is_type<ov::op::v0::Constant>(node->get_input_node_ptr(i + 2))) {
      node->input(i + 1).replace_source_output(node->input_value(i));
    }
  }
}

/// The one number of a constant, or `otherwise` when it is computed.
std::int64_t number(const ov::Node& node, std::int64_t otherwise) {
  const auto* constant = ov::as_type<const ov::op::v0::Constant>(&node);
  if (constant == nullptr || ov::shape_size(constant->get_shape()) != 1) return otherwise;
  return constant->cast_vector<std::int64_t>().front();
}

/// The tokens of the constant segments in front of the text.
std::vector<std::int32_t> prefix_of(const ov::Node& node) {
  std::vector<std::int32_t> prefix;
  for (std::size_t i = 0; i + 2 < node.get_input_size(); i += 3) {
    const auto* ids = ov::as_type<ov::op::v0::Constant>(node.get_input_node_ptr(i + 2));
    if (ids == nullptr) return prefix;
    const auto values = ids->cast_vector<std::int32_t>();
    const auto count = std::ssize(values);
    const auto begin = number(*node.get_input_node_ptr(i), 0);
    const auto end = number(*node.get_input_node_ptr(i + 1), count);
    for (auto at = std::max<std::int64_t>(begin, 0); at < std::min<std::int64_t>(end, count);
         ++at) {
      prefix.push_back(values[static_cast<std::size_t>(at)]);
    }
  }
  return {};  // no text anywhere: not the segments of one
}

/// The ids before they are padded, which is also before some writers cut the text's beginning off.
ov::Output<ov::Node> unpadded_ids(const ov::Model& model) {
  ov::Output<ov::Node> ids = model.output("input_ids").get_node()->input_value(0);
  while (ov::is_type<ov::op::v0::Convert>(ids.get_node())) ids = ids.get_node()->input_value(0);
  return is_a(*ids.get_node(), "RaggedToDense") ? ids.get_node()->input_value(2) : ids;
}

/// An encoder that adds nothing, and what it would have put in front.
struct TamedEncoder {
  std::shared_ptr<ov::Model> model;
  std::vector<std::int32_t> prefix;
};

TamedEncoder tame_encoder(const std::shared_ptr<ov::Model>& model) {
  std::vector<std::int32_t> prefix;
  for (const auto& node : model->get_ordered_ops()) {
    if (is_a(*node, "CombineSegments")) {
      prefix = prefix_of(*node);
      empty_constant_segments(node);
    }
    if (is_a(*node, "Truncate")) bypass(node, 3);
  }
  // Without the sinks: what they assign only switches truncation.
  return {.model = std::make_shared<ov::Model>(ov::OutputVector{unpadded_ids(*model)},
                                               model->get_parameters(), "encoder"),
          .prefix = std::move(prefix)};
}

void tame_decoder(const std::shared_ptr<ov::Model>& model) {
  for (const auto& node : model->get_ordered_ops()) {
    if (is_a(*node, "UTF8Validate")) bypass(node, 3);
    // The ids without text come through a slice, which is empty when the writer wanted them shown.
    if (is_a(*node, "VocabDecoder") && node->get_input_size() == 5 &&
        ov::is_type<ov::op::v8::Slice>(node->get_input_node_ptr(4))) {
      node->input(4).replace_source_output(node->get_input_node_ptr(4)->input_value(0));
    }
  }
  model->validate_nodes_and_infer_types();
}

std::vector<std::int32_t> end_tokens(const ov::Model& encoder,
                                     const std::filesystem::path& folder) {
  std::vector<std::int32_t> ids;
  const auto named = encoder.get_rt_info().find("eos_token_id");
  if (named != encoder.get_rt_info().end()) {
    try {
      add_end_token(named->second.as<std::int32_t>(), ids);
    } catch (const std::exception&) {
      throw Error(ErrorKind::kInvalidModel,
                  path_in_quotes((folder / "openvino_tokenizer.xml").string()) +
                      " has an eos_token_id that is no number; export the tokenizer again");
    }
  }
  add_end_tokens_of(folder / "generation_config.json", ids);
  add_end_tokens_of(folder / "config.json", ids);
  return ids;
}

}  // namespace

std::unique_ptr<Tokenizer> make_ir_tokenizer(const std::filesystem::path& folder,
                                             const TokenizerOptions& options) {
  const std::string library =
      options.library.empty() ? default_tokenizers_library() : options.library;
  // Only to keep it loaded: the core would unload it, and with it the code of the compiled nodes.
  const NodeFactory pinned(library);
  ov::Core core;
  core.add_extension(library);
  const std::shared_ptr<ov::Model> encoder = read(core, folder / "openvino_tokenizer.xml");
  const std::shared_ptr<ov::Model> decoder = read(core, folder / "openvino_detokenizer.xml");
  refuse_sentencepiece(*encoder);
  refuse_sentencepiece(*decoder);
  const std::vector<std::int32_t> ends = end_tokens(*encoder, folder);
  try {
    tame_decoder(decoder);
    const TamedEncoder tamed = tame_encoder(encoder);
    return compile_tokenizer({.encoder = tamed.model,
                              .decoder = decoder,
                              .prefix = tamed.prefix,
                              .end_tokens = ends,
                              .find_end_tokens = true});
  } catch (const Error&) {
    throw;
  } catch (const std::exception& cause) {
    const std::string what = path_in_quotes(folder.string()) + " has no tokenizer Ahead can run";
    throw_if_short(cause, what);
    throw Error(ErrorKind::kInvalidModel,
                what + ": " + printable(reason_of(cause.what())) + "; export the tokenizer again");
  }
}

}  // namespace ahead::text
