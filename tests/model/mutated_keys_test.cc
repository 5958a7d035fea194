// One key of a GGUF file's metadata changed at random: the file is refused by name or does no harm.
// AHEAD_TEST_MUTATIONS=1000 changes each tiny file so often; an ordinary run does a few.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "ahead/error.h"
#include "ahead/file_facts.h"
#include "ahead/llm_pipeline.h"
#include "base/printable.h"

namespace ahead::test {
namespace {

namespace fs = std::filesystem;
using Random = std::mt19937_64;

constexpr std::uint32_t kBool = 7;
constexpr std::uint32_t kString = 8;
constexpr std::uint32_t kArray = 9;
constexpr std::uint32_t kTypes = 13;

std::size_t size_of(std::uint32_t type) {
  constexpr std::size_t kSizes[kTypes] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kSizes[type];
}

/// A key and its value as the file spells it; of an array the elements stand apart.
struct Entry {
  std::string key;
  std::uint32_t type = 0;
  std::uint32_t inner = 0;  ///< of an array
  std::vector<std::string> values;
};

/// A whole file, taken apart at its metadata.
struct Parts {
  std::string start;  ///< up to the number of keys
  std::vector<Entry> entries;
  std::string tensors;  ///< their names and places
  std::string data;
};

class Taker {
 public:
  explicit Taker(std::string bytes) : bytes_(std::move(bytes)) {}

