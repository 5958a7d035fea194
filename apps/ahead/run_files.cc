// See run_files.h. May use: include/ahead.
#include "run_files.h"

namespace ahead::cli {

RunFiles open_files(const RunRequest& request) {
  CommandFiles files;
  files.read_model("MODEL", request.model);
  files.read("--prompt-file", request.prompt.file);
  files.read("--batch", request.prompt.batch_file);
  files.read("--force", request.prompt.forced_file);
  files.write("--json", request.json);
  files.write("--trace", request.trace);
  if (!request.pipeline.history.empty()) {
    files.kept.push_back({"--history", request.pipeline.history});
  }
  check_files(files);
  return {.json = Destination::of("--json", request.json),
          .trace = Destination::of("--trace", request.trace),
          .material = read_material(request.prompt)};
}

}  // namespace ahead::cli
