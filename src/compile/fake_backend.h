// For tests and the simulator: a back end without a compiler, whose artifacts run the fake model.
// Costs, failures and execution devices follow a script. May use: base, graph's program_spec.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/window.h"
#include "compile/backend.h"
#include "compile/fake_request.h"

namespace ahead::compile {

/// A part that was "compiled"; counted in the script while anybody holds it.
class FakeArtifact final : public Artifact {
 public:
  FakeArtifact(FakePart part, std::int64_t window, std::vector<std::string> devices,
               std::shared_ptr<FakeScript> script)
      : part_(part), window_(window), devices_(std::move(devices)), script_(std::move(script)) {
    ++script_->live_artifacts;
  }
  FakeArtifact(const FakeArtifact&) = delete;
  FakeArtifact& operator=(const FakeArtifact&) = delete;
  ~FakeArtifact() override { --script_->live_artifacts; }

  [[nodiscard]] std::unique_ptr<Request> create_request(std::size_t /*weights*/) override {
    return std::make_unique<FakeRequest>(part_, window_, script_);
  }
  [[nodiscard]] std::vector<std::string> execution_devices() const override { return devices_; }

 private:
  const FakePart part_;
  const std::int64_t window_;
  const std::vector<std::string> devices_;
  const std::shared_ptr<FakeScript> script_;
};

class FakeBackend final : public Backend {
 public:
  struct Options {
    std::int64_t block_rows = 16;
    /// Cut in three parts: "rows" and "head" do not depend on the rung; "attend" does, and serves
    /// every layer and sequence. Otherwise one part, "whole".
    bool cut = false;
    /// Of these parts, "rows" and "head" serve every batch and number of tokens.
    bool open = false;
    /// With `cut`: from this tier on rows and head are one part, "bodies", that pauses at every
    /// layer.
    std::optional<std::int64_t> joined_from = std::nullopt;
    std::int64_t window = 0;  ///< of the last layer (fake_model.h); with `cut` a part of its own
    std::string device = "FAKE";
  };
  struct Compile {
    graph::ProgramShape shape;
    std::string part;

    friend bool operator==(const Compile&, const Compile&) = default;
  };

  FakeBackend(Options options, std::shared_ptr<FakeScript> script)
      : options_(std::move(options)), script_(std::move(script)) {}

  [[nodiscard]] graph::ProgramSpec spec(const graph::ProgramShape& shape) const override {
    SpecBuilder builder(shape, options_);
    graph::ProgramSpec spec = !options_.cut   ? builder.whole()
                              : joined(shape) ? builder.joined()
                                              : builder.cut();
    for (graph::PartSpec& part : spec.parts) {
      if (options_.joined_from && part.depends_on_rung && options_.cut) {
        part.depends_on_tier = false;
      }
      if (options_.open && !part.depends_on_rung) {
        part.depends_on_batch = part.depends_on_tokens = part.depends_on_tier = false;
      }
    }
    return spec;
  }

  [[nodiscard]] std::shared_ptr<Artifact> compile(const graph::ProgramShape& shape,
                                                  std::size_t part) override {
    {
      const std::lock_guard lock(mutex_);
      compiles_.push_back({shape, spec(shape).parts.at(part).name});
    }
    if (script_->compile_cost) script_->spend(script_->compile_cost(shape, part));
    const auto failure = script_->compile_failures.find(shape);
    if (failure != script_->compile_failures.end()) throw std::runtime_error(failure->second);
    const auto devices = script_->devices.find(shape);
    return std::make_shared<FakeArtifact>(
        kind_of(shape, part), options_.window,
        devices == script_->devices.end() ? std::vector{options_.device} : devices->second,
        script_);
  }

  /// Calls of compile() so far. Not while one is under way.
  [[nodiscard]] const std::vector<Compile>& compiles() const { return compiles_; }

  /// What part `part` of spec(shape) computes.
  [[nodiscard]] FakePart kind_of(const graph::ProgramShape& shape, std::size_t part) const {
    if (!options_.cut) return FakePart::kWhole;
    if (joined(shape)) {
      return std::array{FakePart::kAttend, FakePart::kJoined, FakePart::kAttendWindow}.at(part);
    }
    return static_cast<FakePart>(part + 1);
  }

