// See designs_command.h. May use: include/ahead, CLI11, nlohmann-json.
#include "designs_command.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "ahead/axes.h"
#include "output.h"
#include "wording.h"

namespace ahead::cli {

std::string designs_text() {
  std::string out = left("design", 9) + left("ladder", 12) + left("schedule", 12) + left("kv", 13) +
                    left("partition", 12) + "\n";
  for (const Design& design : designs()) {
    const bool is_default = &design == &default_design();
    out += left(std::string(design.name) + (is_default ? " *" : ""), 9) +
           left(design.last_rung_only ? "last rung" : "all rungs", 12) +
           left(to_string(design.schedule), 12) + left(to_string(design.kv), 13) +
           left(to_string(design.partition), 12) + std::string(design.summary) + "\n";
  }
  return out + "* the default\n";
}

std::string designs_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Design& design : designs()) {
    list.push_back({{"name", design.name},
                    {"default", &design == &default_design()},
                    {"last_rung_only", design.last_rung_only},
                    {"schedule", to_string(design.schedule)},
                    {"kv", to_string(design.kv)},
                    {"partition", to_string(design.partition)},
                    {"summary", design.summary}});
  }
  return nlohmann::ordered_json{{"designs", std::move(list)}}.dump(2) + "\n";
}

std::string design_names() {
  std::string out;
  for (const Design& design : designs()) {
    out += (out.empty() ? "" : "|") + std::string(design.name);
  }
  return out;
}

void add_designs_command(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("designs", "List the presets over the axes of a context ladder");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Write one JSON object instead of a table");
  command->callback([json] { write_text(*json ? designs_json() : designs_text()); });
}

}  // namespace ahead::cli
