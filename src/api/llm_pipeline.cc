// LLMPipeline: wires model, compiler, cache, runtime and text for one device.
#include "ahead/llm_pipeline.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "api/history_file.h"
#include "api/model_impl.h"
#include "api/request_check.h"
#include "api/row_request.h"
#include "base/affinity.h"
#include "base/check.h"
#include "base/cpu_limits.h"
#include "base/memory.h"
#include "base/window.h"
#include "compile/failing_backend.h"
#include "compile/openvino_backend.h"
#include "kv/page_provider.h"
#include "model/wide_windows.h"
#include "plan/cores.h"
#include "plan/cost_model.h"
#include "runtime/session.h"

namespace ahead {
namespace {

ElementType to_element(KvType type) {
  return type == KvType::kF16 ? ElementType::kF16 : ElementType::kF32;
}

kv::Layout layout_of(const model::Decoder& decoder, const PipelineConfig& config) {
  kv::Layout layout;
  layout.block_rows = kv::block_rows_for(config.axes.ladder);
  const auto block_rows = static_cast<std::int64_t>(layout.block_rows);
  for (const model::AttentionShape& layer : decoder.layers) {
    const std::int64_t ring = layer.window == 0 ? 0 : ring_rows(layer.window, block_rows);
    layout.layers.push_back({.kv_heads = static_cast<std::size_t>(layer.kv_heads),
                             .head_dim = static_cast<std::size_t>(layer.head_dim),
                             .value_dim = static_cast<std::size_t>(layer.value_dim),
                             .ring_rows = static_cast<std::size_t>(ring)});
  }
  layout.type = to_element(config.kv_type.value());
  return layout;
}

/// A core named twice is one core: threads are counted by them.
void drop_repeats(std::vector<int>& cores) {
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
}

/// Cores and threads for the device and for compiles.
plan::CoreChoice cores_of(const PipelineConfig& config, const std::string& device) {
  const Axes& axes = config.axes;
  // See forms_of(): what takes any number of tokens reads and decodes, unless something faster
  // comes behind it.
  const bool joins = axes.schedule == Schedule::kPlanned && compile::runs_host_operations(device);
  plan::CoreQuery query;
  query.limits = cpu_limits();
  query.device_cores = config.device_cores;
  query.compile_cores = config.compile_cores;
  query.compiles_beside = axes.schedule != Schedule::kEager && axes.schedule != Schedule::kOnDemand;
  query.decodes_apart =
      axes.partition == Partition::kWhole || !compile::takes_any_tokens(device) || joins;
  return plan::choose_cores(query);
}

/// Cores that somebody named are a demand, those that were chosen for him a wish.
Pinning pinning_of(const std::vector<int>& named) {
  return named.empty() ? Pinning::kPreferred : Pinning::kRequired;
}

std::unique_ptr<ThreadExecutor> helper_on(const std::vector<int>& cores, Pinning pinning) {
  try {
    return std::make_unique<ThreadExecutor>(
        ThreadExecutor::Options{.cores = cores, .pinning = pinning});
  } catch (const std::system_error&) {
    return nullptr;
  }
}

/// What the cache stores when nobody said: only an attention that is compiled on its own computes
/// in the cache's type.
KvType default_kv_type(Partition partition, const ov::Core& core, const std::string& device) {
  const bool f16 = partition == Partition::kAttention && compile::computes_in_f16(core, device);
  return f16 ? KvType::kF16 : KvType::kF32;
}

PipelineConfig checked(PipelineConfig config, const ModelFacts& facts) {
  if (config.axes.ladder.empty()) {
    config.axes.ladder = default_ladder({.trained_context = facts.trained_context,
                                         .schedule = config.axes.schedule,
                                         .kv = config.axes.kv})
                             .rungs;
  }
  check_ladder(config.axes.ladder, facts.trained_context);
  if (config.prefill_chunk < 1) {
    throw Error(ErrorKind::kInvalidArgument, "a prefill chunk of " +
                                                 std::to_string(config.prefill_chunk) +
                                                 " tokens cannot be; give at least 1");
  }
  if (config.resident_rungs < 2) {
    throw Error(ErrorKind::kInvalidArgument,
                std::to_string(config.resident_rungs) +
                    " resident rungs cannot be; give at least 2, what a switch needs");
  }
  for (const std::int64_t chunk : config.chunks) {
    if (chunk < 1) {
      throw Error(ErrorKind::kInvalidArgument,
                  "a chunk of " + std::to_string(chunk) + " tokens cannot be; give at least 1");
    }
  }
  if (config.first_chunk && *config.first_chunk < 1) {
    throw Error(ErrorKind::kInvalidArgument, "a first chunk of " +
                                                 std::to_string(*config.first_chunk) +
                                                 " tokens cannot be; give at least 1");
  }
  if (config.program_bytes_limit < 0) {
    throw Error(ErrorKind::kInvalidArgument,
                "a limit of " + std::to_string(config.program_bytes_limit) +
                    " bytes for programs cannot be; give 0 for none, or more");
  }
  for (const auto& cores : {config.device_cores, config.compile_cores}) {
    if (!cores.empty()) const ScopedAffinity probe(cores);
  }
  drop_repeats(config.device_cores);
  drop_repeats(config.compile_cores);
  return config;
}

/// A form of the decoder, as the back end is to make it.
struct DecoderForm {
  std::string name;
  Partition partition;
  bool open_tokens = false;
  bool joined = false;
  bool panels = false;
  double expected = 1;  ///< of runtime::Form
};

/// What a pipeline decodes with, by tier. A fixed schedule has one form. The planner may put behind
/// groups of layers, whose compile is short, the cut at attention, whose steps are; and behind
/// parts of open shapes, which are ready sooner because prompts use the same and two cores compile
/// them, static ones joined in one: a device keeps books of every open shape at every step, and
/// every call of it begins and ends.
std::vector<DecoderForm> forms_of(const PipelineConfig& config, const std::string& device,
                                  int decoding_threads) {
  const Axes& axes = config.axes;
  const bool open_tokens = compile::takes_any_tokens(device);
  const bool joined = compile::runs_host_operations(device);
  const bool panels = compile::host_products_pay(device, decoding_threads);
  // Measured on the CPU device: docs/decisions/0007 and 0010. Elsewhere what a device makes of it
  // counts.
  constexpr double kAttentionOverBlocks = 0.7;
  constexpr double kJoinedOverOpen = 0.86;
  constexpr double kPanelsOverOpen = 0.75;
  std::vector<DecoderForm> forms = {
      {.name = to_string(axes.partition), .partition = axes.partition, .open_tokens = open_tokens}};
  if (axes.schedule != Schedule::kPlanned || axes.partition == Partition::kWhole) return forms;
  const std::string attention = to_string(Partition::kAttention);
  if (axes.partition != Partition::kAttention) {
    forms.push_back({.name = attention,
                     .partition = Partition::kAttention,
                     .open_tokens = open_tokens,
                     .expected = kAttentionOverBlocks});
  }
  if (joined) {
    forms.push_back({.name = attention + "/joined",
                     .partition = Partition::kAttention,
                     .joined = true,
                     .panels = panels,
                     .expected = panels ? kPanelsOverOpen : kJoinedOverOpen});
  }
  return forms;
}

/// What a history is of: all that changes what a compile or a step takes.
std::string key_of_history(const ModelFacts& facts, const PipelineConfig& config,
                           const plan::CoreChoice& cores, const std::string& machine) {
  std::ostringstream key;
  key << "ahead " << version() << ", " << machine << ", " << cores.reading_threads << "/"
      << cores.decoding_threads << "+" << cores.compile_cores.size() << " of "
      << allowed_cores().size() << " cores, " << facts.architecture << " " << facts.layers << "x"
      << facts.q_heads << "/" << facts.kv_heads << "x" << facts.head_dim << ", vocabulary "
      << facts.vocabulary << ", cache " << to_string(*config.kv_type);
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(facts.weights, unknown);
  if (!unknown) key << ", " << bytes << " bytes";
  return key.str();
}

}  // namespace

struct LLMPipeline::Impl {
  Model model;
  std::int64_t weight_bytes = 0;  ///< that a step reads
  std::string device;
  PipelineConfig config;
  const plan::CoreChoice cores;
  /// Without the windows that reach over all of the ladder.
  const std::shared_ptr<const model::Decoder> decoder;
  SteadyClock clock;
  kv::OsPages pages;
  std::vector<DecoderForm> forms;  ///< by tier
  plan::CostModel costs;
  std::string history_key;      ///< empty: no history is kept
  std::string history_ignored;  ///< why the one that is there is not used; told with the next run
  ThreadExecutor executor;
  /// On the device's cores, for as long as the device waits; none where the system has no thread
  /// left for it.
  std::unique_ptr<ThreadExecutor> helper;
  compile::ProgramStore programs;
  runtime::KeptCache kept;  ///< of a conversation

