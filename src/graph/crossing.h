// Ports for the values that flow from piece to piece. May use: base, model, OpenVINO.
#pragma once

#include <map>
#include <string>

#include "graph/cut.h"
#include "openvino/core/node_output.hpp"

namespace ahead::graph {

/// Whether the runtime has a type for `value`.
[[nodiscard]] bool can_cross(const ov::Output<ov::Node>& value);

/// Numbers values as they are met.
class Crossings {
 public:
  explicit Crossings(std::string architecture);

  /// The port of `value`, the same every time. Throws Error(kUnsupportedModel) when it can not
  /// cross.
  Port operator()(const ov::Output<ov::Node>& value);

 private:
  const std::string architecture_;
  std::map<ov::Output<ov::Node>, std::int64_t> numbers_;
};

}  // namespace ahead::graph
