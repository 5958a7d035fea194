// States of programs under one lock, and the task that compiles one. May use: base.
#include "compile/program_store.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "ahead/error.h"
#include "base/check.h"
#include "base/resources.h"
#include "base/text.h"
#include "compile/part_queue.h"

namespace ahead::compile {
namespace {

/// One artifact: a part by its name, and what of tier, batch, tokens and rung the part depends on.
using ArtifactKey = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

ArtifactKey key_of(const graph::ProgramSpec& spec, std::size_t part) {
  const graph::PartSpec& of = spec.parts[part];
  const graph::ProgramShape& shape = spec.shape;
  return {of.name, of.depends_on_tier ? shape.tier : 0, of.depends_on_batch ? shape.batch : 1,
          of.depends_on_tokens ? shape.tokens : 0,
          of.depends_on_rung ? std::min(shape.rung, of.rows_kept) : 0};
}

/// "body" of "body.3": parts of one kind are alike.
std::string kind_of(const std::string& part) { return part.substr(0, part.find('.')); }

/// What has to be known of a part to say whether it is there, and what it takes if not.
struct PartOutline {
  ArtifactKey key;
  std::string kind;
  std::int64_t operations = 0;
  std::int64_t weight_bytes = 0;
};

std::vector<PartOutline> outline_of(const graph::ProgramSpec& spec) {
  std::vector<PartOutline> parts;
  for (std::size_t part = 0; part < spec.parts.size(); ++part) {
    const graph::PartSpec& of = spec.parts[part];
    parts.push_back({key_of(spec, part), kind_of(of.name), of.operations, of.weight_bytes});
  }
  return parts;
}

/// What was compiled, for as long as a program holds it.
struct Part {
  std::weak_ptr<Artifact> artifact;
  std::int64_t weight_bytes = 0;
  /// Of what serves prompts and decoding on every rung: held for good, as the next request begins
  /// with it, also when this one decodes with something faster by now.
  std::shared_ptr<Artifact> kept;
};

bool serves_all(const graph::PartSpec& part) {
  return !part.depends_on_rung && !part.depends_on_batch && !part.depends_on_tokens;
}

struct Entry {
  ProgramState state = ProgramState::kAbsent;
  std::shared_ptr<Program> program;
  std::exception_ptr error;
};

/// "GPU" is "GPU.0"'s device too.
bool runs_on(const std::vector<std::string>& reported, const std::string& device) {
  return !reported.empty() && std::all_of(reported.begin(), reported.end(), [&](const auto& name) {
    return name == device || name.rfind(device + ".", 0) == 0;
  });
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nothing" : text;
}

MissingParts missing_of(const std::vector<PartOutline>& parts, const std::vector<bool>& there) {
  MissingParts missing;
  std::set<std::string> kinds;
  for (std::size_t part = 0; part < there.size(); ++part) {
    if (there[part]) continue;
    kinds.insert(parts[part].kind);
    ++missing.parts;
    missing.operations += parts[part].operations;
    missing.weight_bytes += parts[part].weight_bytes;
  }
  for (const std::string& kind : kinds) missing.kinds += (missing.kinds.empty() ? "" : "+") + kind;
  return missing;
}

}  // namespace

/// What the tasks see: outlives the store when a compile is abandoned.
struct ProgramStore::Shared : std::enable_shared_from_this<Shared> {
  Options options;
  const Clock& clock;
  mutable std::mutex mutex;
  std::map<graph::ProgramShape, Entry> entries;                      // guarded by mutex
  std::map<ArtifactKey, Part> parts;                                 // guarded by mutex
  std::map<graph::ProgramShape, std::vector<PartOutline>> outlines;  // decode thread only
  /// By tier, batch and token count; compile thread only.
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::weak_ptr<Workspace>>
      workspaces;
  std::vector<CompileLog> log;                    // guarded by mutex
  bool running = false;                           // guarded by mutex: a compile, not only queued
  std::vector<std::shared_ptr<Program>> dropped;  // guarded by mutex: released, oldest first
  Free freeing = Free::kNothing;          // guarded by mutex: the task that is posted for it
  std::shared_ptr<PartQueue> open_queue;  // guarded by mutex: parts to take, while there are any
  graph::ProgramShape queue_shape;        // guarded by mutex
  std::optional<graph::ProgramShape> awaited;  // guarded by mutex: what a request waits for
  bool helping = false;                        // guarded by mutex: a helper's task is outstanding

