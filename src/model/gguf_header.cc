// A bounds-checked walk through a GGUF header. May use: base.
#include "model/gguf_header.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "ahead/error.h"
#include "base/printable.h"
#include "model/file_kind.h"

namespace ahead::model {
namespace {

// Limits far above any real file, so that a hostile count ends early instead of in memory.
constexpr std::uint64_t kMaxStringBytes = 1 << 24;
constexpr std::uint64_t kMaxMetadata = 1 << 16;
constexpr std::uint64_t kMaxTensors = 1 << 20;
constexpr std::uint32_t kMaxDimensions = 4;
constexpr int kMaxArrayDepth = 4;
/// Of a head's rotation there are a few hundred at most.
constexpr std::uint64_t kMaxRopeFactors = 1 << 14;

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
constexpr std::array<const char*, 40> kTypeNames = {
    "F32",     "F16",    "Q4_0",    "Q4_1",  "",       "",      "Q5_0",  "Q5_1",
    "Q8_0",    "Q8_1",   "Q2_K",    "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K",  "Q8_K",
    "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS",
    "I8",      "I16",    "I32",     "I64",   "F64",    "IQ1_M", "BF16",  "",
    "",        "",       "TQ1_0",   "TQ2_0", "",       "",      "",      "MXFP4"};
constexpr std::uint32_t kF32 = 0;

/// Names out of a hostile file, made fit for a message.
std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 60;
  const std::string whole = printable(text.substr(0, 4 * kMost));
  return whole.size() <= kMost ? whole : printable(whole.substr(0, kMost)) + "...";
}

class Reader {
 public:
  explicit Reader(const InputFile& file) : file_(file) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::kInvalidModel,
                path_in_quotes(file_.path()) + " is not a usable GGUF file: " + what + " at byte " +
                    std::to_string(at_) + " of " + std::to_string(size()) +
                    "; fetch the file again, or join its pieces if it came in several");
  }

  void need(std::uint64_t bytes, const char* what) const {
    if (bytes > size() - at_) fail(std::string("it is truncated in ") + what);
  }

  template <typename T>
  T read(const char* what) {
    T value;
    copy({.at = at_, .bytes = sizeof value}, reinterpret_cast<char*>(&value), what);
    return value;
  }

  std::string read_string(const char* what) {
    const auto length = read<std::uint64_t>(what);
    if (length > kMaxStringBytes) fail(std::string("an impossible length in ") + what);
    need(length, what);
    std::string text(length, '\0');
    copy({.at = at_, .bytes = text.size()}, text.data(), what);
    return text;
  }

  void skip(std::uint64_t bytes, const char* what) {
    need(bytes, what);
    at_ += bytes;
  }

  [[nodiscard]] std::uint64_t at() const { return at_; }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }
  [[nodiscard]] const InputFile& file() const { return file_; }

 private:
  void copy(const InputFile::Read& where, char* into, const char* what) {
    need(where.bytes, what);
    const bool kept = where.at >= chunk_at_ && where.at - chunk_at_ <= chunk_.size() &&
                      where.bytes <= chunk_.size() - (where.at - chunk_at_);
    if (!kept) {
      constexpr std::uint64_t kChunk = 1 << 16;
      const auto wanted = std::max<std::uint64_t>(kChunk, where.bytes);
      chunk_ = file_.read({.at = where.at, .bytes = std::min(wanted, size() - where.at)});
      chunk_at_ = where.at;
      if (chunk_.size() < where.bytes) fail(std::string("it cannot be read in ") + what);
    }
    std::memcpy(into, chunk_.data() + (where.at - chunk_at_), where.bytes);
    at_ += where.bytes;
  }

  const InputFile& file_;
  std::uint64_t at_ = 0;
  std::uint64_t chunk_at_ = 0;
  std::string chunk_;
};

/// Bytes of a scalar, 0 for strings and arrays.
std::uint64_t scalar_bytes(const Reader& reader, GgufType type) {
  switch (type) {
    case GgufType::kUint8:
    case GgufType::kInt8:
    case GgufType::kBool:
      return 1;
    case GgufType::kUint16:
    case GgufType::kInt16:
      return 2;
    case GgufType::kUint32:
    case GgufType::kInt32:
    case GgufType::kFloat32:
      return 4;
    case GgufType::kUint64:
    case GgufType::kInt64:
    case GgufType::kFloat64:
      return 8;
    case GgufType::kString:
    case GgufType::kArray:
      return 0;
  }
  reader.fail("an unknown metadata type " + std::to_string(static_cast<std::uint32_t>(type)));
}

