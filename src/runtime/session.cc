// Prefill, decode, switch. May use: base, compile, kv, plan.
#include "runtime/session.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ahead/error.h"
#include "base/check.h"
#include "base/text.h"

namespace ahead::runtime {
namespace {

using graph::ProgramShape;

/// Thrown through the run when the stop token was triggered while waiting.
struct Interrupted {};

std::size_t count(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

/// The state of one run.
class Session::Run {
 public:
  Run(const Session& session, const Job& job, const Callbacks& callbacks, RunResult& result)
      : options_(session.options_),
        dependencies_(session.dependencies_),
        job_(job),
        callbacks_(callbacks),
        result_(result),
        recorder_(dependencies_.clock, result) {
    const plan::Needs needs =
        plan::needs_of({.ladder = options_.axes.ladder,
                        .prompt_tokens = static_cast<std::int64_t>(job.prompt.size()),
                        .chunk = options_.prefill_chunk,
                        .max_new_tokens = job.max_new_tokens});
    needs_ = needs.programs;
    reachable_ = needs.reachable;
  }

  void execute() {
    try {
      if (const auto reason = generate()) result_.finish_reason = *reason;
    } catch (const Interrupted&) {
      result_.finish_reason = FinishReason::kCancelled;
    } catch (const Error& error) {
      if (!first_token_out_) throw;
      fail(error.what());
    } catch (const std::exception& error) {  // of a back end, an allocator, or a callback
      const std::string text = "generation failed: " + reason_of(error.what());
      if (!first_token_out_) throw Error(ErrorKind::kDevice, text);
      fail(text);
    }
    recorder_.finish(dependencies_.programs.log());
  }

 private:
  void fail(const std::string& text) {
    result_.finish_reason = FinishReason::kError;
    result_.error = text;
  }

  /// The whole request; the reason it ended.
  std::optional<FinishReason> generate() {
    if (job_.stop.stop_requested()) throw Interrupted();
    // Memory that cannot be had is told now, not after a compile; what it takes hides behind one.
    consult();
    make_cache();
    move_to(0);
    std::int32_t token = prefill();
    first_token_out_ = true;
    recorder_.first_token();
    for (std::int64_t generated = 1;; ++generated) {
      if (const auto reason = callbacks_.accept(token)) return reason;
      report({.kind = Progress::Kind::kToken, .rung = rung(), .tokens = generated});
      if (generated == job_.max_new_tokens) return FinishReason::kMaxTokens;
      if (job_.stop.stop_requested()) return FinishReason::kCancelled;
      if (live() == options_.axes.ladder.back()) return FinishReason::kLength;
      if (needs_[current_].tokens > 1 || live() == rung()) move_to(current_ + 1);
      consult();
      token = step(token);
    }
  }

  std::int32_t prefill() {
    const auto prompt = static_cast<std::int64_t>(job_.prompt.size());
    while (true) {
      if (job_.stop.stop_requested()) throw Interrupted();
      if (live() == rung()) move_to(current_ + 1);
      consult();
      const TimePoint begin = recorder_.now();
      const std::int64_t first = live();
      const std::int64_t chunk = program_->shape().tokens;
      const std::int64_t valid = std::min({chunk, prompt - first, rung() - first});
      for (std::int64_t i = 0; i < chunk; ++i) {
        program_->tokens()[count(i)] = i < valid ? job_.prompt[count(first + i)] : 0;
        // Padding repeats the last position: one beyond the rung may have no embedding.
        program_->positions()[count(i)] = static_cast<std::int32_t>(first + std::min(i, valid - 1));
      }
      program_->logit_rows()[0] = static_cast<std::int32_t>(valid - 1);
      run_program(valid);
      const bool last = live() == prompt;
      const std::int32_t token = last ? callbacks_.choose(logits(first + valid - 1)) : 0;
      recorder_.prefilled(begin, rung(), valid);
      sample_new_block();
      report({.kind = Progress::Kind::kPrefill, .rung = rung(), .tokens = live()});
      if (last) return token;
    }
  }

  /// Feeds `token`; returns the next one.
  std::int32_t step(std::int32_t token) {
    const TimePoint begin = recorder_.now();
    const std::int64_t position = live();
    program_->tokens()[0] = token;
    program_->positions()[0] = static_cast<std::int32_t>(position);
    program_->logit_rows()[0] = 0;
    run_program(1);
    const std::int32_t next = callbacks_.choose(logits(position));
    recorder_.stepped(begin, rung());
    sample_new_block();
    return next;
  }

  [[nodiscard]] StepLogits logits(std::int64_t position) const {
    return {.position = position, .rung = rung(), .values = program_->logits(0)};
  }

  /// Runs the program on what its inputs hold and stores `valid` new rows.
  void run_program(std::int64_t valid) {
    program_->set_live_rows(0, live());
    program_->run();
    std::vector<kv::NewRows>& rows = new_rows_;
    rows.resize(cache_->layout().layers.size());
    for (std::size_t layer = 0; layer < rows.size(); ++layer) {
      const compile::KeyValue made = program_->new_rows(static_cast<std::int64_t>(layer), 0);
      rows[layer] = {made.k.data, made.v.data};
    }
    cache_->append(rows, count(valid));
  }

  /// Makes need `index` the current one: gets its program, grows the cache to its rung, binds.
  void move_to(std::size_t index) {
    AHEAD_CHECK(index < needs_.size(), "every step of a request has a program");
    const bool begins = !program_;
    const std::int64_t from = begins ? 0 : rung();
    const bool boundary = !begins && needs_[index].rung != from;
    current_ = index;
    const bool ready = status(index) == plan::Status::kReady;
    const double waited_s = settle(boundary && first_token_out_);
    std::shared_ptr<compile::Program> next = dependencies_.programs.install(shape(index));
    if (!boundary) {
      bind(*next);
      program_ = std::move(next);
    } else {
      switch_to(std::move(next), {.from = from,
                                  .to = needs_[index].rung,
                                  .at_token = live(),
                                  .ready = ready,
                                  .wait_s = waited_s});
    }
    for (const std::string& device : program_->execution_devices()) {
      auto& devices = result_.executed_on;
      if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
        devices.push_back(device);
      }
    }
  }

  /// Grows the cache, binds the successor, and lets go of what is left behind. The kernel's account
  /// is read between the timed parts: it is no part of a migration.
  void switch_to(std::shared_ptr<compile::Program> next, BoundaryRecord record) {
    const TimePoint begin = recorder_.now();
    const kv::Growth growth = cache_->grow(count(record.to));
    bind(*next);
    program_ = std::move(next);
    const TimePoint bound = recorder_.now();
    sample_memory();  // at the peak: both buffers
    const TimePoint releasing = recorder_.now();
    cache_->release_old();
    for (const ProgramShape& left : dependencies_.programs.settled()) {
      if (left.rung < record.to) dependencies_.programs.release(left);
    }
    record.migration_s = to_seconds((bound - begin) + (recorder_.now() - releasing));
    record.copied_bytes = static_cast<std::int64_t>(growth.copied_bytes);
    record.live_blocks = static_cast<std::int64_t>(growth.live_blocks);
    sample_memory();
    const Progress progress{.kind = Progress::Kind::kBoundary,
                            .rung = record.to,
                            .tokens = live(),
                            .seconds = record.wait_s};
    recorder_.boundary(std::move(record), begin);
    report(progress);
  }

  void make_cache() {
    const TimePoint begin = recorder_.now();
    cache_ = kv::make_cache(options_.axes.kv,
                            {.layout = options_.layout,
                             .first_capacity = count(needs_.front().rung),
                             .last_capacity = count(options_.axes.ladder.back())},
                            dependencies_.pages, &result_.kv_fallback);
    if (!result_.kv_fallback.empty()) recorder_.decision("kv fallback", result_.kv_fallback);
    result_.time_s.kv_allocation = to_seconds(recorder_.now() - begin);
    sample_memory();
  }

  void bind(compile::Program& program) const {
    std::vector<compile::KeyValue> layers;
    for (std::size_t layer = 0; layer < cache_->layout().layers.size(); ++layer) {
      layers.push_back({cache_->k(layer), cache_->v(layer)});
    }
    program.bind_cache(0, layers);
  }

  /// Does what the schedule says until the current program is settled; the seconds it waited.
  double settle(bool at_boundary) {
    double waited_s = 0;
    while (true) {
      const auto compiling = dependencies_.programs.compiling();
      const plan::Decision decision = decide(compiling, true);
      if (decision.action == plan::Action::kProceed) return waited_s;
      if (job_.stop.stop_requested()) throw Interrupted();  // before a compile nobody wants
      if (decision.action == plan::Action::kStart) {
        start(decision);
        continue;
      }
      const ProgramShape awaited =
          decision.action == plan::Action::kWaitOther ? *compiling : shape(decision.need);
      const TimePoint begin = recorder_.now();
      report_compile(Progress::Kind::kCompileBegin, awaited, true, 0);
      const bool came = dependencies_.programs.wait(awaited, job_.stop);
      recorder_.waited({.shape = awaited, .begin = begin, .at_boundary = at_boundary});
      const double seconds = to_seconds(recorder_.now() - begin);
      waited_s += seconds;
      if (!came) throw Interrupted();
      if (background_ == awaited) background_.reset();
      report_compile(Progress::Kind::kCompileEnd, awaited, true, seconds);
    }
  }

  /// At a token boundary: starts what the schedule wants started; never waits.
  void consult() {
    report_background();
    const plan::Decision decision = decide(dependencies_.programs.compiling(), false);
    if (decision.action == plan::Action::kStart) start(decision);
  }

  [[nodiscard]] plan::Decision decide(const std::optional<ProgramShape>& compiling,
                                      bool switching) const {
    plan::State state{.schedule = options_.axes.schedule,
                      .reachable = reachable_,
                      .current = current_,
                      .first_token_out = first_token_out_,
                      .switching = switching};
    state.other_compiling = compiling.has_value();
    for (std::size_t index = 0; index < needs_.size(); ++index) {
      // A program that was left is released, and not missed.
      state.status.push_back(index < current_ ? plan::Status::kReady : status(index));
      if (compiling && *compiling == shape(index)) state.other_compiling = false;
    }
    return plan::decide(state);
  }

  void start(const plan::Decision& decision) {
    report_background();
    const ProgramShape wanted = shape(decision.need);
    recorder_.decision("start " + to_string(wanted), decision.reason);
    dependencies_.programs.start(wanted, decision.reason);
    if (decision.need == current_) return;  // the wait for it is reported
    background_ = wanted;
    report_compile(Progress::Kind::kCompileBegin, wanted, false, 0);
  }

  void report(const Progress& progress) const {
    if (callbacks_.progress) callbacks_.progress(progress);
  }

  /// Tells the end of a background compile, once.
  void report_background() {
    if (!background_ || status_of(*background_) == plan::Status::kCompiling) return;
    report_compiled(*background_, false);
  }

  void report_compiled(ProgramShape shape, bool foreground) {
    if (background_ == shape) background_.reset();
    const auto log = dependencies_.programs.log();
    const auto entry = std::find_if(log.rbegin(), log.rend(),
                                    [&](const auto& compile) { return compile.shape == shape; });
    AHEAD_CHECK(entry != log.rend() && entry->end, "a settled compile is in the log");
    report_compile(Progress::Kind::kCompileEnd, shape, foreground,
                   to_seconds(*entry->end - entry->begin));
  }

  void report_compile(Progress::Kind kind, const ProgramShape& shape, bool foreground,
                      double seconds) const {
    report({.kind = kind,
            .program = shape.phase(),
            .rung = shape.rung,
            .foreground = foreground,
            .seconds = seconds});
  }

  /// Reads the kernel's account where a block was opened: there it changes most.
  void sample_new_block() {
    const std::size_t blocks = cache_->layout().blocks(cache_->live_rows());
    if (blocks != sampled_blocks_) sample_memory();
  }

  void sample_memory() {
    sampled_blocks_ = cache_->layout().blocks(cache_->live_rows());
    std::int64_t committed = -1;
    try {
      committed = static_cast<std::int64_t>(cache_->committed_bytes());
    } catch (const Error& error) {  // an instrument that fails ends no request
      if (error.kind() != ErrorKind::kIo) throw;
    }
    recorder_.memory({.reserved_bytes = static_cast<std::int64_t>(cache_->reserved_bytes()),
                      .committed_bytes = committed});
  }

  [[nodiscard]] ProgramShape shape(std::size_t need) const {
    return {.batch = 1, .tokens = needs_[need].tokens, .rung = needs_[need].rung};
  }
  [[nodiscard]] plan::Status status_of(const ProgramShape& shape) const {
    return dependencies_.programs.state(shape);
  }
  [[nodiscard]] plan::Status status(std::size_t need) const { return status_of(shape(need)); }
  [[nodiscard]] bool settled(std::size_t need) const {
    return status(need) == plan::Status::kReady || status(need) == plan::Status::kFailed;
  }
  [[nodiscard]] std::int64_t rung() const { return needs_[current_].rung; }
  [[nodiscard]] std::int64_t live() const {
    return cache_ ? static_cast<std::int64_t>(cache_->live_rows()) : 0;
  }

  const Options& options_;
  const Dependencies& dependencies_;
  const Job& job_;
  const Callbacks& callbacks_;
  RunResult& result_;
  Recorder recorder_;
  std::vector<plan::Need> needs_;
  std::size_t reachable_ = 0;
  std::size_t current_ = 0;
  bool first_token_out_ = false;
  std::optional<ProgramShape> background_;  ///< compiling, and nobody waits
  std::unique_ptr<kv::KvCache> cache_;
  std::shared_ptr<compile::Program> program_;
  std::vector<kv::NewRows> new_rows_;
  std::size_t sampled_blocks_ = 0;
};

Session::Session(Options options, Dependencies dependencies)
    : options_(std::move(options)), dependencies_(dependencies) {}

void Session::run(const Job& job, const Callbacks& callbacks, RunResult& result) {
  Run(*this, job, callbacks, result).execute();
}

}  // namespace ahead::runtime
