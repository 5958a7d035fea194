// See wording.h. May use: std.
#include "api/wording.h"

#include <cstddef>

namespace ahead::api {

std::string one_of(std::span<const std::string_view> names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) {
      out += i + 1 == names.size() ? " or " : ", ";
    }
    out += names[i];
  }
  return out;
}

}  // namespace ahead::api
