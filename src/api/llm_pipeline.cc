// LLMPipeline: wires model, compiler, cache, runtime and text for one device.
#include "ahead/llm_pipeline.h"

#include <algorithm>
#include <utility>

#include "api/model_impl.h"
#include "api/request_check.h"
#include "api/text_output.h"
#include "base/affinity.h"
#include "base/check.h"
#include "base/memory.h"
#include "compile/failing_backend.h"
#include "compile/openvino_backend.h"
#include "kv/page_provider.h"
#include "runtime/session.h"
#include "text/sampler.h"

namespace ahead {
namespace {

ElementType to_element(KvType type) {
  return type == KvType::kF16 ? ElementType::kF16 : ElementType::kF32;
}

kv::Layout layout_of(const model::Decoder& decoder, const PipelineConfig& config) {
  kv::Layout layout;
  for (const model::AttentionShape& layer : decoder.layers) {
    layout.layers.push_back({.kv_heads = static_cast<std::size_t>(layer.kv_heads),
                             .head_dim = static_cast<std::size_t>(layer.head_dim)});
  }
  layout.block_rows = kv::block_rows_for(config.axes.ladder);
  layout.type = to_element(config.kv_type);
  return layout;
}

/// A core named twice is one core: threads are counted by them.
void drop_repeats(std::vector<int>& cores) {
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
}

/// Fills in the cores that were not named: the first for the device, the others for compiles.
PipelineConfig with_cores(PipelineConfig config) {
  drop_repeats(config.device_cores);
  drop_repeats(config.compile_cores);
  const std::vector<int> allowed = allowed_cores();
  if (allowed.empty()) return config;
  if (config.device_cores.empty()) config.device_cores = {allowed.front()};
  if (config.compile_cores.empty()) {
    for (const int core : allowed) {
      const auto& device = config.device_cores;
      if (std::find(device.begin(), device.end(), core) == device.end()) {
        config.compile_cores.push_back(core);
      }
    }
    if (config.compile_cores.empty()) config.compile_cores = config.device_cores;
  }
  return config;
}

PipelineConfig checked(PipelineConfig config, const ModelFacts& facts) {
  check_ladder(config.axes.ladder, facts.trained_context);
  if (config.prefill_chunk < 1) {
    throw Error(ErrorKind::kInvalidArgument, "a prefill chunk of " +
                                                 std::to_string(config.prefill_chunk) +
                                                 " tokens cannot be; give at least 1");
  }
  for (const auto& cores : {config.device_cores, config.compile_cores}) {
    if (!cores.empty()) const ScopedAffinity probe(cores);
  }
  return with_cores(std::move(config));
}

/// Takes the next token from a list, whatever the logits say.
class ForcedTokens {
 public:
  explicit ForcedTokens(const std::vector<std::int32_t>& ids) : ids_(ids) {}
  std::int32_t next() { return ids_.at(next_++); }

 private:
  const std::vector<std::int32_t>& ids_;
  std::size_t next_ = 0;
};

}  // namespace

struct LLMPipeline::Impl {
  Model model;
  std::string device;
  PipelineConfig config;
  const model::Decoder& decoder;
  SteadyClock clock;
  kv::OsPages pages;
  ThreadExecutor executor;
  compile::ProgramStore programs;

  Impl(const Model& opened, const std::shared_ptr<const model::Decoder>& graph,
       const std::shared_ptr<ov::Core>& core, std::string device_name, PipelineConfig chosen)
      : model(opened),
        device(std::move(device_name)),
        config(std::move(chosen)),
        decoder(*graph),
        executor({.cores = config.compile_cores}),
        programs({.backend = backend(graph, core), .device = device}, executor, clock) {}

