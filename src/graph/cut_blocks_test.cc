// Which layers share an artifact of `blocks:N`, whose memory their weights are, and that the pieces
// together compute what the whole graph does, on small decoders.
#include "graph/cut_blocks.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "ahead/error.h"
#include "graph/element_type.h"
#include "graph/partition.h"
#include "openvino/op/add.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/convert.hpp"
#include "openvino/op/gather.hpp"
#include "openvino/op/matmul.hpp"
#include "openvino/op/multiply.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/reshape.hpp"
#include "openvino/op/result.hpp"
#include "openvino/op/softmax.hpp"
#include "openvino/runtime/core.hpp"

namespace ahead::graph {
namespace {

using Node = ov::Output<ov::Node>;
using ov::op::v0::Constant;

constexpr std::size_t kHidden = 32;

struct LayerChoice {
  std::int64_t kv_heads = 2;
  float offset = 0.5F;  ///< a single number inside
};

struct DecoderChoice {
  std::vector<LayerChoice> layers;
  bool rows_chosen_early = false;  ///< inside the last layer, before its second product
  bool mix_rows = false;           ///< behind that choice, where rows are mixed
};

/// Builds decoders: every layer adds its attention's product and a table of the positions.
class Builder {
 public:
  std::shared_ptr<const model::Decoder> build(const DecoderChoice& choice) {
    const auto tokens = input(model::kTokens, 2);
    const auto positions = input(model::kPositions, 2);
    const auto rows = input(model::kLogitRows, 1);
    const Node vocabulary = weights({10, kHidden});
    const Node place =
        std::make_shared<ov::op::v0::Convert>(reshape(positions, {-1, 1}), ov::element::f32);
    Node state = std::make_shared<ov::op::v8::Gather>(vocabulary, reshape(tokens, {-1}), zero());
    auto decoder = std::make_shared<model::Decoder>();
    for (const LayerChoice& layer : choice.layers) {
      const bool last = decoder->layers.size() + 1 == choice.layers.size();
      const model::AttentionShape shape{4, layer.kv_heads, 8};
      const Node moved = std::make_shared<ov::op::v1::Add>(
          state, Constant::create(ov::element::f32, {}, {layer.offset}));
      const auto project = [&](std::int64_t heads) {
        return reshape(product(moved, static_cast<std::size_t>(heads) * 8), {1, -1, heads, 8});
      };
      const model::CachedAttention::Attributes attributes{
          static_cast<std::int64_t>(decoder->layers.size()), shape, 0.25F};
      Node attention =
          reshape(std::make_shared<model::CachedAttention>(project(4), project(layer.kv_heads),
                                                           project(layer.kv_heads), attributes),
                  {-1, kHidden});
      Node placed = std::make_shared<ov::op::v1::Add>(state, scaled(place));
      if (last && choice.rows_chosen_early) {
        attention = std::make_shared<ov::op::v8::Gather>(attention, rows, zero());
        placed = std::make_shared<ov::op::v8::Gather>(placed, rows, zero());
        if (choice.mix_rows) attention = std::make_shared<ov::op::v8::Softmax>(attention, 0);
      }
      state = std::make_shared<ov::op::v1::Add>(placed, product(attention, kHidden));
      decoder->layers.push_back(shape);
    }
    if (!choice.rows_chosen_early) {
      state = std::make_shared<ov::op::v8::Gather>(state, rows, zero());
    }
    const auto logits =
        std::make_shared<ov::op::v0::MatMul>(scaled(state), vocabulary, false, true);
    decoder->graph =
        std::make_shared<ov::Model>(ov::ResultVector{std::make_shared<ov::op::v0::Result>(logits)},
                                    ov::ParameterVector{tokens, positions, rows});
    decoder->vocabulary = 10;
    return decoder;
  }

