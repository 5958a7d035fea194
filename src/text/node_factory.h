// Operations of the OpenVINO tokenizers extension, by name. May use: std, OpenVINO, dl.
#pragma once

#include <openvino/core/any.hpp>
#include <openvino/core/extension.hpp>
#include <openvino/core/node_output.hpp>
#include <string>
#include <vector>

namespace ahead::text {

/// Creates the extension's nodes. The library stays loaded for the rest of the process: graphs made
/// from it may live as long.
class NodeFactory {
 public:
  /// Throws Error(kInvalidArgument) when `library` is not the extension.
  explicit NodeFactory(const std::string& library);

  /// One of the operations that the extension makes by name. Throws ov::Exception for another.
  [[nodiscard]] ov::OutputVector create(const std::string& type, const ov::OutputVector& inputs,
                                        const ov::AnyMap& attributes = {}) const;

  /// Any other, as a reader of IR would make it; attributes are strings and bools, and those not
  /// given keep their defaults. Throws ov::Exception for an unknown one.
  [[nodiscard]] ov::OutputVector create_registered(const std::string& type,
                                                   const ov::OutputVector& inputs,
                                                   const ov::AnyMap& attributes = {}) const;

 private:
  using Create = ov::OutputVector (*)(const std::string&, const ov::OutputVector&,
                                      const ov::AnyMap&);
  Create create_;
  std::vector<ov::Extension::Ptr> registered_;
};

}  // namespace ahead::text
