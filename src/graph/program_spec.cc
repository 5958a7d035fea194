// Names of programs. May use: std.
#include "graph/program_spec.h"

namespace ahead::graph {

std::string to_string(const ProgramShape& shape) {
  std::string text = std::string(shape.phase()) + "@" + std::to_string(shape.rung);
  if (shape.batch != 1) text += " batch " + std::to_string(shape.batch);
  if (shape.tier != 0) text += " tier " + std::to_string(shape.tier);
  return text;
}

}  // namespace ahead::graph
