// See page_parts.h: files of the build, taken in by the assembler. May use: std.
#include "lab/page_parts.h"

#define AHEAD_TAKE_IN(name, path) \
  asm(".section .rodata\n"        \
      ".global ahead_page_" name  \
      "\n"                        \
      "ahead_page_" name          \
      ":\n"                       \
      ".incbin \"" path           \
      "\"\n"                      \
      ".global ahead_page_" name  \
      "_end\n"                    \
      "ahead_page_" name          \
      "_end:\n"                   \
      ".byte 0\n"                 \
      ".previous\n")

AHEAD_TAKE_IN("library", AHEAD_PAGE_LIBRARY);
AHEAD_TAKE_IN("script", AHEAD_PAGE_FOLDER "/report.js");
AHEAD_TAKE_IN("style", AHEAD_PAGE_FOLDER "/report.css");

extern "C" {
extern const char ahead_page_library[];
extern const char ahead_page_library_end[];
extern const char ahead_page_script[];
extern const char ahead_page_script_end[];
extern const char ahead_page_style[];
extern const char ahead_page_style_end[];
}

namespace ahead::lab {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

PageParts page_parts() {
  return {.library = between(ahead_page_library, ahead_page_library_end),
          .script = between(ahead_page_script, ahead_page_script_end),
          .style = between(ahead_page_style, ahead_page_style_end)};
}

}  // namespace ahead::lab