  std::shared_ptr<compile::Backend> backend(const std::shared_ptr<const model::Decoder>& graph,
                                            const std::shared_ptr<ov::Core>& core) const {
    const kv::Layout layout = layout_of(*graph, config);
    std::shared_ptr<compile::Backend> made =
        std::make_shared<compile::OpenVinoBackend>(compile::OpenVinoBackend::Options{
            .core = core,
            .decoder = graph::PartitionedDecoder(
                graph, {.partition = config.axes.partition,
                        .cache = {.type = layout.type,
                                  .block_rows = static_cast<std::int64_t>(layout.block_rows)},
                        .open_tokens = compile::takes_any_tokens(device)}),
            .device = device,
            .device_threads =
                static_cast<int>(std::max<std::size_t>(1, config.device_cores.size()))});
    if (const auto& failure = config.inject_compile_failure) {
      made = std::make_shared<compile::FailingBackend>(compile::FailingBackend::Options{
          .backend = made, .rung = failure->rung, .message = failure->message});
    }
    return made;
  }
};

LLMPipeline::LLMPipeline(const Model& model, const std::string& device,
                         const PipelineConfig& config) {
  compile::check_device(*model.impl_->core, device);
  impl_ = std::make_unique<Impl>(model, model.impl_->decoder, model.impl_->core, device,
                                 checked(config, model.facts()));
}

LLMPipeline::LLMPipeline(const std::string& path, const std::string& device,
                         const PipelineConfig& config)
    : LLMPipeline(Model(path), device, config) {}

LLMPipeline::~LLMPipeline() = default;

const Model& LLMPipeline::model() const { return impl_->model; }

RunResult LLMPipeline::generate(std::string_view prompt, const GenerationConfig& config,
                                const Streamer& streamer) {
  std::vector<std::int32_t> ids = impl_->model.prefix();
  const std::vector<std::int32_t> text = impl_->model.encode(prompt);
  ids.insert(ids.end(), text.begin(), text.end());
  return generate(ids, config, streamer);
}

RunResult LLMPipeline::generate(std::span<const std::int32_t> prompt_ids,
                                const GenerationConfig& config, const Streamer& streamer) {
  const PipelineConfig& setup = impl_->config;
  check_request({.prompt_ids = prompt_ids,
                 .config = config,
                 .last_rung = setup.axes.ladder.back(),
                 .vocabulary = impl_->decoder.vocabulary});

  RunResult result;
  result.axes = setup.axes;
  result.kv_type = setup.kv_type;
  result.design = setup.design;
  result.device = impl_->device;
  result.model = impl_->model.facts();
  result.tokens.prompt = static_cast<std::int64_t>(prompt_ids.size());
  result.time_s.load = impl_->model.load_s();

  text::Sampler sampler({.do_sample = config.do_sample,
                         .temperature = config.temperature,
                         .top_k = config.top_k,
                         .top_p = config.top_p,
                         .repetition_penalty = config.repetition_penalty,
                         .seed = config.rng_seed});
  sampler.see(prompt_ids);
  ForcedTokens forced(config.forced_token_ids);
  const bool forcing = !config.forced_token_ids.empty();
  TextOutput output(*impl_->model.impl_->tokenizer, config, streamer);

  runtime::Job job{.prompt = {prompt_ids.begin(), prompt_ids.end()},
                   .max_new_tokens = config.max_new_tokens,
                   .stop = config.stop_token};
  if (forcing) {
    job.max_new_tokens =
        std::min(job.max_new_tokens, static_cast<std::int64_t>(config.forced_token_ids.size()));
  }
  const runtime::Callbacks callbacks{.choose =
                                         [&](const StepLogits& step) {
                                           if (config.logits_observer) config.logits_observer(step);
                                           return forcing ? forced.next()
                                                          : sampler.next(step.values);
                                         },
                                     .accept = [&](std::int32_t id) { return output.accept(id); },
                                     .progress = config.progress_observer};

  const ScopedAffinity on_device_cores(setup.device_cores);
  runtime::Session session(
      {.axes = setup.axes,
       .prefill_chunk = setup.prefill_chunk,
       .layout = layout_of(impl_->decoder, setup)},
      {.programs = impl_->programs, .pages = impl_->pages, .clock = impl_->clock});
  session.run(job, callbacks, result);
  output.finish(result);
  result.memory.rss_peak_bytes = peak_rss_bytes();
  return result;
}

}  // namespace ahead
