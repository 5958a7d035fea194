// Where a model's chat template comes from. May use: std, JSON, base, ahead/error.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ahead::text {

/// A model's chat templates, and the texts of tokens that they may name.
struct ChatSource {
  /// By name; the usual one is "default". Empty: the model has none.
  std::map<std::string, std::string> templates;
  /// "bos_token" and its kin.
  std::map<std::string, std::string> marks;
  /// Control tokens as they are written out, which a user's text must not become.
  std::vector<std::string> controls;
  std::string origin;  ///< key or file of the templates, for people
};

/// Reads chat_template.jinja, additional_chat_templates/*.jinja and tokenizer_config.json of
/// `folder`, as Hugging Face's tools leave them there; what is not there is nothing. Throws
/// Error(kInvalidModel) naming the file that is broken.
[[nodiscard]] ChatSource read_chat_source(const std::filesystem::path& folder);

/// The template called `name`, or the usual one where `name` is empty and, where `tools` are given,
/// the one for tools if there is one. Throws Error(kInvalidArgument) naming those there are.
[[nodiscard]] const std::string& chosen_template(const ChatSource& source, const std::string& name,
                                                 bool tools);

}  // namespace ahead::text
