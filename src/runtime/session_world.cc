// The world that session_world.h describes. May use: base, compile, kv, plan.
#include "runtime/session_world.h"

#include "base/window.h"

namespace ahead::runtime {

World::World(const Options& chosen)
    : options(chosen),
      backend(std::make_shared<compile::FakeBackend>(
          compile::FakeBackend::Options{
              .block_rows = static_cast<std::int64_t>(kv::block_rows_for(options.axes.ladder)),
              .cut = options.cut,
              .joined_from = 1,
              .window = options.window},  // as the forms of a pipeline on the CPU device
          script)),
      store(std::make_unique<compile::ProgramStore>(
          compile::ProgramStore::Options{.backend = backend, .device = "FAKE", .helper = &helper},
          executor, store_clock)) {
  script->clock = &clock;
  script->decode_cost = std::chrono::milliseconds(1);
  script->prefill_cost = std::chrono::milliseconds(2);
  script->compile_cost = [this](const graph::ProgramShape&, std::size_t) {
    executor.spend();
    help();
    return std::chrono::nanoseconds(0);
  };
  script->on_step = [this] {
    executor.run_due();
    if (on_step) on_step();
  };
}

World::~World() = default;

Outcome World::run(const Ask& ask) {
  Outcome outcome;
  compile::FakeModel model(options.window);
  std::vector<std::int32_t> history = ask.prompt;
  std::size_t fed = 0;
  const Callbacks callbacks{
      .choose =
          [&](const StepLogits& step) {
            std::vector<float> expected;
            while (fed <= static_cast<std::size_t>(step.position)) {
              expected = model.feed(history.at(fed++));
            }
            if (!std::equal(expected.begin(), expected.end(), step.values.begin(),
                            step.values.end())) {
              ++outcome.wrong_logits;
            }
            return compile::FakeModel::greedy(step.values);
          },
      .accept = [&](std::int64_t, std::int32_t token) -> std::optional<FinishReason> {
        history.push_back(token);
        outcome.tokens.push_back(token);
        return ask.on_token ? ask.on_token(outcome.tokens.size()) : std::nullopt;
      },
      .progress =
          [&](const Progress& progress) {
            outcome.progress.push_back(progress);
            if (ask.on_progress) ask.on_progress(progress);
          }};
  const TimePoint begin = clock.now();
  Session::Options chosen = session_options();
  if (ask.kept != nullptr) {
    chosen.axes.ladder = ladder_behind(*ask.kept, ask.prompt, chosen.axes.ladder);
  }
  Session session(std::move(chosen),
                  {.programs = *store, .pages = pages, .clock = clock, .costs = &costs});
  session.run({.prompts = {ask.prompt},
               .max_new_tokens = ask.max_new_tokens,
               .stop = ask.stop,
               .kept = ask.kept},
              callbacks, outcome.result);
  outcome.elapsed_s = to_seconds(clock.now() - begin);
  executor.run_due();
  return outcome;
}

World::Batch World::run_batch(const BatchAsk& ask) {
  Batch outcome;
  outcome.tokens.resize(ask.prompts.size());
  const Callbacks callbacks{
      .choose =
          [&](const StepLogits& step) {
            const auto row = static_cast<std::size_t>(step.row);
            std::vector<std::int32_t> fed = ask.prompts[row];
            fed.insert(fed.end(), outcome.tokens[row].begin(), outcome.tokens[row].end());
            compile::FakeModel model(options.window);
            std::vector<float> expected;
            for (const std::int32_t token : fed) expected = model.feed(token);
            if (step.position + 1 != static_cast<std::int64_t>(fed.size()) ||
                !std::equal(expected.begin(), expected.end(), step.values.begin(),
                            step.values.end())) {
              ++outcome.wrong_logits;
            }
            return compile::FakeModel::greedy(step.values);
          },
      .accept = [&](std::int64_t row, std::int32_t token) -> std::optional<FinishReason> {
        std::vector<std::int32_t>& tokens = outcome.tokens[static_cast<std::size_t>(row)];
        tokens.push_back(token);
        return ask.on_token ? ask.on_token(row, tokens.size()) : std::nullopt;
      },
      .progress = ask.on_progress};
  Session session(session_options(),
                  {.programs = *store, .pages = pages, .clock = clock, .costs = &costs});
  session.run({.prompts = ask.prompts, .max_new_tokens = ask.max_new_tokens, .stop = ask.stop},
              callbacks, outcome.result);
  executor.run_due();
  return outcome;
}

Session::Options World::session_options() const {
  return {
      .axes = options.axes,
      .prefill_chunk = options.chunk,
      .prospects = {.forms = options.forms,
                    .chunks = options.chunks.empty() ? std::vector{options.chunk} : options.chunks,
                    .weight_bytes = options.weight_bytes},
      .resident_rungs = options.resident,
      .layout = layout()};
}

kv::Layout World::layout() const {
  kv::Layout layout{.layers = std::vector<kv::LayerShape>(
                        compile::FakeModel::kLayers, {.kv_heads = compile::FakeModel::kKvHeads,
                                                      .head_dim = compile::FakeModel::kHeadDim}),
                    .block_rows = kv::block_rows_for(options.axes.ladder),
                    .type = ElementType::kF32};
  if (options.window > 0) {
    layout.layers.back().ring_rows = static_cast<std::size_t>(
        ring_rows(options.window, static_cast<std::int64_t>(layout.block_rows)));
  }
  return layout;
}

std::vector<graph::ProgramShape> World::started() const {
  std::vector<graph::ProgramShape> shapes;
  for (const auto& entry : store->log()) shapes.push_back(entry.shape);
  return shapes;
}

void World::help() {
  if (helping_) {
    ++helped;
    return;
  }
  helping_ = true;
  while (helper.run_one()) continue;
  helping_ = false;
}

std::optional<std::chrono::nanoseconds> World::cost_of_newest() {
  const auto log = store->log();
  if (log.size() == compiles_posted_) return std::nullopt;
  compiles_posted_ = log.size();
  const auto cost = compile_costs.find(log.back().shape);
  return cost == compile_costs.end() ? std::chrono::milliseconds(10) : cost->second;
}

}  // namespace ahead::runtime
