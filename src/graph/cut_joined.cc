// Pauses in place of a decoder's attentions. May use: base, model, OpenVINO.
#include "graph/cut_joined.h"

#include <memory>
#include <utility>

#include "base/check.h"
#include "graph/attention_piece.h"
#include "graph/crossing.h"
#include "graph/pause.h"

namespace ahead::graph {

Cut cut_joined(const model::Decoder& decoder) {
  Piece bodies;
  bodies.name = "bodies";
  bodies.inputs = {{Role::kTokens}, {Role::kPositions}, {Role::kLogitRows}};
  bodies.outputs = {{Role::kLogits}};
  const std::shared_ptr<ov::Model> graph = decoder.graph->clone();
  Crossings internal(decoder.architecture);
  Cut cut;
  cut.pieces.emplace_back();  // "bodies", which is called first
  AttentionPieces attentions(cut.pieces);
  std::vector<Call> within;
  for (const auto& node : graph->get_ordered_ops()) {
    const auto attention = ov::as_type_ptr<model::CachedAttention>(node);
    if (!attention) continue;
    const std::int64_t layer = attention->attributes().layer;
    AHEAD_CHECK(layer == static_cast<std::int64_t>(bodies.pauses), "attentions are met by layer");
    const auto pause = std::make_shared<Pause>(
        ov::OutputVector{attention->input_value(0), attention->input_value(1),
                         attention->input_value(2)},
        bodies.pauses);
    const Port q = internal(attention->input_value(0));
    const Port attended = internal(attention->output(0));
    bodies.outputs.insert(bodies.outputs.end(), {q, {Role::kNewK, layer}, {Role::kNewV, layer}});
    bodies.inputs.push_back(attended);
    within.push_back(attentions.call(*attention, {.q = q, .attended = attended}));
    within.back().pause = bodies.pauses++;
    attention->output(0).replace(pause->output(0));
  }
  bodies.graph = graph;
  cut.calls = {{.piece = 0, .inputs = bodies.inputs, .outputs = bodies.outputs}};
  cut.calls.insert(cut.calls.end(), within.begin(), within.end());
  cut.pieces.front() = std::move(bodies);
  return cut;
}

}  // namespace ahead::graph
