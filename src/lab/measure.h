// A run's endpoints from its JSON. Pure. May use: nlohmann-json.
#pragma once

#include <string>
#include <vector>

#include "lab/campaign.h"
#include "lab/journal.h"

namespace ahead::lab {

/// An endpoint's value; `key` is what stood in the place of the *, empty without one.
struct Measured {
  std::string key;
  double value = 0;
};

/// Empty where what it wants is not in the result, or is no number; keys that are numbers come in
/// their order.
[[nodiscard]] std::vector<Measured> measure(const Endpoint& endpoint, const Json& result);

}  // namespace ahead::lab
