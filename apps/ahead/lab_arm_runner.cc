// See lab_arm_runner.h. May use: include/ahead, base, lab, POSIX.
#include "lab_arm_runner.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <utility>

#include "ahead/error.h"
#include "base/printable.h"
#include "lab/curves.h"
#include "lab/statistics.h"
#include "lab_machine.h"

namespace ahead::cli {
namespace {

namespace fs = std::filesystem;
using lab::Json;

/// A folder that goes with it.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "ahead-lab-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw Error(ErrorKind::kIo, "no folder can be made in " +
                                      path_in_quotes(fs::temp_directory_path().string()) + ": " +
                                      std::generic_category().message(errno));
    }
    folder_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] std::string file(const char* name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_;
};

Json json_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return Json::parse(file);
}

/// The last line of what a command printed that is an object.
std::optional<Json> last_object(const std::string& output) {
  std::optional<Json> last;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() != '{') continue;
    Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (object.is_object()) last = std::move(object);
  }
  return last;
}

std::vector<fs::path> files_of(const std::string& model) {
  std::vector<fs::path> files;
  std::error_code ignored;
  if (fs::is_directory(model, ignored)) {
    for (const auto& entry : fs::directory_iterator(model, ignored)) files.push_back(entry.path());
  } else if (!model.empty()) {
    files.emplace_back(model);
  }
  return files;
}

/// Puts the files into the system's memory, or out of it.
void settle_files(const std::vector<fs::path>& files, bool cold) {
  std::vector<char> bytes(std::size_t{1} << 20U);
  for (const fs::path& path : files) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    if (cold) {
      ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    } else {
      while (::read(file, bytes.data(), bytes.size()) > 0) continue;
    }
    ::close(file);
  }
}

/// A name that no folder minds.
std::string file_name(std::string name) {
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
  }
  return name;
}

/// The text is the model's affair, and long; that two runs wrote the same is worth knowing. Where
/// the model lies is this machine's affair.
void shorten(Json& result) {
  if (result.contains("model")) {
    Json& path = result["model"]["path"];
    path = fs::path(path.get<std::string>()).filename().string();
  }
  const auto output = result.find("output");
  if (output == result.end()) return;
  // FNV-1a (Fowler, Noll, Vo).
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Json& token : output->at("token_ids")) {
    hash = (hash ^ token.get<std::uint32_t>()) * 0x100000001b3;
  }
  std::ostringstream hex;
  hex << std::hex << hash;
  *output = {{"token_ids_fnv1a", hex.str()}};
}

}  // namespace

/// Without the paths of this machine.
std::string without_paths(std::string text, const lab::Places& places) {
  for (const auto& [path, name] :
       {std::pair(places.here, "{here}"), std::pair(places.deps, "{deps}")}) {
    for (std::size_t at = 0; !path.empty() && (at = text.find(path, at)) != std::string::npos;) {
      text.replace(at, path.size(), name);
    }
  }
  return text;
}

/// Over the time it ran; null where nothing was sampled.
Json rss_average(const ChildResult& child) {
  if (child.rss.empty()) return {};
  std::vector<lab::Held> held;
  for (const auto& [seconds, bytes] : child.rss) {
    held.push_back({seconds, static_cast<double>(bytes)});
  }
  return lab::time_weighted(held, std::max(child.seconds, held.back().since_s));
}

/// One run and what becomes of it.
struct ArmRunner::Attempt {
  explicit Attempt(const lab::RunKey& key)
      : run{.key = key, .result = Json::object(), .curves = Json::object()} {}

  lab::RunRecord run;
  ChildResult child;
  Scratch scratch;

  void fail(const std::string& why) {
    if (run.error.empty()) run.error = why;
  }

  void add_process(double load_before) {
    run.result["process"] = {
        {"seconds", child.seconds},
        {"first_output_s", child.first_output_s ? Json(*child.first_output_s) : Json()},
        {"rss_peak_bytes", child.rss_peak_bytes},
        {"rss_avg_bytes", rss_average(child)},
        {"load_before", load_before},
        {"load_after", load_average()}};
    Json rss = Json::array();
    for (const auto& [seconds, bytes] : child.rss)
      rss.push_back({std::round(seconds * 1e3) / 1e3, bytes});
    run.curves["rss"] = std::move(rss);
  }

  void take_ahead() {
    run.result = json_of(scratch.file("run.json"));
    shorten(run.result);
    run.curves = lab::curves_of(run.result, json_of(scratch.file("trace.json")));
  }

  void take_command() {
    std::optional<Json> told = last_object(child.output);
    if (!told) return fail("it ended well and printed no line of JSON");
    run.result = std::move(*told);
  }
};

ArmRunner::ArmRunner(const lab::Campaign& campaign, ArmRunnerOptions options)
    : campaign_(campaign), options_(std::move(options)) {}

const lab::Set& ArmRunner::set(const std::string& name) const {
  return *std::find_if(campaign_.sets.begin(), campaign_.sets.end(),
                       [&](const lab::Set& set) { return set.name == name; });
}

const lab::Arm& ArmRunner::arm(const std::string& name) const {
  return *std::find_if(campaign_.arms.begin(), campaign_.arms.end(),
                       [&](const lab::Arm& arm) { return arm.name == name; });
}

