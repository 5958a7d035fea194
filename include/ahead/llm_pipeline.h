// The public door: open a model, choose the axes, generate.
//
//   ahead::LLMPipeline pipeline("SmolLM2.gguf", "CPU", {.axes = {.ladder = {1024, 2048}}});
//   auto result = pipeline.generate("The sea is", {.max_new_tokens = 64},
//                                   [](std::string_view text) {
//                                     std::cout << text << std::flush;
//                                     return ahead::StreamingStatus::kRunning;
//                                   });
//
// Named as users of OpenVINO GenAI's LLMPipeline expect. See generation_config.h and run_result.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ahead/axes.h"
#include "ahead/chat.h"
#include "ahead/error.h"
#include "ahead/generation_config.h"
#include "ahead/run_result.h"

namespace ahead {

/// Tokens of a prompt.
struct PromptIds {
  std::vector<std::int32_t> ids;  ///< behind those that the model expects in front of every text
  /// The text itself began with them, so they were not put there a second time.
  bool prefix_was_there = false;
};

/// What of a text a model does not get to see as it is.
struct UnspelledText {
  /// Characters, each time that they stand in the text, for which the vocabulary has no tokens:
  /// they are left out, or become others.
  std::int64_t count = 0;
  std::string first;             ///< the first of them as "U+0004"; empty: there is none
  std::int64_t broken_utf8 = 0;  ///< bytes that are no UTF-8; they are read as U+FFFD
  std::int64_t broken_at = -1;   ///< the first of these, counted from 0; -1: there is none
};

struct ModelOptions {
  /// Opens models too of an architecture of which no test shows that it is computed right; what
  /// runs so says it (ModelFacts::verified_by).
  bool unverified = false;
};

/// A model read from a GGUF file, whatever its name, or an OpenVINO IR folder; cheap to copy,
/// shared by pipelines. Reading may be done on any thread; the object is immutable afterwards.
class Model {
 public:
  /// Throws Error(kInvalidModel | kUnsupportedModel), Error(kOutOfMemory) where memory, threads or
  /// open files ran out, and Error(kIo) for a file that changes meanwhile.
  explicit Model(const std::string& path, const ModelOptions& options = {});

  [[nodiscard]] const ModelFacts& facts() const;

  /// Token ids of `text`, with no token added. Thread-safe.
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const;

  /// Tokens that the model expects in front of every text, such as a beginning-of-sequence token;
  /// often none. LLMPipeline::generate() puts them in front of a text prompt by itself.
  [[nodiscard]] std::vector<std::int32_t> prefix() const;

  /// Tokens of a prompt as generate() makes them of a text: prefix(), unless the text begins with
  /// those tokens itself (as what a chat template renders does), and encode(). Thread-safe.
  [[nodiscard]] PromptIds prompt_ids(std::string_view text) const;

  /// Tokens that end generation, as they are written; those whose text is not known by number.
  [[nodiscard]] std::vector<std::string> end_tokens() const;

  /// Where the model's own chat template is from (ChatFacts::origin).
  [[nodiscard]] const std::string& chat_origin() const;

  /// What the model's own chat template takes. Renders it a few times.
  [[nodiscard]] ChatFacts chat_facts() const;

  /// The text that the model reads of a conversation. Thread-safe. Throws Error(kInvalidArgument)
  /// where there is no template, or it refuses the conversation, in its words; Error(kInvalidModel)
  /// for a template that is broken or goes over its limits of time and size.
  [[nodiscard]] std::string render(const ChatPrompt& prompt) const;

  /// Its tokens, with nothing put in front: the template does that. Throws as render() does.
  [[nodiscard]] std::vector<std::int32_t> chat_ids(const ChatPrompt& prompt) const;

  /// Tells what of `text` encode() leaves out or cannot keep. Thread-safe.
  [[nodiscard]] UnspelledText unspelled(std::string_view text) const;

  /// Text of `ids`, special tokens left out. Thread-safe.
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids) const;

  /// SHA-256 of the weights' file, in hexadecimal; read and hashed at each call. It is that of the
  /// file that was opened, though its name be gone or another's by now. Throws Error(kIo) naming it
  /// when it cannot be read, or was written to since.
  [[nodiscard]] std::string sha256() const;

