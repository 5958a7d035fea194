// What Tokenizer promises beyond parity: nothing added, nothing cut off, errors that name the
// fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <openvino/runtime/tensor.hpp>
#include <string>
#include <thread>
#include <vector>

#include "ahead/error.h"
#include "text/gguf_tokenizer.h"
#include "text/ir_tokenizer.h"
#include "tokenizer_fixture.h"

namespace ahead::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TokenizerContract, EmptyInputGivesNothing) {
  const auto tokenizer = make_gguf_tokenizer(gguf_metadata());
  EXPECT_THAT(tokenizer->encode(""), ElementsAre());
  EXPECT_EQ(tokenizer->decode({}), "");
}

TEST(TokenizerContract, TheModelsEndTokensAreKnown) {
  // <|im_end|>, which the file names, and <|endoftext|>, which every runtime takes for an end.
  EXPECT_THAT(make_gguf_tokenizer(gguf_metadata())->end_tokens(), ElementsAre(2, 0));
}

template <typename T>
ov::Tensor one(ov::element::Type type, T value) {
  ov::Tensor tensor(type, {});
  *tensor.data<T>() = value;
  return tensor;
}

TEST(TokenizerContract, AnEndThatTheFileDoesNotNameIsOne) {
  ov::AnyMap metadata = gguf_metadata();
  metadata["eos_token_id"] = one<std::uint32_t>(ov::element::u32, 0);
  EXPECT_THAT(make_gguf_tokenizer(metadata)->end_tokens(), ElementsAre(0, 2));
  // Spelled by an ordinary token it is none.
  const ov::Tensor& before = metadata.at("token_type").as<ov::Tensor>();
  ov::Tensor types(before.get_element_type(), before.get_shape());
  before.copy_to(types);
  types.data<std::int32_t>()[2] = 1;
  metadata["token_type"] = types;
  EXPECT_THAT(make_gguf_tokenizer(metadata)->end_tokens(), ElementsAre(0));
}

TEST(TokenizerContract, EndTokensMayBeIntegersOfAnyType) {
  const std::vector<ov::Tensor> ids = {
      one<std::uint8_t>(ov::element::u8, 9),   one<std::int8_t>(ov::element::i8, 9),
      one<std::uint16_t>(ov::element::u16, 9), one<std::int16_t>(ov::element::i16, 9),
      one<std::int32_t>(ov::element::i32, 9),  one<std::int64_t>(ov::element::i64, 9),
      one<std::uint64_t>(ov::element::u64, 9)};
  for (const ov::Tensor& id : ids) {
    ov::AnyMap metadata = gguf_metadata();
    metadata["eos_token_id"] = id;
    // All ones say that there is none.
    metadata["eot_token_id"] = one<std::int32_t>(ov::element::i32, -1);
    metadata["eom_token_id"] = one<std::uint32_t>(ov::element::u32, 0xFFFFFFFF);
    EXPECT_THAT(make_gguf_tokenizer(metadata)->end_tokens(), ElementsAre(9, 0, 2))
        << id.get_element_type();
  }
}

TEST(TokenizerContract, SmolLm2ExpectsNothingInFrontOfAText) {
  EXPECT_THAT(make_gguf_tokenizer(gguf_metadata())->prefix(), ElementsAre());
  EXPECT_THAT(make_ir_tokenizer(ir_folder())->prefix(), ElementsAre());
}

TEST(TokenizerContract, AFirstTokenTheFileAsksForIsThePrefixAndNotEncoded) {
  const auto with = [](std::uint8_t add, std::uint32_t id) {
    ov::AnyMap metadata = gguf_metadata();
    ov::Tensor flag(ov::element::boolean, {});
    *static_cast<std::uint8_t*>(flag.data()) = add;
    ov::Tensor token(ov::element::u32, {});
    *token.data<std::uint32_t>() = id;
    metadata["add_bos_token"] = flag;
    metadata["bos_token_id"] = token;
    return metadata;
  };
  const auto tokenizer = make_gguf_tokenizer(with(1, 7));
  EXPECT_THAT(tokenizer->prefix(), ElementsAre(7));
  EXPECT_EQ(tokenizer->encode("x"), make_gguf_tokenizer(gguf_metadata())->encode("x"));
  EXPECT_THAT(make_gguf_tokenizer(with(0, 7))->prefix(), ElementsAre());
  ov::AnyMap plain = with(0, 7);
  plain["add_bos_token"] = true;
  EXPECT_THAT(make_gguf_tokenizer(plain)->prefix(), ElementsAre(7));
  expect_error(ErrorKind::kInvalidModel, "bos_token_id is 49152 of 49152",
               [&] { (void)make_gguf_tokenizer(with(1, 49152)); });
  plain.erase("bos_token_id");
  expect_error(ErrorKind::kInvalidModel, "has no tokenizer.ggml.bos_token_id",
               [&] { (void)make_gguf_tokenizer(plain); });
  plain["add_bos_token"] = std::string("yes");
  expect_error(ErrorKind::kInvalidModel, "add_bos_token is not a yes or no",
               [&] { (void)make_gguf_tokenizer(plain); });
}

