// See piece_splitter.h. May use: std, OpenVINO.
#include "text/piece_splitter.h"

#include <cstdint>
#include <openvino/runtime/core.hpp>
#include <openvino/runtime/properties.hpp>

#include "ahead/error.h"
#include "base/printable.h"
#include "text/gguf_graph.h"

namespace ahead::text {

PieceSplitter::PieceSplitter(const GgufVocabulary& vocabulary, const NodeFactory& factory)
    : compiled_(
          ov::Core().compile_model(make_splitter(vocabulary, factory), "CPU",
                                   ov::AnyMap{ov::inference_num_threads(1), ov::num_streams(1),
                                              ov::hint::enable_cpu_pinning(false)})),
      request_(compiled_.create_infer_request()) {}

std::vector<std::string> PieceSplitter::split(std::string_view text) const {
  ov::Tensor input(ov::element::string, {1});
  input.data<std::string>()[0] = std::string(text);
  const std::lock_guard lock(mutex_);
  request_.set_input_tensor(input);
  request_.infer();
  const ov::Tensor begins = request_.get_output_tensor(0);
  const ov::Tensor ends = request_.get_output_tensor(1);
  const ov::Tensor all = request_.get_output_tensor(2);
  const auto* bytes = static_cast<const char*>(all.data());
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < begins.get_size(); ++i) {
    const auto begin = static_cast<std::size_t>(begins.data<const std::int32_t>()[i]);
    const auto end = static_cast<std::size_t>(ends.data<const std::int32_t>()[i]);
    pieces.emplace_back(bytes + begin, end - begin);
  }
  return pieces;
}

void prove_patterns(const PreTokenizer& pre, const NodeFactory& factory) {
  GgufVocabulary bare;
  bare.pre = pre;
  const std::vector<std::string> pieces = PieceSplitter(bare, factory).split(kPatternProbe);
  if (pieces == pre.probe_pieces) return;
  std::string made;
  for (const std::string& piece : pieces) made += (made.empty() ? "" : " ") + in_quotes(piece);
  throw Error(ErrorKind::kUnsupportedModel,
              "the tokenizers extension does not run the expressions of pre-tokenizer " +
                  in_quotes(pre.group) + " as they are meant: it cuts a probe into " + made +
                  "; run scripts/setup.sh for the version that is known");
}

}  // namespace ahead::text
