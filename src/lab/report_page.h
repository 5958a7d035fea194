// A report as one page that needs nothing else. Pure. May use: nlohmann-json.
#pragma once

#include <string>
#include <string_view>

#include "lab/journal.h"

namespace ahead::lab {

/// What a page is made of: the plotting library (vega-embed's bundle), the page's own script and
/// its style (src/lab/page/).
struct PageParts {
  std::string_view library;
  std::string_view script;
  std::string_view style;
};

/// `data` is that of report_data(). The page asks no network for anything.
[[nodiscard]] std::string report_page(const Json& data, const PageParts& parts);

}  // namespace ahead::lab
