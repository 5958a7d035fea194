// Opening a model: reader, tokenizer and facts.
#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <utility>

#include "ahead/error.h"
#include "ahead/llm_pipeline.h"
#include "api/model_impl.h"
#include "base/clock.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "base/shortage_error.h"
#include "base/text.h"
#include "text/gguf_tokenizer.h"
#include "text/ir_tokenizer.h"
#include "text/model_chat.h"
#include "text/unspelled.h"

namespace ahead {
namespace {

std::vector<ModelFacts::Window> windows_of(const model::Decoder& decoder) {
  std::map<std::int64_t, ModelFacts::Window> windows;
  for (const model::AttentionShape& layer : decoder.layers) {
    if (layer.window == 0) continue;
    ModelFacts::Window& window = windows[layer.window];
    window.tokens = layer.window;
    ++window.layers;
    window.kv_values_per_token += layer.kv_heads * (layer.head_dim + layer.v_dim());
  }
  std::vector<ModelFacts::Window> by_size;
  for (const auto& [tokens, window] : windows) by_size.push_back(window);
  return by_size;
}

ModelFacts facts_of(const std::string& path, const model::ReadModel& read) {
  const model::Decoder& decoder = read.decoder;
  const model::AttentionShape& first = decoder.layers.front();
  return {.path = path,
          .weights = read.weights->path(),
          .architecture = decoder.architecture,
          .verified_by = read.verified_by,
          .layers = static_cast<std::int64_t>(decoder.layers.size()),
          .q_heads = first.q_heads,
          .kv_heads = first.kv_heads,
          .head_dim = first.head_dim,
          .value_dim = first.v_dim(),
          .vocabulary = decoder.vocabulary,
          .trained_context = decoder.trained_context,
          .kv_values_per_token = decoder.kv_values_per_token(),
          .windows = windows_of(decoder),
          .sink_layers = decoder.sink_layers};
}

/// A GGUF file's vocabulary is in it, so what is wrong with the one is wrong with the other.
std::unique_ptr<text::Tokenizer> tokenizer_of(const model::ReadModel& read) {
  if (!read.tokenizer_folder.empty()) return text::make_ir_tokenizer(read.tokenizer_folder);
  try {
    return text::make_gguf_tokenizer(read.gguf_tokenizer);
  } catch (const Error& error) {
    const ErrorKind kind = error.kind();
    if (kind != ErrorKind::kInvalidModel && kind != ErrorKind::kUnsupportedModel) throw;
    throw Error(kind, path_in_quotes(read.weights->path()) + " cannot be run: " + error.what());
  }
}

text::ChatSource chat_source_of(const model::ReadModel& read) {
  return read.tokenizer_folder.empty()
             ? text::gguf_chat_source(read.gguf_tokenizer, read.chat_templates)
             : text::ir_chat_source(read.tokenizer_folder);
}

/// Everything that may run out of memory or threads on the way.
void read(const std::string& path, const ModelOptions& options, Model::Impl& impl) {
  impl.core = std::make_shared<ov::Core>();
  model::ReadModel read = model::read_model(*impl.core, path, {.unverified = options.unverified});
  impl.tokenizer = tokenizer_of(read);
  impl.chat = chat_source_of(read);
  impl.facts = facts_of(path, read);
  impl.weights = std::move(read.weights);
  impl.decoder = std::make_shared<const model::Decoder>(std::move(read.decoder));
}

}  // namespace

Model::Model(const std::string& path, const ModelOptions& options) {
  const SteadyClock clock;
  const TimePoint begin = clock.now();
  auto impl = std::make_shared<Impl>();
  prepare_exceptions();
  try {
    read(path, options, *impl);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& cause) {
    const std::string what = "model " + path_in_quotes(path) + " cannot be opened";
    throw_if_short(cause, what);
    throw Error(ErrorKind::kInvalidModel,
                what + ": " + printable(reason_of(cause.what())) + "; fetch or export it again");
  }
  impl->load_s = to_seconds(clock.now() - begin);
  impl_ = std::move(impl);
}

const ModelFacts& Model::facts() const { return impl_->facts; }

std::vector<std::int32_t> Model::encode(std::string_view text) const {
  return impl_->tokenizer->encode(text);
}

std::vector<std::int32_t> Model::prefix() const { return impl_->tokenizer->prefix(); }

PromptIds Model::prompt_ids(std::string_view text) const {
  const std::vector<std::int32_t> before = prefix();
  PromptIds prompt{.ids = encode(text)};
  prompt.prefix_was_there = !before.empty() && before.size() <= prompt.ids.size() &&
                            std::equal(before.begin(), before.end(), prompt.ids.begin());
  if (!prompt.prefix_was_there) {
    prompt.ids.insert(prompt.ids.begin(), before.begin(), before.end());
  }
  return prompt;
}

UnspelledText Model::unspelled(std::string_view text) const {
  const text::Unspelled found = text::unspelled(*impl_->tokenizer, text);
  return {.count = found.characters,
          .first = found.first,
          .broken_utf8 = found.broken_bytes,
          .broken_at = found.broken_at};
}

std::string Model::decode(std::span<const std::int32_t> ids) const {
  return impl_->tokenizer->decode(ids);
}

std::string Model::sha256() const { return sha256_of(*impl_->weights); }

double Model::load_s() const { return impl_->load_s; }

}  // namespace ahead
