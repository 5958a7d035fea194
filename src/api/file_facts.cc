// Facts of a file by its format, and the tokenizer's group.
#include "ahead/file_facts.h"

#include <exception>
#include <filesystem>
#include <system_error>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/shortage_error.h"
#include "base/text.h"
#include "model/gguf_facts.h"
#include "model/gguf_header.h"
#include "model/ir_facts.h"
#include "text/pre_tokenizer.h"

namespace ahead {
namespace {

std::string string_in(const model::GgufHeader& header, const std::string& key) {
  const auto found = header.strings.find(key);
  return found == header.strings.end() ? std::string() : found->second;
}

/// The tokenizer in words; where it is refused, the reason goes to `refusal` unless there is one.
std::string tokenizer_in(const model::GgufHeader& header, std::string& refusal) {
  const std::string model = string_in(header, "tokenizer.ggml.model");
  const std::string pre = string_in(header, "tokenizer.ggml.pre");
  if (model == "llama") return "SentencePiece (tokenizer.ggml.model 'llama')";
  std::string named = "tokenizer.ggml.model " + in_quotes(model) + ", pre " + in_quotes(pre);
  if (model != "gpt2") {
    if (refusal.empty()) refusal = "has a tokenizer that is not known (" + named + ")";
    return named;
  }
  try {
    return "byte pairs, group " + text::pre_tokenizer(pre).group + " (" + named + ")";
  } catch (const Error& error) {
    if (refusal.empty()) refusal = std::string("cannot be run: ") + error.what();
    return named;
  }
}

FileFacts read(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return model::ir_facts(path);
  const model::GgufHeader header = model::read_gguf_header(path);
  FileFacts facts = model::gguf_facts(header);
  facts.tokenizer = tokenizer_in(header, facts.refusal);
  return facts;
}

}  // namespace

FileFacts file_facts(const std::string& path) {
  prepare_exceptions();
  try {
    return read(path);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& cause) {
    const std::string what = "model " + path_in_quotes(path) + " cannot be opened";
    throw_if_short(cause, what);
    throw Error(ErrorKind::kInvalidModel,
                what + ": " + printable(reason_of(cause.what())) + "; fetch or export it again");
  }
}

}  // namespace ahead
