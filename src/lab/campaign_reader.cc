// See campaign_reader.h. May use: base, include/ahead, toml++.
#include "lab/campaign_reader.h"

#include <algorithm>
#include <set>

#include "ahead/error.h"
#include "base/printable.h"
#include "lab/toml_field.h"

namespace ahead::lab {
namespace {

constexpr TomlField::Range kTokens{1, 1 << 20};
constexpr std::size_t kMostArms = 16;

template <typename Read>
void if_there(const TomlField& field, std::string_view name, Read read) {
  if (const auto found = field.find(name)) read(*found);
}

/// What a set may have in its own way.
void read_shape(const TomlField& field, Protocol& protocol) {
  if_there(field, "prompt_tokens",
           [&](const TomlField& it) { protocol.prompt_tokens = it.whole(kTokens); });
  if_there(field, "tokens", [&](const TomlField& it) { protocol.tokens = it.whole(kTokens); });
  if_there(field, "ladder", [&](const TomlField& it) {
    protocol.ladder.clear();
    for (const TomlField& rung : it.items()) protocol.ladder.push_back(rung.whole(kTokens));
  });
  if_there(field, "cores", [&](const TomlField& it) {
    protocol.cores.clear();
    for (const TomlField& core : it.items()) {
      protocol.cores.push_back(static_cast<int>(core.whole({0, 4095})));
    }
  });
}

/// One of two words; whether it is the second.
bool choice(const TomlField& field, const std::string& no, const std::string& yes) {
  const std::string word = field.text();
  if (word != no && word != yes) {
    field.refuse("is " + in_quotes(word) + "; it takes " + in_quotes(no) + " or " + in_quotes(yes));
  }
  return word == yes;
}

Protocol read_protocol(const TomlField& field) {
  field.allow_only({"blocks", "prompt_tokens", "tokens", "ladder", "cores", "forced", "history",
                    "file_cache", "cool_down_s", "timeout_s", "turn_ms"});
  Protocol protocol;
  read_shape(field, protocol);
  if_there(field, "blocks", [&](const TomlField& it) {
    protocol.blocks = static_cast<std::size_t>(it.whole({1, 1000}));
  });
  if_there(field, "forced", [&](const TomlField& it) { protocol.forced = it.text(); });
  if_there(field, "history",
           [&](const TomlField& it) { protocol.history = choice(it, "none", "kept"); });
  if_there(field, "file_cache",
           [&](const TomlField& it) { protocol.cold_file = choice(it, "warm", "cold"); });
  if_there(field, "cool_down_s", [&](const TomlField& it) {
    protocol.cool_down_s = it.real({0, 3600});
  });
  if_there(field, "turn_ms", [&](const TomlField& it) {
    protocol.turn = std::chrono::milliseconds(it.whole({10, 10'000}));
  });
  if_there(field, "timeout_s", [&](const TomlField& it) {
    protocol.timeout_s = it.real({0.1, 1e6});
  });
  return protocol;
}

/// A name for people and for files.
std::string read_name(const TomlField& field, std::set<std::string>& taken) {
  std::string name = field.text();
  const auto fits = [](unsigned char c) { return c >= ' ' && c != '/' && c != 127; };
  if (name.empty() || name.size() > 60 || !std::all_of(name.begin(), name.end(), fits)) {
    field.refuse("is " + in_quotes(name) + "; a name has 1 to 60 bytes and no slash");
  }
  if (!taken.insert(name).second) field.refuse("is " + in_quotes(name) + ", which is taken");
  return name;
}

Set read_set(const TomlField& field, const Campaign& campaign, std::set<std::string>& taken) {
  field.allow_only(
      {"name", "model", "options", "values", "prompt_tokens", "tokens", "ladder", "cores"});
  Set set{.name = read_name(field.at("name"), taken), .protocol = campaign.protocol};
  read_shape(field, set.protocol);
  if_there(field, "model", [&](const TomlField& it) { set.model = it.text(); });
  if_there(field, "options", [&](const TomlField& it) { set.options = it.texts(); });
  if_there(field, "values", [&](const TomlField& it) { set.values = it.texts_by_name(); });
  return set;
}

std::string read_mark(const TomlField& field) {
  return choice(field, "simulated", "compile-only") ? "compile-only" : "simulated";
}

Arm read_arm(const TomlField& field, const Campaign& campaign, std::set<std::string>& taken) {
  field.allow_only({"name", "options", "command", "check", "sets", "once", "mark", "note"});
  Arm arm{.name = read_name(field.at("name"), taken)};
  const auto command = field.find("command");
  const auto options = field.find("options");
  if (command && options) {
    options->refuse("are those of 'ahead run', and this arm is a command");
  }
  if (options) arm.options = options->texts();
  if (command) {
    arm.command = command->texts();
    if (arm.command.empty()) command->refuse("is an empty list; its first word is a program");
  }
  if_there(field, "check", [&](const TomlField& it) { arm.check = it.texts(); });
  if_there(field, "once", [&](const TomlField& it) { arm.once = it.boolean(); });
  if (arm.once && campaign.protocol.turn.count() > 0) {
    field.at("once").refuse("cannot be where arms take turns (turn_ms): it would run beside none");
  }
  if_there(field, "mark", [&](const TomlField& it) { arm.mark = read_mark(it); });
  if_there(field, "note", [&](const TomlField& it) { arm.note = it.text(); });
  if_there(field, "sets", [&](const TomlField& it) {
    for (const TomlField& name : it.items()) {
      const auto same = [&](const Set& set) { return set.name == name.text(); };
      if (std::none_of(campaign.sets.begin(), campaign.sets.end(), same)) {
        name.refuse("is " + in_quotes(name.text()) + ", which is the name of no set");
      }
      arm.sets.push_back(name.text());
    }
  });
  for (const Set& set : campaign.sets) {
    if (arm.command.empty() && arm.runs_in(set.name) && set.model.empty()) {
      field.refuse("runs Ahead in set " + in_quotes(set.name) + ", which has no model");
    }
  }
  return arm;
}

std::vector<std::string> read_pointers(const TomlField& field, const Protocol& protocol) {
  std::vector<std::string> pointers =
      field.is_text() ? std::vector<std::string>{field.text()} : field.texts();
  for (const std::string& pointer : pointers) {
    if (pointer.empty() || pointer.front() != '/') {
      field.refuse("has " + in_quotes(pointer) + "; a place in a result is like '/time_s/prefill'");
    }
    if (protocol.turn.count() > 0 && pointer.rfind("/process/", 0) != 0) {
      field.refuse("has " + in_quotes(pointer) +
                   ", by the clock of an arm, which goes on during the turns of others (turn_ms); "
                   "take what the lab sees of a process, such as '/process/seconds'");
    }
  }
  if (pointers.empty()) field.refuse("is an empty list");
  return pointers;
}

Endpoint read_endpoint(const TomlField& field, const Campaign& campaign,
                       std::set<std::string>& taken) {
  const Protocol& protocol = campaign.protocol;
  field.allow_only(
      {"name", "label", "unit", "value", "less", "per", "per_less", "scale", "better"});
  Endpoint endpoint{.name = read_name(field.at("name"), taken)};
  endpoint.label = endpoint.name;
  if_there(field, "label", [&](const TomlField& it) { endpoint.label = it.text(); });
  endpoint.unit = field.at("unit").text();
  endpoint.value = read_pointers(field.at("value"), protocol);
  if_there(field, "less",
           [&](const TomlField& it) { endpoint.less = read_pointers(it, protocol); });
  if_there(field, "per",
           [&](const TomlField& it) { endpoint.per = read_pointers(it, protocol).front(); });
  if_there(field, "per_less", [&](const TomlField& it) { endpoint.per_less = it.real({0, 1e9}); });
  if_there(field, "scale", [&](const TomlField& it) { endpoint.scale = it.real({-1e12, 1e12}); });
  if_there(field, "better",
           [&](const TomlField& it) { endpoint.more_is_better = choice(it, "less", "more"); });
  return endpoint;
}

Comparison read_comparison(const TomlField& field, const Campaign& campaign) {
  field.allow_only({"from", "to"});
  const auto arm = [&](std::string_view end) {
    const TomlField name = field.at(end);
    const auto found =
        std::find_if(campaign.arms.begin(), campaign.arms.end(),
                     [&](const Arm& candidate) { return candidate.name == name.text(); });
    if (found == campaign.arms.end()) {
      name.refuse("is " + in_quotes(name.text()) + ", which is the name of no arm");
    }
    if (found->once) name.refuse("is an arm that runs once, and pairs need every block");
    return name.text();
  };
  return {.from = arm("from"), .to = arm("to")};
}

Campaign read(const TomlField& root) {
  root.allow_only({"name", "title", "question", "limits", "protocol", "options", "set", "arm",
                   "endpoint", "comparison"});
  Campaign campaign;
  std::set<std::string> names;
  campaign.name = read_name(root.at("name"), names);
  campaign.title = root.at("title").text();
  if_there(root, "question", [&](const TomlField& it) { campaign.question = it.text(); });
  if_there(root, "limits", [&](const TomlField& it) { campaign.limits = it.texts(); });
  if_there(root, "options", [&](const TomlField& it) { campaign.options = it.texts(); });
  campaign.protocol = read_protocol(root.at("protocol"));
  std::set<std::string> sets;
  for (const TomlField& set : root.at("set").items()) {
    campaign.sets.push_back(read_set(set, campaign, sets));
  }
  if (campaign.sets.empty()) root.at("set").refuse("is an empty list");
  std::set<std::string> arms;
  for (const TomlField& arm : root.at("arm").items()) {
    campaign.arms.push_back(read_arm(arm, campaign, arms));
  }
  if (campaign.arms.empty() || campaign.arms.size() > kMostArms) {
    root.at("arm").refuse("has " + std::to_string(campaign.arms.size()) + " arms; 1 to " +
                          std::to_string(kMostArms) + " take part");
  }
  std::set<std::string> endpoints;
  for (const TomlField& endpoint : root.at("endpoint").items()) {
    campaign.endpoints.push_back(read_endpoint(endpoint, campaign, endpoints));
  }
  if_there(root, "comparison", [&](const TomlField& it) {
    for (const TomlField& comparison : it.items()) {
      campaign.comparisons.push_back(read_comparison(comparison, campaign));
    }
  });
  return campaign;
}

}  // namespace

bool Arm::runs_in(const std::string& set) const {
  return sets.empty() || std::find(sets.begin(), sets.end(), set) != sets.end();
}

Campaign read_campaign(const std::string& path, std::string_view text) {
  try {
    const toml::table table = toml::parse(text);
    return read(TomlField(path, "", table));
  } catch (const toml::parse_error& error) {
    throw Error(ErrorKind::kInvalidArgument,
                in_quotes(path) + ", line " + std::to_string(error.source().begin.line) +
                    " is no TOML: " + std::string(error.description()));
  }
}

}  // namespace ahead::lab