 private:
  static std::shared_ptr<ov::op::v0::Parameter> input(const char* name, std::int64_t rank) {
    auto parameter =
        std::make_shared<ov::op::v0::Parameter>(ov::element::i32, ov::PartialShape::dynamic(rank));
    parameter->set_friendly_name(name);
    return parameter;
  }
  static Node zero() { return Constant::create(ov::element::i64, {}, {0}); }
  static Node reshape(const Node& value, std::vector<std::int64_t> shape) {
    return std::make_shared<ov::op::v1::Reshape>(
        value, Constant::create(ov::element::i64, {shape.size()}, shape), false);
  }
  static Node scaled(const Node& value) {
    return std::make_shared<ov::op::v1::Multiply>(value,
                                                  Constant::create(ov::element::f32, {}, {0.01F}));
  }
  /// Compressed, and never twice the same.
  Node weights(const ov::Shape& shape) {
    std::vector<std::uint8_t> values(ov::shape_size(shape));
    for (std::uint8_t& value : values)
      value = static_cast<std::uint8_t>((seed_ = seed_ * 75 + 74) % 65537 % 7);
    return scaled(std::make_shared<ov::op::v0::Convert>(
        Constant::create(ov::element::u8, shape, values), ov::element::f32));
  }
  Node product(const Node& value, std::size_t outputs) {
    return std::make_shared<ov::op::v0::MatMul>(value, weights({outputs, kHidden}), false, true);
  }

