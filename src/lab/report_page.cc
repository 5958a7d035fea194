// See report_page.h. May use: nlohmann-json.
#include "lab/report_page.h"

namespace ahead::lab {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

/// The only words that would end a script. In one they stand in a text, where a backslash does no
/// harm.
std::string inside_script(std::string text) {
  replace_all(text, "</script", "<\\/script");
  return text;
}

std::string escaped(std::string text) {
  replace_all(text, "&", "&amp;");
  replace_all(text, "<", "&lt;");
  return text;
}

}  // namespace

std::string report_page(const Json& data, const PageParts& parts) {
  const std::string title = escaped(data.value("title", "Ahead"));
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>" +
      title + "</title>\n<style>\n" + std::string(parts.style) +
      "</style>\n<main id=\"report\">\n<h1>" + title +
      "</h1>\n<noscript>This page draws its tables and figures with JavaScript.</noscript>\n"
      "</main>\n<script type=\"application/json\" id=\"data\">";
  // JSON may spell any character as an escape: the text ends nowhere but at its end.
  std::string json = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  replace_all(json, "<", "\\u003c");
  page += json +
          "</script>\n<!-- Vega, Vega-Lite and vega-embed: BSD-3-Clause, copyright University of "
          "Washington Interactive Data Lab -->\n<script>" +
          inside_script(std::string(parts.library)) + "</script>\n<script>\n" +
          std::string(parts.script) + "</script>\n</html>\n";
  return page;
}

}  // namespace ahead::lab
