// The GGUF graph is made stateful by the frontend's own passes; nothing of Ahead's graph code is
// used here.
#include "parity/oracle.h"

#include <algorithm>
#include <utility>

#include "openvino/frontend/extension/decoder_transformation.hpp"
#include "openvino/frontend/gguf/adapt_to_genai.hpp"
#include "openvino/frontend/gguf/make_stateful.hpp"
#include "openvino/frontend/manager.hpp"
#include "openvino/openvino.hpp"
#include "support/compare.h"

namespace ahead::test {
namespace {

/// The numerics Ahead compares itself with: f32 throughout, no activations quantised on the fly,
/// and no 8-bit cache, which is the CPU device's default and alone costs 0.001 of cosine.
const ov::AnyMap kSettings = {ov::hint::inference_precision(ov::element::f32),
                              ov::hint::kv_cache_precision(ov::element::f32),
                              ov::hint::dynamic_quantization_group_size(0)};

/// A stateful model over `ids` and `more` tokens of its own, token by token: its readers keep the
/// last token's logits only.
Greedy run(const std::shared_ptr<ov::Model>& graph, std::vector<std::int32_t> ids,
           std::size_t more = 0) {
  ov::Core core;
  auto request = core.compile_model(graph, "CPU", kSettings).create_infer_request();
  ov::Tensor token(ov::element::i64, {1, 1});
  ov::Tensor position(ov::element::i64, {1, 1});
  ov::Tensor beam(ov::element::i32, {1});
  beam.data<std::int32_t>()[0] = 0;
  request.set_tensor("input_ids", token);
  request.set_tensor("position_ids", position);
  request.set_tensor("beam_idx", beam);
  std::vector<std::vector<float>> rows;
  const std::size_t all = ids.size() + more;
  for (std::size_t i = 0; i < all; ++i) {
    token.data<std::int64_t>()[0] = ids[i];
    position.data<std::int64_t>()[0] = static_cast<std::int64_t>(i);
    ov::Tensor mask(ov::element::i64, {1, i + 1});
    std::fill_n(mask.data<std::int64_t>(), i + 1, 1);
    request.set_tensor("attention_mask", mask);
    request.infer();
    const ov::Tensor logits = request.get_tensor("logits");
    rows.emplace_back(logits.data<const float>(), logits.data<const float>() + logits.get_size());
    if (i + 1 == ids.size() && i + 1 < all) {
      ids.push_back(static_cast<std::int32_t>(top1(rows.back())));
    }
  }
  return {std::move(ids), std::move(rows)};
}

}  // namespace

std::vector<std::vector<float>> gguf_oracle(const std::string& path,
                                            const std::vector<std::int32_t>& ids) {
  namespace passes = ov::frontend::gguf::pass;
  ov::frontend::FrontEndManager manager;
  const auto frontend = manager.load_by_framework("gguf");
  frontend->add_extension(std::make_shared<ov::frontend::DecoderTransformationExtension>(
      [](const std::shared_ptr<ov::Model>& graph) {
        return passes::GGUFMakeStateful().run_on_model(graph);
      }));
  const auto graph = frontend->convert(frontend->load(path));
  passes::AdaptToGenAI().run_on_model(graph);
  return run(graph, ids).logits;
}

std::vector<std::vector<float>> ir_oracle(const std::string& folder,
                                          const std::vector<std::int32_t>& ids) {
  return run(ov::Core().read_model(folder + "/openvino_model.xml"), ids).logits;
}

Greedy ir_oracle_greedy(const std::string& folder, std::vector<std::int32_t> prompt,
                        std::size_t more) {
  return run(ov::Core().read_model(folder + "/openvino_model.xml"), std::move(prompt), more);
}

}  // namespace ahead::test
