// Cutting a canonical Decoder into parts for one program shape. May use: base, model, OpenVINO.
#pragma once

#include <memory>
#include <vector>

#include "ahead/axes.h"
#include "graph/cut.h"
#include "graph/program_spec.h"
#include "graph/specialise.h"
#include "model/decoder.h"
#include "openvino/core/model.hpp"

namespace ahead::graph {

/// What a piece's compile is guessed from.
struct PieceSize {
  std::int64_t operations = 0;
  std::int64_t weight_bytes = 0;
};

/// A decoder that can be cut for any shape.
class PartitionedDecoder {
 public:
  struct Options {
    Partition partition = Partition::kWhole;
    CacheFormat cache;
    /// The device takes any number of tokens: parts without an attention are built once, for all
    /// batches and token counts.
    bool open_tokens = false;
    /// With a cut at attention: what lies between the attentions is one part, which pauses at
    /// each. For a device that runs code of the host; not with open tokens.
    bool joined = false;
    /// Where they are joined: products of 4-bit weights are the host's. On one thread of a device
    /// that runs code of the host.
    bool panels = false;
  };

  PartitionedDecoder(std::shared_ptr<const model::Decoder> decoder, Options options);

  /// Parts, values and calls of a program; plain arithmetic, cheap.
  [[nodiscard]] ProgramSpec spec(const ProgramShape& shape) const;

  /// The graph of part `part` of spec(shape), its ports in the order of the part's calls.
  /// Weights are shared with the decoder. Any thread; clones before it changes anything.
  [[nodiscard]] std::shared_ptr<ov::Model> build(const ProgramShape& shape, std::size_t part) const;

  /// What the inputs of part `part` behind the ports of its calls take, by CallSpec::weights and
  /// input: views of the decoder's weights, which they keep alive. Empty where weights are inside.
  [[nodiscard]] const std::vector<std::vector<ov::Tensor>>& weight_sets(std::size_t part) const;

 private:
  std::shared_ptr<const model::Decoder> decoder_;
  CacheFormat cache_;
  bool open_tokens_;
  bool panels_;
  Cut cut_;
  std::vector<PieceSize> sizes_;  ///< by piece
};

}  // namespace ahead::graph