  std::uint32_t seed_ = 1;
};

std::shared_ptr<const model::Decoder> decoder_of(const DecoderChoice& choice) {
  return Builder().build(choice);
}

PartitionedDecoder cut_in(const std::shared_ptr<const model::Decoder>& decoder,
                          std::int64_t layers) {
  return {decoder, {.partition = Partition::blocks(layers), .cache = {ElementType::kF32, 16}}};
}

std::vector<std::string> part_names(const PartitionedDecoder& decoder) {
  std::vector<std::string> names;
  for (const PartSpec& part : decoder.spec({1, 1, 32}).parts) names.push_back(part.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Blocks, LikeLayersShareAnArtifactAndBringTheirOwnWeights) {
  const PartitionedDecoder decoder = cut_in(decoder_of({.layers = {{}, {}, {}, {}}}), 1);
  EXPECT_EQ(part_names(decoder), (Names{"embedding", "block.0", "head"}));
  const ProgramSpec spec = decoder.spec({1, 1, 32});
  ASSERT_EQ(spec.calls.size(), 6U);
  ASSERT_EQ(decoder.weight_sets(1).size(), 4U);
  std::set<const void*> memory;
  for (std::size_t layer = 0; layer < 4; ++layer) {
    EXPECT_EQ(spec.calls[layer + 1].part, 1U);
    EXPECT_EQ(spec.calls[layer + 1].weights, layer);
    for (const ov::Tensor& tensor : decoder.weight_sets(1)[layer]) memory.insert(tensor.data());
  }
  EXPECT_EQ(memory.size(), 4U * 4U) << "q, k, v and the output's, of every layer";
  EXPECT_TRUE(decoder.weight_sets(0).empty());
  EXPECT_TRUE(decoder.weight_sets(2).empty());
}

TEST(Blocks, ALastSmallerGroupHasItsOwn) {
  const PartitionedDecoder decoder = cut_in(decoder_of({.layers = {{}, {}, {}, {}, {}}}), 2);
  EXPECT_EQ(part_names(decoder), (Names{"embedding", "block.0", "block.4", "head"}));
  EXPECT_EQ(decoder.weight_sets(1).size(), 2U);
  EXPECT_EQ(decoder.weight_sets(2).size(), 1U);
}

TEST(Blocks, MoreLayersThanThereAreIsOneGroup) {
  EXPECT_EQ(part_names(cut_in(decoder_of({.layers = {{}, {}}}), 9)),
            (Names{"embedding", "block.0", "head"}));
}

TEST(Blocks, AnotherShapeOfAttentionIsAnotherArtifact) {
  const LayerChoice other{.kv_heads = 1};
  EXPECT_EQ(part_names(cut_in(decoder_of({.layers = {{}, other, {}, other}}), 1)),
            (Names{"embedding", "block.0", "block.1", "head"}));
  EXPECT_EQ(part_names(cut_in(decoder_of({.layers = {{}, other, {}, other}}), 2)),
            (Names{"embedding", "block.0", "head"}));
}

TEST(Blocks, ADifferentNumberInsideIsAnotherArtifact) {
  EXPECT_EQ(part_names(cut_in(decoder_of({.layers = {{}, {.offset = 0.25F}, {}}}), 1)),
            (Names{"embedding", "block.0", "block.1", "head"}));
}

TEST(Blocks, OnlyTheLayersDependOnTheRung) {
  const auto parts = cut_in(decoder_of({.layers = {{}, {}}}), 1).spec({1, 1, 32}).parts;
  EXPECT_FALSE(parts.front().depends_on_rung);
  EXPECT_TRUE(parts[1].depends_on_rung);
  EXPECT_FALSE(parts.back().depends_on_rung);
}

TEST(Blocks, WeightsAreTheDecodersOwnMemory) {
  const auto source = decoder_of({.layers = {{}, {}, {}}});
  std::set<const void*> memory;
  for (const auto& node : source->graph->get_ops()) {
    if (const auto constant = ov::as_type_ptr<Constant>(node)) {
      memory.insert(constant->get_data_ptr());
    }
  }
  const PartitionedDecoder decoder = cut_in(source, 1);
  for (const auto& set : decoder.weight_sets(1)) {
    for (const ov::Tensor& tensor : set) {
      EXPECT_EQ(tensor.get_element_type(), ov::element::u8) << "they stay compressed";
      EXPECT_EQ(memory.count(tensor.data()), 1U);
    }
  }
}

TEST(Blocks, PortsOfTheGraphsAreTheValuesOfTheSpecificationThenTheWeights) {
  const PartitionedDecoder decoder = cut_in(decoder_of({.layers = {{}, {}, {}}}), 2);
  for (const ProgramShape& shape :
       {ProgramShape{1, 1, 64}, ProgramShape{1, 8, 32}, ProgramShape{3, 1, 64}}) {
    const ProgramSpec spec = decoder.spec(shape);
    for (const CallSpec& call : spec.calls) {
      const auto graph = decoder.build(shape, call.part);
      const auto& sets = decoder.weight_sets(call.part);
      const auto weights = sets.empty() ? std::vector<ov::Tensor>{} : sets.at(call.weights);
      ASSERT_EQ(graph->inputs().size(), call.inputs.size() + weights.size());
      ASSERT_EQ(graph->outputs().size(), call.outputs.size());
      for (std::size_t i = 0; i < call.inputs.size(); ++i) {
        EXPECT_EQ(graph->input(i).get_shape(), ov::Shape(spec.values[call.inputs[i].value].shape));
      }
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto port = graph->input(call.inputs.size() + i);
        EXPECT_EQ(port.get_shape(), weights[i].get_shape());
        EXPECT_EQ(port.get_element_type(), weights[i].get_element_type());
      }
      for (std::size_t i = 0; i < call.outputs.size(); ++i) {
        EXPECT_EQ(graph->output(i).get_shape(),
                  ov::Shape(spec.values[call.outputs[i].value].shape));
      }
    }
  }
}

/// The logits and new rows of one step, by role and layer, from made-up inputs.
std::map<std::pair<Role, std::int64_t>, std::vector<float>> run(const PartitionedDecoder& decoder,
                                                                const ProgramShape& shape) {
  static ov::Core core;
  const ProgramSpec spec = decoder.spec(shape);
  std::vector<ov::Tensor> values;
  for (const ValueSpec& value : spec.values) {
    ov::Tensor tensor(to_openvino(value.type), ov::Shape(value.shape));
    std::memset(tensor.data(), 0, tensor.get_byte_size());
    if (value.role == Role::kCacheK || value.role == Role::kCacheV) {
      for (std::size_t i = 0; i < tensor.get_size(); ++i) {
        tensor.data<float>()[i] = static_cast<float>((i * 7 + 3) % 11) * 0.1F;
      }
    } else if (value.type == ElementType::kI32) {
      std::iota(tensor.data<std::int32_t>(), tensor.data<std::int32_t>() + tensor.get_size(), 0);
    }
    values.push_back(tensor);
  }
  for (const CallSpec& call : spec.calls) {
    auto request = core.compile_model(decoder.build(shape, call.part), "CPU",
                                      ov::hint::inference_precision(ov::element::f32),
                                      ov::hint::dynamic_quantization_group_size(0))
                       .create_infer_request();
    std::size_t port = 0;
    for (const ValueUse& use : call.inputs) request.set_input_tensor(port++, values[use.value]);
    const auto& sets = decoder.weight_sets(call.part);
    if (!sets.empty()) {
      for (const ov::Tensor& tensor : sets.at(call.weights)) {
        request.set_input_tensor(port++, tensor);
      }
    }
    request.start_async();  // unlike infer(), throws what goes wrong
    request.wait();
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      request.get_output_tensor(i).copy_to(values[call.outputs[i].value]);
    }
  }
  std::map<std::pair<Role, std::int64_t>, std::vector<float>> results;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ValueSpec& value = spec.values[i];
    if (value.role != Role::kLogits && value.role != Role::kNewK && value.role != Role::kNewV) {
      continue;
    }
    results[{value.role, value.layer}] = {values[i].data<float>(),
                                          values[i].data<float>() + values[i].get_size()};
  }
  return results;
}

