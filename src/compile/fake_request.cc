// What parts of the fake model compute. May use: base, graph's program_spec.h.
#include "compile/fake_request.h"

#include <algorithm>
#include <string>

namespace ahead::compile {
namespace {

/// The last position below `live` that stands in `row` of a ring of `kept` rows; -1: none does.
std::int64_t latest_in(std::int64_t row, std::int64_t live, std::int64_t kept) {
  return row < live ? live - 1 - (live - 1 - row) % kept : -1;
}

}  // namespace

void FakeRequest::run(const AtPause& at_pause) {
  if (script_->on_call) script_->on_call();
  switch (part_) {
    case FakePart::kWhole: {
      begin_step();
      make_rows({inputs_.begin(), 2}, {outputs_.begin(), 2 * FakeModel::kLayers});
      const std::size_t batch = inputs_.at(0).shape.at(0);
      for (std::size_t row = 0; row < batch; ++row) run_whole(row, batch);
      break;
    }
    case FakePart::kRows:
      begin_step();
      make_rows(inputs_, outputs_);
      break;
    case FakePart::kAttend:
    case FakePart::kAttendWindow: {
      const std::size_t tokens = inputs_.at(0).shape.at(1);
      const Attention in{
          .positions = {data<std::int32_t>(inputs_[0]), tokens},
          .wanted = static_cast<std::size_t>(*data<std::int32_t>(inputs_.at(1))) % tokens,
          .bias = inputs_.at(2),
          .cache = {inputs_.at(3), inputs_.at(4)},
          .made = {data<float>(inputs_.at(5)), data<float>(inputs_.at(6))}};
      const std::uint64_t state = part_ == FakePart::kAttend ? attend(in) : attend_window(in);
      auto* words = data<std::uint32_t>(outputs_.at(0));
      words[0] = static_cast<std::uint32_t>(state >> 32U);
      words[1] = static_cast<std::uint32_t>(state);
      break;
    }
    case FakePart::kHead:
      head(inputs_);
      break;
    case FakePart::kJoined:
      begin_step();
      for (std::size_t layer = 0; layer < FakeModel::kLayers; ++layer) {
        make_rows({inputs_.begin(), 2}, std::span(outputs_).subspan(2 * layer, 2), layer);
        at_pause(layer);
      }
      head({inputs_.begin() + 2, FakeModel::kLayers});
      break;
  }
}

void FakeRequest::run_whole(std::size_t row, std::size_t batch) {
  const std::size_t tokens = inputs_[0].shape.at(1);
  const auto flat = static_cast<std::size_t>(data<std::int32_t>(inputs_[2])[row]);
  require(flat / tokens == row, "logits of another sequence's token");
  std::vector<std::uint64_t> states;
  const std::size_t biases = window_ > 0 ? 2 * batch : batch;
  for (std::size_t layer = 0; layer < FakeModel::kLayers; ++layer) {
    const bool windowed = window_ > 0 && layer + 1 == FakeModel::kLayers;
    const TensorView* cache = &inputs_.at(3 + biases + 2 * (layer * batch + row));
    const TensorView* made = &outputs_.at(2 * layer);
    const std::size_t skipped = row * tokens * FakeModel::kKvHeads * FakeModel::kHeadDim;
    const Attention in{.positions = {data<std::int32_t>(inputs_[1]) + row * tokens, tokens},
                       .wanted = flat % tokens,
                       .bias = inputs_[3 + (windowed ? batch : 0) + row],
                       .cache = {cache[0], cache[1]},
                       .made = {data<float>(made[0]) + skipped, data<float>(made[1]) + skipped}};
    states.push_back(windowed ? attend_window(in) : attend(in));
  }
  FakeModel::logits(states, logits_of(row));
}

void FakeRequest::head(std::span<const TensorView> layers) const {
  for (std::size_t row = 0; row < outputs_.back().shape.at(0); ++row) {
    std::vector<std::uint64_t> states;
    for (const TensorView& layer : layers) {
      const auto* words = data<std::uint32_t>(layer) + 2 * row;
      states.push_back((std::uint64_t{words[0]} << 32U) | words[1]);
    }
    FakeModel::logits(states, logits_of(row));
  }
}

void FakeRequest::begin_step() const {
  ++script_->steps;
  script_->spend(inputs_.at(0).shape.at(1) == 1 ? script_->decode_cost : script_->prefill_cost);
  if (script_->on_step) script_->on_step();
  if (script_->steps == script_->failing_step) {
    throw Error(ErrorKind::kDevice, "the device failed as scripted");
  }
}

void FakeRequest::make_rows(std::span<const TensorView> in, std::span<const TensorView> out,
                            std::size_t layer) {
  const std::size_t count = element_count(in[0].shape);
  for (std::size_t side = 0; side < 2; ++side) {
    auto* values = data<float>(out[side]);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t token = data<std::int32_t>(in[0])[i];
      require(token >= 0 && token < static_cast<std::int32_t>(FakeModel::kVocabulary),
              "token " + std::to_string(token));
      for (std::size_t head = 0; head < FakeModel::kKvHeads; ++head) {
        for (std::size_t dim = 0; dim < FakeModel::kHeadDim; ++dim) {
          *values++ =
              FakeModel::element({layer, data<std::int32_t>(in[1])[i], token, side, head, dim});
        }
      }
    }
  }
}