std::int64_t read_integer(Reader& reader, GgufType type, const char* what) {
  switch (type) {
    case GgufType::kUint8:
    case GgufType::kBool:
      return reader.read<std::uint8_t>(what);
    case GgufType::kInt8:
      return reader.read<std::int8_t>(what);
    case GgufType::kUint16:
      return reader.read<std::uint16_t>(what);
    case GgufType::kInt16:
      return reader.read<std::int16_t>(what);
    case GgufType::kUint32:
      return reader.read<std::uint32_t>(what);
    case GgufType::kInt32:
      return reader.read<std::int32_t>(what);
    default:
      return static_cast<std::int64_t>(reader.read<std::uint64_t>(what));
  }
}

bool is_whole(GgufType type) {
  return type != GgufType::kFloat32 && type != GgufType::kFloat64 && type != GgufType::kBool &&
         type != GgufType::kString && type != GgufType::kArray;
}

/// Reads as many numbers as a model may have layers; what is longer is passed over.
GgufHeader::Array read_whole_numbers(Reader& reader, GgufType type, std::uint64_t count) {
  constexpr std::uint64_t kMostLayers = 4096;
  const std::uint64_t bytes = scalar_bytes(reader, type);
  if (!is_whole(type) || count == 0 || count > kMostLayers) {
    reader.skip(count * bytes, "an array");
    return {.type = type, .count = count, .same = std::nullopt};
  }
  const std::int64_t first = read_integer(reader, type, "an array");
  bool same = true;
  std::int64_t least = first;
  for (std::uint64_t i = 1; i < count; ++i) {
    const std::int64_t value = read_integer(reader, type, "an array");
    same = value == first && same;
    least = std::min(least, value);
  }
  return {.type = type,
          .count = count,
          .same = same ? std::optional(first) : std::nullopt,
          .least = least};
}

GgufHeader::Array skip_array(Reader& reader, int depth) {
  if (depth > kMaxArrayDepth) reader.fail("arrays nested too deeply");
  const auto type = static_cast<GgufType>(reader.read<std::uint32_t>("an array"));
  const auto count = reader.read<std::uint64_t>("an array");
  const std::uint64_t bytes = scalar_bytes(reader, type);
  if (type == GgufType::kArray) {
    if (count > kMaxMetadata) reader.fail("an impossible array length");
    for (std::uint64_t i = 0; i < count; ++i) skip_array(reader, depth + 1);
  } else if (type == GgufType::kString) {
    reader.need(count > reader.size() / 8 ? std::numeric_limits<std::uint64_t>::max() : count * 8,
                "an array");
    for (std::uint64_t i = 0; i < count; ++i)
      reader.skip(reader.read<std::uint64_t>("an array"), "an array");
  } else {
    if (count > reader.size() / bytes) reader.fail("it is truncated in an array");
    return read_whole_numbers(reader, type, count);
  }
  return {.type = type, .count = count, .same = std::nullopt};
}

void read_metadata(Reader& reader, GgufHeader& header) {
  const std::string key = reader.read_string("a metadata key");
  const auto type = static_cast<GgufType>(reader.read<std::uint32_t>("a metadata type"));
  (void)scalar_bytes(reader, type);
  header.types[key] = type;
  if (type == GgufType::kArray) {
    header.arrays[key] = skip_array(reader, 0);
  } else if (type == GgufType::kString) {
    header.strings[key] = reader.read_string("a metadata string");
  } else if (type == GgufType::kFloat32) {
    header.floats[key] = double{reader.read<float>("a metadata value")};
  } else if (type == GgufType::kFloat64) {
    header.floats[key] = reader.read<double>("a metadata value");
  } else {
    header.integers[key] = read_integer(reader, type, "a metadata value");
  }
}

struct PlacedTensor {
  GgufHeader::Tensor tensor;
  std::uint64_t offset = 0;  ///< from where the data begin
  std::uint64_t end = 0;
};

PlacedTensor read_tensor(Reader& reader) {
  PlacedTensor read{.tensor = {.name = reader.read_string("a tensor's name")}};
  const std::string name = "tensor '" + shown(read.tensor.name) + "'";
  const auto dimensions = reader.read<std::uint32_t>("a tensor");
  if (dimensions == 0 || dimensions > kMaxDimensions) {
    reader.fail(name + " has " + std::to_string(dimensions) + " dimensions");
  }
  std::uint64_t row = 0;
  std::uint64_t elements = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const auto extent = reader.read<std::uint64_t>("a tensor");
    if (i == 0) row = extent;
    if (extent == 0 || elements > std::numeric_limits<std::uint64_t>::max() / 512 / extent) {
      reader.fail(name + " has an impossible extent " + std::to_string(extent));
    }
    elements *= extent;
  }
  const auto type = reader.read<std::uint32_t>("a tensor");
  read.offset = reader.read<std::uint64_t>("a tensor");
  if (type >= kBlocks.size() || kBlocks[type].elements == 0) {
    reader.fail(name + " has an unknown type " + std::to_string(type));
  }
  if (row % kBlocks[type].elements != 0) {
    reader.fail(name + " has rows of no whole number of blocks");
  }
  const std::uint64_t bytes = elements / kBlocks[type].elements * kBlocks[type].bytes;
  if (read.offset > std::numeric_limits<std::uint64_t>::max() - bytes)
    reader.fail(name + " has an impossible offset");
  read.tensor.type = type;
  read.tensor.elements = elements;
  read.tensor.bytes = bytes;
  read.end = read.offset + bytes;
  return read;
}