std::vector<std::string> ArmRunner::ahead_words(const lab::Set& set, const lab::Arm& arm) const {
  const auto values = lab::values_of(set, options_.places);
  std::vector<std::string> words{options_.places.ahead, "run", values.at("model")};
  const auto add = [&](const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  for (const auto& [option, name] :
       {std::pair("--ladder", "ladder"), std::pair("--max-new-tokens", "tokens")}) {
    if (values.contains(name)) add({option, values.at(name)});
  }
  if (!values.at("forced").empty()) {
    add({"--force", values.at("forced")});
    if (values.contains("prompt_tokens")) add({"--prompt-tokens", values.at("prompt_tokens")});
  }
  const std::string history =
      options_.history_folder + "/" + file_name(set.name + "-" + arm.name) + ".json";
  add({"--history", set.protocol.history ? history : "none", "-q"});
  add(lab::expand(campaign_.options, values));
  add(lab::expand(set.options, values));
  add(lab::expand(arm.options, values));
  return words;
}

void ArmRunner::check() const {
  for (const lab::Arm& arm : campaign_.arms) {
    try {
      for (const lab::Set& set : campaign_.sets) {
        if (!arm.runs_in(set.name)) continue;
        const auto values = lab::values_of(set, options_.places);
        for (const auto& [what, path] : {std::pair("model", values.at("model")),
                                         std::pair("forced text", values.at("forced"))}) {
          std::error_code error;
          if (path.empty() || fs::exists(path, error)) continue;
          throw Error(ErrorKind::kInvalidArgument, "the " + std::string(what) + " of set " +
                                                       in_quotes(set.name) +
                                                       " is not there: " + path_in_quotes(path));
        }
        if (arm.command.empty()) {
          static_cast<void>(ahead_words(set, arm));
        } else {
          static_cast<void>(lab::expand(arm.command, values));
        }
      }
      if (arm.check.empty()) continue;
      const auto values = lab::values_of(campaign_.sets.front(), options_.places);
      const ChildResult checked = run_child({.words = lab::expand(arm.check, values),
                                             .timeout = std::chrono::seconds(60),
                                             .stop = options_.stop});
      if (!checked.good()) throw Error(ErrorKind::kInvalidArgument, checked.failure());
    } catch (const Error& error) {
      throw Error(error.kind(), "arm " + in_quotes(arm.name) + " cannot run here: " + error.what() +
                                    "; mend that, or leave it out with --without");
    }
  }
}

void ArmRunner::prepare(const lab::Set& set) {
  if (!std::exchange(first_, false) && set.protocol.cool_down_s > 0) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, options_.stop, std::chrono::duration<double>(set.protocol.cool_down_s),
                     [] { return false; });
  }
  settle_files(files_of(lab::values_of(set, options_.places).at("model")), set.protocol.cold_file);
  if (set.protocol.history) fs::create_directories(options_.history_folder);
}

ChildRequest ArmRunner::request(const Attempt& attempt) const {
  const lab::Set& set = this->set(attempt.run.key.set);
  const lab::Arm& arm = this->arm(attempt.run.key.arm);
  std::vector<std::string> words;
  if (arm.command.empty()) {
    words = ahead_words(set, arm);
    for (const auto& word : {std::string("--json"), attempt.scratch.file("run.json"),
                             std::string("--trace"), attempt.scratch.file("trace.json")}) {
      words.push_back(word);
    }
  } else {
    words = lab::expand(arm.command, lab::values_of(set, options_.places));
  }
  return {.words = std::move(words),
          .cores = set.protocol.cores,
          .timeout = std::chrono::duration<double>(set.protocol.timeout_s),
          .stop = options_.stop};
}

/// What became of the process.
void ArmRunner::take(Attempt& attempt, double load_before) const {
  attempt.fail(attempt.child.failure());
  if (!attempt.run.failed()) {
    try {
      arm(attempt.run.key.arm).command.empty() ? attempt.take_ahead() : attempt.take_command();
    } catch (const std::exception& error) {
      attempt.fail(std::string("its result cannot be read: ") + printable(error.what()));
    }
  }
  attempt.add_process(load_before);
  attempt.run.error = without_paths(attempt.run.error, options_.places);
}

std::optional<std::vector<lab::RunRecord>> ArmRunner::run(const std::vector<lab::RunKey>& runs) {
  const lab::Set& set = this->set(runs.front().set);
  prepare(set);
  std::deque<Attempt> attempts;  // their folders do not move
  std::vector<ChildRequest> requests;
  for (const lab::RunKey& key : runs) requests.push_back(request(attempts.emplace_back(key)));
  const double load_before = load_average();
  if (runs.size() == 1) {
    attempts.front().child = run_child(requests.front());
  } else {
    std::vector<ChildResult> children = run_in_turns(requests, set.protocol.turn);
    for (std::size_t i = 0; i < children.size(); ++i) attempts[i].child = std::move(children[i]);
  }
  if (options_.stop.stop_requested()) return std::nullopt;
  std::vector<lab::RunRecord> records;
  for (Attempt& attempt : attempts) {
    take(attempt, load_before);
    records.push_back(std::move(attempt.run));
  }
  return records;
}

}  // namespace ahead::cli
