// The parts of a report's page, as the build put them into the program. May use: std.
#pragma once

#include "lab/report_page.h"

namespace ahead::lab {

/// Views into the program itself.
[[nodiscard]] PageParts page_parts();

}  // namespace ahead::lab
