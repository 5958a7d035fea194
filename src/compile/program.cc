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

/// Values that only one rung has; the others are the workspace's.
bool depends_on_rung(Role role) { return is_cache(role) || role == Role::kCacheBias; }

constexpr std::size_t kAlignment = 64;

/// Fills a bias of layers with a window, behind `live` rows: the new token `i` stands at position
/// live + i, and sees itself and the window - 1 tokens before it. Position p stands in row p %
/// kept.
void show_window(const graph::ValueSpec& spec, std::int64_t live, float* bias) {
  const std::int64_t window = spec.layer;
  const auto tokens = static_cast<std::int64_t>(spec.shape.at(0));
  const auto kept = static_cast<std::int64_t>(spec.shape.at(1));
  std::fill(bias, bias + tokens * kept, graph::kDeadRow);
  for (std::int64_t token = 0; token < tokens; ++token, bias += kept) {
    const std::int64_t first = std::max<std::int64_t>(live + token - window + 1, 0);
    for (std::int64_t position = first; position < live;) {
      const std::int64_t row = position % kept;
      const std::int64_t count = std::min(kept - row, live - position);
      std::fill(bias + row, bias + row + count, 0.0F);
      position += count;
    }
  }
}

}  // namespace

void Buffer::Free::operator()(std::byte* memory) const noexcept { std::free(memory); }

Buffer::Buffer(std::size_t bytes) {
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  if (!memory_) throw std::bad_alloc();
  std::memset(memory_.get(), 0, rounded);
}

Program::Program(graph::ProgramSpec spec, std::vector<std::shared_ptr<Artifact>> artifacts,
                 std::shared_ptr<Workspace> workspace)
    : spec_(std::move(spec)),
      artifacts_(std::move(artifacts)),
      workspace_(workspace ? std::move(workspace) : std::make_shared<Workspace>()) {
  AHEAD_CHECK(artifacts_.size() == spec_.parts.size(), "one artifact a part");
  for (const auto& artifact : artifacts_) {
    for (const std::string& device : artifact->execution_devices()) {
      if (std::find(devices_.begin(), devices_.end(), device) == devices_.end()) {
        devices_.push_back(device);
      }
    }
  }
  for (std::size_t index = 0; index < spec_.values.size(); ++index) {
    const graph::ValueSpec& value = spec_.values[index];
    values_[{value.role, value.layer, value.row}] = index;
    if (is_cache(value.role)) continue;
    const std::size_t bytes = element_count(value.shape) * size_of(value.type);
    if (!depends_on_rung(value.role)) {
      workspace_->buffers.try_emplace(index, bytes);
      continue;
    }
    auto* bias = reinterpret_cast<float*>(biases_.try_emplace(index, bytes).first->second.data());
    std::fill(bias, bias + element_count(value.shape), graph::kDeadRow);
  }
  for (std::size_t index = 0; index < spec_.calls.size(); ++index) {
    const graph::CallSpec& call = spec_.calls[index];
    if (call.within) {
      auto& pauses = within_[call.within->call];
      if (pauses.size() <= call.within->pause) pauses.resize(call.within->pause + 1);
      pauses[call.within->pause].push_back(index);
    }
    if (spec_.parts[call.part].depends_on_rung) {
      calls_.push_back(make_request(call));
      continue;
    }
    std::shared_ptr<Request>& shared = workspace_->requests[index];
    if (!shared) shared = make_request(call);
    calls_.push_back(shared);
  }
}

void Program::warm_up(bool shared) {
  std::size_t bytes = 0;
  for (const graph::ValueSpec& value : spec_.values) {
    bytes = std::max(bytes, element_count(value.shape) * size_of(value.type));
  }
  // Others may be using the workspace: what only this program has runs on values of nobody.
  const Buffer read(bytes);
  const Buffer written(bytes);
  const auto on = [&](const graph::ValueUse& use, const Buffer& memory) {
    const graph::ValueSpec& value = spec_.values[use.value];
    if (value.role == Role::kCacheBias) return view(use);  // no row is live yet
    TensorView tensor = is_cache(value.role) ? TensorView{value.type, value.shape} : view(use);
    tensor.data = memory.data();
    return tensor;
  };
  for (std::size_t index = 0; index < spec_.calls.size(); ++index) {
    const graph::CallSpec& call = spec_.calls[index];
    const graph::PartSpec& part = spec_.parts[call.part];
    if (!part.depends_on_tokens && shared) calls_[index]->run({});
    if (!part.depends_on_rung || part.holds_weights) continue;
    for (std::size_t port = 0; port < call.inputs.size(); ++port) {
      calls_[index]->bind_input(port, on(call.inputs[port], read));
    }
    for (std::size_t port = 0; port < call.outputs.size(); ++port) {
      calls_[index]->bind_output(port, on(call.outputs[port], written));
    }
    calls_[index]->run({});
    bind_values(call, *calls_[index]);
  }
}

