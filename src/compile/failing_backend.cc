// The injected fault. May use: base.
#include "compile/failing_backend.h"

#include <stdexcept>
#include <utility>

namespace ahead::compile {

FailingBackend::FailingBackend(Options options) : options_(std::move(options)) {}

graph::ProgramSpec FailingBackend::spec(const graph::ProgramShape& shape) const {
  return options_.backend->spec(shape);
}

std::shared_ptr<Artifact> FailingBackend::compile(const graph::ProgramShape& shape,
                                                  std::size_t part) {
  if (shape.tokens == 1 && shape.rung == options_.rung) throw std::runtime_error(options_.message);
  return options_.backend->compile(shape, part);
}

}  // namespace ahead::compile
