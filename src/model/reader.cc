// A folder is IR, a file is GGUF. May use: base, OpenVINO.
#include "model/reader.h"

#include "ahead/error.h"
#include "model/gguf_reader.h"
#include "model/ir_reader.h"

namespace ahead::model {

ReadModel read_model(ov::Core& core, const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return read_ir_folder(core, path);
  return read_gguf(path);
}

}  // namespace ahead::model
