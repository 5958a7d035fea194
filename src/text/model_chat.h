// A model's chat source, from a GGUF file's metadata or an IR folder. May use: std, OpenVINO.
#pragma once

#include <filesystem>
#include <map>
#include <openvino/core/any.hpp>
#include <string>

#include "text/chat_source.h"

namespace ahead::text {

/// `templates` with the marks and control tokens of the tokenizer's `metadata`, as the GGUF
/// frontend leaves them. Throws Error(kInvalidModel) for metadata that contradict themselves.
[[nodiscard]] ChatSource gguf_chat_source(const ov::AnyMap& metadata,
                                          std::map<std::string, std::string> templates);

/// What read_chat_source() finds, or else the template that the tokenizer's own graph carries.
[[nodiscard]] ChatSource ir_chat_source(const std::filesystem::path& folder);

}  // namespace ahead::text
