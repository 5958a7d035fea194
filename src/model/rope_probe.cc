// Runs a copy of the region on numbers that tell where they came from. May use: OpenVINO.
#include "model/rope_probe.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>

#include "openvino/core/model.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/result.hpp"

namespace ahead::model {
namespace {

using NodeOutput = ov::Output<ov::Node>;
using Values = std::vector<float>;

constexpr std::int64_t kTokens = 3;

std::shared_ptr<ov::op::v0::Parameter> probe_input(const NodeOutput& value) {
  ov::PartialShape shape = value.get_partial_shape();
  for (ov::Dimension& dimension : shape) {
    if (dimension.is_dynamic()) dimension = kTokens;
  }
  return std::make_shared<ov::op::v0::Parameter>(ov::element::f32, shape);
}

/// A copy of the region for kTokens tokens.
class Probe {
 public:
  explicit Probe(const RopeRegion& region) {
    const ov::ParameterVector inputs = {probe_input(region.x), probe_input(region.cos),
                                        probe_input(region.sin)};
    std::map<NodeOutput, NodeOutput> copies = {
        {region.x, inputs[0]}, {region.cos, inputs[1]}, {region.sin, inputs[2]}};
    for (ov::Node* operation : region.operations) {
      ov::OutputVector sources;
      for (const NodeOutput& source : operation->input_values()) {
        const auto copy = copies.find(source);
        sources.push_back(copy == copies.end() ? source : copy->second);
      }
      const auto copy = operation->clone_with_new_inputs(sources);
      for (std::size_t port = 0; port < copy->get_output_size(); ++port) {
        copies[operation->output(port)] = copy->output(port);
      }
    }
    model_ = std::make_shared<ov::Model>(
        ov::ResultVector{std::make_shared<ov::op::v0::Result>(copies.at(region.y))}, inputs);
  }

  /// How many values input `port` takes.
  [[nodiscard]] std::size_t size(std::size_t port) const {
    return ov::shape_size(model_->get_parameters()[port]->get_shape());
  }

  /// The result, or nothing when OpenVINO cannot compute it without a device.
  [[nodiscard]] Values operator()(Values x, Values cos, Values sin) const {
    ov::TensorVector inputs;
    std::size_t port = 0;
    for (Values* values : {&x, &cos, &sin}) {
      inputs.emplace_back(ov::element::f32, model_->get_parameters()[port++]->get_shape(),
                          values->data());
    }
    ov::TensorVector outputs{ov::Tensor(ov::element::f32, model_->output(0).get_shape())};
    if (!model_->evaluate(outputs, inputs)) return {};
    const auto* data = outputs[0].data<const float>();
    return {data, data + outputs[0].get_size()};
  }

