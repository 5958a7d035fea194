// See inspect_command.h. May use: include/ahead, CLI11.
#include "inspect_command.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ahead/file_facts.h"
#include "ahead/llm_pipeline.h"
#include "axis_names.h"
#include "inspect_report.h"
#include "output.h"
#include "run_options.h"

namespace ahead::cli {
namespace {

struct InspectFlags {
  std::string model;
  std::optional<std::string> ladder;
  std::optional<std::string> partition;
  bool json = false;
};

void inspect(const InspectFlags& flags) {
  std::optional<std::vector<std::int64_t>> asked;
  if (flags.ladder) {
    asked = parse_ladder(*flags.ladder);
  }
  const Partition partition =
      flags.partition ? parse_partition(*flags.partition) : default_design().partition;
  const FileFacts file = file_facts(flags.model);
  if (!file.refusal.empty()) {
    write_text(flags.json ? file_json(flags.model, file) : file_text(flags.model, file));
  }
  // Facts harm nobody, whether what would be computed is right or not. What is refused is so here,
  // in the words that `ahead run` has for it.
  const Model model(flags.model, {.unverified = true});
  const InspectInput input{
      .file = file,
      .chat = model.chat_facts(),
      .end_tokens = model.end_tokens(),
      .facts = model.facts(),
      .sha256 = model.sha256(),
      .load_s = model.load_s(),
      .ladder = choose_ladder({.asked = asked,
                               .otherwise = {.trained_context = model.facts().trained_context}})
                    .rungs,
      .prefill_chunk = PipelineConfig{}.prefill_chunk,
      .partition = partition};
  write_text(flags.json ? inspect_json(input) : inspect_text(input));
}

}  // namespace

void add_inspect_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand(
      "inspect", "Show a model's facts, the KV bytes of each rung and the parts compiled for it");
  const auto flags = std::make_shared<InspectFlags>();
  command->add_option("MODEL", flags->model, "A GGUF file, or the folder of an OpenVINO IR")
      ->type_name("")
      ->required();
  command->add_option("--ladder", flags->ladder, "Rungs in tokens, like 1024,2048,4096")
      ->type_name("LIST");
  command->add_option("--partition", flags->partition, names(partitions()))->type_name("NAME");
  command->add_flag("--json", flags->json, "Write one JSON object instead of text");
  command->callback([flags] { inspect(*flags); });
}

}  // namespace ahead::cli
