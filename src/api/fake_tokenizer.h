// For tests: a tokenizer of one token a byte, so that characters are split between tokens. May use:
// text's tokenizer.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/tokenizer.h"

namespace ahead {

/// Ids below 256 are bytes; `kEnd` and what lies above it are special and have no text.
class FakeTokenizer final : public text::Tokenizer {
 public:
  static constexpr std::int32_t kEnd = 256;

  explicit FakeTokenizer(std::vector<std::int32_t> end_tokens = {kEnd})
      : end_tokens_(std::move(end_tokens)) {}

  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> ids;
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
    return ids;
  }
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    for (const std::int32_t id : ids) {
      if (id < kEnd) text += static_cast<char>(id);
    }
    return text;
  }
  [[nodiscard]] std::vector<std::int32_t> prefix() const override { return {}; }
  [[nodiscard]] const std::vector<std::int32_t>& end_tokens() const override { return end_tokens_; }

 private:
  const std::vector<std::int32_t> end_tokens_;
};

}  // namespace ahead