  Impl(const Model& opened, const std::shared_ptr<const model::Decoder>& graph,
       const std::shared_ptr<ov::Core>& core, std::string device_name, PipelineConfig chosen)
      : model(opened),
        device(std::move(device_name)),
        config(std::move(chosen)),
        cores(cores_of(config, device)),
        decoder(model::without_wide_windows(graph, config.axes.ladder.back())),
        forms(forms_of(config, device, cores.decoding_threads)),
        executor({.cores = cores.compile_cores, .pinning = pinning_of(config.compile_cores)}),
        helper(helper_on(cores.device_cores, pinning_of(config.device_cores))),
        programs({.backend = backend(core), .device = device, .helper = helper.get()}, executor,
                 clock) {}

  /// What the planner knows of the model.
  [[nodiscard]] runtime::Prospects::Options prospects() const {
    runtime::Prospects::Options options{.chunks = config.chunks,
                                        .bytes_limit = config.program_bytes_limit};
    options.forms.clear();
    for (const DecoderForm& form : forms) options.forms.push_back({form.name, form.expected});
    if (options.chunks.empty()) {
      options.chunks = {std::max<std::int64_t>(1, config.prefill_chunk / 4), config.prefill_chunk};
    }
    options.weight_bytes = weight_bytes;
    options.cache_bytes = [layout = layout_of(*decoder, config)](std::int64_t rung) {
      return static_cast<std::int64_t>(layout.total_bytes(static_cast<std::size_t>(rung)));
    };
    return options;
  }

