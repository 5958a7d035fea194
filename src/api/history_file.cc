// Read with every value checked. See history_file.h. May use: base, plan, nlohmann-json.
#include "api/history_file.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json_field.h"
#include "base/printable.h"
#include "base/replace_file.h"

namespace ahead::api {
namespace {

using Json = nlohmann::ordered_json;
using plan::History;

constexpr const char* kFormat = "ahead-history";
constexpr int kVersion = 1;
constexpr std::size_t kMostName = 200;

constexpr JsonField::Range kShape{1, std::int64_t{1} << 30};
constexpr JsonField::RealRange kSeconds{1e-9, 3600, "seconds above 0, to an hour"};

std::string name_of(const JsonField& field) {
  std::string name = field.text();
  if (name.size() > kMostName) field.refuse("is longer than a name is");
  return name;
}

std::vector<JsonField> list_of(const JsonField& field, std::size_t most) {
  std::vector<JsonField> items = field.items();
  if (items.size() > most) field.refuse("has more entries than are kept");
  return items;
}

std::vector<double> samples_of(const JsonField& field) {
  std::vector<double> samples;
  for (const JsonField& item : list_of(field, History::kSamples)) {
    samples.push_back(item.real(kSeconds));
  }
  if (samples.empty()) field.refuse("has no sample");
  return samples;
}

History history_of(const JsonField& entry) {
  History history;
  for (const JsonField& row : list_of(entry.at("compiles"), History::kEntries)) {
    history.compiles_s[{name_of(row.at("form")), name_of(row.at("parts")),
                        row.at("tokens").whole(kShape), row.at("batch").whole(kShape),
                        row.at("rung").whole(kShape)}] = samples_of(row.at("seconds"));
  }
  for (const JsonField& row : list_of(entry.at("steps"), History::kEntries)) {
    history.steps_s[{name_of(row.at("form")), row.at("tokens").whole(kShape),
                     row.at("batch").whole(kShape), row.at("rung").whole(kShape)}] =
        samples_of(row.at("seconds"));
  }
  return history;
}

Json to_json(const History& history) {
  Json compiles = Json::array();
  for (const auto& [id, seconds] : history.compiles_s) {
    const auto& [form, parts, tokens, batch, rung] = id;
    compiles.push_back({{"form", form},
                        {"parts", parts},
                        {"tokens", tokens},
                        {"batch", batch},
                        {"rung", rung},
                        {"seconds", seconds}});
  }
  Json steps = Json::array();
  for (const auto& [id, seconds] : history.steps_s) {
    const auto& [form, tokens, batch, rung] = id;
    steps.push_back({{"form", form},
                     {"tokens", tokens},
                     {"batch", batch},
                     {"rung", rung},
                     {"seconds", seconds}});
  }
  return {{"compiles", std::move(compiles)}, {"steps", std::move(steps)}};
}

/// What the file holds; empty where there is none. Throws what is wrong with it.
std::string text_of(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return {};
  if (!std::filesystem::is_regular_file(path)) throw std::runtime_error("it is no regular file");
  if (std::filesystem::file_size(path) > HistoryFile::kMostBytes) {
    throw std::runtime_error("it is larger than a history can be");
  }
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.is_open() || in.bad()) throw std::runtime_error("it cannot be read");
  return text;
}

/// Whether save() wrote it, whatever became of it since: nothing else is ever written over.
bool is_ours(const std::string& text) {
  constexpr std::size_t kHead = 64;
  const std::string_view head = std::string_view(text).substr(0, kHead);
  return text.empty() ||
         (head.front() == '{' && head.find("\"" + std::string(kFormat) + "\"") != head.npos);
}

/// By key, newest last.
using Entries = std::vector<std::pair<std::string, History>>;

Entries entries_in(const std::string& text) {
  Entries entries;
  if (text.empty()) return entries;
  // What stands deeper than a sample is none of ours, and may stand deep enough to matter.
  constexpr int kDepth = 8;
  const Json whole = Json::parse(
      text, [](int depth, Json::parse_event_t, Json&) { return depth <= kDepth; }, false);
  if (whole.is_discarded()) throw std::runtime_error("it is no JSON");
  const JsonField file(whole, "history");
  if (file.at("format").text() != kFormat) throw std::runtime_error("it is of another format");
  (void)file.at("version").whole({kVersion, kVersion});
  for (const JsonField& entry : list_of(file.at("entries"), HistoryFile::kEntries)) {
    entries.emplace_back(entry.at("key").text(), history_of(entry));
  }
  return entries;
}

std::string text_from(const Entries& entries) {
  Json list = Json::array();
  for (const auto& [key, history] : entries) {
    Json entry = {{"key", key}};
    entry.update(to_json(history));
    list.push_back(std::move(entry));
  }
  const Json whole = {{"format", kFormat}, {"version", kVersion}, {"entries", std::move(list)}};
  return whole.dump() + "\n";
}

/// Without the paths that the library's own errors repeat.
std::string reason_in(const std::exception& error) {
  const auto* files = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  return files != nullptr ? files->code().message() : error.what();
}

}  // namespace

HistoryFile::Loaded HistoryFile::load(const std::string& key) const {
  try {
    for (auto& [name, history] : entries_in(text_of(path_))) {
      if (name == key) return {.history = std::move(history)};
    }
    return {};
  } catch (const std::exception& error) {
    return {.ignored = path_in_quotes(path_.string()) + " is not used: " + reason_in(error)};
  }
}

std::string HistoryFile::save(const std::string& key, const plan::History& history) const {
  try {
    const std::string before = text_of(path_);
    if (!is_ours(before)) {
      throw std::runtime_error(path_in_quotes(path_.string()) + " is something else");
    }
    Entries entries;
    try {
      entries = entries_in(before);
    } catch (const std::exception&) {
      entries.clear();  // what cannot be read is of no use to anybody
    }
    std::erase_if(entries, [&](const auto& entry) { return entry.first == key; });
    entries.emplace_back(key, history);
    while (entries.size() > kEntries) entries.erase(entries.begin());
    std::string text = text_from(entries);
    while (text.size() > kMostBytes && entries.size() > 1) {
      entries.erase(entries.begin());
      text = text_from(entries);
    }
    const std::filesystem::path folder = std::filesystem::path(place_of(path_)).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder);
    replace_file(path_, text);
    return {};
  } catch (const std::exception& error) {
    const bool named = dynamic_cast<const std::filesystem::filesystem_error*>(&error) == nullptr;
    return "what was measured is not kept: " +
           (named ? "" : "cannot write " + path_in_quotes(path_.string()) + ": ") +
           reason_in(error);
  }
}

}  // namespace ahead::api