TEST(TokenizerContract, FaultsInUtf8AreReadAsReplacementCharacters) {
  const auto tokenizer = make_gguf_tokenizer(gguf_metadata());
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a\xFF", "a\xEF\xBF\xBD"},
      {"\xE4\xBD", "\xEF\xBF\xBD"},
      {"\xED\xA0\x80x", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx"},
      {std::string(1000, '\x80') + " <|im_end|>\xC0", ""}};
  for (const auto& [faulty, read_as] : cases) {
    const auto ids = tokenizer->encode(faulty);
    if (!read_as.empty()) {
      EXPECT_EQ(ids, tokenizer->encode(read_as));
      EXPECT_EQ(tokenizer->decode(ids), read_as);
    }
  }
}

TEST(TokenizerContract, DecodeGivesTheBytesOfPartsOfACharacter) {
  const auto gguf = make_gguf_tokenizer(gguf_metadata());
  const auto ir = make_ir_tokenizer(ir_folder());
  const std::string text = "\xF0\xA0\x9C\x8E";  // a rare character: more than one token
  for (const Tokenizer* tokenizer : {gguf.get(), ir.get()}) {
    const auto ids = tokenizer->encode(text);
    ASSERT_GE(ids.size(), 2U);
    std::string bytes;
    for (const std::int32_t id : ids) bytes += tokenizer->decode({&id, 1});
    EXPECT_EQ(printable(bytes), printable(text));
  }
}

TEST(TokenizerContract, IdsBeyondTheVocabularyHaveNoText) {
  const std::vector<std::int32_t> ids = {-1, 1000000, 2147483647};
  EXPECT_EQ(make_gguf_tokenizer(gguf_metadata())->decode(ids), "");
}

TEST(TokenizerContract, LongTextsAreNotCutOff) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += " the";
  const auto gguf = make_gguf_tokenizer(gguf_metadata());
  const auto ir = make_ir_tokenizer(ir_folder());
  for (const Tokenizer* tokenizer : {gguf.get(), ir.get()}) {
    const auto ids = tokenizer->encode(text);
    EXPECT_EQ(ids.size(), 20000U);
    EXPECT_EQ(tokenizer->decode(ids), text);
  }
}

TEST(TokenizerContract, LongRunsWithoutASplitAreEncodedWhole) {
  const auto tokenizer = make_gguf_tokenizer(gguf_metadata());
  for (const std::string unit : {"a", " ", "\n", "-", "xyz", "\xE4\xBD\xA0", "\xF0\x9F\x98\x80"}) {
    std::string text;
    while (text.size() < 200000) text += unit;
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
}

TEST(TokenizerContract, CallsFromSeveralThreadsDoNotMix) {
  const auto tokenizer = make_gguf_tokenizer(gguf_metadata());
  std::vector<std::jthread> threads;
  for (std::size_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      for (std::size_t i = first; i < reference().size(); i += 2) {
        const ReferenceCase& c = reference()[i];
        EXPECT_EQ(tokenizer->encode(c.text), c.ids);
        EXPECT_EQ(tokenizer->decode(c.ids).empty(), c.decoded.empty());
      }
    });
  }
}

TEST(TokenizerContract, UnsupportedTokenizersAreRefusedByName) {
  ov::AnyMap metadata = gguf_metadata();
  metadata["pre"] = std::string("deepseek-llm");
  expect_error(ErrorKind::kUnsupportedModel, "'deepseek-llm'",
               [&] { (void)make_gguf_tokenizer(metadata); });
  metadata["model"] = std::string("t5");
  expect_error(ErrorKind::kUnsupportedModel, "'t5'", [&] { (void)make_gguf_tokenizer(metadata); });
}

