// What the benchmarks share: a decoder's programs and caches without a session, to be compiled,
// filled, switched and stepped as a benchmark likes. May use: base, model, graph, compile, kv.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ahead/axes.h"
#include "base/clock.h"
#include "base/executor.h"
#include "compile/program_store.h"
#include "kv/kv_cache.h"
#include "model/decoder.h"
#include "openvino/runtime/core.hpp"

namespace ahead::bench {

/// AHEAD_BENCH_GGUF, or the pinned model.
[[nodiscard]] std::string model_path();

/// One decoder, read once a process.
struct Loaded {
  std::shared_ptr<ov::Core> core;
  std::shared_ptr<const model::Decoder> decoder;
};
[[nodiscard]] const Loaded& loaded();

/// Single-threaded; one device thread.
class Rig {
 public:
  struct Options {
    Partition partition;
    KvType kv_type = KvType::kF32;
    KvPolicy kv = KvPolicy::kSharedMax;
    std::int64_t batch = 1;
    std::int64_t block_rows = 128;
    /// Parts without an attention take any number of tokens, as in the library; otherwise one.
    bool open_tokens = true;
    /// Bodies are one part, which pauses at every attention; not with open tokens.
    bool joined = false;
    /// Their products of 4-bit weights are the host's.
    bool panels = false;
    std::int64_t first_rung = 0;
    std::int64_t last_rung = 0;
  };
  explicit Rig(const Options& options);

  /// Compiles the decode program of `rung`; what it cost is the store's to tell.
  std::shared_ptr<compile::Program> program(std::int64_t rung);
  /// Seconds of the newest compile.
  [[nodiscard]] double last_compile_s() const;
  void release(std::int64_t rung);

  [[nodiscard]] kv::KvCache& cache(std::int64_t row) { return *caches_.at(at(row)); }
  /// Appends rows until every sequence has `live` of them.
  void fill(std::int64_t live);
  /// Binds every sequence.
  void bind(compile::Program& program);
  /// Points the program at the next token of every sequence; its row is not appended.
  void aim(compile::Program& program);

 private:
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
  [[nodiscard]] graph::ProgramShape shape(std::int64_t rung) const;

  const Options options_;
  SteadyClock clock_;
  ManualExecutor executor_;
  compile::ProgramStore store_;
  kv::OsPages pages_;
  std::vector<std::unique_ptr<kv::KvCache>> caches_;
};

}  // namespace ahead::bench
