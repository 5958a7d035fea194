// The machine's back end and pages. May use: base, compile, kv.
#include "sim/machine_parts.h"

namespace ahead::sim {

using compile::FakePart;

Machine::Backend::Backend(Machine& machine)
    : machine_(machine),
      fake_({.block_rows = static_cast<std::int64_t>(machine.scenario_.block_rows),
             .cut = machine.scenario_.cut,
             .joined_from = 1,
             .window = machine.scenario_.window,
             .device = kDevice},
            machine.script_) {}

graph::ProgramSpec Machine::Backend::spec(const graph::ProgramShape& shape) const {
  machine_.timeline_.spend_task();  // the task's first act; nobody sees how far it is meanwhile
  return fake_.spec(shape);
}

std::shared_ptr<compile::Artifact> Machine::Backend::compile(const graph::ProgramShape& shape,
                                                             std::size_t part) {
  machine_.let_help();
  machine_.compile_part();
  const auto nth = static_cast<std::int64_t>(machine_.current_);
  const Fault* const foreign = machine_.fires(FaultKind::kWrongDevice, nth);
  if (foreign) machine_.causes_.emplace_back("runs on OTHER");
  return std::make_shared<Artifact>(machine_,
                                    Artifact::Facts{.number = ++machine_.artifacts_,
                                                    .part = fake_.kind_of(shape, part),
                                                    .shape = shape,
                                                    .devices = {foreign ? "OTHER" : kDevice}},
                                    fake_.compile(shape, part));
}

Machine::Artifact::Artifact(Machine& machine, Facts facts, std::shared_ptr<compile::Artifact> fake)
    : machine_(machine), facts_(std::move(facts)), fake_(std::move(fake)), held_(machine.held_) {
  if (facts_.part == FakePart::kWhole || facts_.part == FakePart::kAttend) {
    held_->rungs[facts_.number] = facts_.shape.rung;
  }
}

Machine::Artifact::~Artifact() { held_->rungs.erase(facts_.number); }

std::unique_ptr<compile::Request> Machine::Artifact::create_request(std::size_t weights) {
  return std::make_unique<Request>(machine_, facts_, used_, fake_->create_request(weights));
}

void Machine::Request::bind_input(std::size_t port, const TensorView& tensor) {
  if (inputs_.size() <= port) inputs_.resize(port + 1);
  inputs_[port] = tensor;
  fake_->bind_input(port, tensor);
}

void Machine::Request::run(const AtPause& at_pause) {
  const bool first_use = !std::exchange(*used_, true);
  const bool warm_up = machine_.timeline_.in_task();
  machine_.call({.artifact = number_, .part = part_, .shape = shape_, .inputs = inputs_},
                first_use);
  if (!warm_up) fake_->run(at_pause);  // a warm-up's zeros are no step
}

void Machine::Pages::commit(kv::Region region, kv::Range range) {
  // What is made ready ahead of need may be refused and nobody hears of it.
  const bool fatal = machine_.fatal_;
  try {
    machine_.give(range.bytes, false);
  } catch (const Error&) {
    machine_.fatal_ = fatal;
    throw;
  }
  fake.commit(region, range);
}

}  // namespace ahead::sim
