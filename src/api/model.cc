// Opening a model: reader, tokenizer and facts.
#include <memory>
#include <utility>

#include "ahead/llm_pipeline.h"
#include "api/model_impl.h"
#include "base/clock.h"
#include "base/sha256.h"
#include "text/gguf_tokenizer.h"
#include "text/ir_tokenizer.h"

namespace ahead {
namespace {

ModelFacts facts_of(const std::string& path, const model::ReadModel& read) {
  const model::Decoder& decoder = read.decoder;
  const model::AttentionShape& first = decoder.layers.front();
  return {.path = path,
          .weights = read.weights.string(),
          .architecture = decoder.architecture,
          .layers = static_cast<std::int64_t>(decoder.layers.size()),
          .q_heads = first.q_heads,
          .kv_heads = first.kv_heads,
          .head_dim = first.head_dim,
          .vocabulary = decoder.vocabulary,
          .trained_context = decoder.trained_context,
          .kv_values_per_token = decoder.kv_values_per_token()};
}

}  // namespace

Model::Model(const std::string& path) {
  const SteadyClock clock;
  const TimePoint begin = clock.now();
  auto impl = std::make_shared<Impl>();
  impl->core = std::make_shared<ov::Core>();
  model::ReadModel read = model::read_model(*impl->core, path);
  impl->tokenizer = read.tokenizer_folder.empty() ? text::make_gguf_tokenizer(read.gguf_tokenizer)
                                                  : text::make_ir_tokenizer(read.tokenizer_folder);
  impl->facts = facts_of(path, read);
  impl->decoder = std::make_shared<const model::Decoder>(std::move(read.decoder));
  impl->load_s = to_seconds(clock.now() - begin);
  impl_ = std::move(impl);
}

const ModelFacts& Model::facts() const { return impl_->facts; }

std::vector<std::int32_t> Model::encode(std::string_view text) const {
  return impl_->tokenizer->encode(text);
}

std::vector<std::int32_t> Model::prefix() const { return impl_->tokenizer->prefix(); }

std::string Model::decode(std::span<const std::int32_t> ids) const {
  return impl_->tokenizer->decode(ids);
}

std::string Model::sha256() const { return sha256_of_file(impl_->facts.weights); }

double Model::load_s() const { return impl_->load_s; }

}  // namespace ahead
