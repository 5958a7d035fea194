// Wiring as the library's own, with a hand-cranked compile thread. May use: base, model, graph,
// compile, kv.
#include "rig.h"

#include <cstdlib>
#include <cstring>

#include "base/window.h"
#include "compile/openvino_backend.h"
#include "graph/partition.h"
#include "model/reader.h"

namespace ahead::bench {
namespace {

ElementType to_element(KvType type) {
  return type == KvType::kF16 ? ElementType::kF16 : ElementType::kF32;
}

std::shared_ptr<compile::Backend> backend(const Rig::Options& options) {
  return std::make_shared<compile::OpenVinoBackend>(compile::OpenVinoBackend::Options{
      .core = loaded().core,
      .tiers = {graph::PartitionedDecoder(
          loaded().decoder,
          {.partition = options.partition,
           .cache = {.type = to_element(options.kv_type), .block_rows = options.block_rows},
           .open_tokens = options.open_tokens,
           .joined = options.joined,
           .panels = options.panels})},
      .device = "CPU"});
}

kv::Layout layout(const Rig::Options& options) {
  kv::Layout layout;
  for (const auto& layer : loaded().decoder->layers) {
    const std::int64_t ring = layer.window == 0 ? 0 : ring_rows(layer.window, options.block_rows);
    layout.layers.push_back({static_cast<std::size_t>(layer.kv_heads),
                             static_cast<std::size_t>(layer.head_dim),
                             static_cast<std::size_t>(ring)});
  }
  layout.block_rows = static_cast<std::size_t>(options.block_rows);
  layout.type = to_element(options.kv_type);
  return layout;
}

}  // namespace

std::string model_path() {
  const char* path = std::getenv("AHEAD_BENCH_GGUF");
  return path != nullptr ? path : AHEAD_DEFAULT_GGUF;
}

const Loaded& loaded() {
  static const Loaded once = [] {
    Loaded loading{.core = std::make_shared<ov::Core>()};
    loading.decoder = std::make_shared<const model::Decoder>(
        model::read_model(*loading.core, model_path()).decoder);
    return loading;
  }();
  return once;
}

Rig::Rig(const Options& options)
    : options_(options), store_({.backend = backend(options), .device = "CPU"}, executor_, clock_) {
  for (std::int64_t row = 0; row < options.batch; ++row) {
    caches_.push_back(kv::make_cache(options.kv,
                                     {.layout = layout(options),
                                      .first_capacity = at(options.first_rung),
                                      .last_capacity = at(options.last_rung)},
                                     pages_));
    (void)caches_.back()->prefault(
        {.capacity = caches_.back()->capacity(), .budget_bytes = std::size_t{1} << 40U});
  }
}

graph::ProgramShape Rig::shape(std::int64_t rung) const {
  return {.batch = options_.batch, .tokens = 1, .rung = rung};
}

std::shared_ptr<compile::Program> Rig::program(std::int64_t rung) {
  if (store_.state(shape(rung)) == compile::ProgramState::kAbsent) {
    store_.start(shape(rung), "a benchmark");
    store_.wait(shape(rung), {});
  }
  return store_.install(shape(rung));
}

double Rig::last_compile_s() const {
  const auto log = store_.log();
  return to_seconds(*log.back().end - log.back().begin);
}

void Rig::release(std::int64_t rung) {
  store_.release(shape(rung));
  while (executor_.run_one()) {
  }
}

void Rig::fill(std::int64_t live) {
  for (const auto& cache : caches_) {
    const kv::Layout& layout = cache->layout();
    std::size_t row_bytes = 0;
    for (const kv::LayerShape& layer : layout.layers) {
      row_bytes = std::max(row_bytes, layer.kv_heads * layer.head_dim * size_of(layout.type));
    }
    // Small numbers of either type; what they are does not matter, only that they are not zero.
    std::vector<std::byte> row(row_bytes, std::byte{0x3C});
    const std::vector<kv::NewRows> rows(layout.layers.size(), {row.data(), row.data()});
    while (cache->live_rows() < at(live)) cache->append(rows, 1);
  }
}

void Rig::bind(compile::Program& program) {
  for (std::int64_t row = 0; row < options_.batch; ++row) {
    std::vector<compile::KeyValue> layers;
    for (std::size_t layer = 0; layer < cache(row).layout().layers.size(); ++layer) {
      layers.push_back({cache(row).k(layer), cache(row).v(layer)});
    }
    program.bind_cache(row, layers);
  }
}

void Rig::aim(compile::Program& program) {
  for (std::int64_t row = 0; row < options_.batch; ++row) {
    const auto live = static_cast<std::int64_t>(cache(row).live_rows());
    program.tokens()[at(row)] = 5;
    program.positions()[at(row)] = static_cast<std::int32_t>(live);
    program.logit_rows()[at(row)] = static_cast<std::int32_t>(row);
    program.set_live_rows(row, live);
  }
}

}  // namespace ahead::bench