std::shared_ptr<Request> Program::make_request(const graph::CallSpec& call) {
  std::shared_ptr<Request> request = artifacts_.at(call.part)->create_request(call.weights);
  for (std::size_t port = 0; port < call.inputs.size(); ++port) {
    const std::size_t value = call.inputs[port].value;
    if (is_cache(spec_.values[value].role)) cache_uses_[value].push_back({request.get(), port});
  }
  bind_values(call, *request);
  return request;
}

/// All but caches, which come and go.
void Program::bind_values(const graph::CallSpec& call, Request& request) const {
  for (std::size_t port = 0; port < call.inputs.size(); ++port) {
    const graph::ValueUse& use = call.inputs[port];
    if (!is_cache(spec_.values[use.value].role)) request.bind_input(port, view(use));
  }
  for (std::size_t port = 0; port < call.outputs.size(); ++port) {
    request.bind_output(port, view(call.outputs[port]));
  }
}

std::size_t Program::index_of(Role role, std::int64_t layer, std::int64_t row) const {
  const auto found = values_.find({role, layer, row});
  AHEAD_CHECK(found != values_.end(), "the program has the value asked for");
  return found->second;
}

std::byte* Program::data(std::size_t value) const {
  return depends_on_rung(spec_.values[value].role) ? biases_.at(value).data()
                                                   : workspace_->buffers.at(value).data();
}

TensorView Program::view(const graph::ValueUse& use) const {
  const graph::ValueSpec& spec = spec_.values[use.value];
  TensorView tensor{spec.type, spec.shape, data(use.value)};
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
  for (const auto& [value, buffer] : biases_) {
    const graph::ValueSpec& spec = spec_.values[value];
    if (spec.row != row) continue;
    auto* bias = reinterpret_cast<float*>(buffer.data());
    if (spec.layer != 0) {
      show_window(spec, live, bias);
    } else if (live >= now) {
      std::fill(bias + now, bias + live, 0.0F);
    } else {
      std::fill(bias + live, bias + now, graph::kDeadRow);
    }
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

bool Program::run(const std::stop_token& stop) {
  const std::vector<Program*> all(static_cast<std::size_t>(spec_.shape.batch), this);
  return run(all, stop);
}

struct Program::Step {
  std::span<Program* const> by_row;
  Program* leader;
  const std::stop_token& stop;
};

bool Program::run(std::span<Program* const> by_row, const std::stop_token& stop) {
  const auto leader = std::find_if(by_row.begin(), by_row.end(),
                                   [](const Program* program) { return program != nullptr; });
  AHEAD_CHECK(leader != by_row.end(), "a step serves at least one sequence");
  const graph::ProgramSpec& spec = (*leader)->spec_;
  AHEAD_CHECK(by_row.size() == static_cast<std::size_t>(spec.shape.batch),
              "a step has an entry for every sequence of the batch");
  for (Program* const program : by_row) {
    AHEAD_CHECK(program == nullptr || program->workspace_ == (*leader)->workspace_,
                "the programs of a step share a workspace");
  }
  const Step step{by_row, *leader, stop};
  for (std::size_t index = 0; index < spec.calls.size(); ++index) {
    if (!spec.calls[index].within && !run_call(step, index)) return false;
  }
  return true;
}

bool Program::run_call(const Step& step, std::size_t index) {
  const graph::ProgramSpec& spec = step.leader->spec_;
  const graph::CallSpec& call = spec.calls[index];
  // A batch of one is served whole.
  const bool own = call.row != graph::kWholeBatch;
  Program* const program = own ? step.by_row[static_cast<std::size_t>(call.row)] : step.leader;
  if (!own && spec.parts[call.part].depends_on_rung) {
    AHEAD_CHECK(
        std::all_of(step.by_row.begin(), step.by_row.end(),
                    [&](const Program* other) { return other == nullptr || other == program; }),
        "sequences that one call serves are at one rung");
  }
  if (program == nullptr) return true;
  if (step.stop.stop_requested()) return false;
  bool whole = true;
  const auto within = program->within_.find(index);
  if (within == program->within_.end()) {
    program->calls_[index]->run({});
  } else {
    program->calls_[index]->run([&](std::size_t pause) {
      for (const std::size_t inner : within->second.at(pause)) {
        whole = whole && run_call(step, inner);
      }
    });
  }
  return whole;
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

}  // namespace ahead::compile
