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
#include "model/verified.h"

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

/// Says by what the architecture is verified, or that nothing shows it right.
void look_up(ReadModel& read, Format format, const ReadOptions& options) {
  const std::string& architecture = read.decoder.architecture;
  read.verified_by = verified_by(format, architecture);
  if (!read.verified_by.empty() || options.unverified) return;
  throw Error(ErrorKind::kUnsupportedModel,
              path_in_quotes(read.weights->path()) + " is of the architecture '" + architecture +
                  "', and no test shows that it is computed right; --unverified runs it all the "
                  "same (verified are " +
                  verified_architectures(format) + ")");
}

}  // namespace

ReadModel read_model(ov::Core& core, const std::filesystem::path& path,
                     const ReadOptions& options) {
  std::error_code error;
  const bool folder = std::filesystem::is_directory(path, error);
  try {
    ReadModel read = folder ? read_folder(core, path) : read_gguf(path);
    check_unchanged(*read.weights);
    look_up(read, folder ? Format::kIr : Format::kGguf, options);
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
