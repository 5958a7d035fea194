// See bpe_encoder.h. May use: std.
#include "text/bpe_encoder.h"

#include <queue>
#include <tuple>

namespace ahead::text {
namespace {

std::uint64_t key_of(std::int32_t left, std::int32_t right) {
  return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32U) |
         static_cast<std::uint32_t>(right);
}

/// A token of the piece so far, and its neighbours; -1: there is none.
struct Symbol {
  std::int32_t id = 0;
  std::int32_t before = -1;
  std::int32_t behind = -1;
};

/// Two neighbours that may become one: the most urgent first, of equals the leftmost.
struct Candidate {
  std::int32_t rank;
  std::int32_t left;
  std::int32_t left_id;
  std::int32_t right_id;

  friend bool operator>(const Candidate& a, const Candidate& b) {
    return std::tie(a.rank, a.left) > std::tie(b.rank, b.left);
  }
};

}  // namespace

BpeEncoder::BpeEncoder(const Options& options)
    : whole_pieces_(options.whole_pieces), bytes_(256, -1) {
  std::unordered_map<std::string, std::int32_t> ids;
  ids.reserve(options.tokens.size());
  for (std::size_t id = 0; id < options.tokens.size(); ++id) {
    const std::string& token = options.tokens[id];
    if (token.empty()) continue;
    const bool added = ids.emplace(token, static_cast<std::int32_t>(id)).second;
    if (added && token.size() == 1) {
      bytes_[static_cast<unsigned char>(token[0])] = static_cast<std::int32_t>(id);
    }
  }
  merges_.reserve(options.merges.size());
  std::int32_t rank = 0;
  for (const auto& [left, right] : options.merges) {
    const auto a = ids.find(left);
    const auto b = ids.find(right);
    const auto made = ids.find(left + right);
    if (a != ids.end() && b != ids.end() && made != ids.end()) {
      merges_.try_emplace(key_of(a->second, b->second), Merge{rank, made->second});
    }
    ++rank;
  }
  if (whole_pieces_) whole_ = std::move(ids);
}

const BpeEncoder::Merge* BpeEncoder::merge_of(std::int32_t left, std::int32_t right) const {
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void BpeEncoder::encode(std::string_view piece, std::vector<std::int32_t>& ids) const {
  if (whole_pieces_) {
    const auto found = whole_.find(std::string(piece));
    if (found != whole_.end()) {
      ids.push_back(found->second);
      return;
    }
  }
  std::vector<Symbol> symbols;
  symbols.reserve(piece.size());
  for (const char byte : piece) {
    const std::int32_t id = bytes_[static_cast<unsigned char>(byte)];
    if (id < 0) continue;
    const auto at = static_cast<std::int32_t>(symbols.size());
    if (at > 0) symbols.back().behind = at;
    symbols.push_back({.id = id, .before = at - 1});
  }
  const auto at = [&](std::int32_t index) -> Symbol& {
    return symbols[static_cast<std::size_t>(index)];
  };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto look = [&](std::int32_t left) {
    if (left < 0 || at(left).behind < 0) return;
    const std::int32_t right_id = at(at(left).behind).id;
    if (const Merge* merge = merge_of(at(left).id, right_id)) {
      queue.push({merge->rank, left, at(left).id, right_id});
    }
  };
  for (std::int32_t left = 0; left + 1 < static_cast<std::int32_t>(symbols.size()); ++left) {
    look(left);
  }
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = at(best.left);
    // One of the two may have become a part of something else.
    if (left.id != best.left_id || left.behind < 0 || at(left.behind).id != best.right_id) continue;
    left.id = merge_of(best.left_id, best.right_id)->made;
    Symbol& gone = at(left.behind);
    gone.id = -1;
    left.behind = gone.behind;
    if (left.behind >= 0) at(left.behind).before = best.left;
    look(left.before);
    look(best.left);
  }
  for (std::int32_t index = symbols.empty() ? -1 : 0; index >= 0; index = at(index).behind) {
    ids.push_back(at(index).id);
  }
}

}  // namespace ahead::text