std::uint64_t FakeRequest::attend(const Attention& in) {
  const std::size_t rung = in.bias.shape.at(0);
  const auto* bias = data<float>(in.bias);
  const auto live = static_cast<std::size_t>(
      std::find_if(bias, bias + rung, [](float value) { return value != 0.0F; }) - bias);
  for (std::size_t i = live; i < rung; ++i) {
    require(bias[i] == graph::kDeadRow, "live rows are not the first ones");
  }
  for (std::size_t i = 0; i < in.positions.size(); ++i) {
    // Behind the wanted token there is padding, whose position is any the rung has.
    require(i <= in.wanted
                ? in.positions[i] == static_cast<std::int32_t>(live + i)
                : in.positions[i] >= 0 && in.positions[i] < static_cast<std::int32_t>(rung),
            "position " + std::to_string(in.positions[i]) + " where " + std::to_string(live) +
                " rows are live");
  }
  require(live + in.wanted < rung, "more rows than the rung holds");

  // A static graph reads dead rows too, so they must be there: `all` sees them, `state` does not.
  std::uint64_t state = 0;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < rung; ++i) {
    const std::uint64_t added = cached_state(in, i, static_cast<std::int64_t>(i));
    all ^= added;
    if (i < live) state += added;
  }
  for (std::size_t i = 0; i <= in.wanted; ++i) {
    state += made_state(in, i, static_cast<std::int64_t>(live + i));
  }
  return all == 0 ? state + 1 : state;
}

std::uint64_t FakeRequest::cached_state(const Attention& in, std::size_t at,
                                        std::int64_t position) {
  const std::size_t block_rows = in.cache[1].shape.at(2);
  const std::size_t row = at % block_rows;
  return FakeModel::row_state(position, [&](std::size_t side, std::size_t head, std::size_t dim) {
    const std::size_t tile =
        (at / block_rows * FakeModel::kKvHeads + head) * FakeModel::kHeadDim * block_rows;
    return data<float>(in.cache[side])[tile + (side == 0 ? dim * block_rows + row
                                                         : row * FakeModel::kHeadDim + dim)];
  });
}

std::uint64_t FakeRequest::made_state(const Attention& in, std::size_t at, std::int64_t position) {
  return FakeModel::row_state(position, [&](std::size_t side, std::size_t head, std::size_t dim) {
    return in.made[side][(at * FakeModel::kKvHeads + head) * FakeModel::kHeadDim + dim];
  });
}

void FakeRequest::check_window(const Attention& in) const {
  const std::int64_t live = in.positions.front();
  const auto kept = static_cast<std::int64_t>(in.bias.shape.at(1));
  const auto* bias = data<float>(in.bias);
  for (std::size_t i = 0; i < in.positions.size(); ++i) {
    const std::int64_t position = live + static_cast<std::int64_t>(i);
    require(
        i > in.wanted || in.positions[i] == position,
        "position " + std::to_string(in.positions[i]) + " instead of " + std::to_string(position));
    for (std::int64_t row = 0; row < kept; ++row) {
      const std::int64_t there = latest_in(row, live, kept);
      const bool seen = there >= 0 && position - there < window_;
      require(*bias++ == (seen ? 0.0F : graph::kDeadRow),
              "token " + std::to_string(position) + (seen ? " does not see " : " sees ") +
                  "cached row " + std::to_string(row) + " of " + std::to_string(kept));
    }
  }
}

std::uint64_t FakeRequest::attend_window(const Attention& in) const {
  check_window(in);
  const std::int64_t live = in.positions.front();
  const auto kept = static_cast<std::int64_t>(in.bias.shape.at(1));
  const std::int64_t wanted = live + static_cast<std::int64_t>(in.wanted);
  std::uint64_t state = 0;
  std::uint64_t all = 0;
  for (std::int64_t row = 0; row < kept; ++row) {
    const std::int64_t there = latest_in(row, live, kept);
    const std::uint64_t added =
        cached_state(in, static_cast<std::size_t>(row), there >= 0 ? there : -1 - row);
    all ^= added;
    if (there >= 0 && wanted - there < window_) state += added;
  }
  for (std::size_t i = 0; i <= in.wanted; ++i) {
    const std::int64_t position = live + static_cast<std::int64_t>(i);
    if (wanted - position < window_) state += made_state(in, i, position);
  }
  return all == 0 ? state + 1 : state;
}

}  // namespace ahead::compile