  Shared(Options chosen, const Clock& watch) : options(std::move(chosen)), clock(watch) {}

  std::shared_ptr<Artifact> compile_part(const graph::ProgramShape& shape, const std::string& name,
                                         std::size_t part) const {
    std::shared_ptr<Artifact> artifact = options.backend->compile(shape, part);
    const auto devices = artifact->execution_devices();
    if (!runs_on(devices, options.device)) {
      throw Error(ErrorKind::kDevice, "part '" + name + "' of " + to_string(shape) + " runs on " +
                                          join(devices) + ", not on " + options.device +
                                          " as asked; choose another --device");
    }
    return artifact;
  }

  /// The artifacts of a program that somebody holds, by part; null where nobody does.
  std::vector<std::shared_ptr<Artifact>> known_parts(
      const std::vector<PartOutline>& outline) const {
    std::vector<std::shared_ptr<Artifact>> artifacts;
    const std::lock_guard lock(mutex);
    for (const PartOutline& part : outline) {
      const auto known = parts.find(part.key);
      artifacts.push_back(known == parts.end() ? nullptr : known->second.artifact.lock());
    }
    return artifacts;
  }

  /// Which parts of a program somebody holds. Takes none: whoever asks may be the decode thread,
  /// and is not to be the last to hold one.
  std::vector<bool> there(const std::vector<PartOutline>& outline) const {
    std::vector<bool> there;
    const std::lock_guard lock(mutex);
    for (const PartOutline& part : outline) {
      const auto known = parts.find(part.key);
      there.push_back(known != parts.end() && !known->second.artifact.expired());
    }
    return there;
  }

  /// The parts of a program, asked for once: a specification takes a third of a millisecond to
  /// write, and the planner looks at some before many a step. Decode thread only.
  const std::vector<PartOutline>& outline(const graph::ProgramShape& shape) {
    const auto found = outlines.find(shape);
    if (found != outlines.end()) return found->second;
    return outlines.emplace(shape, outline_of(options.backend->spec(shape))).first->second;
  }

  /// Says what is being compiled, to who may help.
  void publish(const graph::ProgramShape& shape, std::shared_ptr<PartQueue> queue) {
    const std::lock_guard lock(mutex);
    queue_shape = shape;
    open_queue = std::move(queue);
    ask_for_help();
  }

  /// Says what a request waits for, if it waits.
  void await(std::optional<graph::ProgramShape> shape) {
    const std::lock_guard lock(mutex);
    awaited = shape;
    ask_for_help();
  }

  /// Whether there are parts to take of what is waited for. With the mutex held.
  [[nodiscard]] bool can_help() const { return awaited && open_queue && queue_shape == *awaited; }

  /// Has the helper look, unless it will anyway. With the mutex held: whoever waits is still there,
  /// and with it the helper.
  void ask_for_help() {
    if (helping || options.helper == nullptr || !can_help()) return;
    helping = true;
    options.helper->post([shared = shared_from_this()] { shared->help(); });
  }

  /// Compiles parts of what is waited for, while it is. The helper's thread.
  void help() {
    std::shared_ptr<PartQueue> queue;
    std::unique_lock lock(mutex);
    while (can_help() && open_queue != queue) {
      queue = open_queue;
      const graph::ProgramShape shape = *awaited;
      lock.unlock();
      queue->work([&] {
        const std::lock_guard asking(mutex);
        return awaited == shape;
      });
      lock.lock();
    }
    helping = false;
  }

