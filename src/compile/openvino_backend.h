// OpenVINO as a back end: builds a part's graph, compiles it for one device, runs it.
// May use: base, graph, OpenVINO.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compile/backend.h"
#include "graph/partition.h"
#include "openvino/runtime/core.hpp"

namespace ahead::compile {

/// Parts of one decoder for one device.
class OpenVinoBackend final : public Backend {
 public:
  struct Options {
    std::shared_ptr<ov::Core> core;
    /// By tier, at least one.
    std::vector<graph::PartitionedDecoder> tiers;
    std::string device;
    int reading_threads = 1;   ///< for parts that read prompts, those among them that decode too
    int decoding_threads = 1;  ///< for parts that only decode
  };
  explicit OpenVinoBackend(Options options);

  [[nodiscard]] graph::ProgramSpec spec(const graph::ProgramShape& shape) const override;
  [[nodiscard]] std::shared_ptr<Artifact> compile(const graph::ProgramShape& shape,
                                                  std::size_t part) override;

 private:
  [[nodiscard]] const graph::PartitionedDecoder& decoder(const graph::ProgramShape& shape) const;

  const Options options_;
};

/// Whether `device` runs graphs whose number of tokens is open as fast as static ones.
[[nodiscard]] bool takes_any_tokens(const std::string& device);

/// Whether `device` runs an operation it does not know by the operation's own code, on the caller's
/// thread.
[[nodiscard]] bool runs_host_operations(const std::string& device);

/// Whether products that the host computes (graph/panel_product.h) are faster there than the
/// device's own, which may have several threads.
[[nodiscard]] bool host_products_pay(const std::string& device, int decoding_threads);

/// Whether `device` computes in f16, and not only stores it.
[[nodiscard]] bool computes_in_f16(const ov::Core& core, const std::string& device);

/// What compiles and runs there: OpenVINO's build and the device by its full name.
[[nodiscard]] std::string identity_of(const ov::Core& core, const std::string& device);

/// Throws Error(kInvalidArgument), listing what there is, when `core` has no device of that name.
void check_device(const ov::Core& core, const std::string& device);

}  // namespace ahead::compile
