// Tests of the result's JSON against the contract. May use: include/ahead, GoogleTest, nlohmann.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ahead/llm_pipeline.h"
#include "ahead/run_result.h"

namespace ahead {
namespace {

using Json = nlohmann::ordered_json;

RunResult full_result() {
  RunResult result;
  result.axes.ladder = {1024, 2048};
  result.kv_type = KvType::kF16;
  result.design = "mine";
  result.device = "CPU";
  result.executed_on = {"CPU"};
  result.model = {.path = "m.gguf",
                  .architecture = "llama",
                  .layers = 30,
                  .q_heads = 9,
                  .kv_heads = 3,
                  .head_dim = 64,
                  .value_dim = 64,
                  .vocabulary = 49152,
                  .trained_context = 8192,
                  .kv_values_per_token = 11520};
  result.model_sha256 = "ab12";
  result.tokens.prompt = 128;
  result.tokens.generated = 900;
  result.tokens.by_rung = {{1024, {.count = 896, .seconds = 14.5}},
                           {2048, {.count = 4, .seconds = 0.1}}};
  result.time_s.foreground_compile = 2.5;
  result.time_s.ttft = 3.5;
  result.time_s.ttft_cold = 4.25;
  result.compiles = {{.part = "decode",
                      .rung = 2048,
                      .begin_s = 3,
                      .end_s = 6,
                      .foreground = false,
                      .waited_s = 0,
                      .reason = "one ahead"}};
  result.boundaries = {{.from = 1024,
                        .to = 2048,
                        .at_token = 1024,
                        .ready = true,
                        .copied_bytes = 47185920,
                        .live_blocks = 480}};
  result.memory.kv_reserved_peak_bytes = 5;
  result.finish_reason = FinishReason::kMaxTokens;
  result.text = "the sea";
  result.token_ids = {1, 2, 3};
  return result;
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> out;
  for (const auto& [key, value] : object.items()) {
    out.push_back(key);
  }
  return out;
}

// The contract's keys, in its order; additions may stand between them.
void expect_in_order(const Json& object, const std::vector<std::string>& contract) {
  std::vector<std::string> found;
  for (const std::string& key : keys(object)) {
    if (std::find(contract.begin(), contract.end(), key) != contract.end()) {
      found.push_back(key);
    }
  }
  EXPECT_EQ(found, contract);
}

TEST(ResultJson, HasEveryKeyOfTheContractInItsOrder) {
  const Json json = Json::parse(to_json(full_result()));
  expect_in_order(json, {"ahead", "design", "axes", "device", "model", "tokens", "time_s",
                         "compiles", "boundaries", "memory", "output"});
  expect_in_order(json["axes"], {"ladder", "schedule", "kv", "partition"});
  expect_in_order(json["device"], {"name", "executed_on"});
  expect_in_order(json["model"], {"path", "sha256", "layers", "kv_heads", "head_dim", "kv_type"});
  expect_in_order(json["tokens"], {"prompt", "generated", "by_rung"});
  expect_in_order(json["tokens"]["by_rung"]["1024"], {"count", "seconds"});
  expect_in_order(json["time_s"],
                  {"load", "foreground_compile", "hidden_compile", "prefill", "ttft", "decode",
                   "boundary_wait", "migration", "critical_path"});
  expect_in_order(json["compiles"][0], {"part", "rung", "begin_s", "end_s", "foreground", "cache"});
  expect_in_order(json["boundaries"][0],
                  {"from", "to", "at_token", "ready", "wait_s", "migration_s", "copied_bytes"});
  expect_in_order(json["memory"],
                  {"kv_reserved_avg_bytes", "kv_reserved_peak_bytes", "kv_committed_avg_bytes",
                   "kv_committed_peak_bytes", "rss_peak_bytes"});
  expect_in_order(json["output"], {"text", "token_ids"});
}

TEST(ResultJson, CarriesTheValues) {
  const Json json = Json::parse(to_json(full_result()));
  EXPECT_EQ(json["ahead"], version());
  EXPECT_EQ(json["design"], "mine");
  EXPECT_EQ(json["axes"]["ladder"], Json({1024, 2048}));
  EXPECT_EQ(json["axes"]["schedule"], "planned");
  EXPECT_EQ(json["axes"]["kv"], "in-place");
  EXPECT_EQ(json["axes"]["partition"], "attention");
  EXPECT_EQ(json["device"]["executed_on"], Json({"CPU"}));
  EXPECT_EQ(json["model"]["kv_type"], "f16");
  EXPECT_EQ(json["model"]["sha256"], "ab12");
  EXPECT_EQ(json["model"]["layers"], 30);
  EXPECT_EQ(json["tokens"]["by_rung"]["2048"]["count"], 4);
  EXPECT_EQ(json["time_s"]["ttft_cold"], 4.25);
  EXPECT_EQ(json["compiles"][0]["cache"], "off");
  EXPECT_EQ(json["compiles"][0]["reason"], "one ahead");
  EXPECT_EQ(json["boundaries"][0]["ready"], true);
  EXPECT_EQ(json["boundaries"][0]["copied_bytes"], 47185920);
  EXPECT_EQ(json["finish_reason"], "max_tokens");
  EXPECT_EQ(json["error"], "");
  EXPECT_EQ(json["output"]["token_ids"], Json({1, 2, 3}));
}

TEST(ResultJson, ABatchHasItsRowsInOrder) {
  RunResult result;
  result.rows = {{.prompt = 3,
                  .generated = 2,
                  .rung = 64,
                  .finish_reason = FinishReason::kMaxTokens,
                  .text = "a b",
                  .token_ids = {1, 2}},
                 {.finish_reason = FinishReason::kError, .error = "the prompt has no tokens"}};
  const Json json = Json::parse(to_json(result));
  ASSERT_EQ(json["rows"].size(), 2U);
  expect_in_order(json["rows"][0],
                  {"prompt", "generated", "rung", "finish_reason", "error", "output"});
  EXPECT_EQ(json["rows"][0]["output"]["token_ids"], (std::vector<int>{1, 2}));
  EXPECT_EQ(json["rows"][0]["rung"], 64);
  EXPECT_EQ(json["rows"][1]["finish_reason"], "error");
  EXPECT_EQ(json["rows"][1]["error"], "the prompt has no tokens");
  EXPECT_FALSE(Json::parse(to_json(RunResult{})).contains("rows")) << "of a single sequence";
}

TEST(ResultJson, AnEmptyResultKeepsTheShapes) {
  RunResult result;
  result.error = "decode@2048: refused";
  const Json json = Json::parse(to_json(result));
  EXPECT_TRUE(json["tokens"]["by_rung"].is_object());
  EXPECT_TRUE(json["compiles"].is_array());
  EXPECT_TRUE(json["boundaries"].is_array());
  EXPECT_TRUE(json["output"]["token_ids"].is_array());
  EXPECT_TRUE(json["device"]["executed_on"].is_array());
  EXPECT_EQ(json["error"], "decode@2048: refused");
}

TEST(ResultJson, OneExecutedDeviceStaysAList) {
  RunResult result;
  result.executed_on = {"CPU", "NPU"};
  EXPECT_EQ(Json::parse(to_json(result))["device"]["executed_on"], Json::array({"CPU", "NPU"}));
  result.executed_on = {"CPU"};
  EXPECT_EQ(Json::parse(to_json(result))["device"]["executed_on"], Json::array({"CPU"}));
}

TEST(ResultJson, BytesThatAreNotUtf8AreReplaced) {
  RunResult result = full_result();
  result.text = "a\xC3(b\xFF";
  result.model.path = "\xE2\x82.gguf";
  const Json json = Json::parse(to_json(result));
  EXPECT_THAT(json["output"]["text"].get<std::string>(), ::testing::HasSubstr("\uFFFD"));
}

TEST(ResultJson, NumbersThatAreNotFiniteBecomeNull) {
  RunResult result = full_result();
  result.time_s.decode = std::numeric_limits<double>::quiet_NaN();
  result.time_s.ttft = std::numeric_limits<double>::infinity();
  const Json json = Json::parse(to_json(result));
  EXPECT_TRUE(json["time_s"]["decode"].is_null());
  EXPECT_TRUE(json["time_s"]["ttft"].is_null());
  EXPECT_EQ(json["time_s"]["foreground_compile"], 2.5);
}

TEST(FinishReasons, HaveTheirWords) {
  EXPECT_EQ(to_string(FinishReason::kStop), "stop");
  EXPECT_EQ(to_string(FinishReason::kMaxTokens), "max_tokens");
  EXPECT_EQ(to_string(FinishReason::kLength), "length");
  EXPECT_EQ(to_string(FinishReason::kStopped), "stopped");
  EXPECT_EQ(to_string(FinishReason::kCancelled), "cancelled");
  EXPECT_EQ(to_string(FinishReason::kError), "error");
}

}  // namespace
}  // namespace ahead
