// Prefill, decode, switch. May use: base, compile, kv, plan.
#include "runtime/session.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "ahead/error.h"
#include "base/check.h"
#include "base/text.h"
#include "runtime/request_programs.h"
#include "runtime/route.h"
#include "runtime/sequence.h"

namespace ahead::runtime {
namespace {

std::size_t count(std::int64_t value) { return static_cast<std::size_t>(value); }

/// Whether what depends on the rung serves one sequence at a time, so that each has its own.
bool has_own_rungs(Partition partition) { return partition == Partition::kAttention; }

/// With every chunk that a prompt may be asked to begin with.
Session::Options with_chunks(Session::Options options) {
  std::vector<std::int64_t>& chunks = options.prospects.chunks;
  if (chunks.empty()) chunks.push_back(options.prefill_chunk);
  if (options.first_chunk) chunks.push_back(*options.first_chunk);
  return options;
}

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
        own_rungs_(has_own_rungs(options_.axes.partition)),
        recorder_(dependencies_.clock, result),
        programs_({.schedule = options_.axes.schedule,
                   .resident_rungs = options_.resident_rungs,
                   .prospects = options_.prospects},
                  {.store = dependencies_.programs,
                   .recorder = recorder_,
                   .costs = dependencies_.costs != nullptr ? *dependencies_.costs : own_costs_,
                   .progress = callbacks_.progress,
                   .stop = job.stop}),
        route_({.planned = options_.axes.schedule == Schedule::kPlanned,
                .ladder = options_.axes.ladder,
                .chunk = options_.prefill_chunk,
                .first_chunk = options_.first_chunk,
                .forms = options_.prospects.forms.size(),
                .own_rungs = own_rungs_},
               programs_.prospects(), recorder_) {
    AHEAD_CHECK(!job.prompts.empty() && job.max_new_tokens > 0, "a request has tokens to make");
    for (const auto& prompt : job.prompts) {
      rows_.emplace_back(static_cast<std::int64_t>(rows_.size()), prompt);
    }
  }

  void execute() {
    try {
      generate();
    } catch (const Interrupted&) {
      end_all(FinishReason::kCancelled);
    } catch (const Error& error) {
      if (!first_token_out_) throw;
      fail(error.what());
    } catch (const std::exception& error) {  // of a back end, an allocator, or a callback
      const std::string text = "generation failed: " + reason_of(error.what());
      if (!first_token_out_) throw Error(ErrorKind::kDevice, text);
      fail(text);
    }
    programs_.learn();
    dependencies_.programs.free_released();
    keep_cache();
    for (const Sequence& row : rows_) result_.rows.push_back(row.result());
    recorder_.finish(dependencies_.programs.log());
  }

 private:
  void fail(const std::string& text) {
    end_all(FinishReason::kError);
    result_.error = text;
  }

  /// Ends every sequence that still runs.
  void end_all(FinishReason reason) {
    for (Sequence& row : rows_) row.end(reason);
    result_.finish_reason = reason;
  }

  /// Leaves the cache to the next request.
  void keep_cache() {
    if (job_.kept == nullptr || !result_.error.empty()) return;
    Sequence& row = rows_.front();
    prefill_.reset();
    decode_.reset();
    const auto read = std::min<std::int64_t>(row.live(), std::ssize(row.prompt()));
    job_.kept->tokens.assign(row.prompt().begin(), row.prompt().begin() + read);
    job_.kept->tokens.insert(job_.kept->tokens.end(), row.fed.begin(), row.fed.end());
    job_.kept->cache = row.take_cache();
  }

  [[nodiscard]] bool running() const {
    return std::any_of(rows_.begin(), rows_.end(), [](const Sequence& row) { return row.runs(); });
  }

  [[nodiscard]] const Sequence& any_running() const {
    return *std::find_if(rows_.begin(), rows_.end(),
                         [](const Sequence& row) { return row.runs(); });
  }

