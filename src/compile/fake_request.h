// For tests and the simulator: runs the parts of the fake model on the very tensors a program
// binds, and refuses a step that breaks the contract. May use: base, graph's program_spec.h.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ahead/error.h"
#include "base/clock.h"
#include "compile/backend.h"
#include "compile/fake_model.h"

namespace ahead::compile {

/// What the fakes do when; every artifact of a back end looks at the same script. Changed only
/// while nothing compiles or runs.
struct FakeScript {
  /// Advanced by the costs; none: they take no time.
  ManualClock* clock = nullptr;
  /// Of a part, asked when it is compiled: also a hook on the compile thread. Empty: 0.
  std::function<std::chrono::nanoseconds(const graph::ProgramShape&, std::size_t part)>
      compile_cost;
  std::chrono::nanoseconds decode_cost{0};   ///< of one step
  std::chrono::nanoseconds prefill_cost{0};  ///< of one chunk
  /// Called during every step, after its cost.
  std::function<void()> on_step;
  /// Called at the begin of every call: a step has one for every part of its program, or more.
  std::function<void()> on_call;
  /// Thrown at the end of the compile.
  std::map<graph::ProgramShape, std::string> compile_failures;
  /// Reported instead of the back end's own device.
  std::map<graph::ProgramShape, std::vector<std::string>> devices;
  /// The step with this number fails, counted from 1 over all programs; 0: none.
  std::size_t failing_step = 0;

  std::size_t steps = 0;               ///< run so far
  std::atomic<int> live_artifacts{0};  ///< held by anybody

  void spend(std::chrono::nanoseconds cost) const {
    if (clock != nullptr) clock->advance(cost);
  }
};

/// What a part computes. kWhole is the others in one; kJoined is rows and head with a pause a layer
/// between; kAttendWindow is the last layer's attention, where that has a window.
enum class FakePart { kWhole, kRows, kAttend, kHead, kAttendWindow, kJoined };

/// Runs one part. A step that breaks the contract fails with Error(kDevice).
class FakeRequest final : public Request {
 public:
  /// `window` of the last layer; 0: it has none.
  FakeRequest(FakePart part, std::int64_t window, std::shared_ptr<FakeScript> script)
      : part_(part), window_(window), script_(std::move(script)) {}

  void bind_input(std::size_t port, const TensorView& tensor) override {
    bind(inputs_, port, tensor);
  }
  void bind_output(std::size_t port, const TensorView& tensor) override {
    bind(outputs_, port, tensor);
  }

  void run(const AtPause& at_pause) override;

 private:
  /// One sequence's view of a layer.
  struct Attention {
    std::span<const std::int32_t> positions;  ///< of the new tokens
    std::size_t wanted = 0;                   ///< the new token whose logits are asked for
    TensorView bias;
    TensorView cache[2];
    const float* made[2] = {};
  };

  void run_whole(std::size_t row, std::size_t batch);

  /// The layers' states -> logits.
  void head(std::span<const TensorView> layers) const;

  [[nodiscard]] std::span<float> logits_of(std::size_t row) const {
    return {data<float>(outputs_.back()) + row * FakeModel::kVocabulary, FakeModel::kVocabulary};
  }

  template <typename T>
  static T* data(const TensorView& tensor) {
    return static_cast<T*>(tensor.data);
  }

  static void require(bool holds, const std::string& what) {
    if (!holds) throw Error(ErrorKind::kDevice, "the step was fed wrongly: " + what);
  }

  static void bind(std::vector<TensorView>& ports, std::size_t port, const TensorView& tensor) {
    if (ports.size() <= port) ports.resize(port + 1);
    ports[port] = tensor;
  }

  void begin_step() const;

  /// Tokens and positions -> K and V rows of every layer.
  static void make_rows(std::span<const TensorView> in, std::span<const TensorView> out) {
    for (std::size_t layer = 0; layer < FakeModel::kLayers; ++layer) {
      make_rows(in, out.subspan(2 * layer, 2), layer);
    }
  }

  /// Of one layer.
  static void make_rows(std::span<const TensorView> in, std::span<const TensorView> out,
                        std::size_t layer);

  /// The live cached rows and the new rows up to the wanted one -> the layer's state.
  static std::uint64_t attend(const Attention& in);
  /// What a cached and a new row add.
  static std::uint64_t cached_state(const Attention& in, std::size_t at, std::int64_t position);
  static std::uint64_t made_state(const Attention& in, std::size_t at, std::int64_t position);
  /// The same of those that the window lets the wanted one see.
  [[nodiscard]] std::uint64_t attend_window(const Attention& in) const;
  /// Throws unless the bias shows every new token what the window does.
  void check_window(const Attention& in) const;

  const FakePart part_;
  const std::int64_t window_;
  const std::shared_ptr<FakeScript> script_;
  std::vector<TensorView> inputs_;
  std::vector<TensorView> outputs_;
};

}  // namespace ahead::compile
