// For tests: a decoder small enough to read. May use: base, model, OpenVINO.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "model/cached_attention.h"
#include "model/decoder.h"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/matmul.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/result.hpp"

namespace ahead::graph {

/// Two layers of 4 query heads and 2 KV heads of 8; the tokens' embedding is q, k and v alike.
/// `scales`: the attentions', and how many layers there are.
inline std::shared_ptr<const model::Decoder> small_decoder(const std::vector<float>& scales = {
                                                               0.25F, 0.25F}) {
  using ov::op::v0::Constant;
  const auto input = [](const char* name, std::int64_t rank) {
    auto parameter =
        std::make_shared<ov::op::v0::Parameter>(ov::element::i32, ov::PartialShape::dynamic(rank));
    parameter->set_friendly_name(name);
    return parameter;
  };
  const auto reshape = [](const ov::Output<ov::Node>& value,
                          const std::vector<std::int64_t>& shape) {
    return std::make_shared<ov::op::v1::Reshape>(
        value, Constant::create(ov::element::i64, {shape.size()}, shape), false);
  };
  const auto tokens = input(model::kTokens, 2);
  const auto positions = input(model::kPositions, 2);
  const auto rows = input(model::kLogitRows, 1);
  std::vector<std::uint8_t> table(320);
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<std::uint8_t>(i * 37 % 11);
  }
  const auto weights = std::make_shared<ov::op::v0::Convert>(
      Constant::create(ov::element::u8, {10, 32}, table), ov::element::f32);
  const auto axis = Constant::create(ov::element::i64, {}, {0});
  ov::Output<ov::Node> state =
      std::make_shared<ov::op::v8::Gather>(weights, reshape(tokens, {-1}), axis);
  for (std::int64_t layer = 0; layer < std::ssize(scales); ++layer) {
    const auto q = reshape(state, {1, -1, 4, 8});
    const auto half =
        std::make_shared<ov::op::v8::Gather>(q, Constant::create(ov::element::i64, {2}, {0, 1}),
                                             Constant::create(ov::element::i64, {}, {2}));
    state = reshape(std::make_shared<model::CachedAttention>(
                        q, half, half,
                        model::CachedAttention::Attributes{
                            layer, {4, 2, 8}, scales[static_cast<std::size_t>(layer)]}),
                    {-1, 32});
  }
  const auto logits = std::make_shared<ov::op::v0::MatMul>(
      std::make_shared<ov::op::v8::Gather>(state, rows, axis), weights, false, true);
  auto decoder = std::make_shared<model::Decoder>();
  decoder->graph =
      std::make_shared<ov::Model>(ov::ResultVector{std::make_shared<ov::op::v0::Result>(logits)},
                                  ov::ParameterVector{tokens, positions, rows});
  decoder->layers.assign(scales.size(), {4, 2, 8});
  decoder->vocabulary = 10;
  return decoder;
}

}  // namespace ahead::graph
