// A back end whose compile of one program fails: the fault that tests and --inject-compile-failure
// need. May use: base, graph's program_spec.h.
#pragma once

#include <memory>
#include <string>

#include "compile/backend.h"

namespace ahead::compile {

/// Forwards to another back end, but for the decode program of one rung.
class FailingBackend final : public Backend {
 public:
  struct Options {
    std::shared_ptr<Backend> backend;
    std::int64_t rung = 0;
    std::string message;
  };
  explicit FailingBackend(Options options);

  [[nodiscard]] graph::ProgramSpec spec(const graph::ProgramShape& shape) const override;
  [[nodiscard]] std::shared_ptr<Artifact> compile(const graph::ProgramShape& shape,
                                                  std::size_t part) override;

 private:
  const Options options_;
};

}  // namespace ahead::compile