  /// Seconds it took to read.
  [[nodiscard]] double load_s() const;

  struct Impl;

 private:
  friend class LLMPipeline;
  std::shared_ptr<const Impl> impl_;
};

/// How a pipeline is set up; everything has a default that works.
struct PipelineConfig {
  Axes axes;
  /// What the cache stores. Empty: f16 with Partition::kAttention where the device computes in f16,
  /// otherwise f32; RunResult::kv_type says what was chosen.
  std::optional<KvType> kv_type;
  /// Kept for the result only; nothing branches on it.
  std::string design;
  /// Prompt tokens that go through the device at once. Above 0.
  std::int64_t prefill_chunk = 128;
  /// Schedule planned: sizes of chunks that a prompt may be read in, beside going token by token.
  /// Empty: prefill_chunk and a quarter of it.
  std::vector<std::int64_t> chunks;
  /// Schedule planned: the prompt begins in chunks of that many tokens. Empty: the planner chooses.
  std::optional<std::int64_t> first_chunk;
  /// Schedule planned: weights in compiled programs take at most that many bytes, but for what a
  /// step cannot do without. 0: no limit.
  std::int64_t program_bytes_limit = 0;
  /// Schedule planned: a file that keeps what compiles and steps took for the next process; made
  /// when it is not there, not used when it is damaged or of another machine, model or version.
  /// Empty: nothing is kept.
  std::string history;
  /// Rungs whose programs stay in memory. The current one and its successor are what a switch
  /// needs: at least 2.
  std::int64_t resident_rungs = 2;
  /// Cores for the device, a thread each, and for background compiles; an error where the process
  /// cannot have them. Empty: chosen by what the process may use (RunResult::cores), and done
  /// without where the kernel refuses.
  std::vector<int> device_cores;
  std::vector<int> compile_cores;
  /// For tests of failure: a background compile of this decode rung fails with this message.
  struct InjectedFailure {
    std::int64_t rung = 0;
    std::string message;
  };
  std::optional<InjectedFailure> inject_compile_failure;
};

/// Generates text from one model on one device. One generate() at a time. Programs stay compiled
/// between calls as far as the schedule keeps them.
class LLMPipeline {
 public:
  /// Throws Error(kInvalidArgument) for axes or a device that cannot be.
  LLMPipeline(const Model& model, const std::string& device, const PipelineConfig& config = {});
  LLMPipeline(const std::string& path, const std::string& device,
              const PipelineConfig& config = {});
  /// Waits for the one compile call that may be running, and for nothing else.
  ~LLMPipeline();
  LLMPipeline(const LLMPipeline&) = delete;
  LLMPipeline& operator=(const LLMPipeline&) = delete;

  /// Generates from a text, behind the tokens the tokenizer puts in front of every text. The
  /// calling thread is the decode thread; it is pinned to the device cores for the duration of the
  /// call.
  ///
  /// Throws Error before the first token only. A failure after it ends generation: the tokens so
  /// far stand in the result and `result.error` says what happened.
  RunResult generate(std::string_view prompt, const GenerationConfig& config = {},
                     const Streamer& streamer = {});

  /// The same from token ids.
  RunResult generate(std::span<const std::int32_t> prompt_ids, const GenerationConfig& config = {},
                     const Streamer& streamer = {});

  /// Prompts that generate_batch() takes at most.
  static constexpr std::size_t kMaxBatch = 8;

  /// Generates from several prompts together, each as generate() would alone: with its own length,
  /// its own end and, where the partition cuts at attention, its own rung. `config` is every
  /// sequence's; forced tokens are too. `result.rows` has an entry a prompt; one that cannot run
  /// (an empty prompt, one longer than the last rung, one beyond kMaxBatch) says why in its
  /// `error`, and the others run. Throws Error as generate() does, and when no prompt can run.
  RunResult generate_batch(std::span<const std::string> prompts,
                           const GenerationConfig& config = {}, const BatchStreamer& streamer = {});

  /// The same from token ids.
  RunResult generate_batch(std::span<const std::vector<std::int32_t>> prompts,
                           const GenerationConfig& config = {}, const BatchStreamer& streamer = {});

  [[nodiscard]] const Model& model() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The version of the library, "major.minor.patch".
[[nodiscard]] std::string_view version();

}  // namespace ahead
