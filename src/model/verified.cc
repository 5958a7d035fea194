// The table. A line is added with the test that it names, and only then. May use: std.
#include "model/verified.h"

#include <array>

namespace ahead::model {
namespace {

struct Line {
  Format format;
  std::string_view architecture;
};

constexpr std::string_view kByLlamaCpp =
    "llama.cpp's tokens, over tiny files of the family (tests/oracle)";
constexpr std::string_view kByOpenVino =
    "OpenVINO's own run of the exported graph, over tiny folders of the family (tests/ir)";

constexpr auto kTable = std::to_array<Line>({
    {Format::kGguf, "gemma"},     {Format::kGguf, "gemma3"},   {Format::kGguf, "gpt-oss"},
    {Format::kGguf, "llama"},     {Format::kGguf, "mistral3"}, {Format::kGguf, "olmoe"},
    {Format::kGguf, "phi3"},      {Format::kGguf, "qwen2"},    {Format::kGguf, "qwen3"},
    {Format::kGguf, "qwen3moe"},  {Format::kGguf, "smollm3"},  {Format::kIr, "gemma2"},
    {Format::kIr, "gemma3_text"}, {Format::kIr, "gpt2"},       {Format::kIr, "gpt_neox"},
    {Format::kIr, "gpt_oss"},     {Format::kIr, "granite"},    {Format::kIr, "llama"},
    {Format::kIr, "mistral"},     {Format::kIr, "olmo2"},      {Format::kIr, "phi"},
    {Format::kIr, "phi3"},        {Format::kIr, "qwen2"},      {Format::kIr, "qwen3"},
    {Format::kIr, "qwen3_moe"},   {Format::kIr, "smollm3"},    {Format::kIr, "stablelm"},
    {Format::kIr, "deepseek_v3"},
});

}  // namespace

std::string_view verified_by(Format format, std::string_view architecture) {
  for (const Line& line : kTable) {
    if (line.format != format || line.architecture != architecture) continue;
    return format == Format::kGguf ? kByLlamaCpp : kByOpenVino;
  }
  return {};
}

std::string verified_architectures(Format format) {
  std::string all;
  for (const Line& line : kTable) {
    if (line.format != format) continue;
    all += (all.empty() ? "" : ", ") + std::string(line.architecture);
  }
  return all;
}

}  // namespace ahead::model
