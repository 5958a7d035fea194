// Where a run's tokens come from: the prompt, and the tokens it is forced along.
// May use: include/ahead.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ahead/llm_pipeline.h"

namespace ahead::cli {

/// What the options say.
struct PromptSource {
  std::optional<std::string> text;
  std::optional<std::string> file;
  std::optional<std::string> batch_file;  ///< a prompt a line
  std::optional<std::string> forced_file;
  std::optional<std::int64_t> first_of_forced;  ///< that many forced tokens are the prompt
  std::optional<std::string> messages_file;     ///< a conversation in place of a prompt
  std::optional<std::string> system;            ///< in front of the question
  /// A file, or one of known_templates(), in place of the model's own template.
  std::optional<std::string> chat_template;
  bool raw = false;            ///< the prompt is the text that the model reads
  bool parse_special = false;  ///< control tokens spelled in messages are these tokens
};

/// Throws Error(kInvalidArgument) unless there is exactly one prompt.
void check_source(const PromptSource& source);

/// What the files say: each either text, or token ids already.
struct PromptMaterial {
  std::string prompt;
  std::vector<std::string> batch;  ///< a prompt a line, in order; a line may be empty
  std::string messages;            ///< a JSON array; empty: there is no conversation
  std::string chat_template;       ///< Jinja; empty: the model's own
  std::string forced_text;
  std::vector<std::int32_t> forced_ids;
  std::vector<std::string> notes;  ///< worth telling of the texts
};

/// Reads the files. A forced file named *.ids or *.json holds token ids: a JSON array, or whole
/// numbers between blanks. Throws Error(kInvalidArgument).
[[nodiscard]] PromptMaterial read_material(const PromptSource& source);

/// A run's tokens.
struct PromptTokens {
  std::vector<std::int32_t> prompt;
  std::vector<std::int32_t> forced;
  std::vector<std::vector<std::int32_t>> batch;  ///< where its prompts went through a template
  std::string chat;  ///< where the template is from that the prompt went through; empty: none
  std::vector<std::string> notes;  ///< worth telling: what of the texts the model does not get
};

/// What a model makes of texts, as ahead::Model has it.
struct TextReader {
  std::int64_t vocabulary = 0;
  std::function<std::vector<std::int32_t>(std::string_view text)> encode;
  std::function<PromptIds(std::string_view text)> prompt_ids;
  std::function<UnspelledText(std::string_view text)> unspelled;
  /// Where the model's chat template is from; empty: it has none.
  std::string chat_origin = {};
  std::function<std::vector<std::int32_t>(const ChatPrompt& prompt)> chat_ids = {};
};

/// The prompt, unless there is a batch of them, and the forced tokens. Throws
/// Error(kInvalidArgument) for a prompt without tokens, an id outside the vocabulary, and
/// more prompt tokens than the forced file leaves.
[[nodiscard]] PromptTokens tokens_of(const PromptSource& source, const PromptMaterial& material,
                                     const TextReader& reader);

}  // namespace ahead::cli