  [[nodiscard]] RequestCheck request(std::span<const std::int32_t> prompt,
                                     const GenerationConfig& generation) const {
    return {.prompt_ids = prompt,
            .config = generation,
            .last_rung = config.axes.ladder.back(),
            .vocabulary = decoder->vocabulary};
  }

  /// A text's tokens, behind those that the model expects in front of every text.
  [[nodiscard]] std::vector<std::int32_t> ids_of(std::string_view prompt) const;

  /// Begins with what earlier processes measured.
  void load_history(const ov::Core& core) {
    if (config.history.empty() || config.axes.schedule != Schedule::kPlanned) return;
    history_key = key_of_history(model.facts(), config, cores, compile::identity_of(core, device));
    api::HistoryFile::Loaded loaded = api::HistoryFile(config.history).load(history_key);
    costs = plan::CostModel(std::move(loaded.history));
    history_ignored = std::move(loaded.ignored);
  }

  /// Keeps what was measured for the next process. What cannot be done is told, and harms nothing.
  void save_history(RunResult& result) {
    if (history_key.empty()) return;
    const std::string not_kept =
        api::HistoryFile(config.history).save(history_key, costs.history());
    for (const std::string& why : {std::exchange(history_ignored, {}), not_kept}) {
      if (why.empty()) continue;
      result.trace.push_back({.row = "compiler", .name = "history", .notes = {{"reason", why}}});
    }
  }