 private:
  [[nodiscard]] bool joined(const graph::ProgramShape& shape) const {
    return options_.joined_from && shape.tier >= *options_.joined_from;
  }

  class SpecBuilder {
   public:
    SpecBuilder(const graph::ProgramShape& shape, const Options& options)
        : batch_(size(shape.batch)),
          tokens_(size(shape.tokens)),
          rows_(size(options.block_rows)),
          window_(options.window),
          kept_{options.window, options.block_rows} {
      AHEAD_CHECK(shape.rung % options.block_rows == 0, "a rung is a whole number of blocks");
      spec_.shape = shape;
    }

    graph::ProgramSpec whole() {
      graph::CallSpec call;
      for (const std::size_t value : {tokens(), positions(), logit_rows()}) {
        call.inputs.emplace_back(value);
      }
      for (std::size_t row = 0; row < batch_; ++row) call.inputs.emplace_back(bias(row, 0));
      for (std::size_t row = 0; row < batch_ && window_ > 0; ++row) {
        call.inputs.emplace_back(bias(row, window_));
      }
      for (std::size_t layer = 0; layer < FakeModel::kLayers; ++layer) {
        for (std::size_t row = 0; row < batch_; ++row) {
          for (const std::size_t value : cache(layer, row)) call.inputs.emplace_back(value);
        }
        for (const std::size_t value : made(layer)) call.outputs.emplace_back(value);
      }
      call.outputs.emplace_back(logits());
      spec_.parts = {{.name = "whole", .depends_on_rung = true}};
      spec_.calls = {call};
      return std::move(spec_);
    }

    graph::ProgramSpec cut() {
      spec_.parts = {{.name = "rows", .depends_on_rung = false},
                     {.name = "attend",
                      .depends_on_rung = true,
                      .depends_on_batch = false,
                      .holds_weights = false},
                     {.name = "head", .depends_on_rung = false}};
      if (window_ > 0) {
        spec_.parts.push_back(spec_.parts[1]);
        spec_.parts.back().name = "attend_window";
        spec_.parts.back().rows_kept = kept_.of(std::numeric_limits<std::int64_t>::max());
      }
      const std::size_t where = positions();
      const std::size_t wanted = logit_rows();
      std::vector<std::size_t> live;
      std::vector<std::size_t> live_in_window;
      for (std::size_t row = 0; row < batch_; ++row) {
        live.push_back(bias(row, 0));
        if (window_ > 0) live_in_window.push_back(bias(row, window_));
      }
      graph::CallSpec rows{.part = 0, .inputs = {tokens(), where}};
      graph::CallSpec head{.part = 2};
      std::vector<graph::CallSpec> attends;
      for (std::size_t layer = 0; layer < FakeModel::kLayers; ++layer) {
        const std::vector<std::size_t> fresh = made(layer);
        for (const std::size_t value : fresh) rows.outputs.emplace_back(value);
        const std::size_t state = add({.role = graph::Role::kInternal,
                                       .layer = static_cast<std::int64_t>(layer),
                                       .type = ElementType::kI32,
                                       .shape = {batch_, 2}});
        head.inputs.emplace_back(state);
        for (std::size_t row = 0; row < batch_; ++row) {
          const std::int64_t sequence =
              batch_ == 1 ? graph::kWholeBatch : static_cast<std::int64_t>(row);
          const bool windowed = has_window(layer);
          const std::size_t seen = windowed ? live_in_window[row] : live[row];
          graph::CallSpec attend{.part = windowed ? 3UL : 1UL,
                                 .row = sequence,
                                 .inputs = {{where, sequence}, {wanted, sequence}, seen},
                                 .outputs = {{state, sequence}}};
          for (const std::size_t value : cache(layer, row)) attend.inputs.emplace_back(value);
          for (const std::size_t value : fresh) attend.inputs.emplace_back(value, sequence);
          attends.push_back(attend);
        }
      }
      head.outputs = {logits()};
      spec_.calls = {rows};
      spec_.calls.insert(spec_.calls.end(), attends.begin(), attends.end());
      spec_.calls.push_back(head);
      return std::move(spec_);
    }

