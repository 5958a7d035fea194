// What a GGUF file's header says that people want to know before anything is unpacked.
// May use: base, include/ahead.
#pragma once

#include "ahead/file_facts.h"
#include "model/gguf_header.h"

namespace ahead::model {

/// The facts but for the tokenizer's group, which is text/'s affair: FileFacts::tokenizer is left
/// empty.
[[nodiscard]] FileFacts gguf_facts(const GgufHeader& header);

/// Why gguf_reader.h refuses the file from its header alone: a sentence behind the file's name.
/// Empty where it does not.
[[nodiscard]] std::string refusal_of(const GgufHeader& header);

}  // namespace ahead::model
