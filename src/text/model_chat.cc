// See model_chat.h. May use: std, OpenVINO.
#include "text/model_chat.h"

#include <openvino/runtime/core.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "text/gguf_metadata.h"
#include "text/tokenizers_library.h"

namespace ahead::text {

ChatSource gguf_chat_source(const ov::AnyMap& metadata,
                            std::map<std::string, std::string> templates) {
  ChatSource source;
  source.templates = std::move(templates);
  if (!source.templates.empty()) source.origin = "tokenizer.chat_template";
  const auto& tokens = required<std::vector<std::string>>(metadata, "tokens");
  const std::vector<std::int32_t> types = token_types(metadata, tokens.size());
  for (const auto& [mark, key] : {std::pair("bos_token", "bos_token_id"),
                                  {"eos_token", "eos_token_id"},
                                  {"unk_token", "unknown_token_id"},
                                  {"pad_token", "padding_token_id"}}) {
    const auto id = token_id(metadata, key, tokens.size());
    if (id) source.marks[mark] = tokens[static_cast<std::size_t>(*id)];
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (types[i] == kControl || types[i] == kUnknown) source.controls.push_back(tokens[i]);
  }
  return source;
}

ChatSource ir_chat_source(const std::filesystem::path& folder) {
  ChatSource source = read_chat_source(folder);
  const auto graph = folder / "openvino_tokenizer.xml";
  std::error_code ignored;
  if (!source.templates.empty() || !std::filesystem::exists(graph, ignored)) return source;
  ov::Core core;
  core.add_extension(default_tokenizers_library());
  const auto notes = core.read_model(graph)->get_rt_info();
  const auto found = notes.find("chat_template");
  if (found == notes.end() || !found->second.is<std::string>()) return source;
  source.templates["default"] = found->second.as<std::string>();
  source.origin = "openvino_tokenizer.xml";
  return source;
}

}  // namespace ahead::text
