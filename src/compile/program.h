// A runnable program: its artifacts' requests bound to buffers, so that a step sets no tensors
// except at a switch. May use: base, graph's program_spec.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
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

  /// Runs once, on zeros, what a first run is dear for: a device makes kernels and memory when it
  /// first meets a request or a number of tokens, and the first step should not. That is what has
  /// the rung but no weights, on values of its own, and with `shared` also what takes any number of
  /// tokens, on the workspace, which nobody else may have by then. Compile thread, before
  /// bind_cache().
  void warm_up(bool shared);

  /// Binds one sequence's cache, one entry a layer, each exactly of the rung's shape. The memory is
  /// read in place by every run() until the next bind.
  void bind_cache(std::int64_t row, const std::vector<KeyValue>& layers);
  /// Says how many rows of the sequence's cache are live: the others are masked.
  void set_live_rows(std::int64_t row, std::int64_t live);

  /// Inputs of the next run(): [batch * tokens], [batch * tokens], [batch].
  [[nodiscard]] std::span<std::int32_t> tokens() const;
  [[nodiscard]] std::span<std::int32_t> positions() const;
  [[nodiscard]] std::span<std::int32_t> logit_rows() const;

  /// False when `stop` came before the last call began: then the outputs are undefined, and the
  /// next run() is as good as any. A call that has begun runs to its end: the CPU device heeds
  /// ov::InferRequest::cancel() only on threads of its own, which would not be the caller's cores.
  /// So a stop takes up to one call: all of the step where the program is one part. Calls within
  /// one that has begun are left out.
  [[nodiscard]] bool run(const std::stop_token& stop);
  /// To the end.
  void run() { (void)run(std::stop_token()); }
  /// One step of a batch whose sequences are at rungs of their own: what serves sequence r alone is
  /// run as by_row[r] has it, and not at all where that is null. All are programs that share a
  /// workspace; where one call serves the whole batch and depends on the rung, all are the same.
  /// False when it was stopped, as of one program.
  [[nodiscard]] static bool run(std::span<Program* const> by_row, const std::stop_token& stop);

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

  /// The programs of one step.
  struct Step;
  /// A call and those within it. False when it was stopped.
  [[nodiscard]] static bool run_call(const Step& step, std::size_t index);

  using ValueKey = std::tuple<graph::Role, std::int64_t, std::int64_t>;

  [[nodiscard]] std::shared_ptr<Request> make_request(const graph::CallSpec& call);
  void bind_values(const graph::CallSpec& call, Request& request) const;
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
  /// Calls made within another, by pause.
  std::map<std::size_t, std::vector<std::vector<std::size_t>>> within_;
  std::map<std::size_t, std::vector<Use>> cache_uses_;  ///< by value
  std::map<std::int64_t, std::int64_t> live_rows_;      ///< by sequence
};

}  // namespace ahead::compile