 private:
  std::shared_ptr<ov::Model> model_;
};

/// 1, 2, 3, ..
Values counted(std::size_t size) {
  Values values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(i + 1);
  return values;
}

/// Numbers without a pattern.
Values mixed(std::size_t size, std::uint32_t seed) {
  Values values(size);
  for (float& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(seed >> 16U) / 65536.0F - 0.5F;
  }
  return values;
}

/// Where the elements of a head come from in rows of `width`, with their sign.
struct Origin {
  std::vector<std::int64_t> index;
  std::vector<float> sign;
};

/// Reads what became of counted values: element `d` of every token and head must be plus or minus
/// an element of its own row, always the same one. `row` is the row of a token and head.
std::optional<Origin> read_origin(
    const Values& y, const RopeRegion& region, std::int64_t width,
    const std::function<std::int64_t(std::int64_t token, std::int64_t head)>& row) {
  Origin origin;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t d = at % region.head_dim;
    const std::int64_t head = at / region.head_dim % region.heads;
    const std::int64_t token = at / region.head_dim / region.heads;
    const auto count = static_cast<std::int64_t>(std::lround(std::fabs(y[i])));
    const std::int64_t index = count - 1 - row(token, head) * width;
    const float sign = y[i] < 0 ? -1.0F : 1.0F;
    if (sign * static_cast<float>(count) != y[i] || index < 0 || index >= width) {
      return std::nullopt;
    }
    if (at < region.head_dim) {
      origin.index.push_back(index);
      origin.sign.push_back(sign);
    } else if (origin.index[static_cast<std::size_t>(d)] != index ||
               origin.sign[static_cast<std::size_t>(d)] != sign) {
      return std::nullopt;
    }
  }
  return origin;
}

/// Whether the rotation computes what the region does, on numbers without a pattern. Both are
/// linear in x and no table is multiplied by another unless this shows it.
bool agrees(const Probe& probe, const RopeRegion& region, const Rotation& rotation,
            std::int64_t width) {
  const Values x = mixed(probe.size(0), 1);
  const Values cos = mixed(probe.size(1), 2);
  const Values sin = mixed(probe.size(2), 3);
  const Values y = probe(x, cos, sin);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto head_dim = static_cast<std::size_t>(region.head_dim);
    const std::size_t d = i % head_dim;
    const std::size_t token = i / head_dim / static_cast<std::size_t>(region.heads);
    const auto entry = [&](std::int64_t index) {
      return token * static_cast<std::size_t>(width) + static_cast<std::size_t>(index);
    };
    const float other = x[i - d + static_cast<std::size_t>(rotation.permutation[d])];
    const float expected = x[i] * cos[entry(rotation.cos_index[d])] +
                           other * rotation.sign[d] * sin[entry(rotation.sin_index[d])];
    if (!(std::fabs(y[i] - expected) <= 1e-5F)) return false;
  }
  return !y.empty();
}

bool one_open_dimension(const ov::PartialShape& shape) {
  return shape.rank().is_static() &&
         std::count_if(shape.begin(), shape.end(),
                       [](const ov::Dimension& extent) { return extent.is_dynamic(); }) == 1;
}

}  // namespace

std::optional<std::int64_t> table_width(const NodeOutput& table) {
  const ov::PartialShape& shape = table.get_partial_shape();
  if (!one_open_dimension(shape) || shape[shape.size() - 1].is_dynamic()) return std::nullopt;
  const std::int64_t width = shape[shape.size() - 1].get_length();
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) {
    if (shape[axis].is_static() && shape[axis] != 1) return std::nullopt;
  }
  return width;
}

std::optional<Rotation> probe_rotation(const RopeRegion& region) {
  const auto width = table_width(region.cos);
  if (!width || table_width(region.sin) != width ||
      !one_open_dimension(region.x.get_partial_shape())) {
    return std::nullopt;
  }
  const Probe probe(region);
  const auto size = static_cast<std::size_t>(kTokens * region.heads * region.head_dim);
  // Counted values must be told apart in f32.
  if (probe.size(0) != size || size >= (std::size_t{1} << 24U)) return std::nullopt;
  const Values ones(size, 1);
  const Values table_ones(probe.size(1), 1);
  const Values table_zeros(probe.size(1), 0);
  const auto by_head = [&](std::int64_t token, std::int64_t head) {
    return token * region.heads + head;
  };
  const auto by_token = [](std::int64_t token, std::int64_t) { return token; };
  const auto read = [&](const Values& y, std::int64_t row_width, const auto& row) {
    return y.size() == size ? read_origin(y, region, row_width, row) : std::nullopt;
  };

  if (probe(counted(size), table_ones, table_zeros) != counted(size)) return std::nullopt;
  const auto turned = read(probe(counted(size), table_zeros, table_ones), region.head_dim, by_head);
  const auto cos = read(probe(ones, counted(probe.size(1)), table_zeros), *width, by_token);
  const auto sin = read(probe(ones, table_zeros, counted(probe.size(2))), *width, by_token);
  if (!turned || !cos || !sin) return std::nullopt;
  const Rotation rotation{turned->index, cos->index, sin->index, turned->sign};
  if (!agrees(probe, region, rotation, *width)) return std::nullopt;
  return rotation;
}

}  // namespace ahead::model
