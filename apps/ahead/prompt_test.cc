// Tests of where a run's tokens come from. May use: include/ahead, GoogleTest.
#include "prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "ahead/error.h"

namespace ahead::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// One token a byte.
std::vector<std::int32_t> bytes_of(std::string_view text) {
  std::vector<std::int32_t> ids;
  for (const char c : text) {
    ids.push_back(static_cast<unsigned char>(c));
  }
  return ids;
}

// Expects token 1 in front of every text, and cannot spell U+0004.
TextReader reader(std::int64_t vocabulary) {
  const auto spelled = [](std::string_view text) {
    std::vector<std::int32_t> ids = bytes_of(text);
    std::erase(ids, 4);
    return ids;
  };
  return {.vocabulary = vocabulary,
          .encode = spelled,
          .prompt_ids =
              [spelled](std::string_view text) {
                PromptIds out{.ids = spelled(text)};
                out.prefix_was_there = !out.ids.empty() && out.ids.front() == 1;
                return out;
              },
          .unspelled =
              [](std::string_view text) {
                const auto count = std::count(text.begin(), text.end(), '\x04');
                return UnspelledText{.count = count, .first = count > 0 ? "U+0004" : ""};
              }};
}

class Prompts : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ahead_prompt_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& contents) {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << contents;
    return path.string();
  }

  static PromptTokens tokens(const PromptSource& source, std::int64_t vocabulary = 256) {
    check_source(source);
    return tokens_of(source, read_material(source), reader(vocabulary));
  }

  static std::string refusal(const PromptSource& source) {
    try {
      (void)tokens(source);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
      return error.what();
    }
    return "accepted";
  }

  fs::path folder_;
};

TEST_F(Prompts, ATextIsThePromptAsItIsAndAFileButForItsLastLineEnd) {
  EXPECT_THAT(tokens({.text = "ab\n"}).prompt, ElementsAre('a', 'b', '\n'));
  EXPECT_THAT(tokens({.file = file("p.txt", "a\n\n")}).prompt, ElementsAre('a', '\n'));
  EXPECT_THAT(tokens({.text = "ab"}).forced, IsEmpty());
}

TEST_F(Prompts, AForcedTextIsSplitIntoPromptAndRest) {
  const PromptTokens split = tokens({.forced_file = file("f.txt", "abcde"), .first_of_forced = 2});
  EXPECT_THAT(split.prompt, ElementsAre('a', 'b'));
  EXPECT_THAT(split.forced, ElementsAre('c', 'd', 'e'));
}

TEST_F(Prompts, AForcedFileMayFollowAnotherPrompt) {
  const PromptTokens both = tokens({.text = "xy", .forced_file = file("f.txt", "ab")});
  EXPECT_THAT(both.prompt, ElementsAre('x', 'y'));
  EXPECT_THAT(both.forced, ElementsAre('a', 'b'));
}

TEST_F(Prompts, TokenIdsComeAsJsonOrAsWords) {
  for (const std::string& path :
       {file("f.json", " [5, 6,\n7]"), file("g.ids", "5 6\n7\n"), file("h.ids", "[5,6,7]")}) {
    const PromptTokens split = tokens({.forced_file = path, .first_of_forced = 1});
    EXPECT_THAT(split.prompt, ElementsAre(5)) << path;
    EXPECT_THAT(split.forced, ElementsAre(6, 7)) << path;
  }
}

TEST_F(Prompts, IdsThatAreNoneAreNamed) {
  const auto ids = [&](const std::string& name, const std::string& text) {
    return refusal({.forced_file = file(name, text), .first_of_forced = 1});
  };
  EXPECT_THAT(ids("a.ids", "5 x 7"), AllOf(HasSubstr("item 1"), HasSubstr("'x'")));
  EXPECT_THAT(ids("b.ids", "5 -1"), HasSubstr("'-1'"));
  EXPECT_THAT(ids("c.ids", "5 99999999999"), HasSubstr("'99999999999'"));
  EXPECT_THAT(ids("d.json", "[5, -1]"), HasSubstr("'-1'"));
  EXPECT_THAT(ids("e.json", "[5, 1.5]"), HasSubstr("'1.5'"));
  EXPECT_THAT(ids("f.json", "[5, \"a\xFF\"]"), HasSubstr("not a JSON array"));
  EXPECT_THAT(ids("g.json", "[5, 18446744073709551615]"), HasSubstr("item 1"));
  EXPECT_THAT(ids("h.json", "[5, 4294967296]"), HasSubstr("item 1"));
  EXPECT_THAT(ids("i.json", "[5, 6"), HasSubstr("not a JSON array"));
  EXPECT_THAT(ids("j.json", "{\"ids\": [5]}"), HasSubstr("not a JSON array"));
  EXPECT_THAT(ids("k.json", "[]"), HasSubstr("no token id"));
  EXPECT_THAT(ids("l.ids", " \n"), HasSubstr("no token id"));
  EXPECT_THAT(ids("m.ids", "5 256"), AllOf(HasSubstr("256"), HasSubstr("vocabulary")));
}