  void generate() {
    if (job_.stop.stop_requested()) throw Interrupted();
    if (job_.kept != nullptr) adopt_cache(*job_.kept);
    route_.begin(rows_);
    // Memory that cannot be had is told now, not after a compile; what it takes hides behind one.
    consult();
    make_caches();
    prefill();
    while (running()) {
      if (job_.stop.stop_requested()) return end_all(FinishReason::kCancelled);
      move_to_decode();
      consult();
      step();
    }
  }

  /// Lets go of what nobody uses any more since a sequence ended, a compile came to its end, or
  /// another request was here.
  void tidy() {
    const bool settled = programs_.settled();
    if (std::exchange(left_, false) || settled) release_left();
  }

  void consult() {
    tidy();
    const Standing standing = this->standing();
    if (standing.reading) dependencies_.programs.free_released();  // a chunk hides what that takes
    if (programs_.due()) programs_.consult(needs(), standing);
  }

  // ---- prompts
  // -----------------------------------------------------------------------------------

  /// The prompts go one after the other through each rung, so that its program is left for good.
  void prefill() {
    while (true) {
      const auto waits = [&](const Sequence& row) { return row.runs() && row.prompt_left() > 0; };
      if (std::none_of(rows_.begin(), rows_.end(), waits)) return;
      needs_ = needs();
      tidy();
      choose_chunk();
      double waited_s = 0;
      while (!settled([&] { fetch(waits, waited_s); })) continue;
      const plan::Need need = needs_.programs.front();
      programs_.moved();
      prefill_ = programs_.install(need);
      note_devices(*prefill_);
      for (Sequence& row : rows_) {
        if (!waits(row)) continue;
        hold(row, need.rung, waited_s);
        prefill_->bind_cache(0, row.layers());
        while (row.runs() && row.prompt_left() > 0 && row.live() < need.rung) {
          prefill_chunk(row);
          if (const auto larger = better_while_reading()) {
            route_.take_up(larger->need, larger->reason);
            break;
          }
        }
        if (plan::chunk_on(need.rung, route_.chunk()) != need.tokens) break;
      }
      release_left();
    }
  }

  /// Runs `settle`, which throws where a program that the next step needs failed. False when the
  /// next step can do with another one, which stands in needs_ then.
  template <typename Settle>
  bool settled(const Settle& settle) {
    const std::vector<plan::Need> before = needs_.programs;
    try {
      settle();
      return true;
    } catch (const Error&) {
      if (!route_.planned()) throw;
      choose_chunk();
      const auto now = static_cast<std::ptrdiff_t>(needs_.now);
      if (std::equal(before.begin(), before.begin() + now, needs_.programs.begin())) throw;
      return false;
    }
  }

  /// What the next step needs; of a prompt in another chunk, where the one so far is not there.
  void choose_chunk() {
    needs_ = needs();
    if (standing().reading && route_.choose_chunk(needs_.programs.front())) needs_ = needs();
  }

  /// A larger chunk that is ready, and worth it for what is left of the prompts.
  std::optional<RequestPrograms::Better> better_while_reading() {
    return standing().reading ? programs_.better(needs(), standing()) : std::nullopt;
  }

