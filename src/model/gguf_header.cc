// A bounds-checked walk through a GGUF header. May use: base.
#include "model/gguf_header.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>
#include <vector>

#include "ahead/error.h"

namespace ahead::model {
namespace {

// Limits far above any real file, so that a hostile count ends early instead of in memory.
constexpr std::uint64_t kMaxStringBytes = 1 << 24;
constexpr std::uint64_t kMaxMetadata = 1 << 16;
constexpr std::uint64_t kMaxTensors = 1 << 20;
constexpr std::uint32_t kMaxDimensions = 4;
constexpr int kMaxArrayDepth = 4;

enum ValueType : std::uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64
};

/// Elements and bytes of a block of each ggml type; zeroes where a number is not in use.
struct Block {
  std::uint64_t elements;
  std::uint64_t bytes;
};
constexpr std::array<Block, 40> kBlocks = {{
    {1, 4},    {1, 2},    {32, 18},  {32, 20},   {0, 0},     {0, 0},     {32, 22},   {32, 24},
    {32, 34},  {32, 36},  {256, 84}, {256, 110}, {256, 144}, {256, 176}, {256, 210}, {256, 292},
    {256, 66}, {256, 74}, {256, 98}, {256, 50},  {32, 18},   {256, 110}, {256, 82},  {256, 136},
    {1, 1},    {1, 2},    {1, 4},    {1, 8},     {1, 8},     {256, 56},  {1, 2},     {0, 0},
    {0, 0},    {0, 0},    {256, 54}, {256, 66},  {0, 0},     {0, 0},     {0, 0},     {32, 17},
}};

/// Names out of a hostile file, made fit for a message.
std::string in_one_line(std::string text) {
  constexpr std::size_t kMost = 60;
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7F') c = '?';
  }
  return text;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    // Opening a pipe would wait for a writer; a device has no end.
    std::error_code ignored;
    const auto type = std::filesystem::status(path, ignored).type();
    const bool other = type != std::filesystem::file_type::regular &&
                       type != std::filesystem::file_type::not_found &&
                       type != std::filesystem::file_type::none;
    if (!other) file_.open(path, std::ios::binary);
    if (other || !file_) {
      throw Error(ErrorKind::kInvalidModel,
                  "cannot open model '" + path +
                      "': " + (other ? "it is no file" : "no such file, or it is not readable") +
                      "; give the path of a GGUF file or of an OpenVINO IR folder");
    }
    file_.seekg(0, std::ios::end);
    const auto end = file_.tellg();
    if (end < 0) fail("its length cannot be found");
    size_ = static_cast<std::uint64_t>(end);
    file_.seekg(0);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::kInvalidModel, "'" + path_ + "' is not a usable GGUF file: " + what +
                                              " at byte " + std::to_string(at_) + " of " +
                                              std::to_string(size_) + "; fetch the file again");
  }

  void need(std::uint64_t bytes, const char* what) const {
    if (bytes > size_ - at_) fail(std::string("it is truncated in ") + what);
  }

  template <typename T>
  T read(const char* what) {
    need(sizeof(T), what);
    std::array<char, sizeof(T)> raw;
    file_.read(raw.data(), raw.size());
    if (!file_) fail(std::string("it cannot be read in ") + what);
    at_ += sizeof(T);
    T value;
    std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }

  std::string read_string(const char* what) {
    const auto length = read<std::uint64_t>(what);
    if (length > kMaxStringBytes) fail(std::string("an impossible length in ") + what);
    need(length, what);
    std::string text(length, '\0');
    file_.read(text.data(), static_cast<std::streamsize>(length));
    if (!file_) fail(std::string("it cannot be read in ") + what);
    at_ += length;
    return text;
  }

  void skip(std::uint64_t bytes, const char* what) {
    need(bytes, what);
    file_.seekg(static_cast<std::streamoff>(bytes), std::ios::cur);
    at_ += bytes;
  }

  [[nodiscard]] std::uint64_t at() const { return at_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  const std::string path_;
  std::ifstream file_;
  std::uint64_t size_ = 0;
  std::uint64_t at_ = 0;
};

/// Bytes of a scalar, 0 for strings and arrays.
std::uint64_t scalar_bytes(Reader& reader, std::uint32_t type) {
  switch (type) {
    case kUint8:
    case kInt8:
    case kBool:
      return 1;
    case kUint16:
    case kInt16:
      return 2;
    case kUint32:
    case kInt32:
    case kFloat32:
      return 4;
    case kUint64:
    case kInt64:
    case kFloat64:
      return 8;
    case kString:
    case kArray:
      return 0;
    default:
      reader.fail("an unknown metadata type " + std::to_string(type));
  }
}

std::int64_t read_integer(Reader& reader, std::uint32_t type, const char* what) {
  switch (type) {
    case kUint8:
    case kBool:
      return reader.read<std::uint8_t>(what);
    case kInt8:
      return reader.read<std::int8_t>(what);
    case kUint16:
      return reader.read<std::uint16_t>(what);
    case kInt16:
      return reader.read<std::int16_t>(what);
    case kUint32:
      return reader.read<std::uint32_t>(what);
    case kInt32:
      return reader.read<std::int32_t>(what);
    default:
      return static_cast<std::int64_t>(reader.read<std::uint64_t>(what));
  }
}

