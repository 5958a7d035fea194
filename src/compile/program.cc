// Buffers for a program's values, and the requests bound to them. May use: base.
#include "compile/program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"

namespace ahead::compile {
namespace {

using graph::Role;

bool is_cache(Role role) { return role == Role::kCacheK || role == Role::kCacheV; }

constexpr std::size_t kAlignment = 64;

}  // namespace

void Program::Free::operator()(std::byte* memory) const noexcept { std::free(memory); }

Program::Program(graph::ProgramSpec spec, std::vector<std::shared_ptr<Artifact>> artifacts)
    : spec_(std::move(spec)), artifacts_(std::move(artifacts)) {
  AHEAD_CHECK(artifacts_.size() == spec_.parts.size(), "one artifact a part");
  for (const graph::ValueSpec& value : spec_.values) {
    if (is_cache(value.role)) {
      buffers_.emplace_back();
      continue;
    }
    const std::size_t bytes = element_count(value.shape) * size_of(value.type);
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    buffers_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
    if (!buffers_.back()) throw std::bad_alloc();
    std::memset(buffers_.back().get(), 0, rounded);
    if (value.role == Role::kCacheBias) {
      auto* bias = reinterpret_cast<float*>(buffers_.back().get());
      std::fill(bias, bias + element_count(value.shape), graph::kDeadRow);
    }
  }
  for (const graph::CallSpec& call : spec_.calls) {
    calls_.push_back(artifacts_.at(call.part)->create_request());
    Request* request = calls_.back().get();
    for (std::size_t port = 0; port < call.inputs.size(); ++port) {
      const graph::ValueUse& use = call.inputs[port];
      if (is_cache(spec_.values[use.value].role)) {
        cache_uses_[use.value].push_back({request, port});
      } else {
        request->bind_input(port, view(use));
      }
    }
    for (std::size_t port = 0; port < call.outputs.size(); ++port) {
      request->bind_output(port, view(call.outputs[port]));
    }
  }
}

std::size_t Program::index_of(Role role, std::int64_t layer, std::int64_t row) const {
  const auto found =
      std::find_if(spec_.values.begin(), spec_.values.end(), [&](const graph::ValueSpec& value) {
        return value.role == role && value.layer == layer && value.row == row;
      });
  AHEAD_CHECK(found != spec_.values.end(), "the program has the value asked for");
  return static_cast<std::size_t>(found - spec_.values.begin());
}

TensorView Program::view(const graph::ValueUse& use) const {
  const graph::ValueSpec& spec = spec_.values[use.value];
  TensorView tensor{spec.type, spec.shape, buffers_[use.value].get()};
  if (use.row == graph::kWholeBatch) return tensor;
  // The batch is the first dimension that is not one; a sequence has an equal share of it.
  const auto batch = static_cast<std::size_t>(spec_.shape.batch);
  const auto split = std::find_if(tensor.shape.begin(), tensor.shape.end(),
                                  [](std::size_t dimension) { return dimension != 1; });
  AHEAD_CHECK(split != tensor.shape.end() && *split % batch == 0, "a batch is outermost");
  *split /= batch;
  tensor.data =
      static_cast<std::byte*>(tensor.data) + static_cast<std::size_t>(use.row) * tensor.bytes();
  return tensor;
}

void Program::bind_cache(std::int64_t row, const std::vector<KeyValue>& layers) {
  for (const auto& [value, uses] : cache_uses_) {
    const graph::ValueSpec& spec = spec_.values[value];
    if (spec.row != row) continue;
    const KeyValue& layer = layers.at(static_cast<std::size_t>(spec.layer));
    const TensorView& tensor = spec.role == Role::kCacheK ? layer.k : layer.v;
    AHEAD_CHECK(tensor.shape == spec.shape && tensor.type == spec.type,
                "a cache has exactly the rung's shape");
    for (const Use& use : uses) use.request->bind_input(use.port, tensor);
  }
}

void Program::set_live_rows(std::int64_t row, std::int64_t live) {
  AHEAD_CHECK(live >= 0 && live <= spec_.shape.rung, "live rows fit the rung");
  std::int64_t& now = live_rows_[row];
  auto* bias = reinterpret_cast<float*>(buffers_[index_of(Role::kCacheBias, 0, row)].get());
  if (live >= now) {
    std::fill(bias + now, bias + live, 0.0F);
  } else {
    std::fill(bias + live, bias + now, graph::kDeadRow);
  }
  now = live;
}

std::span<std::int32_t> Program::tokens() const {
  const TensorView tensor = view({index_of(Role::kTokens, 0, 0)});
  return {static_cast<std::int32_t*>(tensor.data), element_count(tensor.shape)};
}

std::span<std::int32_t> Program::positions() const {
  const TensorView tensor = view({index_of(Role::kPositions, 0, 0)});
  return {static_cast<std::int32_t*>(tensor.data), element_count(tensor.shape)};
}

std::span<std::int32_t> Program::logit_rows() const {
  const TensorView tensor = view({index_of(Role::kLogitRows, 0, 0)});
  return {static_cast<std::int32_t*>(tensor.data), element_count(tensor.shape)};
}

void Program::run() {
  for (const auto& call : calls_) call->run();
}

std::span<const float> Program::logits(std::int64_t row) const {
  const TensorView tensor = view({index_of(Role::kLogits, 0, 0)});
  const std::size_t vocabulary = tensor.shape.back();
  return {static_cast<const float*>(tensor.data) + static_cast<std::size_t>(row) * vocabulary,
          vocabulary};
}

KeyValue Program::new_rows(std::int64_t layer, std::int64_t row) const {
  const auto of_row = [&](Role role) {
    TensorView tensor = view({index_of(role, layer, 0)});
    tensor.shape.erase(tensor.shape.begin());
    tensor.shape.front() /= static_cast<std::size_t>(spec_.shape.batch);
    tensor.data =
        static_cast<std::byte*>(tensor.data) + static_cast<std::size_t>(row) * tensor.bytes();
    return tensor;
  };
  return {of_row(Role::kNewK), of_row(Role::kNewV)};
}

std::vector<std::string> Program::execution_devices() const {
  std::vector<std::string> devices;
  for (const auto& artifact : artifacts_) {
    for (const std::string& device : artifact->execution_devices()) {
      if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
        devices.push_back(device);
      }
    }
  }
  return devices;
}

}  // namespace ahead::compile