  void prefill_chunk(Sequence& row) {
    if (job_.stop.stop_requested()) throw Interrupted();
    consult();
    const TimePoint begin = recorder_.now();
    const std::int64_t rung = prefill_->shape().rung;
    const std::int64_t chunk = prefill_->shape().tokens;
    const std::int64_t first = row.live();
    const std::int64_t valid = std::min({chunk, row.prompt_left(), rung - first});
    for (std::int64_t i = 0; i < chunk; ++i) {
      prefill_->tokens()[count(i)] = i < valid ? row.prompt()[count(first + i)] : 0;
      // Padding repeats the last position: one beyond the rung may have no embedding.
      prefill_->positions()[count(i)] = static_cast<std::int32_t>(first + std::min(i, valid - 1));
    }
    prefill_->logit_rows()[0] = static_cast<std::int32_t>(valid - 1);
    prefill_->set_live_rows(0, first);
    if (!prefill_->run(job_.stop)) throw Interrupted();
    row.append(*prefill_, 0, valid);
    prefault(row, chunk);
    const bool last = row.prompt_left() == 0;
    if (last) {
      row.next_token = callbacks_.choose({.row = row.number(),
                                          .position = first + valid - 1,
                                          .rung = rung,
                                          .values = prefill_->logits(0)});
    }
    if (valid == chunk) learn_step(prefill_->shape(), begin);
    recorder_.prefilled(begin, prefill_->shape(), valid);
    sample_new_blocks();
    report({.kind = Progress::Kind::kPrefill,
            .row = row.number(),
            .rung = rung,
            .tokens = sum(&Sequence::live),
            .prompt_tokens = prompt_tokens(),
            .sequences = static_cast<std::int64_t>(rows_.size())});
    if (last) take_token(row);
  }

  // ---- decoding
  // ----------------------------------------------------------------------------------

  /// Gives the chosen token out and ends the sequence where it ends.
  void take_token(Sequence& row) {
    if (!first_token_out_) {
      first_token_out_ = true;
      programs_.first_token();
      recorder_.first_token();
    }
    ++row.generated;
    if (const auto reason = callbacks_.accept(row.number(), row.next_token)) {
      return end(row, *reason);
    }
    report({.kind = Progress::Kind::kToken,
            .row = row.number(),
            .rung = static_cast<std::int64_t>(row.capacity()),
            .tokens = sum(&Sequence::generated),
            .prompt_tokens = prompt_tokens(),
            .sequences = static_cast<std::int64_t>(rows_.size())});
    if (row.generated == job_.max_new_tokens) return end(row, FinishReason::kMaxTokens);
    if (row.live() == route_.ladder().back() && !job_.stop.stop_requested()) {
      end(row, FinishReason::kLength);
    }
  }

  void end(Sequence& row, FinishReason reason) {
    row.end(reason);
    left_ = true;
    result_.finish_reason = reason;
    if (!running()) return;
    // Its memory goes; one call that serves all must have something in its place.
    if (!own_rungs_ && decode_) bind_all(*decode_);
    row.drop_cache();
    sample_memory();
    if (decode_) decode_ = any_running().program;  // keeps no rung that nobody uses
  }

  /// Moves every sequence whose rung is full, or that has no decode program yet, to its own.
  void move_to_decode() {
    const bool adopts = adopt_better();
    choose_rung();
    const std::vector<std::int64_t>& ladder = route_.ladder();
    std::int64_t longest = 0;
    for (const Sequence& row : rows_) longest = std::max(longest, row.runs() ? row.live() : 0);
    const std::int64_t shared = std::max(plan::rung_above(ladder, longest), least_rung());
    const auto wanted = [&](const Sequence& row) {
      return own_rungs_ ? plan::rung_above(ladder, row.live()) : shared;
    };
    const auto moves = [&](const Sequence& row) {
      return row.runs() && (adopts || !row.program || row.program->shape().rung != wanted(row));
    };
    if (std::none_of(rows_.begin(), rows_.end(), moves)) return;

    tidy();
    needs_ = needs();
    steps_ = 0;
    bool ready = programs_.ready(needs_);
    double waited_s = 0;
    const bool boundary = first_token_out_ && any_boundary(moves, wanted);
    while (!settled([&] { programs_.settle(needs_, standing(), boundary, waited_s); })) continue;
    programs_.moved();
    // What is left is freed by the store's thread: nothing here may be the last to hold it.
    prefill_.reset();
    for (Sequence& row : rows_) {
      if (moves(row)) row.program.reset();
    }
    for (std::size_t index = 0; index < needs_.now; ++index) {
      const plan::Need& need = needs_.programs[index];
      const std::shared_ptr<compile::Program> next = programs_.install(need);
      note_devices(*next);
      decode_ = next;
      for (Sequence& row : rows_) {
        if (!moves(row) || wanted(row) != need.rung) continue;
        const std::int64_t from = row.capacity();
        if (from == need.rung) {
          row.program = next;
          bind(*next, row);
          continue;
        }
        // A wait is one, however many sequences moved after it.
        switch_to(row, next,
                  {.from = from,
                   .to = need.rung,
                   .at_token = row.live(),
                   .ready = std::exchange(ready, true),
                   .wait_s = std::exchange(waited_s, 0)});
      }
      if (!own_rungs_) bind_all(*next);
    }
    release_left();
  }