TEST_F(Prompts, IdsNestedDeepAreRefusedAndDoNotOverflowTheStack) {
  const auto ids = [&](const std::string& name, const std::string& text) {
    return refusal({.forced_file = file(name, text), .first_of_forced = 1});
  };
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) {
    objects += "{\"a\":";
  }
  const std::string arrays(4'000'000, '[');
  EXPECT_THAT(ids("a.json", arrays + std::string(arrays.size(), ']')),
              HasSubstr("item 0 is an array"));
  EXPECT_THAT(ids("b.json", arrays), HasSubstr("item 0 is an array"));
  EXPECT_THAT(ids("c.json", "[5, " + objects), HasSubstr("item 1 is an object"));
  EXPECT_THAT(ids("d.json", objects), HasSubstr("not a JSON array"));
  EXPECT_THAT(ids("e.json", "[5, null, 6]"), HasSubstr("item 1 is null"));
  EXPECT_THAT(ids("f.json", "[5, \"6\"]"), HasSubstr("item 1 is the string '6'"));
}

TEST_F(Prompts, AFileThatIsTooLargeIsRefusedBeforeItFillsTheMemory) {
  const std::string path = file("large.txt", "");
  fs::resize_file(path, (std::uintmax_t{64} << 20U) + 1);
  EXPECT_THAT(refusal({.file = path}), AllOf(HasSubstr("large.txt"), HasSubstr("64.0 MiB")));
}

TEST_F(Prompts, ThereIsExactlyOnePrompt) {
  const std::string forced = file("f.txt", "abc");
  EXPECT_THAT(refusal({}), HasSubstr("no prompt"));
  EXPECT_THAT(refusal({.forced_file = forced}), HasSubstr("no prompt"));
  EXPECT_THAT(refusal({.text = "a", .file = forced}), HasSubstr("more than one"));
  EXPECT_THAT(refusal({.text = "a", .forced_file = forced, .first_of_forced = 1}),
              HasSubstr("more than one"));
  EXPECT_THAT(refusal({.first_of_forced = 7}), AllOf(HasSubstr("7"), HasSubstr("--force")));
}

TEST_F(Prompts, WithoutTokensThereIsNothingToGoOnFrom) {
  EXPECT_THAT(refusal({.text = ""}), HasSubstr("is empty"));
  EXPECT_THAT(refusal({.file = file("p.txt", "")}), HasSubstr("is empty"));
  EXPECT_THAT(refusal({.text = "a", .forced_file = file("f.txt", "")}), HasSubstr("is empty"));
}

TEST_F(Prompts, APromptLeavesSomethingToForce) {
  const std::string forced = file("f.txt", "abc");
  EXPECT_THAT(refusal({.forced_file = forced, .first_of_forced = 3}),
              AllOf(HasSubstr("--prompt-tokens 3"), HasSubstr("has 3 tokens")));
  EXPECT_EQ(refusal({.forced_file = forced, .first_of_forced = 2}), "accepted");
}

TEST_F(Prompts, AFileThatCanNotBeReadIsNamed) {
  EXPECT_THAT(refusal({.file = "none.txt"}),
              AllOf(HasSubstr("'none.txt'"), HasSubstr("No such file")));
  EXPECT_THAT(refusal({.file = folder_.string()}), HasSubstr("it is a folder"));
  EXPECT_THAT(refusal({.forced_file = "none.ids", .first_of_forced = 1}),
              AllOf(HasSubstr("--force"), HasSubstr("'none.ids'")));
}

TEST_F(Prompts, WhatTheVocabularyCannotSpellIsToldOnceOrIsNoPrompt) {
  const PromptTokens some = tokens({.file = file("p.txt",
                                                 "a\x04"
                                                 "b\x04")});
  EXPECT_THAT(some.prompt, ElementsAre('a', 'b'));
  EXPECT_THAT(some.notes, ElementsAre(AllOf(HasSubstr("p.txt"), HasSubstr("2 characters"),
                                            HasSubstr("U+0004"))));
  EXPECT_THAT(refusal({.file = file("q.txt", "\x04\x04")}),
              AllOf(HasSubstr("q.txt"), HasSubstr("U+0004"), Not(HasSubstr("is empty"))));
  EXPECT_THAT(tokens({.batch_file = file("b.txt", "a\x04\nb\nc\x04\n")}).notes,
              ElementsAre(AllOf(HasSubstr("b.txt"), HasSubstr("2 characters"))));
  EXPECT_THAT(tokens({.text = "ab"}).notes, IsEmpty());
}

TEST_F(Prompts, AFirstTokenThatIsThereAlreadyIsTold) {
  const PromptTokens made = tokens({.text = "\x01"
                                            "b"});
  EXPECT_THAT(made.prompt, ElementsAre(1, 'b'));
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("second time")));
}

}  // namespace
}  // namespace ahead::cli
