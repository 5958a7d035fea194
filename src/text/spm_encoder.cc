// See spm_encoder.h. May use: base.
#include "text/spm_encoder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "ahead/error.h"
#include "base/utf8.h"

namespace ahead::text {
namespace {

constexpr std::string_view kSpace = "\u2581";

/// The byte that "<0x0A>" stands for; -1: it is no such name.
int byte_of(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return -1;
  int byte = 0;
  const auto read = std::from_chars(text.data() + 3, text.data() + 5, byte, 16);
  return read.ec == std::errc() && read.ptr == text.data() + 5 ? byte : -1;
}

std::string with_spaces_written(std::string_view text, bool front) {
  std::string out(front ? kSpace : "");
  for (const char c : text) {
    if (c == ' ') {
      out += kSpace;
    } else {
      out += c;
    }
  }
  return out;
}

/// A stretch of the text so far, and its neighbours; -1: there is none.
struct Symbol {
  std::string_view text;
  std::int32_t before = -1;
  std::int32_t behind = -1;
};

/// Two neighbours that may become one: the highest score first, of equals the leftmost.
struct Candidate {
  float score;
  std::int32_t left;
  std::size_t bytes;  ///< of both together: they are still those two

  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.score < b.score || (a.score == b.score && a.left > b.left);
  }
};

}  // namespace

SpmEncoder::SpmEncoder(Options options) : options_(std::move(options)), bytes_(256, -1) {
  pieces_.reserve(options_.tokens.size());
  for (std::size_t i = 0; i < options_.tokens.size(); ++i) {
    const Token& token = options_.tokens[i];
    const auto id = static_cast<std::int32_t>(i);
    if (token.kind == Kind::kUnknown && unknown_ < 0) unknown_ = id;
    if (token.text.empty()) continue;
    switch (token.kind) {
      case Kind::kByte:
        if (const int byte = byte_of(token.text); byte >= 0) {
          bytes_[static_cast<std::size_t>(byte)] = id;
        }
        break;
      case Kind::kUnknown:
      case Kind::kControl:
        special_.add(token.text, id);
        break;
      case Kind::kUserDefined:
        user_defined_.add(token.text, id);
        pieces_.try_emplace(token.text, id);
        break;
      case Kind::kNormal:
        if (!std::isnan(token.score)) pieces_.try_emplace(token.text, id);
        break;
      case Kind::kUnused:
        break;
    }
  }
  const auto missing = std::find(bytes_.begin(), bytes_.end(), -1);
  if (missing != bytes_.end() && unknown_ < 0) {
    throw Error(
        ErrorKind::kInvalidModel,
        "the GGUF file's tokenizer is broken: byte " + std::to_string(missing - bytes_.begin()) +
            " has no token, and there is none for what cannot be spelled; convert the model "
            "again");
  }
}

void SpmEncoder::WrittenOut::add(std::string_view text, std::int32_t id) {
  ids.try_emplace(text, id);
  auto& of_byte = lengths[static_cast<unsigned char>(text[0])];
  const auto at = std::lower_bound(of_byte.begin(), of_byte.end(), text.size(), std::greater<>());
  if (at == of_byte.end() || *at != text.size()) of_byte.insert(at, text.size());
}

std::int32_t SpmEncoder::WrittenOut::at(std::string_view text) const {
  for (const std::size_t length : lengths[static_cast<unsigned char>(text[0])]) {
    if (length > text.size()) continue;
    const auto found = ids.find(text.substr(0, length));
    if (found != ids.end()) return found->second;
  }
  return -1;
}

std::vector<std::int32_t> SpmEncoder::encode(std::string_view text) const {
  std::vector<std::int32_t> ids;
  std::size_t begin = 0;
  const auto words = [&](std::size_t end) {
    if (end > begin) encode_words(text.substr(begin, end - begin), options_.space_in_front, ids);
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::int32_t special = special_.at(text.substr(at));
    if (special < 0) {
      ++at;
      continue;
    }
    words(at);
    ids.push_back(special);
    at += options_.tokens[static_cast<std::size_t>(special)].text.size();
    begin = at;
  }
  words(text.size());
  return ids;
}

