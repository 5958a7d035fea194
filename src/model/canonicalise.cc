// Attentions, inputs and logits of a reader's graph made canonical. May use: base, OpenVINO.
#include "model/canonicalise.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/shortage_error.h"
#include "base/text.h"
#include "model/attention_site.h"
#include "model/fold.h"
#include "model/join_rope.h"
#include "model/merge_products.h"
#include "model/rope.h"
#include "model/round_trips.h"
#include "model/share.h"
#include "openvino/core/graph_util.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/matmul.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/result.hpp"
#include "openvino/op/util/binary_elementwise_arithmetic.hpp"
#include "openvino/op/util/unary_elementwise_arithmetic.hpp"

namespace ahead::model {
namespace {

using ov::op::v0::Constant;
using ov::op::v0::Parameter;
using Attention = ov::op::v13::ScaledDotProductAttention;

/// Cached tokens a mask is probed with at most, and when the model does not say how long it was
/// trained.
constexpr std::int64_t kMostProbePast = 1 << 17;

[[noreturn]] void refuse(const SourceFacts& facts, const std::string& reason) {
  throw Error(ErrorKind::kUnsupportedModel,
              "architecture '" + facts.architecture + "' cannot be run: " + reason +
                  "; Ahead runs decoders with one causal attention per layer");
}

std::shared_ptr<Parameter> parameter_named(const ov::Model& graph, const std::string& name) {
  for (const auto& parameter : graph.get_parameters()) {
    if (parameter->get_friendly_name() == name || parameter->output(0).get_names().count(name)) {
      return parameter;
    }
  }
  return nullptr;
}

/// Throws std::invalid_argument unless `attention` attends by a mask.
void require_mask(const Attention& attention) {
  // OpenVINO draws its own triangle from the first cached row, and reads no mask then: a new token
  // behind a cache would see the cache's beginning instead of all of it.
  if (attention.get_causal()) {
    throw std::invalid_argument(
        "it sets 'causal', which OpenVINO counts from the first cached token on, not from the new "
        "one; export it with a mask");
  }
  if (attention.get_input_size() < 4) {
    throw std::invalid_argument("it has no mask: its tokens see later ones");
  }
}

/// The window of a mask that must be an input of the graph. Throws std::invalid_argument.
std::int64_t window_of_input(const ov::Node* mask, const SourceFacts& facts) {
  while (ov::is_type<ov::op::v0::Convert>(mask)) mask = mask->get_input_node_ptr(0);
  const std::string& name = mask->get_friendly_name();
  if (ov::is_type<Parameter>(mask)) {
    if (name == facts.mask_input) return 0;
    if (name == facts.window_mask_input && facts.window > 0) return facts.window;
  }
  throw std::invalid_argument("its mask is '" + name +
                              "', neither the graph's causal mask nor one of a window that the "
                              "file names (" +
                              facts.architecture + ".attention.sliding_window)");
}

/// A canonical input: i32 and dynamic.
std::shared_ptr<Parameter> canonical_input(const char* name, std::size_t rank) {
  auto parameter = std::make_shared<Parameter>(
      ov::element::i32, ov::PartialShape::dynamic(static_cast<std::int64_t>(rank)));
  parameter->set_friendly_name(name);
  parameter->output(0).set_names({name});
  return parameter;
}

/// Feeds the reader's input `name` from canonical [B, T].
void feed(ov::Model& graph, const SourceFacts& facts, const std::string& name,
          const std::shared_ptr<Parameter>& canonical) {
  const auto old = parameter_named(graph, name);
  if (!old) refuse(facts, "its graph has no input '" + name + "'");
  ov::Output<ov::Node> value = std::make_shared<ov::op::v1::Reshape>(
      canonical, Constant::create(ov::element::i64, {facts.token_shape.size()}, facts.token_shape),
      false);
  if (old->get_element_type() != ov::element::i32) {
    value = std::make_shared<ov::op::v0::Convert>(value, old->get_element_type());
  }
  old->output(0).replace(value);
}

/// The logits' own result: the one that ends in the vocabulary and is no cache.
std::shared_ptr<ov::op::v0::Result> logits_result(const ov::Model& graph) {
  for (const auto& result : graph.get_results()) {
    const auto& names = result->input_value(0).get_names();
    if (names.count("logits")) return result;
  }
  // The GGUF reader names nothing; its cache results are the writes themselves.
  for (const auto& result : graph.get_results()) {
    if (ov::is_type<ov::op::v0::MatMul>(result->input_value(0).get_node()) ||
        ov::is_type<ov::op::util::BinaryElementwiseArithmetic>(result->input_value(0).get_node())) {
      return result;
    }
  }
  return nullptr;
}

/// The product with the vocabulary behind `logits`, through scalings and caps, or null.
std::shared_ptr<ov::op::v0::MatMul> head_product(ov::Output<ov::Node> logits) {
  for (int step = 0; step < 8; ++step) {
    const auto node = logits.get_node_shared_ptr();
    if (auto product = ov::as_type_ptr<ov::op::v0::MatMul>(node)) return product;
    if (!ov::is_type<ov::op::v0::Convert>(node) &&
        !ov::is_type<ov::op::util::UnaryElementwiseArithmetic>(node) &&
        !ov::is_type<ov::op::util::BinaryElementwiseArithmetic>(node)) {
      return nullptr;
    }
    logits = node->input_value(0);
  }
  return nullptr;
}

/// Keeps only the rows of the hidden state whose logits are wanted: [.., N, hidden] -> [.., L, ..].
void gather_rows(const std::shared_ptr<ov::op::v0::MatMul>& product,
                 const std::shared_ptr<Parameter>& logit_rows) {
  const auto hidden = product->input_value(0);
  const auto axis = hidden.get_partial_shape().rank().get_length() - 2;
  product->input(0).replace_source_output(std::make_shared<ov::op::v8::Gather>(
      hidden, logit_rows, Constant::create(ov::element::i64, {}, {axis})));
}

/// Inputs that the logits still hang on.
std::set<std::string> live_inputs(const std::shared_ptr<ov::op::v0::Result>& result) {
  std::set<std::string> names;
  ov::traverse_nodes(ov::NodeVector{result}, [&](const std::shared_ptr<ov::Node>& node) {
    if (ov::is_type<Parameter>(node)) names.insert(node->get_friendly_name());
  });
  return names;
}

/// A decoder whose graph may still be changed.
struct Draft {
  Decoder decoder;
  std::shared_ptr<ov::Model> graph;
};

Draft make_canonical(const std::shared_ptr<ov::Model>& graph, const SourceFacts& facts) {
  Decoder decoder;
  decoder.architecture = facts.architecture;
  decoder.trained_context = plausible_context(facts.trained_context);

  std::vector<std::shared_ptr<Attention>> attentions;
  for (const auto& node : graph->get_ordered_ops()) {
    if (auto attention = ov::as_type_ptr<Attention>(node)) attentions.push_back(attention);
  }
  if (attentions.empty()) refuse(facts, "no ScaledDotProductAttention is found in its graph");

  const std::int64_t past = decoder.trained_context > 8
                                ? std::min(decoder.trained_context - 4, kMostProbePast)
                                : kMostProbePast;
  std::map<ov::Output<ov::Node>, std::int64_t> windows;
  for (const auto& attention : attentions) {
    const auto layer = static_cast<std::int64_t>(decoder.layers.size());
    try {
      require_mask(*attention);
      const ov::Output<ov::Node> mask = attention->input_value(3);
      if (windows.count(mask) == 0) {
        windows[mask] = facts.mask_input.empty() ? window_of_mask(attention, past)
                                                 : window_of_input(mask.get_node(), facts);
      }
      AttentionSite site = trace_attention(attention);
      site.shape.window = windows.at(mask);
      ov::OutputVector inputs = {site.q, site.k, site.v};
      if (site.sinks.get_node() != nullptr) {
        inputs.push_back(site.sinks);
        ++decoder.sink_layers;
      }
      const auto cached = std::make_shared<CachedAttention>(
          inputs, CachedAttention::Attributes{layer, site.shape, site.scale});
      cached->set_friendly_name("attention." + std::to_string(layer));
      replace_attention(attention, cached);
      decoder.layers.push_back(site.shape);
    } catch (const std::invalid_argument& reason) {
      refuse(facts, "the attention of layer " + std::to_string(layer) + ": " + reason.what());
    }
  }

  const auto tokens = canonical_input(kTokens, 2);
  const auto positions = canonical_input(kPositions, 2);
  const auto logit_rows = canonical_input(kLogitRows, 1);
  feed(*graph, facts, facts.tokens_input, tokens);
  feed(*graph, facts, facts.positions_input, positions);

  const auto result = logits_result(*graph);
  if (!result) refuse(facts, "its graph has no logits output");
  const auto product = head_product(result->input_value(0));
  if (!product) refuse(facts, "its logits do not come from a product with the vocabulary");
  const auto vocabulary =
      result->get_input_partial_shape(0)[result->get_input_partial_shape(0).size() - 1];
  if (vocabulary.is_dynamic()) refuse(facts, "its vocabulary size is not fixed");
  decoder.vocabulary = vocabulary.get_length();
  if (facts.logit_rows_input.empty()) {
    gather_rows(product, logit_rows);
  } else {
    feed(*graph, facts, facts.logit_rows_input, logit_rows);
  }
  const auto logits = std::make_shared<ov::op::v1::Reshape>(
      result->input_value(0),
      Constant::create(ov::element::i64, {2}, std::vector<std::int64_t>{-1, decoder.vocabulary}),
      false);
  logits->output(0).set_names({kLogits});
  const auto canonical_result = std::make_shared<ov::op::v0::Result>(logits);
  canonical_result->set_friendly_name(kLogits);

  for (const std::string& name : live_inputs(canonical_result)) {
    if (name != kTokens && name != kPositions && name != kLogitRows) {
      refuse(facts, "its logits depend on an input '" + name + "' that Ahead does not know");
    }
  }
  auto canonical = std::make_shared<ov::Model>(ov::ResultVector{canonical_result},
                                               ov::ParameterVector{tokens, positions, logit_rows},
                                               facts.architecture);
  settle_shapes(canonical);
  return {.decoder = std::move(decoder), .graph = std::move(canonical)};
}

/// Exact rewrites that make a step cheaper, and the only place that knows their order: rotations
/// are found by shared tables, products merge where nothing else uses them, and both together let q
/// and k rotate as one.
void make_cheaper(const std::shared_ptr<ov::Model>& graph, const SourceFacts& facts) {
  const auto rotations = [&](const std::shared_ptr<ov::Model>& of) {
    rewrite_rope(of, facts.rotations);
  };
  using Rewrite = std::function<void(const std::shared_ptr<ov::Model>&)>;
  for (const Rewrite& rewrite : {Rewrite(share_repeated), Rewrite(drop_round_trips),
                                 Rewrite(rotations), Rewrite(merge_products), Rewrite(join_rope)}) {
    rewrite(graph);
    graph->validate_nodes_and_infer_types();
  }
}

/// Lets go of the reader's cache outputs: what only they use is no use of anything.
void release(ov::Model& graph) {
  for (const auto& result : ov::ResultVector(graph.get_results())) graph.remove_result(result);
  for (const auto& sink : ov::SinkVector(graph.get_sinks())) graph.remove_sink(sink);
}

}  // namespace

std::int64_t plausible_context(std::int64_t tokens) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  return tokens > 0 && tokens <= kMost ? tokens : 0;
}

Decoder canonicalise(const std::shared_ptr<ov::Model>& graph, const SourceFacts& facts) {
  try {
    Draft draft = make_canonical(graph, facts);
    release(*graph);
    make_cheaper(draft.graph, facts);
    draft.decoder.graph = draft.graph;
    return std::move(draft.decoder);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& cause) {  // OpenVINO's own refusals of the graph
    throw_if_short(cause, "architecture '" + facts.architecture + "' cannot be made ready");
    refuse(facts, printable(reason_of(cause.what())));
  }
}

}  // namespace ahead::model
