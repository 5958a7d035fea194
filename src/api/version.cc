// The library's version, as the build gives it. May use: include/ahead.
#include "ahead/llm_pipeline.h"

namespace ahead {

std::string_view version() { return AHEAD_VERSION; }

}  // namespace ahead
