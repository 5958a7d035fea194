// Ids and texts of both kinds of tokenizer against a reference made with another implementation.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "text/gguf_tokenizer.h"
#include "text/ir_tokenizer.h"
#include "text/utf8_stream.h"
#include "tokenizer_fixture.h"

namespace ahead::text {
namespace {

using Expected = std::vector<std::int32_t> ReferenceCase::*;

/// Reports the first few differences in full and counts all.
void expect_encodes(const Tokenizer& tokenizer, Expected expected) {
  std::size_t wrong = 0;
  for (const ReferenceCase& c : reference()) {
    const std::vector<std::int32_t> ids = tokenizer.encode(c.text);
    if (ids == c.*expected) continue;
    if (++wrong <= 10) {
      EXPECT_EQ(testing::PrintToString(ids), testing::PrintToString(c.*expected))
          << "of \"" << printable(c.text) << '"';
    }
  }
  EXPECT_EQ(wrong, 0U) << "of " << reference().size() << " texts";
}

void expect_decodes(const Tokenizer& tokenizer) {
  std::size_t wrong = 0;
  for (const ReferenceCase& c : reference()) {
    const std::string text = to_valid_utf8(tokenizer.decode(c.ids));
    if (text == c.decoded) continue;
    if (++wrong <= 10) {
      EXPECT_EQ(printable(text), printable(c.decoded));
    }
  }
  EXPECT_EQ(wrong, 0U) << "of " << reference().size() << " texts";
}

void expect_streams(const Tokenizer& tokenizer) {
  for (const ReferenceCase& c : reference()) {
    Utf8Stream stream([&](std::span<const std::int32_t> ids) { return tokenizer.decode(ids); });
    std::string text;
    for (const std::int32_t id : c.ids) {
      const std::string piece = stream.push(id);
      ASSERT_TRUE(is_valid_utf8(piece)) << printable(piece);
      text += piece;
    }
    text += stream.flush();
    ASSERT_EQ(printable(text), printable(c.decoded));
  }
}

ov::AnyMap with_pre(const std::string& pre) {
  ov::AnyMap metadata = gguf_metadata();
  metadata["pre"] = pre;
  return metadata;
}

TEST(TokenizerParity, TheReferenceIsLargeEnough) { EXPECT_GE(reference().size(), 300U); }

TEST(TokenizerParity, GgufEncodesAsTheReference) {
  expect_encodes(*make_gguf_tokenizer(gguf_metadata()), &ReferenceCase::ids);
}

TEST(TokenizerParity, GgufDecodesAsTheReference) {
  expect_decodes(*make_gguf_tokenizer(gguf_metadata()));
}

TEST(TokenizerParity, GgufStreamsWhatItDecodes) {
  expect_streams(*make_gguf_tokenizer(gguf_metadata()));
}

TEST(TokenizerParity, Gpt2SplittingIsAsTheReference) {
  expect_encodes(*make_gguf_tokenizer(with_pre("gpt-2")), &ReferenceCase::ids_gpt2);
}

TEST(TokenizerParity, Qwen2SplittingIsAsTheReference) {
  expect_encodes(*make_gguf_tokenizer(with_pre("qwen2")), &ReferenceCase::ids_qwen2);
}

TEST(TokenizerParity, Qwen2ReadsDecomposedCharactersAsComposed) {
  const auto qwen2 = make_gguf_tokenizer(with_pre("qwen2"));
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"e\u0301", "\u00E9"},
      {"Cafe\u0301 <|im_end|>u\u0308ber  a\u030A", "Caf\u00E9 <|im_end|>\u00FCber  \u00E5"},
      {"\u1112\u1161\u11AB", "\uD55C"},
      {"e\u0323\u0302", "\u1EC7"},
      {"\u212B", "\u00C5"}};
  for (const auto& [decomposed, composed] : cases) {
    EXPECT_EQ(qwen2->encode(decomposed), qwen2->encode(composed)) << printable(decomposed);
  }
  EXPECT_EQ(qwen2->decode(qwen2->encode("e\u0301")), "\u00E9");
  // The others leave texts as they are.
  EXPECT_NE(make_gguf_tokenizer(with_pre("gpt-2"))->encode("e\u0301"),
            make_gguf_tokenizer(with_pre("gpt-2"))->encode("\u00E9"));
}

TEST(TokenizerParity, Qwen2DoesNotComposeAcrossASpecialToken) {
  const auto qwen2 = make_gguf_tokenizer(with_pre("qwen2"));
  const std::string text = "e<|im_end|>\u0301";
  auto apart = qwen2->encode("e");
  for (const char* piece : {"<|im_end|>", "\u0301"}) {
    const auto ids = qwen2->encode(piece);
    apart.insert(apart.end(), ids.begin(), ids.end());
  }
  EXPECT_EQ(qwen2->encode(text), apart);
}

TEST(TokenizerParity, IrEncodesAsTheReference) {
  expect_encodes(*make_ir_tokenizer(ir_folder()),
                 ir_has_unknown_token() ? &ReferenceCase::ids_ir_unknown : &ReferenceCase::ids_ir);
}

TEST(TokenizerParity, IrDecodesAsTheReference) { expect_decodes(*make_ir_tokenizer(ir_folder())); }

TEST(TokenizerParity, IrStreamsWhatItDecodes) { expect_streams(*make_ir_tokenizer(ir_folder())); }

}  // namespace
}  // namespace ahead::text