void expect_same_as_whole(const DecoderChoice& choice, std::int64_t layers) {
  const auto source = decoder_of(choice);
  const PartitionedDecoder whole(source, {.cache = {ElementType::kF32, 16}});
  const PartitionedDecoder cut = cut_in(source, layers);
  for (const ProgramShape& shape :
       {ProgramShape{1, 1, 32}, ProgramShape{1, 6, 32}, ProgramShape{2, 3, 32}}) {
    const auto expected = run(whole, shape);
    const auto actual = run(cut, shape);
    ASSERT_EQ(actual.size(), expected.size());
    for (const auto& [value, numbers] : expected) {
      const auto& found = actual.at(value);
      ASSERT_EQ(found.size(), numbers.size());
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        ASSERT_NEAR(found[i], numbers[i], 1e-4F + 1e-4F * std::abs(numbers[i]))
            << "role " << static_cast<int>(value.first) << " layer " << value.second;
      }
    }
  }
}

TEST(Blocks, ThePiecesComputeWhatTheWholeDoes) {
  expect_same_as_whole({.layers = {{}, {}, {}}}, 1);
  expect_same_as_whole({.layers = {{}, {.kv_heads = 1}, {.offset = 0.25F}}}, 2);
}

TEST(Blocks, RowsChosenInsideTheLastLayerAreChosenBehindIt) {
  const DecoderChoice choice{.layers = {{}, {}, {}}, .rows_chosen_early = true};
  EXPECT_EQ(part_names(cut_in(decoder_of(choice), 1)), (Names{"embedding", "block.0", "head"}));
  expect_same_as_whole(choice, 1);
}

TEST(Blocks, RowsStayChosenWhereTheyAreMixedThen) {
  const DecoderChoice choice{.layers = {{}, {}, {}}, .rows_chosen_early = true, .mix_rows = true};
  EXPECT_EQ(part_names(cut_in(decoder_of(choice), 1)),
            (Names{"embedding", "block.0", "block.2", "head"}));
  expect_same_as_whole(choice, 1);
}

}  // namespace
}  // namespace ahead::graph
