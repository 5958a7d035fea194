// Sums over tensors, and metadata in words. May use: base.
#include "model/gguf_facts.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "base/printable.h"
#include "model/gguf_heeded.h"
#include "model/gguf_readable.h"
#include "model/verified.h"

namespace ahead::model {
namespace {

std::vector<FileFacts::Stored> stored_in(const GgufHeader& header) {
  std::map<std::string, FileFacts::Stored> by_type;
  for (const GgufHeader::Tensor& tensor : header.tensors) {
    FileFacts::Stored& stored = by_type[name_of_ggml_type(tensor.type)];
    ++stored.tensors;
    stored.bytes += static_cast<std::int64_t>(tensor.bytes);
  }
  std::vector<FileFacts::Stored> all;
  for (auto& [type, stored] : by_type) {
    stored.type = type;
    all.push_back(std::move(stored));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return all;
}

std::string short_number(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string rotation_in(const GgufHeader& header) {
  const std::string prefix = header.architecture() + ".rope.";
  std::string out;
  const auto add = [&](const std::string& words) { out += (out.empty() ? "" : ", ") + words; };
  const auto number = [&](const std::string& key, const std::string& words) {
    if (const auto value = header.number(prefix + key)) add(words + short_number(*value));
  };
  number("freq_base", "base ");
  number("freq_base_swa", "in layers with a window ");
  number("dimension_count", "dimensions ");
  if (const auto type = header.strings.find(prefix + "scaling.type");
      type != header.strings.end()) {
    add("scaling " + in_quotes(type->second));
  }
  number("scaling.factor", "factor ");
  number("scale_linear", "linear scale ");
  number("scaling.original_context_length", "trained before for ");
  for (const auto& [name, factors] : header.rope_factors) {
    if (factors.empty()) continue;
    const auto [least, most] = std::minmax_element(factors.begin(), factors.end());
    add(in_quotes(name) + " of " + std::to_string(factors.size()) + " factors, " +
        short_number(*least) + " to " + short_number(*most));
  }
  return out.empty() ? "nothing is said" : out;
}

}  // namespace

FileFacts gguf_facts(const GgufHeader& header) {
  const std::string architecture = header.architecture();
  return {.format = "GGUF " + std::to_string(header.version),
          .architecture = architecture,
          .verified_by = std::string(verified_by(Format::kGguf, architecture)),
          .stored = stored_in(header),
          .rotation = rotation_in(header),
          .tokenizer = {},
          .refusal = refusal_of(header)};
}

std::string refusal_of(const GgufHeader& header) {
  if (const auto what = no_text_model(header)) return "is " + *what;
  if (const auto why = unreadable(header)) return "cannot be read: " + *why;
  const std::string architecture = header.architecture();
  if (!frontend_knows(architecture)) {
    return "is of the architecture " + in_quotes(architecture) +
           ", which OpenVINO's GGUF frontend does not know; use an OpenVINO IR folder of this "
           "model";
  }
  if (const auto why = unheeded(header)) {
    return "would be run wrongly, because OpenVINO's GGUF frontend leaves this out: " + *why;
  }
  return {};
}

}  // namespace ahead::model
