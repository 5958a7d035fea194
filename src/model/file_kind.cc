// Magic numbers, and what texts begin with. May use: base.
#include "model/file_kind.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/printable.h"
#include "base/utf8.h"

namespace ahead::model {
namespace {

using std::string_view_literals::operator""sv;

struct Magic {
  std::string_view bytes;
  FileKind kind;
};
constexpr std::array kMagics = {
    Magic{"lmgg"sv, FileKind::kGgml},
    Magic{"fmgg"sv, FileKind::kGgml},
    Magic{"tjgg"sv, FileKind::kGgml},
    Magic{"algg"sv, FileKind::kGgml},
    Magic{"ggml"sv, FileKind::kGgml},
    Magic{"ggjt"sv, FileKind::kGgml},
    Magic{"FUGG"sv, FileKind::kGgufOtherOrder},
    Magic{"version https://git-lfs"sv, FileKind::kLfsPointer},
    Magic{"version https://hawser"sv, FileKind::kLfsPointer},
    Magic{"# xet version"sv, FileKind::kXetPointer},
    Magic{"/annex/objects/"sv, FileKind::kAnnexPointer},
    Magic{"\x80\x02}q"sv, FileKind::kTorch},
    Magic{"\x80\x02\x8A\x0Al\xFC\x9C\x46\xF9 j\xA8"sv, FileKind::kTorch},
    Magic{"\x89HDF\r\n\x1A\n"sv, FileKind::kHdf5},
    Magic{"\x1F\x8B"sv, FileKind::kGzip},
    Magic{"\x28\xB5\x2F\xFD"sv, FileKind::kZstd},
    Magic{"\xFD\x37zXZ\0"sv, FileKind::kXz},
    Magic{"BZh"sv, FileKind::kBzip2},
    Magic{"7z\xBC\xAF\x27\x1C"sv, FileKind::kSevenZip},
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8U | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

/// "GGUF" and a version, which is a small number in one of the two byte orders.
FileKind gguf_kind(std::string_view beginning) {
  if (beginning.size() < 8) return FileKind::kGguf;
  const std::uint64_t version = little_endian(beginning.substr(4, 4));
  const bool other = version != 0 && (version & 0xFFFFU) == 0;
  return other ? FileKind::kGgufOtherOrder : FileKind::kGguf;
}

/// A length of 8 bytes, and that much JSON.
bool is_safetensors(std::string_view beginning, std::uint64_t size) {
  constexpr std::uint64_t kMostHeader = 100'000'000;  // as its own readers have it
  if (beginning.size() < 9 || beginning[8] != '{') return false;
  const std::uint64_t length = little_endian(beginning.substr(0, 8));
  return length >= 2 && length <= kMostHeader && length <= size - 8;
}

/// ONNX has no magic number: the number of its format, and its writer's name or the graph.
bool is_onnx(std::string_view beginning) {
  if (beginning.size() < 4 || beginning[0] != 0x08) return false;
  const auto format = static_cast<unsigned char>(beginning[1]);
  return format >= 1 && format <= 40 && (beginning[2] == 0x12 || beginning[2] == 0x3A);
}

/// A pickle, of protocol 2 to 5: what is in it may be anything.
bool is_pickle(std::string_view beginning) {
  return beginning.size() > 2 && beginning[0] == '\x80' && beginning[1] >= 2 && beginning[1] <= 5 &&
         std::strchr("(}]cX\x8C\x8A\x95.", beginning[2]) != nullptr;
}

std::string small(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

/// Text as far as it was seen; a character may be cut at the end.
bool is_text(std::string_view text) {
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f') return false;
    const Utf8Step step = next_utf8(text);
    if (step.kind == Utf8Step::Kind::kIncomplete) return true;
    if (step.kind == Utf8Step::Kind::kInvalid) return false;
    text.remove_prefix(step.bytes);
  }
  return true;
}

std::string_view without_mark_and_blanks(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return text.substr(std::min(first, text.size()));
}

FileKind json_kind(std::string_view text) {
  if (has(text, "\"weight_map\"")) return FileKind::kIndex;
  if (has(text, "\"schemaVersion\"") || has(text, "\"mediaType\"")) return FileKind::kManifest;
  return FileKind::kJson;
}

FileKind text_kind(std::string_view beginning) {
  const std::string_view text = without_mark_and_blanks(beginning);
  const std::string lower = small(text.substr(0, 200));
  for (const auto tag : {"<!doctype html"sv, "<html"sv, "<head"sv, "<body"sv, "<script"sv}) {
    if (lower.starts_with(tag)) return FileKind::kHtml;
  }
  if (lower.starts_with("<?xml") || lower.starts_with("<net") || lower.starts_with("<!--")) {
    if (has(small(text), "<html")) return FileKind::kHtml;
    return has(text, "<net") ? FileKind::kGraph : FileKind::kXml;
  }
  if (text.starts_with('{') || text.starts_with('[')) return json_kind(text);
  return FileKind::kText;
}

constexpr auto kFetch = "; fetch the file itself"sv;
constexpr auto kUnpack = "; unpack it and give what is in it"sv;
constexpr auto kExport =
    "; export the model for OpenVINO (optimum-cli export openvino --model FOLDER OUT) and give the "
    "folder OUT, or convert it to GGUF"sv;

}  // namespace

FileKind kind_of(std::string_view beginning, std::uint64_t size) {
  if (size == 0) return FileKind::kEmpty;
  if (beginning.starts_with("GGUF")) return gguf_kind(beginning);
  if (std::all_of(beginning.begin(), beginning.end(), [](char c) { return c == '\0'; })) {
    return FileKind::kZeros;
  }
  for (const Magic& magic : kMagics) {
    if (beginning.starts_with(magic.bytes)) return magic.kind;
  }
  if (beginning.starts_with("PK\x03\x04")) {
    return has(beginning, "data.pkl") || has(beginning, ".pth") ? FileKind::kTorch : FileKind::kZip;
  }
  if (is_safetensors(beginning, size)) return FileKind::kSafetensors;
  if (is_pickle(beginning)) return FileKind::kTorch;
  if (beginning.size() >= 8 && beginning.substr(4, 4) == "TFL3") return FileKind::kTflite;
  if (beginning.size() >= 262 && beginning.substr(257, 5) == "ustar") return FileKind::kTar;
  if (is_onnx(beginning)) return FileKind::kOnnx;
  return is_text(beginning) ? text_kind(beginning) : FileKind::kUnknown;
}

std::string words_of(FileKind kind) {
  const auto both = [](std::string_view what, std::string_view remedy) {
    return std::string(what) + std::string(remedy);
  };
  switch (kind) {
    case FileKind::kGguf:
      return "";
    case FileKind::kGgufOtherOrder:
      return "a GGUF file of the other byte order, for big-endian processors; turn it round with "
             "'gguf-convert-endian FILE little', or fetch the one for little-endian processors";
    case FileKind::kGgml:
      return "a file of ggml from before GGUF (August 2023); convert the original model to GGUF";
    case FileKind::kEmpty:
      return "an empty file; fetch it again";
    case FileKind::kZeros:
      return "all zero bytes where it begins, as a download that did not end leaves it; fetch it "
             "again";
    case FileKind::kLfsPointer:
      return both("a pointer of git-lfs, not the file that it stands for",
                  "; run 'git lfs pull' in its repository, or fetch the file itself");
    case FileKind::kXetPointer:
      return both("a pointer of git-xet, not the file that it stands for", kFetch);
    case FileKind::kAnnexPointer:
      return "a pointer of git-annex, not the file that it stands for; run 'git annex get' on it";
    case FileKind::kHtml:
      return both("a web page",
                  "; fetch the file itself: the link to it, not to the page about it");
    case FileKind::kGraph:
      return "the graph of an OpenVINO IR folder; give the folder that it is in";
    case FileKind::kXml:
      return "XML, and no graph of OpenVINO; give a GGUF file or an OpenVINO IR folder";
    case FileKind::kSafetensors:
      return both("a safetensors file: weights without a graph", kExport);
    case FileKind::kTorch:
      return both("weights of PyTorch without a graph", kExport);
    case FileKind::kOnnx:
      return both("an ONNX graph", kExport);
    case FileKind::kHdf5:
      return both("an HDF5 file, such as Keras writes", kExport);
    case FileKind::kTflite:
      return both("a TensorFlow Lite model", kExport);
    case FileKind::kZip:
      return both("a zip archive", kUnpack);
    case FileKind::kGzip:
      return both("compressed with gzip", kUnpack);
    case FileKind::kZstd:
      return both("compressed with zstd", kUnpack);
    case FileKind::kXz:
      return both("compressed with xz", kUnpack);
    case FileKind::kBzip2:
      return both("compressed with bzip2", kUnpack);
    case FileKind::kSevenZip:
      return both("a 7z archive", kUnpack);
    case FileKind::kTar:
      return both("a tar archive", kUnpack);
    case FileKind::kIndex:
      return both("an index that says which file holds which weights", kExport);
    case FileKind::kManifest:
      return "the manifest of a registry; give the file that it names as the model, which is among "
             "the registry's blobs (a GGUF file may have any name)";
    case FileKind::kJson:
      return "JSON, not a model; give a GGUF file or an OpenVINO IR folder, and if a download gave "
             "this, see what it says";
    case FileKind::kText:
      return "text, not a model; give a GGUF file or an OpenVINO IR folder, and if a download gave "
             "this, see what it says";
    case FileKind::kUnknown:
      return "neither a GGUF file, which begins with 'GGUF', nor anything else that is known here; "
             "give a GGUF file or an OpenVINO IR folder. If it is one of several pieces, join them "
             "in order";
  }
  return "";
}

Error no_model(const InputFile& file) {
  const std::string beginning = file.read({.at = 0, .bytes = kBeginningBytes});
  const FileKind kind = kind_of(beginning, file.size());
  std::string what = words_of(kind);
  // What a server answered instead of the file says best what is wrong.
  if (kind == FileKind::kText || kind == FileKind::kJson) {
    constexpr std::size_t kShown = 60;
    const std::string shown = printable(without_mark_and_blanks(beginning).substr(0, kShown));
    what.insert(what.find(';'), " (it begins with " + in_quotes(shown) + ")");
  }
  return {ErrorKind::kInvalidModel, path_in_quotes(file.path()) + " is " + what};
}

}  // namespace ahead::model
