// What stands behind the public Model. May use: model, text, base, OpenVINO's Core by pointer.
#pragma once

#include <memory>
#include <string>

#include "ahead/llm_pipeline.h"
#include "base/input_file.h"
#include "model/reader.h"
#include "text/chat_source.h"
#include "text/tokenizer.h"

namespace ahead {

/// Immutable after construction; the tokenizer is thread-safe.
struct Model::Impl {
  std::shared_ptr<ov::Core> core;
  std::shared_ptr<const model::Decoder> decoder;
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::shared_ptr<const InputFile> weights;
  text::ChatSource chat;
  ModelFacts facts;
  double load_s = 0;
};

}  // namespace ahead