  std::string take(std::size_t count) {
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return take(number<std::uint64_t>()); }
  std::string value(std::uint32_t type) { return type == kString ? text() : take(size_of(type)); }

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::string from(std::size_t at) const { return bytes_.substr(at); }
  [[nodiscard]] std::string between(std::size_t begin, std::size_t end) const {
    return bytes_.substr(begin, end - begin);
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

Parts taken_apart(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  Taker taker({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  Parts parts;
  parts.start = taker.take(8);
  const auto tensors = taker.number<std::uint64_t>();
  const auto keys = taker.number<std::uint64_t>();
  parts.start += std::string(reinterpret_cast<const char*>(&tensors), sizeof tensors);
  for (std::uint64_t i = 0; i < keys; ++i) {
    Entry& entry = parts.entries.emplace_back();
    entry.key = taker.text();
    entry.type = taker.number<std::uint32_t>();
    std::uint64_t count = 1;
    if (entry.type == kArray) {
      entry.inner = taker.number<std::uint32_t>();
      count = taker.number<std::uint64_t>();
    }
    for (std::uint64_t j = 0; j < count; ++j) {
      entry.values.push_back(taker.value(entry.type == kArray ? entry.inner : entry.type));
    }
  }
  const std::size_t begin = taker.at();
  for (std::uint64_t i = 0; i < tensors; ++i) {
    (void)taker.text();
    const auto dimensions = taker.number<std::uint32_t>();
    (void)taker.take(8U * dimensions + 12);
  }
  parts.tensors = taker.between(begin, taker.at());
  parts.data = taker.from((taker.at() + 31) / 32 * 32);
  return parts;
}

template <typename T>
std::string spelt(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string spelt_value(std::uint32_t type, const std::string& value) {
  return type == kString ? spelt<std::uint64_t>(value.size()) + value : value;
}

void put_together(const Parts& parts, const fs::path& path) {
  std::string bytes = parts.start + spelt<std::uint64_t>(parts.entries.size());
  for (const Entry& entry : parts.entries) {
    bytes += spelt_value(kString, entry.key) + spelt(entry.type);
    if (entry.type == kArray) {
      bytes += spelt(entry.inner) + spelt<std::uint64_t>(entry.values.size());
    }
    for (const std::string& value : entry.values) {
      bytes += spelt_value(entry.type == kArray ? entry.inner : entry.type, value);
    }
  }
  bytes += parts.tensors;
  bytes.resize((bytes.size() + 31) / 32 * 32);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes << parts.data;
}

std::string random_value(std::uint32_t type, const std::string& before, Random& random) {
  if (type == kString) {
    switch (random() % 6) {
      case 0:
        return "";
      case 1:
        return std::string(1 + random() % 3000, static_cast<char>(random() % 256));
      case 2:
        return before + before;
      case 3:
        return before.substr(0, before.size() / 2);
      case 4:
        return "{% for m in messages %}{{ m.content }}{% endfor %}";
      default: {
        std::string changed = before.empty() ? "x" : before;
        changed[random() % changed.size()] = static_cast<char>(random() % 256);
        return changed;
      }
    }
  }
  if (type == kBool) return std::string(1, static_cast<char>(random() % 3));
  std::string bytes(size_of(type), '\0');
  switch (random() % 5) {
    case 0:
      return bytes;
    case 1:  // the largest, -1, or no number
      return std::string(bytes.size(), '\xFF');
    case 2:
      bytes[0] = 1;
      return bytes;
    case 3:
      for (char& byte : bytes) byte = static_cast<char>(random() % 256);
      return bytes;
    default: {  // near to what it was
      bytes = before.size() == bytes.size() ? before : bytes;
      char& byte = bytes[random() % std::min<std::size_t>(bytes.size(), 2)];
      byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << (random() % 8)));
      return bytes;
    }
  }
}

void change_elements(Entry& entry, Random& random) {
  std::vector<std::string>& values = entry.values;
  switch (random() % 6) {
    case 0:
      values.clear();
      break;
    case 1:
      values.resize(values.size() / 2);
      break;
    case 2:
      if (!values.empty()) values.push_back(values.back());
      break;
    case 3:
      if (!values.empty())
        values.erase(values.begin() + static_cast<long>(random() % values.size()));
      break;
    case 4:
      std::shuffle(values.begin(), values.end(), random);
      break;
    default:
      for (std::size_t i = 1 + random() % 4; i > 0 && !values.empty(); --i) {
        std::string& value = values[random() % values.size()];
        value = random_value(entry.inner, value, random);
      }
  }
}

/// Changes one key of `parts`, and says how.
std::string mutate(Parts& parts, Random& random) {
  const std::size_t which = random() % parts.entries.size();
  Entry& entry = parts.entries[which];
  const std::string key = printable(entry.key);
  switch (random() % 8) {
    case 0:
      parts.entries.erase(parts.entries.begin() + static_cast<long>(which));
      return "without " + key;
    case 1:
      entry.key += "x";
      return "another name for " + key;
    case 2: {  // of another type
      const std::string before = entry.values.empty() ? "" : entry.values.front();
      entry.type = static_cast<std::uint32_t>(random() % kTypes);
      entry.values.clear();
      if (entry.type == kArray) {
        entry.inner = static_cast<std::uint32_t>(random() % kTypes);
        if (entry.inner == kArray) entry.inner = kString;
        for (std::size_t i = random() % 5; i > 0; --i) {
          entry.values.push_back(random_value(entry.inner, before, random));
        }
      } else {
        entry.values = {random_value(entry.type, before, random)};
      }
      return "another type of " + key;
    }
    default:
      if (entry.type == kArray) {
        change_elements(entry, random);
      } else {
        entry.values.front() = random_value(entry.type, entry.values.front(), random);
      }
      return "another value of " + key;
  }
}

std::vector<fs::path> tiny_files() {
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(fs::path(AHEAD_TEST_DEPS_DIR) / "tiny-gguf")) {
    if (file.path().extension() == ".gguf") files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Opens the file and reads a text with its tokenizer. Returns the refusal, or nothing.
std::string opened(const fs::path& path) {
  try {
    (void)file_facts(path.string());
    const Model model(path.string(), {.unverified = true});
    const std::vector<std::int32_t> ids =
        model.prompt_ids("the <s> tin\n\n 12 \xF0\x9F\x8C\x8A").ids;
    for (const std::int32_t id : ids) {
      EXPECT_TRUE(id >= 0 && id < model.facts().vocabulary) << id;
    }
    (void)model.decode(ids);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

struct Outcome {
  long refused = 0;
  bool clear = true;  ///< every refusal is one line that says what to do
};

/// Opens mutations `first` to `count` - 1 of a file; tells through `progress` which one it is at.
Outcome open_mutations(const Parts& whole, long first, long count, const fs::path& path,
                       int progress) {
  Outcome outcome;
  for (long i = first; i < count; ++i) {
    EXPECT_EQ(::write(progress, &i, sizeof i), static_cast<ssize_t>(sizeof i));
    Random random(static_cast<std::uint64_t>(i));
    Parts parts = whole;
    const std::string what = mutate(parts, random);
    put_together(parts, path);
    const std::string refusal = opened(path);
    if (refusal.empty()) continue;
    ++outcome.refused;
    const bool clear =
        refusal.find('\n') == std::string::npos && refusal.find(';') != std::string::npos;
    outcome.clear = outcome.clear && clear;
    EXPECT_TRUE(clear) << what << ": not one line that says what to do: " << refusal;
  }
  return outcome;
}

/// The same in a process of its own, and behind a crash in another: all are seen.
void open_mutations_apart(const fs::path& file, const Parts& whole, long count,
                          const fs::path& path) {
  for (long first = 0; first < count;) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      const Outcome outcome = open_mutations(whole, first, count, path, ends[1]);
      std::fflush(nullptr);
      std::_Exit(outcome.clear ? 0 : 1);
    }
    ::close(ends[1]);
    long at = first;
    for (long told = 0; ::read(ends[0], &told, sizeof told) == sizeof told;) at = told;
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) <= 1) {
      EXPECT_EQ(WEXITSTATUS(status), 0) << file.filename() << ": see above";
      return;
    }
    Random random(static_cast<std::uint64_t>(at));
    Parts parts = whole;
    ADD_FAILURE() << file.filename().string() << ", mutation " << at << ", "
                  << mutate(parts, random) << ": ended with status " << status;
    first = at + 1;
  }
}

TEST(MutatedKeys, AreRefusedInOneLineOrDoNoHarm) {
  const char* const wanted = std::getenv("AHEAD_TEST_MUTATIONS");
  const long count = wanted == nullptr ? 5 : std::strtol(wanted, nullptr, 10);
  const fs::path path = fs::temp_directory_path() /
                        ("ahead-mutated-" + std::to_string(std::random_device{}()) + ".gguf");
  const std::vector<fs::path> files = tiny_files();
  ASSERT_FALSE(files.empty());
  long refused = 0;
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    const Parts whole = taken_apart(file);
    if (wanted != nullptr) {
      open_mutations_apart(file, whole, count, path);
      continue;
    }
    put_together(whole, path);
    ASSERT_EQ(opened(path), "") << "put together again";
    refused += open_mutations(whole, 0, count, path, nowhere).refused;
  }
  ::close(nowhere);
  fs::remove(path);
  if (wanted == nullptr) {
    EXPECT_GT(refused, 0);
  }
}

}  // namespace
}  // namespace ahead::test
