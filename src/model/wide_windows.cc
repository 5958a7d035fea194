// See wide_windows.h. May use: base, OpenVINO.
#include "model/wide_windows.h"

#include <algorithm>

#include "model/cached_attention.h"

namespace ahead::model {
namespace {

bool is_wide(const AttentionShape& shape, std::int64_t most_tokens) {
  return shape.window >= most_tokens;
}

}  // namespace

std::shared_ptr<const Decoder> without_wide_windows(std::shared_ptr<const Decoder> decoder,
                                                    std::int64_t most_tokens) {
  if (std::none_of(decoder->layers.begin(), decoder->layers.end(),
                   [&](const AttentionShape& layer) { return is_wide(layer, most_tokens); })) {
    return decoder;
  }
  auto made = std::make_shared<Decoder>(*decoder);
  for (AttentionShape& layer : made->layers) {
    if (is_wide(layer, most_tokens)) layer.window = 0;
  }
  const std::shared_ptr<ov::Model> graph = decoder->graph->clone();
  for (const auto& node : graph->get_ordered_ops()) {
    const auto attention = ov::as_type_ptr<CachedAttention>(node);
    if (!attention || !is_wide(attention->attributes().shape, most_tokens)) continue;
    CachedAttention::Attributes attributes = attention->attributes();
    attributes.shape.window = 0;
    const auto plain = std::make_shared<CachedAttention>(attention->input_values(), attributes);
    plain->set_friendly_name(attention->get_friendly_name());
    attention->output(0).replace(plain);
  }
  made->graph = graph;
  return made;
}

}  // namespace ahead::model
