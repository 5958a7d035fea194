// See end_names.h. May use: std.
#include "text/end_names.h"

#include <array>
#include <string_view>

namespace ahead::text {
namespace {

using namespace std::string_view_literals;

// Of texts, turns and messages, in the families that use them.
constexpr std::array kNames = {
    "<|endoftext|>"sv,          // GPT-2, Qwen, Phi, SmolLM
    "<|im_end|>"sv,             // ChatML: Qwen, SmolLM, Yi
    "<|end_of_text|>"sv,        // Llama 3, Granite
    "<|eot_id|>"sv,             // Llama 3
    "<|eom_id|>"sv,             // Llama 3.1, of a message that calls a tool
    "<|end|>"sv,                // Phi 3; gpt-oss: see below
    "<|return|>"sv,             // gpt-oss
    "<|call|>"sv,               // gpt-oss
    "<|end_of_turn|>"sv,        // OpenChat
    "<|END_OF_TURN_TOKEN|>"sv,  // Command R
    "<end_of_turn>"sv,          // Gemma
    "<turn|>"sv,                // Gemma 4
    "<eos>"sv,                  // Gemma
    "</s>"sv,                   // Llama 2, Mistral
    "<|EOT|>"sv,                // DeepSeek Coder
    "<EOT>"sv,                  // CodeLlama
    "_<EOT>"sv,
    "[EOT]"sv,               // Kimi
    "[EOS]"sv,               // Kimi
    "[|endofturn|]"sv,       // EXAONE
    "<end_of_utterance>"sv,  // SmolVLM
    // Behind what was filled in, Qwen Coder goes on to another file.
    "<|fim_pad|>"sv, "<|repo_name|>"sv, "<|file_sep|>"sv,
    "<\xEF\xBD\x9C"
    "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>"sv,  // DeepSeek
};

}  // namespace

std::vector<std::int32_t> named_end_tokens(const ControlTokenOf& id_of) {
  // There a message ends before the last one of an answer does.
  const bool goes_on_after_end = id_of("<|return|>") && id_of("<|call|>");
  std::vector<std::int32_t> ids;
  for (const std::string_view name : kNames) {
    if (name == "<|end|>" && goes_on_after_end) continue;
    if (const auto id = id_of(name)) ids.push_back(*id);
  }
  return ids;
}

}  // namespace ahead::text