void skip_array(Reader& reader, int depth) {
  if (depth > kMaxArrayDepth) reader.fail("arrays nested too deeply");
  const auto type = reader.read<std::uint32_t>("an array");
  const auto count = reader.read<std::uint64_t>("an array");
  if (type == kArray) {
    if (count > kMaxMetadata) reader.fail("an impossible array length");
    for (std::uint64_t i = 0; i < count; ++i) skip_array(reader, depth + 1);
  } else if (type == kString) {
    reader.need(count > reader.size() / 8 ? std::numeric_limits<std::uint64_t>::max() : count * 8,
                "an array");
    for (std::uint64_t i = 0; i < count; ++i)
      reader.skip(reader.read<std::uint64_t>("an array"), "an array");
  } else {
    const std::uint64_t bytes = scalar_bytes(reader, type);
    if (count > reader.size() / bytes) reader.fail("it is truncated in an array");
    reader.skip(count * bytes, "an array");
  }
}

void read_metadata(Reader& reader, GgufHeader& header) {
  const std::string key = reader.read_string("a metadata key");
  const auto type = reader.read<std::uint32_t>("a metadata type");
  const std::uint64_t bytes = scalar_bytes(reader, type);
  if (type == kArray) {
    skip_array(reader, 0);
  } else if (type == kString) {
    header.strings[key] = reader.read_string("a metadata string");
  } else if (type == kFloat32 || type == kFloat64) {
    reader.skip(bytes, "a metadata value");
  } else {
    header.integers[key] = read_integer(reader, type, "a metadata value");
  }
}

/// End of a tensor's data, counted from the data section.
std::uint64_t read_tensor_end(Reader& reader) {
  const std::string name = in_one_line(reader.read_string("a tensor's name"));
  const auto dimensions = reader.read<std::uint32_t>("a tensor");
  if (dimensions == 0 || dimensions > kMaxDimensions) {
    reader.fail("tensor '" + name + "' has " + std::to_string(dimensions) + " dimensions");
  }
  std::uint64_t row = 0;
  std::uint64_t elements = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const auto extent = reader.read<std::uint64_t>("a tensor");
    if (i == 0) row = extent;
    if (extent == 0 || elements > std::numeric_limits<std::uint64_t>::max() / 512 / extent) {
      reader.fail("tensor '" + name + "' has an impossible extent " + std::to_string(extent));
    }
    elements *= extent;
  }
  const auto type = reader.read<std::uint32_t>("a tensor");
  const auto offset = reader.read<std::uint64_t>("a tensor");
  if (type >= kBlocks.size() || kBlocks[type].elements == 0) {
    reader.fail("tensor '" + name + "' has an unknown type " + std::to_string(type));
  }
  if (row % kBlocks[type].elements != 0) {
    reader.fail("tensor '" + name + "' has rows of no whole number of blocks");
  }
  const std::uint64_t bytes = elements / kBlocks[type].elements * kBlocks[type].bytes;
  if (offset > std::numeric_limits<std::uint64_t>::max() - bytes)
    reader.fail("tensor '" + name + "' has an impossible offset");
  return offset + bytes;
}

}  // namespace

std::string GgufHeader::architecture() const {
  const auto found = strings.find("general.architecture");
  return found == strings.end() ? "unknown" : in_one_line(found->second);
}

std::optional<std::int64_t> GgufHeader::of_architecture(const std::string& key) const {
  const auto found = integers.find(architecture() + "." + key);
  if (found == integers.end()) return std::nullopt;
  return found->second;
}

GgufHeader read_gguf_header(const std::string& path) {
  Reader reader(path);
  if (reader.size() < 4 || reader.read<std::uint32_t>("its magic") != 0x46554747U) {
    reader.fail("it does not begin with 'GGUF'");
  }
  GgufHeader header;
  header.version = reader.read<std::uint32_t>("its version");
  if (header.version != 2 && header.version != 3) {
    reader.fail("version " + std::to_string(header.version) + " is not 2 or 3");
  }
  header.tensor_count = reader.read<std::uint64_t>("its counts");
  const auto metadata_count = reader.read<std::uint64_t>("its counts");
  if (header.tensor_count > kMaxTensors || metadata_count > kMaxMetadata) {
    reader.fail("an impossible number of tensors or metadata");
  }
  for (std::uint64_t i = 0; i < metadata_count; ++i) read_metadata(reader, header);
  std::uint64_t data_bytes = 0;
  for (std::uint64_t i = 0; i < header.tensor_count; ++i) {
    data_bytes = std::max(data_bytes, read_tensor_end(reader));
  }
  const auto alignment = header.integers.find("general.alignment");
  const std::int64_t align = alignment == header.integers.end() ? 32 : alignment->second;
  if (align <= 0 || align > (1 << 20) || (align & (align - 1)) != 0) {
    reader.fail("an impossible alignment " + std::to_string(align));
  }
  const auto unit = static_cast<std::uint64_t>(align);
  const std::uint64_t data_begin = (reader.at() + unit - 1) / unit * unit;
  if (data_begin > reader.size() || data_bytes > reader.size() - data_begin) {
    reader.fail("it is truncated: its tensors need " + std::to_string(data_bytes) +
                " bytes behind the header");
  }
  return header;
}

}  // namespace ahead::model
