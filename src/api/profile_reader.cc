// The JSON of a profile, checked field by field: docs/PLANNING.md has the format.
// May use: base, include/ahead, nlohmann-json.
#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "ahead/error.h"
#include "ahead/planning.h"
#include "api/json_field.h"
#include "api/wording.h"
#include "base/check.h"
#include "base/printable.h"

namespace ahead {
namespace {

using api::JsonField;

constexpr std::int64_t kMostTokens = std::int64_t{1} << 30;
constexpr JsonField::Range kTokens{1, kMostTokens};

// Those that a file may say; the others come of reading it.
constexpr std::array kSources = {
    std::pair{CostSource::kMeasured, "measured"},
    std::pair{CostSource::kPublished, "published"},
    std::pair{CostSource::kInferred, "inferred"},
    std::pair{CostSource::kEstimated, "estimated"},
    std::pair{CostSource::kExtrapolated, "extrapolated"},
};

CostSource read_source(const JsonField& field) {
  const std::string text = field.text();
  std::vector<std::string_view> names;
  for (const auto& [source, name] : kSources) {
    if (text == name) return source;
    names.emplace_back(name);
  }
  field.refuse("is " + in_quotes(text) + "; it takes " + api::one_of(names));
}

double read_seconds(const JsonField& field, bool may_be_nothing) {
  return may_be_nothing ? field.real({0, 1e6, "seconds from 0 to a million"})
                        : field.real({1e-9, 1e6, "seconds above 0, to a million"});
}

/// {"seconds": 1.5, "source": "measured", "note": "..."}
Cost read_cost(const JsonField& field, bool may_be_nothing) {
  field.allow_only({"seconds", "source", "note"});
  if (const auto note = field.find("note")) (void)note->text();
  return {read_seconds(field.at("seconds"), may_be_nothing), read_source(field.at("source"))};
}

/// {"source": "measured", "note": "...", "1024": 1.5, "2048": {"seconds": 2, "source":
/// "estimated"}}
RungCosts read_rungs(const JsonField& field) {
  RungCosts costs;
  const auto source = field.find("source");
  for (const JsonField::Member& member : field.members()) {
    const JsonField entry = field.of(member);
    if (member.name == "source") continue;
    if (member.name == "note") {
      (void)entry.text();
      continue;
    }
    std::int64_t rung = 0;
    const char* const end = member.name.data() + member.name.size();
    const auto [stopped, error] = std::from_chars(member.name.data(), end, rung);
    if (error != std::errc() || stopped != end || rung < 1 || rung > kMostTokens) {
      entry.refuse("is no rung; its name is a number of tokens, or source or note");
    }
    costs[rung] = entry.is_number()
                      ? Cost{read_seconds(entry, false), read_source(field.at("source"))}
                      : read_cost(entry, false);
  }
  if (costs.empty()) field.refuse("has no rung");
  if (source) (void)read_source(*source);
  return costs;
}

double read_factor(const JsonField& field) {
  field.allow_only({"factor", "source", "note"});
  if (const auto note = field.find("note")) (void)note->text();
  (void)read_source(field.at("source"));
  return field.at("factor").real({1, 100, "a factor from 1 to 100"});
}

StepProfile read_step(const JsonField& field) {
  field.allow_only(
      {"tokens", "calls", "shared_compile_s", "rung_compile_s", "step_s", "read_token_s"});
  StepProfile step{.tokens = field.at("tokens").whole(kTokens),
                   .calls = field.at("calls").whole({1, 1000000}),
                   .shared_compile = {0, CostSource::kGiven},
                   .rung_compile = read_rungs(field.at("rung_compile_s")),
                   .step = read_rungs(field.at("step_s"))};
  if (const auto shared = field.find("shared_compile_s")) {
    step.shared_compile = read_cost(*shared, true);
  }
  if (const auto read = field.find("read_token_s")) {
    if (step.tokens != 1) read->refuse("stands beside tokens other than 1");
    step.read_token = read_rungs(*read);
  }
  return step;
}

PartitionProfile read_partition(const JsonField& field) {
  field.allow_only({"partition", "shared_serves_any_tokens", "steps"});
  const JsonField name = field.at("partition");
  PartitionProfile partition;
  try {
    partition.partition = parse_partition(name.text());
  } catch (const Error& error) {
    name.refuse(std::string("is wrong: ") + error.what());
  }
  if (const auto any = field.find("shared_serves_any_tokens")) {
    partition.shared_serves_any_tokens = any->boolean();
  }
  const JsonField steps = field.at("steps");
  for (const JsonField& item : steps.items()) {
    partition.steps.push_back(read_step(item));
    const std::size_t count = partition.steps.size();
    const std::int64_t tokens = partition.steps.back().tokens;
    if (count == 1 ? tokens != 1 : tokens <= partition.steps[count - 2].tokens) {
      item.at("tokens").refuse("is " + std::to_string(tokens) +
                               "; the steps stand by tokens, and the first has 1");
    }
  }
  if (partition.steps.empty()) steps.refuse("is empty; it takes at least the step of 1 token");
  return partition;
}

std::vector<std::int64_t> read_tokens(const JsonField& field) {
  std::vector<std::int64_t> out;
  for (const JsonField& item : field.items()) out.push_back(item.whole(kTokens));
  return out;
}

void read_request(const JsonField& field, Profile& profile) {
  field.allow_only({"ladder", "prompt", "tokens", "chunks"});
  const JsonField ladder = field.at("ladder");
  profile.ladder = read_tokens(ladder);
  try {
    check_ladder(profile.ladder, 0);
  } catch (const Error& error) {
    ladder.refuse(std::string("is wrong: ") + error.what());
  }
  profile.prompt = field.at("prompt").whole(kTokens);
  profile.tokens = field.at("tokens").whole(kTokens);
  profile.chunks = read_tokens(field.at("chunks"));
  if (profile.chunks.empty()) field.at("chunks").refuse("is empty");
}

KvPolicy read_policy(const JsonField& field, const std::string& name) {
  try {
    return parse_kv_policy(name);
  } catch (const Error& error) {
    field.refuse(std::string("is wrong: ") + error.what());
  }
}

Profile read(const JsonField& root) {
  root.allow_only({"profile", "name", "about", "notes", "request", "call", "beside", "migration_s",
                   "partitions"});
  (void)root.at("profile").whole({1, 1});
  Profile profile{.name = root.at("name").text()};
  if (const auto about = root.find("about")) {
    for (const JsonField::Member& member : about->members()) {
      profile.about[member.name] = about->of(member).text();
    }
  }
  if (const auto notes = root.find("notes")) {
    for (const JsonField& note : notes->items()) profile.notes.push_back(note.text());
  }
  read_request(root.at("request"), profile);
  if (const auto call = root.find("call")) profile.call = read_cost(*call, true);
  if (const auto beside = root.find("beside")) {
    beside->allow_only({"step", "compile"});
    if (const auto step = beside->find("step")) profile.step_factor = read_factor(*step);
    if (const auto compile = beside->find("compile")) {
      profile.compile_factor = read_factor(*compile);
    }
  }
  if (const auto migration = root.find("migration_s")) {
    for (const JsonField::Member& member : migration->members()) {
      const JsonField costs = migration->of(member);
      profile.migration[read_policy(costs, member.name)] = read_rungs(costs);
    }
  }
  const JsonField partitions = root.at("partitions");
  for (const JsonField& item : partitions.items()) {
    const PartitionProfile partition = read_partition(item);
    for (const PartitionProfile& known : profile.partitions) {
      if (known.partition == partition.partition) {
        item.at("partition").refuse("stands there twice");
      }
    }
    profile.partitions.push_back(partition);
  }
  if (profile.partitions.empty()) partitions.refuse("is empty");
  return profile;
}

}  // namespace

std::string_view to_string(CostSource source) {
  for (const auto& [value, name] : kSources) {
    if (value == source) return name;
  }
  switch (source) {
    case CostSource::kGiven:
      return "given";
    case CostSource::kInterpolated:
      return "interpolated";
    case CostSource::kGuessed:
      return "guessed";
    default:
      break;
  }
  AHEAD_CHECK(false, "a source of costs has no spelling");
  return {};
}

Profile read_profile(std::string_view json) {
  JsonField::Json root;
  try {
    root = JsonField::Json::parse(json);
  } catch (const nlohmann::json::exception& error) {
    const std::string_view text = error.what();
    const std::size_t id = text.find("] ");
    throw Error(ErrorKind::kInvalidArgument,
                "the profile is no JSON: " +
                    std::string(id == std::string_view::npos ? text : text.substr(id + 2)));
  }
  return read(JsonField(root, ""));
}

}  // namespace ahead