  /// Compiles what is missing of a program. Compile thread.
  std::shared_ptr<Program> build(const graph::ProgramShape& shape, std::size_t log_index) {
    graph::ProgramSpec spec = options.backend->spec(shape);
    const std::vector<PartOutline> outline = outline_of(spec);
    std::vector<std::shared_ptr<Artifact>> artifacts = known_parts(outline);
    std::vector<std::size_t> missing;
    for (std::size_t part = 0; part < artifacts.size(); ++part) {
      if (!artifacts[part]) missing.push_back(part);
    }
    {
      const std::lock_guard lock(mutex);
      std::vector<bool> there;
      for (const auto& artifact : artifacts) there.push_back(artifact != nullptr);
      log[log_index].missing = missing_of(outline, there);
    }
    const auto queue = std::make_shared<PartQueue>(missing, [&](std::size_t part) {
      return compile_part(shape, spec.parts[part].name, part);
    });
    publish(shape, queue);
    queue->work([] { return true; });
    publish(shape, nullptr);
    for (auto& [part, artifact] : queue->finish()) {
      const std::lock_guard lock(mutex);
      const graph::PartSpec& of = spec.parts[part];
      parts[outline[part].key] = {artifact, of.weight_bytes, serves_all(of) ? artifact : nullptr};
      artifacts[part] = std::move(artifact);
    }
    std::weak_ptr<Workspace>& known = workspaces[{shape.tier, shape.batch, shape.tokens}];
    std::shared_ptr<Workspace> workspace = known.lock();
    const bool first = !workspace;
    if (first) known = workspace = std::make_shared<Workspace>();
    auto program = std::make_shared<Program>(std::move(spec), std::move(artifacts), workspace);
    // A prompt's chunk is worth more than its kernels' making: those come with its first run.
    if (shape.tokens == 1) program->warm_up(first);
    return program;
  }

  /// Frees what was released first, or all.
  void free_dropped(Free what) {
    std::vector<std::shared_ptr<Program>> gone;  // destroyed outside the lock
    const std::lock_guard lock(mutex);
    if (freeing == what) freeing = Free::kNothing;
    const std::size_t most = what == Free::kAll ? dropped.size() : 1;
    const auto end = dropped.begin() + static_cast<std::ptrdiff_t>(std::min(most, dropped.size()));
    gone.assign(std::move_iterator(dropped.begin()), std::move_iterator(end));
    dropped.erase(dropped.begin(), end);
  }

  /// The task of one compile.
  void execute(const graph::ProgramShape& shape, std::size_t log_index) {
    {
      const std::lock_guard lock(mutex);
      log[log_index].begin = clock.now();
      running = true;
    }
    std::shared_ptr<Program> program;
    std::exception_ptr error;
    try {
      program = build(shape, log_index);
    } catch (const Error&) {
      error = std::current_exception();
    } catch (const std::exception& cause) {
      error = std::make_exception_ptr(Error(
          ErrorKind::kCompileFailed,
          "compiling " + to_string(shape) + " on " + options.device +
              " failed: " + reason_of(cause.what()) + "; " +
              resource_remedy(cause).value_or("try another --partition or a smaller --ladder")));
    }
    const std::lock_guard lock(mutex);
    Entry& entry = entries[shape];
    entry.state = error ? ProgramState::kFailed : ProgramState::kReady;
    entry.program = std::move(program);
    entry.error = error;
    log[log_index].end = clock.now();
    running = false;
    log[log_index].failed = static_cast<bool>(error);
  }
};

ProgramStore::ProgramStore(Options options, Executor& executor, const Clock& clock)
    : shared_(std::make_shared<Shared>(std::move(options), clock)), executor_(executor) {}

ProgramStore::~ProgramStore() = default;

ProgramState ProgramStore::state(const graph::ProgramShape& shape) const {
  const std::lock_guard lock(shared_->mutex);
  const auto found = shared_->entries.find(shape);
  return found == shared_->entries.end() ? ProgramState::kAbsent : found->second.state;
}

MissingParts ProgramStore::missing(const graph::ProgramShape& shape,
                                   const std::optional<graph::ProgramShape>& before) const {
  const std::vector<PartOutline>& parts = shared_->outline(shape);
  std::set<ArtifactKey> brought;
  if (before) {
    for (const PartOutline& part : shared_->outline(*before)) brought.insert(part.key);
  }
  std::vector<bool> there = shared_->there(parts);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (brought.count(parts[part].key) > 0) there[part] = true;
  }
  return missing_of(parts, there);
}

