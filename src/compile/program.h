// A runnable program: its artifacts' requests bound to buffers, so that a step sets no tensors
// except at a switch. May use: base, graph's program_spec.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "compile/backend.h"

namespace ahead::compile {

/// K and V of one layer.
struct KeyValue {
  TensorView k;
  TensorView v;
};

/// Memory for a value.
class Buffer {
 public:
  /// `bytes` zeroed, aligned for vector loads. Throws std::bad_alloc.
  explicit Buffer(std::size_t bytes);
  [[nodiscard]] std::byte* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte, Free> memory_;
};

/// What the programs of one batch and token count share, whatever their rung: the values that flow
/// between calls, and the requests of the calls that no rung changes. It is why the sequences of a
/// batch can be at different rungs in one step. Filled by the programs, on the compile thread.
struct Workspace {
  std::map<std::size_t, Buffer> buffers;                     ///< by value
  std::map<std::size_t, std::shared_ptr<Request>> requests;  ///< by call
};

/// Made on the compile thread, used on the decode thread.
class Program {
 public:
  /// `artifacts` are the parts of `spec`, in order. `workspace` is that of the other programs of
  /// the same batch and token count, or none.
  Program(graph::ProgramSpec spec, std::vector<std::shared_ptr<Artifact>> artifacts,
          std::shared_ptr<Workspace> workspace = nullptr);

  [[nodiscard]] const graph::ProgramShape& shape() const { return spec_.shape; }

  /// Runs once, on zeros, what takes any number of tokens: a device makes its kernels for a number
  /// when it first meets it, and the first step should not. Compile thread, before anybody else has
  /// the program or another of its workspace.
  void warm_up();

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
  /// One step of a batch whose sequences are at rungs of their own: what serves sequence r alone is
  /// run as by_row[r] has it, and not at all where that is null. All are programs that share a
  /// workspace; where one call serves the whole batch and depends on the rung, all are the same.
  static void run(std::span<Program* const> by_row);

  /// Outputs of the last run(), valid until the next: a sequence's logits, and a layer's new rows
  /// [tokens, kv_heads, dim] of one sequence.
  [[nodiscard]] std::span<const float> logits(std::int64_t row) const;
  [[nodiscard]] KeyValue new_rows(std::int64_t layer, std::int64_t row) const;

  /// Where the parts run, without repeats.
  [[nodiscard]] const std::vector<std::string>& execution_devices() const { return devices_; }

 private:
  /// A port of a request that a value flows through.
  struct Use {
    Request* request;
    std::size_t port;
  };

  using ValueKey = std::tuple<graph::Role, std::int64_t, std::int64_t>;

  [[nodiscard]] std::shared_ptr<Request> make_request(const graph::CallSpec& call);
  [[nodiscard]] std::size_t index_of(graph::Role role, std::int64_t layer, std::int64_t row) const;
  [[nodiscard]] std::byte* data(std::size_t value) const;
  [[nodiscard]] TensorView view(const graph::ValueUse& use) const;

  graph::ProgramSpec spec_;
  std::vector<std::shared_ptr<Artifact>> artifacts_;
  std::vector<std::string> devices_;  ///< asked for once: a back end may take its time
  std::shared_ptr<Workspace> workspace_;
  std::map<ValueKey, std::size_t> values_;
  std::map<std::size_t, Buffer> biases_;  ///< by value
  std::vector<std::shared_ptr<Request>> calls_;
  std::map<std::size_t, std::vector<Use>> cache_uses_;  ///< by value
  std::map<std::int64_t, std::int64_t> live_rows_;      ///< by sequence
};

}  // namespace ahead::compile
