// May use: std.
#include "plan/phrases.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ahead::plan {
namespace {

/// Of a number that is not negative. The edges keep `%g` from an exponent: 99.6 in two digits
/// would be 1e+02.
std::string digits(double number) {
  char text[400];
  const char* format = number < 0.001 || number >= 999.5 ? "%.0f" : number < 9.95 ? "%.2g" : "%.3g";
  static_cast<void>(std::snprintf(text, sizeof(text), format, number));
  return text;
}

}  // namespace

std::string in_seconds(double seconds) {
  if (std::isinf(seconds)) return "an unknown time";
  const double shown = std::max(seconds, 0.0);
  if (shown >= 0.0995 || shown == 0) return digits(shown) + " s";
  const double milliseconds = shown * 1000;
  return digits(milliseconds < 9.95 ? milliseconds : std::round(milliseconds)) + " ms";
}

std::string in_megabytes(std::int64_t bytes) {
  return digits(std::max(static_cast<double>(bytes) / 1e6, 0.0)) + " MB";
}

std::string in_tokens(double tokens) {
  const double whole = std::floor(std::clamp(tokens, 0.0, 1e15));
  char text[32];
  static_cast<void>(
      std::snprintf(text, sizeof(text), "%.0f token%s", whole, whole == 1 ? "" : "s"));
  return text;
}

std::string in_cores(double cores) {
  return digits(std::max(cores, 0.0)) + (cores == 1 ? " core" : " cores");
}

}  // namespace ahead::plan
