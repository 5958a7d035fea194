// Loading the OpenVINO tokenizers extension. May use: std, OpenVINO, dl.
#include "text/node_factory.h"

#include <dlfcn.h>

#include <openvino/core/attribute_visitor.hpp>
#include <openvino/core/op_extension.hpp>
#include <stdexcept>
#include <string>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/shortage_error.h"

namespace ahead::text {
namespace {

/// Sets a node's attributes from a map.
class Setter final : public ov::AttributeVisitor {
 public:
  explicit Setter(const ov::AnyMap& values) : values_(values) {}

  void on_adapter(const std::string&, ov::ValueAccessor<void>&) override {}
  void on_adapter(const std::string& name, ov::ValueAccessor<std::string>& adapter) override {
    if (const auto found = values_.find(name); found != values_.end()) {
      adapter.set(found->second.as<std::string>());
    }
  }
  void on_adapter(const std::string& name, ov::ValueAccessor<bool>& adapter) override {
    if (const auto found = values_.find(name); found != values_.end()) {
      adapter.set(found->second.as<bool>());
    }
  }
  using ov::AttributeVisitor::on_adapter;

 private:
  const ov::AnyMap& values_;
};

}  // namespace

NodeFactory::NodeFactory(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_NODELETE);
  void* symbol = handle == nullptr ? nullptr : dlsym(handle, "create_tokenizer_node");
  void* all = symbol == nullptr ? nullptr : dlsym(handle, "create_extensions");
  if (all == nullptr) {
    const char* error = dlerror();
    const std::string reason = error == nullptr ? "unknown reason" : error;
    const std::string what =
        "cannot use " + path_in_quotes(library) + " as the OpenVINO tokenizers extension";
    throw_if_short(std::runtime_error(reason), what);
    throw Error(ErrorKind::kInvalidArgument,
                what + ": " + printable(reason) + "; it has to be of the same version as OpenVINO");
  }
  create_ = reinterpret_cast<Create>(symbol);
  reinterpret_cast<void (*)(std::vector<ov::Extension::Ptr>&)>(all)(registered_);
}

ov::OutputVector NodeFactory::create(const std::string& type, const ov::OutputVector& inputs,
                                     const ov::AnyMap& attributes) const {
  return create_(type, inputs, attributes);
}

ov::OutputVector NodeFactory::create_registered(const std::string& type,
                                                const ov::OutputVector& inputs,
                                                const ov::AnyMap& attributes) const {
  for (const ov::Extension::Ptr& extension : registered_) {
    const auto* operation = dynamic_cast<const ov::BaseOpExtension*>(extension.get());
    if (operation == nullptr || type != operation->get_type_info().name) continue;
    Setter setter(attributes);
    return operation->create(inputs, setter);
  }
  OPENVINO_THROW("the tokenizers extension has no operation ", type);
}

}  // namespace ahead::text
