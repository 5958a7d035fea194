// Running the two models of a tokenizer, one caller at a time each. May use: std, OpenVINO, base.
#include "text/compiled_tokenizer.h"

#include <cstdint>
#include <limits>
#include <mutex>
#include <openvino/runtime/core.hpp>
#include <openvino/runtime/properties.hpp>
#include <optional>
#include <string>
#include <utility>

#include "ahead/error.h"
#include "base/check.h"
#include "base/printable.h"
#include "base/resources.h"
#include "base/shortage_error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "text/end_names.h"
#include "text/end_tokens.h"

namespace ahead::text {
namespace {

/// One request for whoever holds the lock.
struct SharedRequest {
  explicit SharedRequest(ov::CompiledModel&& model) : compiled(std::move(model)) {
    request = compiled.create_infer_request();
  }
  std::mutex mutex;
  ov::CompiledModel compiled;
  ov::InferRequest request;
};

ov::CompiledModel compile(const std::shared_ptr<ov::Model>& model) {
  return ov::Core().compile_model(model, "CPU",
                                  ov::AnyMap{ov::inference_num_threads(1), ov::num_streams(1),
                                             ov::hint::enable_cpu_pinning(false)});
}

template <typename Id>
ov::Tensor ids_tensor(std::span<const std::int32_t> ids) {
  ov::Tensor tensor(ov::element::from<Id>(), {1, ids.size()});
  std::copy(ids.begin(), ids.end(), tensor.data<Id>());
  return tensor;
}

template <typename Id>
std::vector<std::int32_t> ids_of(const ov::Tensor& tensor) {
  const Id* first = tensor.data<const Id>();
  std::vector<std::int32_t> ids(tensor.get_size());
  std::transform(first, first + tensor.get_size(), ids.begin(),
                 [](Id id) { return static_cast<std::int32_t>(id); });
  return ids;
}

void check_length(std::size_t count, const char* what) {
  // The extension counts in 32 bits.
  if (count > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorKind::kInvalidArgument,
                std::to_string(count) + " " + what + " are too many for the tokenizer; give fewer");
  }
}

[[noreturn]] void failed(const char* what, const ov::Exception& cause) {
  const std::string text = std::string("the model's tokenizer failed to ") + what;
  throw_if_short(cause, text);
  throw Error(ErrorKind::kInvalidModel, text + ": " + printable(reason_of(cause.what())) +
                                            "; convert or export the model again");
}

/// Throws where memory is so short that a tokenizer may have done less than it was asked to: any
/// model needs more than that besides.
void require_room(const char* what) {
  constexpr std::uint64_t kRoom = 64 << 20;
  if (has_room_for(kRoom)) return;
  throw Error(ErrorKind::kOutOfMemory, std::string("the model's tokenizer cannot ") + what + ": " +
                                           remedy_of(Shortage::kMemory));
}

class CompiledTokenizer final : public Tokenizer {
 public:
  explicit CompiledTokenizer(const TokenizerModels& models)
      : encoder_(compile(models.encoder)),
        decoder_(compile(models.decoder)),
        wide_decoder_(models.decoder->input().get_element_type() == ov::element::i64),
        prefix_(models.prefix),
        end_tokens_(models.end_tokens) {
    require_room("be made ready");
    if (models.find_end_tokens) find_end_tokens();
  }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    if (text.empty()) return {};
    check_length(text.size(), "bytes of text");
    ov::Tensor input(ov::element::string, {1});
    // The extension's regular expressions are undefined on anything but UTF-8.
    input.data<std::string>()[0] = to_valid_utf8(text);
    const std::lock_guard lock(encoder_.mutex);
    try {
      encoder_.request.set_input_tensor(input);
      encoder_.request.infer();
      const ov::Tensor output = encoder_.request.get_output_tensor(0);
      // The extension goes on without what it could not allocate.
      if (output.get_size() == 0) require_room("encode");
      if (output.get_element_type() == ov::element::i64) return ids_of<std::int64_t>(output);
      return ids_of<std::int32_t>(output);
    } catch (const ov::Exception& cause) {
      failed("encode", cause);
    }
  }

  std::string decode(std::span<const std::int32_t> ids) const override {
    if (ids.empty()) return {};
    check_length(ids.size(), "tokens");
    const ov::Tensor input =
        wide_decoder_ ? ids_tensor<std::int64_t>(ids) : ids_tensor<std::int32_t>(ids);
    const std::lock_guard lock(decoder_.mutex);
    try {
      decoder_.request.set_input_tensor(input);
      decoder_.request.infer();
      return decoder_.request.get_output_tensor(0).data<const std::string>()[0];
    } catch (const ov::Exception& cause) {
      failed("decode", cause);
    }
  }

  std::vector<std::int32_t> prefix() const override { return prefix_; }
  const std::vector<std::int32_t>& end_tokens() const override { return end_tokens_; }

 private:
  void find_end_tokens() {
    // What an unknown character becomes may be one silent id too.
    const std::vector<std::int32_t> unknown = encode("\xF4\x8F\xBF\xBD");
    const auto named = named_end_tokens([&](std::string_view name) {
      const std::vector<std::int32_t> ids = encode(name);
      const bool control = ids.size() == 1 && ids != unknown && decode(ids).empty();
      return control ? std::optional(ids.front()) : std::nullopt;
    });
    for (const std::int32_t id : named) add_end_token(id, end_tokens_);
  }

  mutable SharedRequest encoder_;
  mutable SharedRequest decoder_;
  const bool wide_decoder_;
  const std::vector<std::int32_t> prefix_;
  std::vector<std::int32_t> end_tokens_;  // as they are once built
};

}  // namespace

std::unique_ptr<Tokenizer> compile_tokenizer(const TokenizerModels& models) {
  AHEAD_CHECK(models.encoder != nullptr && models.decoder != nullptr, "a model is missing");
  return std::make_unique<CompiledTokenizer>(models);
}

}  // namespace ahead::text
