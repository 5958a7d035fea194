// One group of layers, the embedding or the head copied out of a decoder's graph, and a key that
// two pieces share only if they differ in nothing but their weights. May use: base, model,
// OpenVINO.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/crossing.h"
#include "graph/cut.h"
#include "openvino/op/parameter.hpp"

namespace ahead::graph {

/// Number of the piece that a node belongs to. Without an entry: it depends on no input, and every
/// piece may have its own.
using PieceNumbers = std::unordered_map<const ov::Node*, std::int64_t>;

/// A piece before it is known which others are like it.
struct BuiltPiece {
  Piece piece;
  std::string key;  ///< of a group of layers
  std::vector<ov::Tensor> weights;
};

/// Copies one piece, from its outputs back to where other pieces' values come in.
class PieceBuilder {
 public:
  /// A value that the piece makes for others.
  struct Wanted {
    Port port;
    ov::Output<ov::Node> value;
  };
  struct Options {
    std::int64_t number = 0;
    std::int64_t first_layer = 0;
    bool is_group = false;  ///< of layers, with the weights as inputs; otherwise they are inside
  };

  /// `numbers` and `inputs`, what the decoder's own inputs are for, outlive the builder.
  PieceBuilder(const PieceNumbers& numbers, const std::unordered_map<const ov::Node*, Role>& inputs,
               Crossings& crossings, const Options& options);

  [[nodiscard]] BuiltPiece build(const std::string& name, const std::vector<Wanted>& wanted);

  /// Values of other pieces that came in, in the order of their ports.
  [[nodiscard]] const std::vector<Wanted>& taken() const { return taken_; }

 private:
  using NodeOutput = ov::Output<ov::Node>;

  [[nodiscard]] bool comes_in(const NodeOutput& value) const;
  void copy(const NodeOutput& value);
  void take(const NodeOutput& value);
  void copy_node(const ov::Node& node);
  [[nodiscard]] std::shared_ptr<ov::Node> weight(const ov::Node& constant);
  void number(const NodeOutput& value, const NodeOutput& copy);

  const PieceNumbers& numbers_;
  const std::unordered_map<const ov::Node*, Role>& inputs_;
  Crossings& crossings_;
  const Options options_;

  BuiltPiece built_;
  std::vector<Wanted> taken_;
  std::map<NodeOutput, NodeOutput> copies_;
  std::map<NodeOutput, std::size_t> order_;  ///< of copying: names a value in the key
  ov::ParameterVector parameters_;
  ov::ParameterVector weights_;
};

}  // namespace ahead::graph
