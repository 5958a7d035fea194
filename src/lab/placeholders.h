// Names in braces that stand for values. Pure. May use: base, include/ahead.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/campaign.h"

namespace ahead::lab {

/// `text` with the value of each {name}. Throws Error(kInvalidArgument) that names one that is not
/// among `values`, and those that are. {{ stands for a brace.
[[nodiscard]] std::string expand(const std::string& text,
                                 const std::map<std::string, std::string>& values);
[[nodiscard]] std::vector<std::string> expand(const std::vector<std::string>& texts,
                                              const std::map<std::string, std::string>& values);

/// What a set's arms may name: here (the campaign's folder), deps, ahead (the program), model,
/// prompt_tokens, tokens, ladder, cores, threads, forced, and the set's own values.
struct Places {
  std::string here;
  std::string deps;
  std::string ahead;
};
[[nodiscard]] std::map<std::string, std::string> values_of(const Set& set, const Places& places);

}  // namespace ahead::lab