  /// Where a full rung's successor is not ready, perhaps another one is.
  void choose_rung() {
    const Sequence& row = rows_.front();
    if (!route_.planned() || rows_.size() > 1 || !first_token_out_) return;
    if (row.live() < row.capacity() || programs_.ready(needs())) return;
    route_.choose_rung(row.live(), row.plan(job_.max_new_tokens).most);
  }

  /// Whether there is a faster program for the step than the one in use; it is used from now on.
  bool adopt_better() {
    if (!decode_ || !route_.may_rise(decode_->shape().tier)) return false;
    const auto next = programs_.better(needs(), standing());
    if (!next || decode_->shape().rung != next->need.rung) return false;
    route_.take_up(next->need, next->reason);
    return true;
  }

  /// One token of every sequence that runs.
  void step() {
    const TimePoint begin = recorder_.now();
    std::vector<compile::Program*> by_row;
    step_rungs_.clear();
    for (Sequence& row : rows_) {
      const std::size_t number = count(row.number());
      by_row.push_back(row.runs() ? row.program.get() : nullptr);
      decode_->logit_rows()[number] = static_cast<std::int32_t>(number);
      decode_->tokens()[number] = row.runs() ? row.next_token : 0;
      decode_->positions()[number] = row.runs() ? static_cast<std::int32_t>(row.live()) : 0;
      if (!row.runs()) continue;
      row.program->set_live_rows(row.number(), row.live());
      step_rungs_.push_back(row.program->shape().rung);
    }
    if (!compile::Program::run(by_row, job_.stop)) throw Interrupted();
    for (Sequence& row : rows_) {
      if (!row.runs()) continue;
      const std::int64_t position = row.live();
      row.append(*row.program, row.number(), 1);
      row.fed.push_back(row.next_token);
      prefault(row, 1);
      row.next_token = callbacks_.choose({.row = row.number(),
                                          .position = position,
                                          .rung = row.program->shape().rung,
                                          .values = decode_->logits(row.number())});
    }
    const bool one_rung = std::all_of(step_rungs_.begin(), step_rungs_.end(),
                                      [&](auto rung) { return rung == step_rungs_.front(); });
    if (one_rung) learn_step(decode_->shape(), begin);
    recorder_.stepped(begin, decode_->shape(), step_rungs_);
    sample_new_blocks();
    // Behind the steps that follow a switch, not all at once beside the first.
    constexpr std::int64_t kStepsAFree = 2;
    if (++steps_ % kStepsAFree == 0) dependencies_.programs.free_one();
    for (Sequence& row : rows_) {
      if (row.runs()) take_token(row);
    }
  }

  // ---- programs and caches
  // -----------------------------------------------------------------------

  /// The largest cache of those that run.
  [[nodiscard]] std::int64_t least_rung() const {
    std::int64_t rung = 0;
    for (const Sequence& row : rows_) rung = std::max(rung, row.runs() ? row.capacity() : 0);
    return rung;
  }