void SpmEncoder::encode_words(std::string_view text, bool front,
                              std::vector<std::int32_t>& ids) const {
  const std::string written = with_spaces_written(text, front);
  const std::string_view rest = written;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < rest.size();) {
    const std::int32_t user_defined = user_defined_.at(rest.substr(at));
    if (user_defined < 0) {
      ++at;
      continue;
    }
    merge(rest.substr(begin, at - begin), ids);
    ids.push_back(user_defined);
    at += options_.tokens[static_cast<std::size_t>(user_defined)].text.size();
    begin = at;
  }
  merge(rest.substr(begin), ids);
}

void SpmEncoder::merge(std::string_view text, std::vector<std::int32_t>& ids) const {
  std::vector<Symbol> symbols;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = std::max<std::size_t>(next_utf8(text.substr(at)).bytes, 1);
    const auto index = static_cast<std::int32_t>(symbols.size());
    if (index > 0) symbols.back().behind = index;
    symbols.push_back({.text = text.substr(at, bytes), .before = index - 1});
    at += bytes;
  }
  const auto at = [&](std::int32_t index) -> Symbol& {
    return symbols[static_cast<std::size_t>(index)];
  };
  // Neighbours lie side by side in the text, so both together are a stretch of it too.
  const auto joined = [&](std::int32_t left) {
    const Symbol& symbol = at(left);
    return std::string_view(symbol.text.data(), symbol.text.size() + at(symbol.behind).text.size());
  };
  std::priority_queue<Candidate> queue;
  const auto look = [&](std::int32_t left) {
    if (left < 0 || at(left).behind < 0) return;
    const std::string_view both = joined(left);
    const auto found = pieces_.find(both);
    if (found == pieces_.end()) return;
    queue.push({options_.tokens[static_cast<std::size_t>(found->second)].score, left, both.size()});
  };
  for (std::int32_t left = 0; left + 1 < static_cast<std::int32_t>(symbols.size()); ++left) {
    look(left);
  }
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = at(best.left);
    if (left.text.empty() || left.behind < 0 || joined(best.left).size() != best.bytes) continue;
    Symbol& gone = at(left.behind);
    left.text = joined(best.left);
    left.behind = gone.behind;
    gone.text = {};
    gone.behind = -1;
    if (left.behind >= 0) at(left.behind).before = best.left;
    look(left.before);
    look(best.left);
  }
  for (std::int32_t index = symbols.empty() ? -1 : 0; index >= 0; index = at(index).behind) {
    const auto found = pieces_.find(at(index).text);
    if (found != pieces_.end()) {
      ids.push_back(found->second);
    } else {
      spell(at(index).text, ids);
    }
  }
}

void SpmEncoder::spell(std::string_view text, std::vector<std::int32_t>& ids) const {
  const bool spelled = std::all_of(
      text.begin(), text.end(), [&](char c) { return bytes_[static_cast<unsigned char>(c)] >= 0; });
  if (!spelled) {
    ids.push_back(unknown_);
    return;
  }
  for (const char c : text) ids.push_back(bytes_[static_cast<unsigned char>(c)]);
}

std::string SpmEncoder::text_of(std::int32_t id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= options_.tokens.size()) return {};
  const Token& token = options_.tokens[static_cast<std::size_t>(id)];
  if (token.kind == Kind::kControl || token.kind == Kind::kUnknown) return {};
  if (token.kind == Kind::kByte) {
    const int byte = byte_of(token.text);
    return byte < 0 ? std::string() : std::string(1, static_cast<char>(byte));
  }
  std::string text;
  for (std::size_t at = 0; at < token.text.size();) {
    if (token.text.compare(at, kSpace.size(), kSpace) == 0) {
      text += ' ';
      at += kSpace.size();
    } else {
      text += token.text[at++];
    }
  }
  return text;
}

std::string SpmEncoder::decode(const std::int32_t* ids, std::size_t count) const {
  std::string text;
  bool front = options_.space_in_front;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string own = text_of(ids[i]);
    const bool drop = front && own.starts_with(' ');
    text += drop ? own.substr(1) : own;
    front = front && own.empty();
  }
  return text;
}

}  // namespace ahead::text
