// Looks at the names of a folder's files, and at the first bytes of those that may be GGUF. May
// use: base.
#include "model/folder_kind.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/printable.h"
#include "model/file_kind.h"

namespace ahead::model {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGraphName = "openvino_model.xml";
/// Of a folder with more entries, the rest is not looked at.
constexpr std::size_t kMostEntries = 1000;

struct Contents {
  std::vector<fs::path> gguf;
  std::vector<fs::path> folders_with_ir;
  std::vector<fs::path> other_graphs;
  bool safetensors = false;
  bool torch = false;
  bool onnx = false;
  bool cache_of_the_hub = false;  ///< blobs, refs, snapshots
  bool empty = true;
};

bool is_gguf(const fs::path& path) {
  try {
    const InputFile file(path.string());
    const std::string beginning = file.read({.at = 0, .bytes = kBeginningBytes});
    return kind_of(beginning, file.size()) == FileKind::kGguf;
  } catch (const Error&) {
    return false;
  }
}

void look_at(const fs::path& path, Contents& contents) {
  std::error_code ignored;
  const std::string name = path.filename().string();
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  if (fs::is_directory(path, ignored)) {
    if (has_ir(path)) contents.folders_with_ir.push_back(path);
    contents.cache_of_the_hub = contents.cache_of_the_hub || name == "snapshots";
    return;
  }
  contents.safetensors = contents.safetensors || ends(".safetensors");
  contents.torch = contents.torch || name.starts_with("pytorch_model") || ends(".pth");
  contents.onnx = contents.onnx || ends(".onnx");
  if (ends(".xml") && !name.starts_with("openvino_tokenizer") &&
      !name.starts_with("openvino_detokenizer")) {
    contents.other_graphs.push_back(path);
  }
  if (is_gguf(path)) contents.gguf.push_back(path);
}

Contents contents_of(const fs::path& folder) {
  Contents contents;
  std::error_code error;
  std::size_t seen = 0;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    contents.empty = false;
    if (++seen > kMostEntries) break;
    look_at(at->path(), contents);
  }
  if (error) {
    throw Error(ErrorKind::kInvalidModel, "the folder " + path_in_quotes(folder.string()) +
                                              " cannot be looked into: " + error.message() +
                                              "; correct the path, or who may read it");
  }
  for (auto* list : {&contents.gguf, &contents.folders_with_ir, &contents.other_graphs}) {
    std::sort(list->begin(), list->end());
  }
  return contents;
}

/// The names of the first few.
std::string names(const std::vector<fs::path>& paths) {
  constexpr std::size_t kShown = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(paths.size(), kShown); ++i) {
    out += (i == 0 ? "" : ", ") + path_in_quotes(paths[i].filename().string());
  }
  if (paths.size() > kShown) out += " and " + std::to_string(paths.size() - kShown) + " more";
  return out;
}

std::string why(const Contents& contents) {
  constexpr std::string_view kExport =
      "; export the model first (optimum-cli export openvino --model FOLDER OUT) and give the "
      "folder OUT";
  if (!contents.gguf.empty()) {
    return " has no " + std::string(kGraphName) +
           " but GGUF files; give the file itself: " + names(contents.gguf);
  }
  if (!contents.folders_with_ir.empty()) {
    return " has no " + std::string(kGraphName) +
           ", but a folder in it has; give that: " + names(contents.folders_with_ir);
  }
  if (contents.safetensors)
    return " holds safetensors, weights without a graph" + std::string(kExport);
  if (contents.torch) return " holds weights of PyTorch without a graph" + std::string(kExport);
  if (contents.onnx) return " holds ONNX" + std::string(kExport);
  if (contents.cache_of_the_hub) {
    return " is a cache of a hub; give the model itself: a folder or a file below its 'snapshots'";
  }
  if (!contents.other_graphs.empty()) {
    return " holds " + names(contents.other_graphs) + " but no " + kGraphName +
           ": no text model as OpenVINO GenAI's tools export it; export the model again, for text "
           "generation";
  }
  if (contents.empty) return " is empty; give a GGUF file or an OpenVINO IR folder";
  return " holds no model: " + std::string(kGraphName) +
         " is missing in it; give a GGUF file or an OpenVINO IR folder";
}

}  // namespace

bool has_ir(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / kGraphName, ignored);
}

Error no_ir_folder(const fs::path& folder) {
  return {ErrorKind::kInvalidModel,
          "the folder " + path_in_quotes(folder.string()) + why(contents_of(folder))};
}

}  // namespace ahead::model