  [[nodiscard]] plan::Needs needs() const {
    plan::NeedsQuery query{.ladder = route_.ladder(),
                           .chunk = route_.chunk(),
                           .batch = static_cast<std::int64_t>(rows_.size()),
                           .own_rungs = own_rungs_,
                           .least_rung = least_rung()};
    for (const Sequence& row : rows_) {
      if (row.runs()) query.sequences.push_back(row.plan(job_.max_new_tokens));
    }
    plan::Needs needs = plan::needs_of(query);
    route_.choose_tiers(needs);
    return needs;
  }

  [[nodiscard]] Standing standing() const {
    Standing standing{.chunk = route_.chunk(),
                      .batch = static_cast<std::int64_t>(rows_.size()),
                      .tier = route_.tier(),
                      .last_rung = route_.ladder().back(),
                      .rungs = rungs_in_use()};
    for (const Sequence& row : rows_) {
      if (!row.runs()) continue;
      standing.prompt_left += row.prompt_left();
      if (row.prompt_left() > 0) {
        const std::int64_t rung = plan::rung_above(route_.ladder(), row.live());
        standing.left_on_rung.push_back(std::min(row.prompt_left(), rung - row.live()));
      }
      const plan::Sequence plan = row.plan(job_.max_new_tokens);
      standing.live = std::max(standing.live, plan.live);
      standing.most = std::max(standing.most, plan.most);
    }
    standing.reading = standing.prompt_left > 0;
    return standing;
  }

  /// What a step took that all sequences took on one rung.
  void learn_step(const graph::ProgramShape& shape, TimePoint begin) {
    programs_.learn_step(shape, to_seconds(recorder_.now() - begin));
  }

  /// Lets go of the programs that no sequence uses, nor will next.
  void release_left() {
    if (running()) programs_.release_left(needs(), standing());
  }

  /// The rungs in use, those of the next step, and those where prompts will be when they are read:
  /// a prompt may be done before the others', its rung unused until then.
  [[nodiscard]] std::vector<std::int64_t> rungs_in_use() const {
    std::vector<std::int64_t> rungs;
    if (prefill_) rungs.push_back(prefill_->shape().rung);
    std::int64_t longest = least_rung() - 1;
    for (const Sequence& row : rows_) {
      if (!row.runs()) continue;
      if (row.program) rungs.push_back(row.program->shape().rung);
      if (row.prompt_left() > 0) rungs.push_back(plan::rung_above(route_.ladder(), row.live()));
      if (own_rungs_)
        rungs.push_back(plan::rung_above(route_.ladder(), row.live() + row.prompt_left()));
      longest = std::max(longest, row.live() + row.prompt_left());
    }
    if (!own_rungs_) rungs.push_back(plan::rung_above(route_.ladder(), longest));
    return rungs;
  }

