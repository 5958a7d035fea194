// The machine's own back end, artifacts, requests and pages: fakes that ask the machine before they
// do anything. Internal to machine*.cc. May use: base, compile, kv.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/machine.h"

namespace ahead::sim {

inline constexpr const char* kDevice = "SIM";

/// Artifacts that somebody holds and whose shape depends on the rung, with it.
struct Machine::Held {
  std::map<std::size_t, std::int64_t> rungs;
};

class Machine::Backend final : public compile::Backend {
 public:
  explicit Backend(Machine& machine);
  [[nodiscard]] graph::ProgramSpec spec(const graph::ProgramShape& shape) const override;
  [[nodiscard]] std::shared_ptr<compile::Artifact> compile(const graph::ProgramShape& shape,
                                                           std::size_t part) override;

 private:
  Machine& machine_;
  compile::FakeBackend fake_;
};

class Machine::Artifact final : public compile::Artifact {
 public:
  struct Facts {
    std::size_t number = 0;
    compile::FakePart part = compile::FakePart::kWhole;
    graph::ProgramShape shape;
    std::vector<std::string> devices;
  };
  Artifact(Machine& machine, Facts facts, std::shared_ptr<compile::Artifact> fake);
  Artifact(const Artifact&) = delete;
  Artifact& operator=(const Artifact&) = delete;
  ~Artifact() override;
  [[nodiscard]] std::unique_ptr<compile::Request> create_request(std::size_t weights) override;
  [[nodiscard]] std::vector<std::string> execution_devices() const override {
    return facts_.devices;
  }

 private:
  Machine& machine_;
  const Facts facts_;
  const std::shared_ptr<compile::Artifact> fake_;
  const std::shared_ptr<Held> held_;
  std::shared_ptr<bool> used_ = std::make_shared<bool>(false);
};

class Machine::Request final : public compile::Request {
 public:
  Request(Machine& machine, const Artifact::Facts& facts, std::shared_ptr<bool> used,
          std::unique_ptr<compile::Request> fake)
      : machine_(machine),
        number_(facts.number),
        part_(facts.part),
        shape_(facts.shape),
        used_(std::move(used)),
        fake_(std::move(fake)) {}
  void bind_input(std::size_t port, const TensorView& tensor) override;
  void bind_output(std::size_t port, const TensorView& tensor) override {
    fake_->bind_output(port, tensor);
  }
  void run(const AtPause& at_pause) override;

 private:
  Machine& machine_;
  const std::size_t number_;
  const compile::FakePart part_;
  const graph::ProgramShape shape_;
  const std::shared_ptr<bool> used_;
  const std::unique_ptr<compile::Request> fake_;
  std::vector<TensorView> inputs_;
};

class Machine::Pages final : public kv::PageProvider {
 public:
  explicit Pages(Machine& machine) : machine_(machine) {}
  kv::Region allocate(std::size_t bytes) override {
    machine_.give(bytes, false);
    return fake.allocate(bytes);
  }
  kv::Region reserve(std::size_t bytes) override {
    machine_.give(bytes, true);
    return fake.reserve(bytes);
  }
  void prefault(kv::Region region, kv::Range range) noexcept override {
    fake.prefault(region, range);
  }
  void commit(kv::Region region, kv::Range range) override;
  void release(kv::Region region) noexcept override {
    machine_.record(EventKind::kRelease, static_cast<std::int64_t>(region.bytes));
    fake.release(region);
  }
  [[nodiscard]] std::size_t committed_bytes(kv::Region region) const override {
    return fake.committed_bytes(region);
  }

  kv::FakePages fake;

 private:
  Machine& machine_;
};

}  // namespace ahead::sim
