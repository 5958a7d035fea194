// Arithmetic that tests would compile without optimising. May use: std.
#include "compile/fake_model.h"

#include <algorithm>
#include <utility>

namespace ahead::compile {

float FakeModel::element(const Element& at) {
  std::int64_t code = at.position * 64 + at.token;
  for (const auto& [radix, digit] : {std::pair(kLayers, at.layer), std::pair(2UL, at.side),
                                     std::pair(kKvHeads, at.head), std::pair(kHeadDim, at.dim)}) {
    code = code * static_cast<std::int64_t>(radix) + static_cast<std::int64_t>(digit);
  }
  return static_cast<float>(code);
}

void FakeModel::logits(std::span<const std::uint64_t> layers, std::span<float> logits) {
  std::uint64_t state = 0;
  for (const std::uint64_t layer : layers) state = mix(state ^ layer);
  for (std::size_t token = 0; token < logits.size(); ++token) {
    logits[token] = static_cast<float>(mix(state + token) >> 40U);  // 24 bits: exact
  }
}

std::int32_t FakeModel::greedy(std::span<const float> logits) {
  return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

std::vector<float> FakeModel::feed(std::int32_t token) {
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    rows_.push_back(row_state(position_, [&](auto side, auto head, auto dim) {
      return element({layer, position_, token, side, head, dim});
    }));
    states_[layer] += rows_.back();
    if (layer + 1 < kLayers) rows_.pop_back();
  }
  ++position_;
  if (window_ > 0 && position_ > window_) {
    states_.back() -= rows_[static_cast<std::size_t>(position_ - 1 - window_)];
  }
  std::vector<float> values(kVocabulary);
  logits(states_, values);
  return values;
}

std::vector<std::int32_t> FakeModel::generate(const std::vector<std::int32_t>& prompt,
                                              std::size_t count, std::int64_t window) {
  FakeModel model(window);
  std::vector<float> values;
  for (const std::int32_t token : prompt) values = model.feed(token);
  std::vector<std::int32_t> tokens;
  while (tokens.size() < count) {
    tokens.push_back(greedy(values));
    values = model.feed(tokens.back());
  }
  return tokens;
}

}  // namespace ahead::compile