  template <typename Moves, typename Wanted>
  [[nodiscard]] bool any_boundary(const Moves& moves, const Wanted& wanted) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const Sequence& row) {
      return moves(row) && row.capacity() != wanted(row);
    });
  }

  /// Waits for the next prefill program, and adds the seconds.
  template <typename Waits>
  void fetch(const Waits& waits, double& waited_s) {
    const std::int64_t rung = needs_.programs.front().rung;
    prefill_ready_ = programs_.ready(needs_);
    const bool boundary =
        any_boundary(waits, [&](const Sequence& row) { return std::max(row.capacity(), rung); });
    programs_.settle(needs_, standing(), boundary && first_token_out_, waited_s);
  }

  /// Makes a prompt's cache as large as the rung.
  void hold(Sequence& row, std::int64_t rung, double& waited_s) {
    if (row.capacity() >= rung) return;
    switch_to(row, nullptr,
              {.from = row.capacity(),
               .to = rung,
               .at_token = row.live(),
               .ready = std::exchange(prefill_ready_, true),
               .wait_s = std::exchange(waited_s, 0)});
  }

  /// Grows a sequence's cache and binds it to `next`, if there is one. The kernel's account is read
  /// between the timed parts: it is no part of a migration.
  void switch_to(Sequence& row, const std::shared_ptr<compile::Program>& next,
                 BoundaryRecord record) {
    const TimePoint begin = recorder_.now();
    const kv::Growth growth = row.grow(record.to);
    if (next) bind(*next, row);
    row.program = next;
    const TimePoint bound = recorder_.now();
    // At the peak, both buffers. Reading the kernel's account takes milliseconds, which the first
    // token behind a switch in place would pay for nothing: it commits no page.
    const bool moved = growth.copied_bytes > 0;
    if (moved) sample_memory();
    const TimePoint releasing = recorder_.now();
    row.cache().release_old();
    release_left();
    record.migration_s = to_seconds((bound - begin) + (recorder_.now() - releasing));
    record.copied_bytes = static_cast<std::int64_t>(growth.copied_bytes);
    record.live_blocks = static_cast<std::int64_t>(growth.live_blocks);
    record.row = row.number();
    if (moved) {
      sample_memory();
    } else {
      recorder_.memory(held(committed_bytes_));
    }
    const Progress progress{.kind = Progress::Kind::kBoundary,
                            .row = row.number(),
                            .rung = record.to,
                            .tokens = row.live(),
                            .seconds = record.wait_s};
    recorder_.boundary(record, begin);
    report(progress);
  }

  void bind(compile::Program& program, const Sequence& row) const {
    program.bind_cache(row.number(), row.layers());
  }

  /// Binds every sequence to a program that serves them all in one call: one that has ended reads
  /// another's rows, and nobody reads what comes of it.
  void bind_all(compile::Program& program) const {
    const Sequence& any = any_running();
    for (const Sequence& row : rows_) {
      if (row.runs()) continue;
      program.bind_cache(row.number(), any.layers());
      program.set_live_rows(row.number(), 0);
    }
  }

  /// What is not used is given back before anything new is asked for.
  void adopt_cache(KeptCache& kept) {
    AHEAD_CHECK(rows_.size() == 1, "one sequence's cache is kept");
    const std::int64_t tokens = reusable_tokens(kept, rows_.front().prompt());
    std::unique_ptr<kv::KvCache> cache = std::move(kept.cache);
    kept.tokens.clear();
    result_.tokens.kept = tokens;
    if (tokens == 0) return;
    AHEAD_CHECK(count(route_.ladder().front()) >= cache->capacity(), "a cache does not shrink");
    rows_.front().adopt(std::move(cache), tokens);
    recorder_.decision("keep " + std::to_string(tokens) + " tokens",
                       "the cache of the request before has them");
  }

  void make_caches() {
    const TimePoint begin = recorder_.now();
    for (Sequence& row : rows_) {
      if (row.capacity() > 0) continue;  // adopted
      row.make_cache(options_.axes.kv,
                     {.layout = options_.layout,
                      .first_capacity = count(route_.ladder().front()),
                      .last_capacity = count(route_.ladder().back())},
                     dependencies_.pages, result_.kv_fallback);
    }
    if (!result_.kv_fallback.empty()) recorder_.decision("kv fallback", result_.kv_fallback);
    result_.time_s.kv_allocation = to_seconds(recorder_.now() - begin);
    sample_memory();
  }

  // ---- accounts
  // ----------------------------------------------------------------------------------

  void note_devices(const compile::Program& program) {
    for (const std::string& device : program.execution_devices()) {
      auto& devices = result_.executed_on;
      if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
        devices.push_back(device);
      }
    }
  }

  /// Of all sequences.
  template <typename Member>
  [[nodiscard]] std::int64_t sum(Member member) const {
    std::int64_t total = 0;
    for (const Sequence& row : rows_) total += std::invoke(member, row);
    return total;
  }

  [[nodiscard]] std::int64_t prompt_tokens() const {
    std::int64_t total = 0;
    for (const Sequence& row : rows_) total += static_cast<std::int64_t>(row.prompt().size());
    return total;
  }

  void report(const Progress& progress) const {
    if (callbacks_.progress) callbacks_.progress(progress);
  }

  /// A static graph reads all rows of its rung, also those that nobody wrote: their page faults are
  /// paid in shares before the switch, not by the first token behind it.
  void prefault(Sequence& row, std::int64_t tokens_a_step) const {
    if (!row.runs() || row.capacity() == route_.ladder().back()) return;
    row.prefault(plan::rung_above(route_.ladder(), row.capacity()),
                 (row.capacity() - row.live()) / tokens_a_step);
  }

  /// Reads the kernel's account where a block was opened: there it changes most.
  void sample_new_blocks() {
    bool opened = false;
    for (Sequence& row : rows_) opened = row.opened_block() || opened;
    if (opened) sample_memory();
  }

  void sample_memory() {
    committed_bytes_ = 0;
    for (const Sequence& row : rows_) {
      const std::int64_t committed = row.committed_bytes();
      committed_bytes_ = committed < 0 || committed_bytes_ < 0 ? -1 : committed_bytes_ + committed;
    }
    recorder_.memory(held(committed_bytes_));
  }

  /// What the caches hold, with the kernel's account as of the last reading.
  [[nodiscard]] Recorder::Memory held(std::int64_t committed_bytes) const {
    Recorder::Memory memory{.committed_bytes = committed_bytes};
    for (const Sequence& row : rows_) {
      memory.reserved_bytes += row.reserved_bytes();
      memory.live_bytes += row.live_bytes();
    }
    return memory;
  }

  const Options& options_;
  const Dependencies& dependencies_;
  const Job& job_;
  const Callbacks& callbacks_;
  RunResult& result_;
  const bool own_rungs_;
  Recorder recorder_;
  plan::CostModel own_costs_;
  RequestPrograms programs_;
  Route route_;
  std::vector<Sequence> rows_;
  plan::Needs needs_;  ///< as of the last move
  bool left_ = true;   ///< a rung may have been, by a sequence that ended or an earlier request
  bool first_token_out_ = false;
  std::int64_t steps_ = 0;                     ///< since the last move
  bool prefill_ready_ = true;                  ///< the prefill program was, when it was wanted
  std::shared_ptr<compile::Program> prefill_;  ///< serves the prompts one after the other
  std::shared_ptr<compile::Program> decode_;   ///< of any sequence: they share what is not theirs
  std::vector<std::int64_t> step_rungs_;
  std::int64_t committed_bytes_ = 0;  ///< as last read
};

std::int64_t reusable_tokens(const KeptCache& kept, const std::vector<std::int32_t>& prompt) {
  if (!kept.cache || prompt.empty()) return 0;
  const std::size_t most = std::min(kept.tokens.size(), prompt.size() - 1);
  const auto end = kept.tokens.begin() + static_cast<std::ptrdiff_t>(most);
  const auto common = std::mismatch(kept.tokens.begin(), end, prompt.begin()).first;
  const std::int64_t tokens = common - kept.tokens.begin();
  return kept.cache->can_trim(count(tokens)) ? tokens : 0;
}

std::vector<std::int64_t> ladder_behind(const KeptCache& kept,
                                        const std::vector<std::int32_t>& prompt,
                                        std::vector<std::int64_t> ladder) {
  if (reusable_tokens(kept, prompt) == 0) return ladder;
  std::erase_if(ladder, [&](std::int64_t rung) { return count(rung) < kept.cache->capacity(); });
  return ladder;
}

Session::Session(Options options, Dependencies dependencies)
    : options_(with_chunks(std::move(options))), dependencies_(dependencies) {}

void Session::run(const Job& job, const Callbacks& callbacks, RunResult& result) {
  Run(*this, job, callbacks, result).execute();
}

}  // namespace ahead::runtime