TEST(TokenizerContract, BrokenMetadataIsRefused) {
  const auto refuse = [](const std::string& part, const std::function<void(ov::AnyMap&)>& damage) {
    ov::AnyMap metadata = gguf_metadata();
    damage(metadata);
    expect_error(ErrorKind::kInvalidModel, part, [&] { (void)make_gguf_tokenizer(metadata); });
  };
  for (const char* key : {"model", "pre", "tokens", "merges", "token_type"}) {
    refuse(key + std::string(" is missing"), [&](ov::AnyMap& m) { m.erase(key); });
    refuse(key + std::string(" has the wrong type"), [&](ov::AnyMap& m) { m[key] = 1.0F; });
  }
  refuse("no tokens", [](ov::AnyMap& m) { m["tokens"] = std::vector<std::string>(); });
  refuse("token_type has 3 entries",
         [](ov::AnyMap& m) { m["token_type"] = ov::Tensor(ov::element::i32, {3}); });
  refuse("merge 0 is not a pair",
         [](ov::AnyMap& m) { m["merges"] = std::vector<std::string>{"ab"}; });
  refuse("merge 1 has or makes", [](ov::AnyMap& m) {
    m["merges"] = std::vector<std::string>{"t h", "the zzzzq"};
  });
  const auto end = [](std::uint32_t id) {
    ov::Tensor tensor(ov::element::u32, {});
    *tensor.data<std::uint32_t>() = id;
    return tensor;
  };
  refuse("eos_token_id is 49152 of 49152", [&](ov::AnyMap& m) { m["eos_token_id"] = end(49152); });
  refuse("special token 1 is not UTF-8", [](ov::AnyMap& m) {
    auto tokens = m.at("tokens").as<std::vector<std::string>>();
    tokens[1] = "<\xFF>";
    m["tokens"] = tokens;
  });
}

TEST(TokenizerContract, UserDefinedTokensAreRecognisedAndKeepTheirText) {
  ov::AnyMap metadata = gguf_metadata();
  auto tokens = metadata.at("tokens").as<std::vector<std::string>>();
  const ov::Tensor& before = metadata.at("token_type").as<ov::Tensor>();
  ov::Tensor types(before.get_element_type(), before.get_shape());
  before.copy_to(types);
  // Runs of spaces, one a beginning of the other, and a text outside the byte-level alphabet.
  tokens[3] = "  ";
  tokens[4] = "    ";
  tokens[5] = "<\xC3\xA9>";
  for (const std::size_t id : {3, 4, 5}) types.data<std::int32_t>()[id] = 4;
  metadata["tokens"] = tokens;
  metadata["token_type"] = types;
  const auto tokenizer = make_gguf_tokenizer(metadata);
  const auto x = tokenizer->encode("x");
  EXPECT_THAT(tokenizer->encode("      x"), ElementsAre(4, 3, x.at(0)));
  EXPECT_THAT(tokenizer->encode("x<\xC3\xA9>    "), ElementsAre(x.at(0), 5, 4));
  const std::vector<std::int32_t> ids = {1, 5, 3};
  EXPECT_EQ(tokenizer->decode(ids), "<\xC3\xA9>  ");
}

TEST(TokenizerContract, ASpecialTokenIsRecognisedThoughMergingWouldMissIt) {
  ov::AnyMap metadata = gguf_metadata();
  auto tokens = metadata.at("tokens").as<std::vector<std::string>>();
  tokens[6] = "abc";  // special; the same text as the ordinary token that the last merge makes
  tokens[40000] = "ab";
  tokens[40001] = "bc";
  tokens[40002] = "abc";
  metadata["tokens"] = tokens;
  metadata["merges"] = std::vector<std::string>{"a b", "b c", "a bc"};
  const auto tokenizer = make_gguf_tokenizer(metadata);
  EXPECT_THAT(tokenizer->encode("abc"), ElementsAre(6));
  const auto halves = tokenizer->encode("abcab");
  ASSERT_EQ(halves.size(), 2U);
  EXPECT_EQ(halves[0], 6);
  EXPECT_EQ(tokens[static_cast<std::size_t>(halves[1])], "ab");
}

TEST(TokenizerContract, ALibraryThatIsNoneIsRefused) {
  expect_error(ErrorKind::kInvalidArgument, "/nowhere.so",
               [] { (void)make_gguf_tokenizer(gguf_metadata(), {.library = "/nowhere.so"}); });
  expect_error(ErrorKind::kInvalidArgument, "/nowhere.so",
               [] { (void)make_ir_tokenizer(ir_folder(), {.library = "/nowhere.so"}); });
}

}  // namespace
}  // namespace ahead::text
