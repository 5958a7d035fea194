// See placeholders.h. May use: base, include/ahead.
#include "lab/placeholders.h"

#include <algorithm>

#include "ahead/error.h"
#include "base/printable.h"

namespace ahead::lab {
namespace {

template <typename Number>
std::string list_of(const std::vector<Number>& numbers) {
  std::string list;
  for (const Number number : numbers) {
    list.append(list.empty() ? "" : ",").append(std::to_string(number));
  }
  return list;
}

}  // namespace

std::string expand(const std::string& text, const std::map<std::string, std::string>& values) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '{') {
      out += text[at];
      continue;
    }
    if (at + 1 < text.size() && text[at + 1] == '{') {
      out += text[++at];
      continue;
    }
    const std::size_t end = text.find('}', at);
    const std::string name = text.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    const auto found = end == std::string::npos ? values.end() : values.find(name);
    if (found == values.end()) {
      std::string known;
      for (const auto& [key, value] : values) known.append(known.empty() ? "" : ", ").append(key);
      throw Error(ErrorKind::kInvalidArgument, in_quotes(text) + " names {" + printable(name) +
                                                   "}, which this set does not have; it has " +
                                                   known + " ({{ stands for a brace)");
    }
    out += found->second;
    at = end;
  }
  return out;
}

std::vector<std::string> expand(const std::vector<std::string>& texts,
                                const std::map<std::string, std::string>& values) {
  std::vector<std::string> out;
  for (const std::string& text : texts) out.push_back(expand(text, values));
  return out;
}

std::map<std::string, std::string> values_of(const Set& set, const Places& places) {
  std::map<std::string, std::string> values{
      {"here", places.here}, {"deps", places.deps}, {"ahead", places.ahead}};
  for (const auto& [name, value] : set.values) values[name] = expand(value, values);
  const Protocol& protocol = set.protocol;
  values["model"] = expand(set.model, values);
  values["forced"] = expand(protocol.forced, values);
  if (protocol.prompt_tokens) values["prompt_tokens"] = std::to_string(*protocol.prompt_tokens);
  if (protocol.tokens) values["tokens"] = std::to_string(*protocol.tokens);
  if (!protocol.ladder.empty()) values["ladder"] = list_of(protocol.ladder);
  if (!protocol.cores.empty()) {
    values["cores"] = list_of(protocol.cores);
    values["threads"] = std::to_string(protocol.cores.size());
  }
  return values;
}

}  // namespace ahead::lab