bool is_rope_factors(const GgufHeader::Tensor& tensor) {
  const bool named =
      tensor.name == "rope_freqs.weight" || tensor.name.find("rope_factors_") != std::string::npos;
  return named && tensor.type == kF32 && tensor.elements <= kMaxRopeFactors;
}

std::vector<float> read_floats(const Reader& reader, std::uint64_t at, std::uint64_t count) {
  const std::string bytes = reader.file().read({.at = at, .bytes = count * sizeof(float)});
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

void check_version(const Reader& reader, std::uint32_t version) {
  if (version == 2 || version == 3) return;
  if (version == 1) {
    throw Error(ErrorKind::kInvalidModel,
                path_in_quotes(reader.file().path()) +
                    " is a GGUF file of version 1, of August 2023, which is not read any more; "
                    "convert the original model to GGUF again");
  }
  reader.fail("version " + std::to_string(version) + " is not 2 or 3");
}

void read_tensors(Reader& reader, std::uint64_t count, GgufHeader& header) {
  std::vector<std::pair<std::string, std::uint64_t>> factors;  // name and offset
  std::uint64_t data_bytes = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    PlacedTensor read = read_tensor(reader);
    data_bytes = std::max(data_bytes, read.end);
    if (is_rope_factors(read.tensor)) {
      constexpr std::size_t kMostFactors = 4;  // one for short and one for long texts, and spare
      if (factors.size() == kMostFactors) reader.fail("too many tensors of rotary factors");
      header.rope_factors[read.tensor.name].resize(read.tensor.elements);
      factors.emplace_back(read.tensor.name, read.offset);
    }
    header.tensors.push_back(std::move(read.tensor));
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
  for (const auto& [name, offset] : factors) {
    std::vector<float>& values = header.rope_factors[name];
    values = read_floats(reader, data_begin + offset, values.size());
  }
}

}  // namespace

std::string name_of(GgufType type) {
  constexpr std::array kNames = {"u8",   "i8",       "u16",      "i16", "u32", "i32", "f32",
                                 "bool", "a string", "an array", "u64", "i64", "f64"};
  const auto index = static_cast<std::uint32_t>(type);
  return index < kNames.size() ? kNames[index] : "type " + std::to_string(index);
}

std::string name_of_ggml_type(std::uint32_t type) {
  const char* const name = type < kTypeNames.size() ? kTypeNames[type] : "";
  return *name == '\0' ? "type " + std::to_string(type) : name;
}

std::string GgufHeader::architecture() const {
  const auto found = strings.find("general.architecture");
  return found == strings.end() ? "unknown" : shown(found->second);
}

std::optional<std::int64_t> GgufHeader::of_architecture(const std::string& key) const {
  const auto found = integers.find(architecture() + "." + key);
  if (found == integers.end()) return std::nullopt;
  return found->second;
}

std::optional<double> GgufHeader::number(const std::string& key) const {
  if (const auto found = floats.find(key); found != floats.end()) return found->second;
  if (const auto found = integers.find(key); found != integers.end()) {
    return static_cast<double>(found->second);
  }
  return std::nullopt;
}

GgufHeader read_gguf_header(const InputFile& file) {
  Reader reader(file);
  const std::string beginning = file.read({.at = 0, .bytes = 8});
  if (kind_of(beginning, file.size()) != FileKind::kGguf) throw no_model(file);
  reader.skip(4, "its magic");
  GgufHeader header;
  header.version = reader.read<std::uint32_t>("its version");
  check_version(reader, header.version);
  const auto tensor_count = reader.read<std::uint64_t>("its counts");
  const auto metadata_count = reader.read<std::uint64_t>("its counts");
  if (tensor_count > kMaxTensors || metadata_count > kMaxMetadata) {
    reader.fail("an impossible number of tensors or metadata");
  }
  for (std::uint64_t i = 0; i < metadata_count; ++i) read_metadata(reader, header);
  read_tensors(reader, tensor_count, header);
  return header;
}

GgufHeader read_gguf_header(const std::string& path) { return read_gguf_header(InputFile(path)); }

}  // namespace ahead::model