  /// Prompts that were checked.
  RunResult run(const std::vector<std::vector<std::int32_t>>& prompts,
                const GenerationConfig& generation, const BatchStreamer& streamer);

  std::shared_ptr<compile::Backend> backend(const std::shared_ptr<ov::Core>& core) const {
    const kv::Layout layout = layout_of(*decoder, config);
    std::vector<graph::PartitionedDecoder> tiers;
    for (const DecoderForm& form : forms) {
      tiers.emplace_back(decoder,
                         graph::PartitionedDecoder::Options{
                             .partition = form.partition,
                             .cache = {.type = layout.type,
                                       .block_rows = static_cast<std::int64_t>(layout.block_rows)},
                             .open_tokens = form.open_tokens,
                             .joined = form.joined,
                             .panels = form.panels});
    }
    std::shared_ptr<compile::Backend> made = std::make_shared<compile::OpenVinoBackend>(
        compile::OpenVinoBackend::Options{.core = core,
                                          .tiers = std::move(tiers),
                                          .device = device,
                                          .reading_threads = cores.reading_threads,
                                          .decoding_threads = cores.decoding_threads});
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
  PipelineConfig chosen = checked(config, model.facts());
  if (!chosen.kv_type) {
    chosen.kv_type = default_kv_type(chosen.axes.partition, *model.impl_->core, device);
  }
  impl_ = std::make_unique<Impl>(model, model.impl_->decoder, model.impl_->core, device,
                                 std::move(chosen));
  impl_->weight_bytes =
      impl_->programs.missing({.rung = impl_->config.axes.ladder.front()}).weight_bytes;
  impl_->load_history(*model.impl_->core);
}

LLMPipeline::LLMPipeline(const std::string& path, const std::string& device,
                         const PipelineConfig& config)
    : LLMPipeline(Model(path), device, config) {}

LLMPipeline::~LLMPipeline() = default;

const Model& LLMPipeline::model() const { return impl_->model; }

std::vector<std::int32_t> LLMPipeline::Impl::ids_of(std::string_view prompt) const {
  return model.prompt_ids(prompt).ids;
}

RunResult LLMPipeline::Impl::run(const std::vector<std::vector<std::int32_t>>& prompts,
                                 const GenerationConfig& generation,
                                 const BatchStreamer& streamer) {
  RunResult result;
  result.axes = config.axes;
  result.kv_type = config.kv_type.value();
  result.design = config.design;
  result.device = device;
  result.model = model.facts();
  result.time_s.load = model.load_s();

  std::deque<RowRequest> rows;  // they do not move
  for (const std::vector<std::int32_t>& prompt : prompts) {
    result.tokens.prompt += static_cast<std::int64_t>(prompt.size());
    Streamer own;
    if (streamer) own = [&streamer, row = rows.size()](auto text) { return streamer(row, text); };
    rows.emplace_back(prompt, *model.impl_->tokenizer, generation, std::move(own));
  }
  const auto row_of = [&](std::int64_t row) -> RowRequest& {
    return rows.at(static_cast<std::size_t>(row));
  };
  const runtime::Callbacks callbacks{
      .choose =
          [&](const StepLogits& step) {
            if (generation.logits_observer) generation.logits_observer(step);
            return row_of(step.row).choose(step.values);
          },
      .accept = [&](std::int64_t row, std::int32_t id) { return row_of(row).accept(id); },
      .progress = generation.progress_observer};

  std::optional<ScopedAffinity> on_device_cores;
  if (!cores.device_cores.empty()) {
    on_device_cores.emplace(cores.device_cores, pinning_of(config.device_cores));
  }
  result.cores = {.device = cores.device_cores,
                  .reading_threads = cores.reading_threads,
                  .decoding_threads = cores.decoding_threads,
                  .compile = cores.compile_cores,
                  .pinned = on_device_cores && on_device_cores->pinned(),
                  .reason = cores.reason};
  const bool keeps = generation.keep_cache && prompts.size() == 1;
  if (!keeps) kept = {};
  Axes axes = config.axes;
  if (keeps) axes.ladder = runtime::ladder_behind(kept, prompts.front(), std::move(axes.ladder));
  runtime::Session session({.axes = axes,
                            .prefill_chunk = config.prefill_chunk,
                            .first_chunk = config.first_chunk,
                            .prospects = prospects(),
                            .resident_rungs = static_cast<std::size_t>(config.resident_rungs),
                            .layout = layout_of(*decoder, config)},
                           {.programs = programs, .pages = pages, .clock = clock, .costs = &costs});
  session.run({.prompts = prompts,
               .max_new_tokens = most_tokens(generation),
               .stop = generation.stop_token,
               .kept = keeps ? &kept : nullptr},
              callbacks, result);
  save_history(result);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    rows[row].finish(result.rows[row]);
    result.tokens.generated += result.rows[row].generated;
  }
  result.memory.rss_peak_bytes = peak_rss_bytes();
  return result;
}

RunResult LLMPipeline::generate(std::string_view prompt, const GenerationConfig& config,
                                const Streamer& streamer) {
  return generate(impl_->ids_of(prompt), config, streamer);
}

RunResult LLMPipeline::generate(std::span<const std::int32_t> prompt_ids,
                                const GenerationConfig& config, const Streamer& streamer) {
  check_request(impl_->request(prompt_ids, config));
  BatchStreamer alone;
  if (streamer) alone = [&](std::size_t, std::string_view text) { return streamer(text); };
  RunResult result = impl_->run({{prompt_ids.begin(), prompt_ids.end()}}, config, alone);
  result.text = std::move(result.rows.front().text);
  result.token_ids = std::move(result.rows.front().token_ids);
  result.rows.clear();
  return result;
}

RunResult LLMPipeline::generate_batch(std::span<const std::string> prompts,
                                      const GenerationConfig& config,
                                      const BatchStreamer& streamer) {
  std::vector<std::vector<std::int32_t>> ids;
  for (const std::string& prompt : prompts) {
    // What the model expects in front of a text makes an empty one no prompt.
    ids.push_back(prompt.empty() ? std::vector<std::int32_t>{} : impl_->ids_of(prompt));
  }
  return generate_batch(ids, config, streamer);
}

RunResult LLMPipeline::generate_batch(std::span<const std::vector<std::int32_t>> prompts,
                                      const GenerationConfig& config,
                                      const BatchStreamer& streamer) {
  const SortedPrompts sorted = sort_prompts(prompts, kMaxBatch, [&](const auto& prompt) {
    check_request(impl_->request(prompt, config));
  });
  GenerationConfig renumbered = config;
  if (config.logits_observer) {
    renumbered.logits_observer = [&](const StepLogits& step) {
      StepLogits own = step;
      own.row = static_cast<std::int64_t>(sorted.places.at(static_cast<std::size_t>(step.row)));
      config.logits_observer(own);
    };
  }
  if (config.progress_observer) {
    renumbered.progress_observer = [&](const Progress& progress) {
      using Kind = Progress::Kind;
      Progress own = progress;
      if (own.kind != Kind::kCompileBegin && own.kind != Kind::kCompileEnd) {
        own.row = static_cast<std::int64_t>(sorted.places.at(static_cast<std::size_t>(own.row)));
      }
      config.progress_observer(own);
    };
  }
  BatchStreamer own_rows;
  if (streamer) {
    own_rows = [&](std::size_t row, std::string_view text) {
      return streamer(sorted.places.at(row), text);
    };
  }
  RunResult result = impl_->run(sorted.prompts, renumbered, own_rows);
  std::vector<RowResult> rows = sorted.refused;
  for (std::size_t row = 0; row < sorted.places.size(); ++row) {
    rows[sorted.places[row]] = std::move(result.rows[row]);
  }
  for (BoundaryRecord& boundary : result.boundaries) {
    boundary.row = static_cast<std::int64_t>(sorted.places[static_cast<std::size_t>(boundary.row)]);
  }
  result.rows = std::move(rows);
  return result;
}

}  // namespace ahead