std::int64_t ProgramStore::weight_bytes() const {
  const std::lock_guard lock(shared_->mutex);
  std::int64_t bytes = 0;
  for (const auto& [key, part] : shared_->parts) {
    if (!part.artifact.expired()) bytes += part.weight_bytes;
  }
  for (const CompileLog& entry : shared_->log) {
    if (!entry.end) bytes += entry.missing.weight_bytes;
  }
  return bytes;
}

std::optional<graph::ProgramShape> ProgramStore::compiling() const {
  const std::lock_guard lock(shared_->mutex);
  for (const auto& [shape, entry] : shared_->entries) {
    if (entry.state == ProgramState::kCompiling) return shape;
  }
  return std::nullopt;
}

std::optional<TimePoint> ProgramStore::compiling_since() const {
  const std::lock_guard lock(shared_->mutex);
  for (const CompileLog& entry : shared_->log) {
    if (!entry.end && shared_->running) return entry.begin;
  }
  return std::nullopt;
}

void ProgramStore::start(const graph::ProgramShape& shape, std::string reason) {
  AHEAD_CHECK(!compiling(), "one background compile at a time");
  // What is released goes first, but for parts that this program needs again.
  std::vector<std::shared_ptr<Artifact>> held = shared_->known_parts(shared_->outline(shape));
  free_released();
  std::size_t log_index = 0;
  {
    const std::lock_guard lock(shared_->mutex);
    Entry& entry = shared_->entries[shape];
    AHEAD_CHECK(entry.state == ProgramState::kAbsent, "only an absent program is compiled");
    entry.state = ProgramState::kCompiling;
    log_index = shared_->log.size();
    shared_->log.push_back(
        {.shape = shape, .reason = std::move(reason), .begin = shared_->clock.now()});
  }
  executor_.post([shared = shared_, shape, log_index, held = std::move(held)]() mutable {
    shared->execute(shape, log_index);
    held.clear();  // the program has them
  });
}

bool ProgramStore::wait(const graph::ProgramShape& shape, std::stop_token stop) {
  const auto done = [&] { return state(shape) != ProgramState::kCompiling; };
  shared_->await(shape);
  const bool came = executor_.wait(std::move(stop), done);
  shared_->await(std::nullopt);
  return came;
}

std::shared_ptr<Program> ProgramStore::install(const graph::ProgramShape& shape) {
  const std::lock_guard lock(shared_->mutex);
  const auto found = shared_->entries.find(shape);
  AHEAD_CHECK(found != shared_->entries.end(), "only a settled program is installed");
  if (found->second.error) std::rethrow_exception(found->second.error);
  AHEAD_CHECK(found->second.state == ProgramState::kReady, "only a ready program is installed");
  return found->second.program;
}

void ProgramStore::release(const graph::ProgramShape& shape) {
  const std::lock_guard lock(shared_->mutex);
  const auto found = shared_->entries.find(shape);
  if (found == shared_->entries.end()) return;
  AHEAD_CHECK(found->second.state != ProgramState::kCompiling,
              "only a settled program is released");
  if (found->second.program) shared_->dropped.push_back(std::move(found->second.program));
  shared_->entries.erase(found);
}

void ProgramStore::free_one() {
  if (!compiling()) post_free(Free::kOne);
}

void ProgramStore::free_released() { post_free(Free::kAll); }

/// Freeing a compiled model takes up to half a second: not on the decode thread.
void ProgramStore::post_free(Free what) {
  {
    const std::lock_guard lock(shared_->mutex);
    // A task that will free all frees what is let go of until then.
    if (shared_->dropped.empty() || shared_->freeing >= what) return;
    shared_->freeing = what;
  }
  executor_.post([shared = shared_, what] { shared->free_dropped(what); });
}

std::size_t ProgramStore::released() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->dropped.size();
}

std::vector<graph::ProgramShape> ProgramStore::settled() const {
  const std::lock_guard lock(shared_->mutex);
  std::vector<graph::ProgramShape> shapes;
  for (const auto& [shape, entry] : shared_->entries) {
    if (entry.state != ProgramState::kCompiling) shapes.push_back(shape);
  }
  return shapes;
}

std::vector<CompileLog> ProgramStore::log() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->log;
}

}  // namespace ahead::compile
