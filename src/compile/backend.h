// What a compiler back end is to the rest of Ahead: a maker of artifacts that run on tensors.
// The narrow interface through which the runtime sees OpenVINO, and which tests and the simulator
// implement too. May use: base, graph's program_spec.h.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/tensor_view.h"
#include "graph/program_spec.h"

namespace ahead::compile {

/// One pre-bound invocation of an artifact. Decode thread only.
class Request {
 public:
  virtual ~Request() = default;
  /// Binds caller-owned memory, which must stay valid while bound; it is used in place.
  virtual void bind_input(std::size_t port, const TensorView& tensor) = 0;
  virtual void bind_output(std::size_t port, const TensorView& tensor) = 0;
  /// Called at pause `pause` of a part that pauses: what goes out there is written where it is
  /// bound, what comes in is read from there afterwards. After an exception no further pause is
  /// called.
  using AtPause = std::function<void(std::size_t pause)>;
  /// Runs to completion, on the caller's thread where it pauses. Throws Error(kDevice), or at the
  /// end what `at_pause` threw.
  virtual void run(const AtPause& at_pause) = 0;
};

/// A compiled part. Shared by the programs that use it.
class Artifact {
 public:
  virtual ~Artifact() = default;
  /// `weights`: CallSpec::weights of the call it is for.
  [[nodiscard]] virtual std::unique_ptr<Request> create_request(std::size_t weights) = 0;
  /// The devices it runs on, as the back end reports them after compiling.
  [[nodiscard]] virtual std::vector<std::string> execution_devices() const = 0;
};

/// Compiles the parts of programs.
class Backend {
 public:
  virtual ~Backend() = default;
  /// The parts, values and calls of a program. Any thread.
  [[nodiscard]] virtual graph::ProgramSpec spec(const graph::ProgramShape& shape) const = 0;
  /// Compiles part `part` of spec(shape). Called for one program at a time, on
  /// the compile thread and on one that helps it, at once and for a part each. Throws
  /// anything derived from std::exception.
  [[nodiscard]] virtual std::shared_ptr<Artifact> compile(const graph::ProgramShape& shape,
                                                          std::size_t part) = 0;
};

}  // namespace ahead::compile