    /// The attention comes first here: parts are known by their names, not by their places.
    graph::ProgramSpec joined() {
      spec_ = cut();
      const graph::CallSpec& head = spec_.calls.back();
      graph::CallSpec& bodies = spec_.calls.front();
      bodies.inputs.insert(bodies.inputs.end(), head.inputs.begin(), head.inputs.end());
      bodies.outputs.insert(bodies.outputs.end(), head.outputs.begin(), head.outputs.end());
      spec_.calls.pop_back();
      std::vector<graph::PartSpec> parts = {spec_.parts[1], spec_.parts[0]};
      if (window_ > 0) parts.push_back(spec_.parts[3]);
      spec_.parts = std::move(parts);
      spec_.parts[1].name = "bodies";
      bodies.part = 1;
      for (std::size_t index = 1; index < spec_.calls.size(); ++index) {
        spec_.calls[index].part = spec_.calls[index].part == 3 ? 2 : 0;
        spec_.calls[index].within = graph::PausePoint{.call = 0, .pause = (index - 1) / batch_};
      }
      return std::move(spec_);
    }

   private:
    static std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

    std::size_t add(graph::ValueSpec value) {
      spec_.values.push_back(std::move(value));
      return spec_.values.size() - 1;
    }
    std::size_t index(graph::Role role, Shape shape) {
      return add({.role = role, .type = ElementType::kI32, .shape = std::move(shape)});
    }
    std::size_t tokens() { return index(graph::Role::kTokens, {batch_, tokens_}); }
    std::size_t positions() { return index(graph::Role::kPositions, {batch_, tokens_}); }
    std::size_t logit_rows() { return index(graph::Role::kLogitRows, {batch_}); }
    std::size_t logits() {
      return add({.role = graph::Role::kLogits, .shape = {batch_, FakeModel::kVocabulary}});
    }
    [[nodiscard]] bool has_window(std::size_t layer) const {
      return window_ > 0 && layer + 1 == FakeModel::kLayers;
    }
    std::size_t bias(std::size_t row, std::int64_t window) {
      graph::ValueSpec value{.role = graph::Role::kCacheBias,
                             .layer = window,
                             .row = static_cast<std::int64_t>(row),
                             .shape = {size(spec_.shape.rung)}};
      if (window > 0) value.shape = {tokens_, size(kept_.of(spec_.shape.rung))};
      return add(std::move(value));
    }
    std::vector<std::size_t> cache(std::size_t layer, std::size_t row) {
      const std::int64_t rung = spec_.shape.rung;
      const std::size_t blocks = size(has_window(layer) ? kept_.of(rung) : rung) / rows_;
      graph::ValueSpec value{.layer = static_cast<std::int64_t>(layer),
                             .row = static_cast<std::int64_t>(row)};
      value.role = graph::Role::kCacheK;
      value.shape = {blocks, FakeModel::kKvHeads, FakeModel::kHeadDim, rows_};
      const std::size_t k = add(value);
      value.role = graph::Role::kCacheV;
      value.shape = {blocks, FakeModel::kKvHeads, rows_, FakeModel::kHeadDim};
      return {k, add(value)};
    }
    std::vector<std::size_t> made(std::size_t layer) {
      graph::ValueSpec value{
          .layer = static_cast<std::int64_t>(layer),
          .shape = {1, batch_ * tokens_, FakeModel::kKvHeads, FakeModel::kHeadDim}};
      value.role = graph::Role::kNewK;
      const std::size_t k = add(value);
      value.role = graph::Role::kNewV;
      return {k, add(value)};
    }

    const std::size_t batch_;
    const std::size_t tokens_;
    const std::size_t rows_;
    const std::int64_t window_;
    const RowsKept kept_;
    graph::ProgramSpec spec_;
  };

  const Options options_;
  const std::shared_ptr<FakeScript> script_;
  std::mutex mutex_;
  std::vector<Compile> compiles_;  // guarded by mutex_ while something compiles
};

}  // namespace ahead::compile
