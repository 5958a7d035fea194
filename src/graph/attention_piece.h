// The piece that is one attention alone, shared by all layers whose attention is the same.
// May use: base, model.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/cut.h"
#include "model/cached_attention.h"

namespace ahead::graph {

/// The attentions of one decoder, among the pieces of its cut.
class AttentionPieces {
 public:
  /// Adds to `pieces` as attentions are met.
  explicit AttentionPieces(std::vector<Piece>& pieces) : pieces_(pieces) {}

  /// Where an attention takes its queries from and leaves its result.
  struct Ends {
    Port q;
    Port attended;
  };
  /// The call of `attention` over new rows that a body made.
  Call call(const model::CachedAttention& attention, const Ends& ends);

 private:
  std::vector<Piece>& pieces_;
  std::map<std::pair<std::string, float>, std::size_t> known_;  ///< by heads and scale
};

}  // namespace ahead::graph
