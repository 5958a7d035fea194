// The GGUF graph is made stateful by the frontend's own passes; nothing of Ahead's graph code is
// used here.
#include "parity/oracle.h"

#include <numeric>

#include "openvino/frontend/extension/decoder_transformation.hpp"
#include "openvino/frontend/gguf/adapt_to_genai.hpp"
#include "openvino/frontend/gguf/make_stateful.hpp"
#include "openvino/frontend/manager.hpp"
#include "openvino/openvino.hpp"

namespace ahead::test {
namespace {

/// The numerics Ahead compares itself with: f32, and no activations quantised on the fly.
const ov::AnyMap kSettings = {ov::hint::inference_precision(ov::element::f32),
                              ov::hint::dynamic_quantization_group_size(0)};

std::vector<std::vector<float>> rows_of(const ov::Tensor& logits, std::size_t count) {
  const std::size_t vocabulary = logits.get_size() / count;
  const float* values = logits.data<const float>();
  std::vector<std::vector<float>> rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows.emplace_back(values + i * vocabulary, values + (i + 1) * vocabulary);
  }
  return rows;
}

/// One inference of a stateful model over all of `ids`.
std::vector<std::vector<float>> run(const std::shared_ptr<ov::Model>& graph,
                                    const std::vector<std::int32_t>& ids) {
  ov::Core core;
  auto request = core.compile_model(graph, "CPU", kSettings).create_infer_request();
  const std::size_t count = ids.size();
  ov::Tensor tokens(ov::element::i64, {1, count});
  std::copy(ids.begin(), ids.end(), tokens.data<std::int64_t>());
  ov::Tensor mask(ov::element::i64, {1, count});
  std::fill_n(mask.data<std::int64_t>(), count, 1);
  ov::Tensor positions(ov::element::i64, {1, count});
  std::iota(positions.data<std::int64_t>(), positions.data<std::int64_t>() + count, 0);
  ov::Tensor beam(ov::element::i32, {1});
  beam.data<std::int32_t>()[0] = 0;
  request.set_tensor("input_ids", tokens);
  request.set_tensor("attention_mask", mask);
  request.set_tensor("position_ids", positions);
  request.set_tensor("beam_idx", beam);
  request.infer();
  return rows_of(request.get_tensor("logits"), count);
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
  return run(graph, ids);
}

std::vector<std::vector<float>> ir_oracle(const std::string& folder,
                                          const std::vector<std::int32_t>& ids) {
  return run(ov::Core().read_model(folder + "/openvino_model.xml"), ids);
}

}  // namespace ahead::test
