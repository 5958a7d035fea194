// Tokens of whole conversations on real files, against reference tokenizers (make_chat_ids.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ahead/chat.h"
#include "ahead/llm_pipeline.h"

namespace ahead::test {
namespace {

using Json = nlohmann::ordered_json;

struct Real {
  const char* name;
  const char* file;   ///< below the dependencies
  const char* first;  ///< the one token that all begins with; empty: the template puts none
  const char* end;    ///< of a turn
};

class ChatIds : public testing::TestWithParam<Real> {};

INSTANTIATE_TEST_SUITE_P(
    Files, ChatIds,
    testing::Values(Real{"SmolLM2", "model/SmolLM2-135M-Instruct.Q4_1.gguf", "", "<|im_end|>"},
                    Real{"Qwen2.5", "models/Qwen2.5-Coder-0.5B-Instruct.Q4_K_M.gguf", "",
                         "<|im_end|>"},
                    Real{"Gemma3", "models/gemma-3-270m.Q4_K_M.gguf", "<bos>", "<end_of_turn>"}),
    [](const auto& real) {
      std::string name = real.param.name;
      std::erase(name, '.');
      return name;
    });

TEST_P(ChatIds, AreTheReferences) {
  const Real& real = GetParam();
  const std::string path = std::string(AHEAD_TEST_DEPS_DIR) + "/" + real.file;
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << path << " is not there; scripts/setup.sh --models fetches it";
  }
  const Json all = Json::parse(std::ifstream(AHEAD_SOURCE_DIR "/tests/chat/chat_ids.json"));
  const Json& expected = all.at(real.name);
  const Model model(path);
  ASSERT_GE(expected.at("cases").size(), 2U);
  for (const Json& one : expected.at("cases")) {
    SCOPED_TRACE(one.at("what").get<std::string>());
    ChatPrompt prompt{.messages = one.at("messages").dump(),
                      .own_template = expected.at("template").get<std::string>()};
    prompt.open_answer = one.at("open").get<bool>();
    const auto ids = one.at("ids").get<std::vector<std::int32_t>>();
    EXPECT_EQ(model.chat_ids(prompt), ids);
    if (*real.first != '\0') {
      const std::vector<std::int32_t> first = model.encode(real.first);
      ASSERT_EQ(first.size(), 1U);
      EXPECT_EQ(ids.front(), first.front());
      EXPECT_EQ(std::count(ids.begin(), ids.end(), first.front()), 1);
    }
  }
  const std::vector<std::string> ends = model.end_tokens();
  EXPECT_NE(std::find(ends.begin(), ends.end(), real.end), ends.end());
}

TEST_P(ChatIds, AnAnswerStopsByItself) {
  const Real& real = GetParam();
  const std::string path = std::string(AHEAD_TEST_DEPS_DIR) + "/" + real.file;
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << path << " is not there; scripts/setup.sh --models fetches it";
  }
  if (std::string(real.name) == "Gemma3") {
    GTEST_SKIP() << "the file at hand is of the base model, which was not taught to answer";
  }
  LLMPipeline pipeline(path, "CPU", {.axes = {.ladder = {128, 256}}});
  const std::vector<std::int32_t> ids = pipeline.model().chat_ids(
      {.messages = one_question("What is the capital of France? Answer in one short sentence.")});
  const RunResult result = pipeline.generate(ids, {.max_new_tokens = 100});
  EXPECT_EQ(result.finish_reason, FinishReason::kStop);
  EXPECT_NE(result.text.find("Paris"), std::string::npos) << result.text;
  EXPECT_EQ(result.text.find("<|im"), std::string::npos) << result.text;
}

}  // namespace
}  // namespace ahead::test
