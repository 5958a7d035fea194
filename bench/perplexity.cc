// What a model makes of a text: for every token the chance it gave it, and the one it would have
// chosen. As JSON, which tests/oracle/perplexity.mjs holds against llama.cpp's.
// May use: include/ahead, CLI11, JSON.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ahead/llm_pipeline.h"

namespace {

double log_chance(std::span<const float> logits, std::int32_t id) {
  const float most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - most);
  return static_cast<double>(logits[static_cast<std::size_t>(id)]) - most - std::log(sum);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Chances that a model gives the tokens of a text");
  std::string path;
  std::string text = "data/forced.txt";
  std::int64_t tokens = 2000;
  std::int64_t ladder_top = 2048;
  bool f32 = false;
  app.add_option("MODEL", path)->required();
  app.add_option("--text", text);
  app.add_option("--tokens", tokens);
  app.add_option("--top", ladder_top);
  app.add_flag("--f32", f32, "The cache in f32");
  CLI11_PARSE(app, argc, argv);

  const ahead::Model model(path, {.unverified = true});
  std::vector<std::int32_t> ids = model.prompt_ids(text_of(text)).ids;
  ids.resize(std::min(ids.size(), static_cast<std::size_t>(tokens)));
  ahead::PipelineConfig config;
  config.axes.ladder = {ladder_top / 4, ladder_top / 2, ladder_top};
  if (f32) config.kv_type = ahead::KvType::kF32;
  ahead::LLMPipeline pipeline(model, "CPU", config);
  nlohmann::json out = {
      {"ids", ids}, {"log_chances", nlohmann::json::array()}, {"best", nlohmann::json::array()}};
  ahead::GenerationConfig generation;
  generation.forced_token_ids.assign(ids.begin() + 1, ids.end());
  generation.logits_observer = [&](const ahead::StepLogits& step) {
    const auto next = static_cast<std::size_t>(step.position) + 1;
    out["log_chances"].push_back(log_chance(step.values, ids.at(next)));
    out["best"].push_back(std::max_element(step.values.begin(), step.values.end()) -
                          step.values.begin());
  };
  const ahead::RunResult result = pipeline.generate(std::span(ids).first(1), generation);
  if (!result.error.empty()) throw std::runtime_error(result.error);
  std::cout << out << "\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << "perplexity: " << error.what() << "\n";
  return 1;
}
