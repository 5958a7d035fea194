// See journal.h. May use: base, include/ahead, nlohmann-json.
#include "lab/journal.h"

#include <set>
#include <utility>

#include "ahead/error.h"
#include "base/printable.h"

namespace ahead::lab {
namespace {

std::string line(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunRecord run_of(const Json& object, std::size_t sessions) {
  if (sessions == 0) throw std::invalid_argument("a run before any session");
  return {.key = {.block = object.at("block").get<std::size_t>(),
                  .set = object.at("set").get<std::string>(),
                  .arm = object.at("arm").get<std::string>()},
          .error = object.at("error").get<std::string>(),
          .session = sessions - 1,
          .result = object.at("result"),
          .curves = object.at("curves")};
}

}  // namespace

std::string line_of(const RunRecord& run) {
  return line({{"kind", "run"},
               {"set", run.key.set},
               {"block", run.key.block},
               {"arm", run.key.arm},
               {"error", run.error},
               {"result", run.result},
               {"curves", run.curves}});
}

std::string session_line(const Json& facts) {
  Json object{{"kind", "session"}};
  object.update(facts);
  return line(object);
}

Journal read_journal(const std::string& path, std::string_view text) {
  Journal journal;
  std::set<RunKey> seen;
  std::size_t number = 0;
  while (journal.whole_bytes < text.size()) {
    const std::size_t end = text.find('\n', journal.whole_bytes);
    if (end == std::string_view::npos) break;
    ++number;
    const std::string_view words = text.substr(journal.whole_bytes, end - journal.whole_bytes);
    const auto refuse = [&](const std::string& what) {
      throw Error(ErrorKind::kInvalidArgument,
                  in_quotes(path) + ", line " + std::to_string(number) + " " + what +
                      "; nothing was changed: put the file right, or begin in another folder");
    };
    try {
      const Json object = Json::parse(words);
      const auto kind = object.at("kind").get<std::string>();
      if (kind == "session") {
        journal.sessions.push_back(object);
      } else if (kind == "run") {
        journal.runs.push_back(run_of(object, journal.sessions.size()));
      } else {
        throw std::invalid_argument("kind " + kind);
      }
    } catch (const std::exception& error) {
      refuse(std::string("is no line of a campaign's runs (") + printable(error.what()) + ")");
    }
    if (!journal.runs.empty() && journal.runs.size() > seen.size() &&
        !seen.insert(journal.runs.back().key).second) {
      refuse("has a run that stands further up too");
    }
    journal.whole_bytes = end + 1;
  }
  return journal;
}

}  // namespace ahead::lab
