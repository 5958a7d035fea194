// Loading the OpenVINO tokenizers extension. May use: std, OpenVINO, dl.
#include "text/node_factory.h"

#include <dlfcn.h>

#include "ahead/error.h"

namespace ahead::text {

NodeFactory::NodeFactory(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_NODELETE);
  void* symbol = handle == nullptr ? nullptr : dlsym(handle, "create_tokenizer_node");
  if (symbol == nullptr) {
    const char* reason = dlerror();
    throw Error(ErrorKind::kInvalidArgument, "cannot use \"" + library +
                                                 "\" as the OpenVINO tokenizers extension: " +
                                                 (reason == nullptr ? "unknown reason" : reason) +
                                                 "; it has to be of the same version as OpenVINO");
  }
  create_ = reinterpret_cast<Create>(symbol);
}

ov::OutputVector NodeFactory::create(const std::string& type, const ov::OutputVector& inputs,
                                     const ov::AnyMap& attributes) const {
  return create_(type, inputs, attributes);
}

}  // namespace ahead::text
