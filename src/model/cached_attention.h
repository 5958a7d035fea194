// The one operation Ahead adds to OpenVINO's: causal attention of new tokens over a KV cache that
// is not in the graph. The readers leave it where a decoder attends; graph/ replaces it by parts.
// May use: OpenVINO.
#pragma once

#include <cstddef>
#include <cstdint>

#include "openvino/op/op.hpp"

namespace ahead::model {

/// Heads of one attention, their sizes, and how far back it looks. Query head h reads KV head
/// h / (q_heads / kv_heads).
struct AttentionShape {
  std::int64_t q_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;   ///< of queries and K
  std::int64_t value_dim = 0;  ///< head size of V where it is not K's; 0: K's
  /// A token sees itself and the window - 1 tokens before it; 0: all before it.
  std::int64_t window = 0;

  [[nodiscard]] std::int64_t v_dim() const { return value_dim == 0 ? head_dim : value_dim; }

  friend bool operator==(const AttentionShape&, const AttentionShape&) = default;
};

/// q [1, N, q_heads, D], new k [1, N, kv_heads, D], new v [1, N, kv_heads, Dv] -> [1, N, q_heads,
/// Dv], all f32, N = batch * tokens with a sequence's tokens adjacent. Token i of a sequence
/// attends to that sequence's cached rows and to its new rows 0..i, as far back as its window
/// reaches.
///
/// A fourth input [q_heads] f32 is the head's sink: one more score in the softmax, whose share goes
/// nowhere (Xiao and others, "Efficient Streaming Language Models with Attention Sinks", 2023; as
/// gpt-oss has it).
class CachedAttention : public ov::op::Op {
 public:
  OPENVINO_OP("CachedAttention", "ahead");

  struct Attributes {
    std::int64_t layer = 0;
    AttentionShape shape;
    float scale = 0;
  };

  CachedAttention() = default;
  CachedAttention(const ov::Output<ov::Node>& q, const ov::Output<ov::Node>& k,
                  const ov::Output<ov::Node>& v, const Attributes& attributes);
  CachedAttention(const ov::OutputVector& inputs, const Attributes& attributes);

  [[nodiscard]] const Attributes& attributes() const { return attributes_; }
  [[nodiscard]] bool has_sinks() const { return get_input_size() == 4; }

  void validate_and_infer_types() override;
  bool visit_attributes(ov::AttributeVisitor& visitor) override;
  [[nodiscard]] std::shared_ptr<ov::Node> clone_with_new_inputs(
      const ov::OutputVector& inputs) const override;

 private:
  Attributes attributes_;
};

}  // namespace ahead::model
