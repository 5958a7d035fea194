// A runnable program: its artifacts' requests bound to one set of buffers, so that a step sets no
// tensors except at a switch. May use: base, graph's program_spec.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "compile/backend.h"

namespace ahead::compile {

/// K and V of one layer.
struct KeyValue {
  TensorView k;
  TensorView v;
};

/// Made on the compile thread, used on the decode thread.
class Program {
 public:
  /// `artifacts` are the parts of `spec`, in order.
  Program(graph::ProgramSpec spec, std::vector<std::shared_ptr<Artifact>> artifacts);

  [[nodiscard]] const graph::ProgramShape& shape() const { return spec_.shape; }

  /// Binds one sequence's cache, one entry a layer, each exactly of the rung's shape. The memory is
  /// read in place by every run() until the next bind.
  void bind_cache(std::int64_t row, const std::vector<KeyValue>& layers);
  /// Says how many rows of the sequence's cache are live: the others are masked.
  void set_live_rows(std::int64_t row, std::int64_t live);

  /// Inputs of the next run(): [batch * tokens], [batch * tokens], [batch].
  [[nodiscard]] std::span<std::int32_t> tokens() const;
  [[nodiscard]] std::span<std::int32_t> positions() const;
  [[nodiscard]] std::span<std::int32_t> logit_rows() const;

  void run();

  /// Outputs of the last run(), valid until the next: a sequence's logits, and a layer's new rows
  /// [tokens, kv_heads, dim] of one sequence.
  [[nodiscard]] std::span<const float> logits(std::int64_t row) const;
  [[nodiscard]] KeyValue new_rows(std::int64_t layer, std::int64_t row) const;

  /// Where the parts run, without repeats.
  [[nodiscard]] std::vector<std::string> execution_devices() const;

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  using Buffer = std::unique_ptr<std::byte, Free>;
  /// A port of a request that a value flows through.
  struct Use {
    Request* request;
    std::size_t port;
  };

  [[nodiscard]] std::size_t index_of(graph::Role role, std::int64_t layer, std::int64_t row) const;
  [[nodiscard]] TensorView view(const graph::ValueUse& use) const;

  graph::ProgramSpec spec_;
  std::vector<std::shared_ptr<Artifact>> artifacts_;
  std::vector<Buffer> buffers_;  ///< by value; none for caches
  std::vector<std::unique_ptr<Request>> calls_;
  std::map<std::size_t, std::vector<Use>> cache_uses_;  ///< by value
  std::map<std::int64_t, std::int64_t> live_rows_;      ///< by sequence
};

}  // namespace ahead::compile
