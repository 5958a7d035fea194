// A folder is IR, a file is GGUF; whatever goes wrong leaves as one Error. May use: base, OpenVINO.
#include "model/reader.h"

#include <exception>
#include <system_error>

#include "ahead/error.h"
#include "base/printable.h"
#include "base/shortage_error.h"
#include "base/text.h"
#include "model/folder_kind.h"
#include "model/gguf_reader.h"
#include "model/ir_reader.h"

namespace ahead::model {
namespace {

ReadModel read_folder(ov::Core& core, const std::filesystem::path& folder) {
  if (!has_ir(folder)) throw no_ir_folder(folder);
  return read_ir_folder(core, folder);
}

/// The facts that were read are those of the file that is open, and of no other.
void check_unchanged(const InputFile& weights) {
  if (weights.unchanged()) return;
  throw Error(ErrorKind::kIo, path_in_quotes(weights.path()) +
                                  " was changed while it was read; leave it alone, and run again");
}

}  // namespace

ReadModel read_model(ov::Core& core, const std::filesystem::path& path) {
  std::error_code error;
  const bool folder = std::filesystem::is_directory(path, error);
  try {
    ReadModel read = folder ? read_folder(core, path) : read_gguf(path);
    check_unchanged(*read.weights);
    return read;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& cause) {
    const std::string what = "model " + path_in_quotes(path.string()) + " cannot be read";
    throw_if_short(cause, what);
    throw Error(ErrorKind::kInvalidModel,
                what + ": " + printable(reason_of(cause.what())) + "; fetch or export it again");
  }
}

}  // namespace ahead::model
