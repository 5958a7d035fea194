// Finding the OpenVINO tokenizers extension. May use: std, OpenVINO, dl.
#include "text/tokenizers_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <openvino/core/version.hpp>
#include <system_error>

#include "ahead/error.h"
#include "base/printable.h"

namespace ahead::text {
namespace {

constexpr const char* kVariable = "AHEAD_TOKENIZERS_LIBRARY";

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// Empty when the loader does not know.
std::string beside_openvino() {
  // A string of the library's own: unlike a function's, its address is never that of a stub in this
  // program.
  Dl_info info{};
  if (dladdr(ov::get_openvino_version().buildNumber, &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  return std::filesystem::path(info.dli_fname)
      .replace_filename("libopenvino_tokenizers.so")
      .string();
}

}  // namespace

std::string default_tokenizers_library() {
  if (const char* named = std::getenv(kVariable); named != nullptr && *named != '\0') {
    if (is_file(named)) return named;
    throw Error(ErrorKind::kInvalidArgument, std::string(kVariable) + " names " +
                                                 path_in_quotes(named) +
                                                 ", which is no file; correct or unset it");
  }
  const std::string beside = beside_openvino();
  if (!beside.empty() && is_file(beside)) return beside;
  const std::string built_in = AHEAD_TOKENIZERS_LIBRARY_PATH;
  if (is_file(built_in)) return built_in;
  throw Error(ErrorKind::kInvalidArgument,
              "the OpenVINO tokenizers extension is neither at " + path_in_quotes(beside) +
                  " nor at " + path_in_quotes(built_in) + "; run scripts/setup.sh, or set " +
                  kVariable + " to libopenvino_tokenizers.so");
}

}  // namespace ahead::text
