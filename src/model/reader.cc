// A folder is IR, a file is GGUF; whatever goes wrong leaves as one Error. May use: base, OpenVINO.
#include "model/reader.h"

#include <exception>
#include <system_error>

#include "ahead/error.h"
#include "base/text.h"
#include "model/gguf_reader.h"
#include "model/ir_reader.h"

namespace ahead::model {

ReadModel read_model(ov::Core& core, const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::none) {  // neither there nor missing
    throw Error(ErrorKind::kInvalidModel, "cannot open model '" + path.string() +
                                              "': " + error.message() +
                                              "; correct the path, or who may read it");
  }
  try {
    return std::filesystem::is_directory(status) ? read_ir_folder(core, path) : read_gguf(path);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& cause) {
    throw Error(ErrorKind::kInvalidModel, "model '" + path.string() +
                                              "' cannot be read: " + reason_of(cause.what()) +
                                              "; fetch or export it again");
  }
}

}  // namespace ahead::model
