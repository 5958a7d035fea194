// See lab_command.h. May use: include/ahead, base, lab, CLI11, POSIX.
#include "lab_command.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ahead/error.h"
#include "base/outlet.h"
#include "base/printable.h"
#include "base/replace_file.h"
#include "exit_code.h"
#include "interrupt.h"
#include "lab/analysis.h"
#include "lab/campaign_reader.h"
#include "lab/page_parts.h"
#include "lab/report_data.h"
#include "lab/report_page.h"
#include "lab/report_text.h"
#include "lab/run_plan.h"
#include "lab_arm_runner.h"
#include "lab_folder.h"
#include "lab_machine.h"
#include "output.h"
#include "report.h"
#include "wording.h"

namespace ahead::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCampaign = std::size_t{1} << 20U;
constexpr std::size_t kMostJournal = std::size_t{1} << 30U;

constexpr const char* kRunExamples = R"(Examples:
  ahead lab run campaigns/quick.toml
  ahead lab run campaigns/one-ahead.toml -o results/one-ahead --resume
  ahead lab run campaigns/peers.toml --pairs 5 --without llama.cpp

Each arm of a campaign runs in a process of its own, block by block, in orders that balance what one
run leaves to the next. Every run is kept as it ends, in DIR/runs.jsonl.)";

constexpr const char* kReportExamples = R"(Examples:
  ahead lab report results/quick -o report.html
  ahead lab report results/quick --markdown report.md --csv runs.csv)";

struct RunFlags {
  std::string campaign;
  std::string folder;
  std::optional<std::size_t> pairs;
  std::vector<std::string> without;
  bool resume = false;
  bool force = false;
};

struct ReportFlags {
  std::string folder;
  std::optional<std::string> page;
  std::optional<std::string> markdown;
  std::optional<std::string> csv;
};

std::string program() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? "ahead" : path.string();
}

lab::Places places_of(const std::string& campaign) {
  const fs::path here = fs::absolute(campaign).lexically_normal().parent_path();
  const char* const deps = std::getenv("DEPS_DIR");
  return {.here = here.string(),
          .deps = deps != nullptr && *deps != '\0' ? fs::absolute(deps).string()
                                                   : (here.parent_path() / ".deps").string(),
          .ahead = program()};
}

/// What was asked for at the command line becomes part of the campaign.
void apply(const RunFlags& flags, lab::Campaign& campaign) {
  if (flags.pairs) {
    campaign.protocol.blocks = *flags.pairs;
    for (lab::Set& set : campaign.sets) set.protocol.blocks = *flags.pairs;
  }
  for (const std::string& name : flags.without) {
    const auto gone = std::remove_if(campaign.arms.begin(), campaign.arms.end(),
                                     [&](const lab::Arm& arm) { return arm.name == name; });
    if (gone == campaign.arms.end()) {
      throw Error(ErrorKind::kInvalidArgument,
                  "--without " + in_quotes(name) + " is the name of no arm of the campaign");
    }
    campaign.arms.erase(gone, campaign.arms.end());
  }
  if (campaign.arms.empty()) {
    throw Error(ErrorKind::kInvalidArgument, "--without leaves no arm; leave one in");
  }
  std::erase_if(campaign.comparisons, [&](const lab::Comparison& comparison) {
    const auto gone = [&](const std::string& name) {
      return std::find(flags.without.begin(), flags.without.end(), name) != flags.without.end();
    };
    return gone(comparison.from) || gone(comparison.to);
  });
}

/// The text that is kept beside the runs: the campaign's, and what the command line made of it.
std::string kept_text(const RunFlags& flags, const std::string& text) {
  std::string kept = text;
  if (!kept.empty() && kept.back() != '\n') kept += '\n';
  if (flags.pairs) kept += "#@ pairs " + std::to_string(*flags.pairs) + "\n";
  for (const std::string& name : flags.without) kept += "#@ without " + name + "\n";
  return kept;
}

/// The same, from the text.
RunFlags kept_flags(const std::string& text) {
  RunFlags flags;
  for (std::size_t at = 0; (at = text.find("\n#@ ", at)) != std::string::npos; ++at) {
    const std::string line = text.substr(at + 4, text.find('\n', at + 1) - at - 4);
    if (line.rfind("pairs ", 0) == 0) flags.pairs = std::stoul(line.substr(6));
    if (line.rfind("without ", 0) == 0) flags.without.push_back(line.substr(8));
  }
  return flags;
}

std::string time_words(double seconds) {
  const auto whole = std::lround(seconds);
  if (whole < 90) return std::to_string(whole) + " s";
  if (whole < 5400) return std::to_string((whole + 30) / 60) + " min";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

std::string line_of(const lab::Standing& standing) {
  std::string line =
      "[lab] " + std::to_string(standing.made) + " of " + std::to_string(standing.wanted) + " runs";
  if (standing.seconds_left && standing.next) {
    line += ", " + time_words(*standing.seconds_left) + " left";
  }
  if (standing.next) {
    line += ": block " + std::to_string(standing.next->block + 1) + ", " + standing.next->set +
            ", " + standing.next->arm;
  }
  return line + "\n";
}

/// Comparisons are within a block, and blocks of two machines are no repetitions.
void check_machine(const lab::Journal& journal, const lab::Json& facts, const std::string& folder) {
  if (journal.sessions.empty()) return;
  const std::string before = journal.sessions.back().value("machine", "");
  const std::string now = facts.value("machine", "");
  if (before == now) return;
  throw Error(ErrorKind::kInvalidArgument,
              path_in_quotes(folder) + " has runs of another machine: " + printable(before) +
                  "; this one is " + printable(now) + "; name another folder with -o");
}

void run(const RunFlags& flags) {
  const std::string text = text_of_file(flags.campaign, kMostCampaign);
  lab::Campaign campaign = lab::read_campaign(flags.campaign, text);
  apply(flags, campaign);
  const std::string folder = flags.folder.empty() ? "results/" + campaign.name : flags.folder;
  const InterruptWatch watch;
  Outlet err(STDERR_FILENO);
  ArmRunner runner(campaign, {.places = places_of(flags.campaign),
                              .history_folder = folder + "/history",
                              .stop = watch.token()});
  runner.check();
  const lab::Json facts = session_facts(places_of(flags.campaign).here);
  LabFolder results({.folder = folder,
                     .campaign = kept_text(flags, text),
                     .resume = flags.resume,
                     .force = flags.force});
  check_machine(results.journal(), facts, folder);
  if (results.was_cut()) report_note(err, "a line of runs.jsonl was cut; that run is made again");
  std::vector<lab::TimedRun> made;
  for (const lab::RunRecord& run : results.journal().runs) {
    made.emplace_back(run.key, lab::seconds_of(run));
  }
  results.append(lab::session_line(facts));
  std::size_t failed = 0;
  const bool whole = lab::conduct({.runs = lab::runs_of(campaign),
                                   .made = made,
                                   .in_turns = campaign.protocol.turn.count() > 0,
                                   .stop = watch.token(),
                                   .tell =
                                       [&](const lab::Standing& standing) {
                                         if (!standing.failed.empty()) {
                                           ++failed;
                                           report_error(err, "a run failed: " + standing.failed);
                                         }
                                         report(err, line_of(standing));
                                       }},
                                  runner, results);
  if (!whole) {
    throw Error(ErrorKind::kInterrupted,
                "interrupted; " + path_in_quotes(folder) + " has what was made: --resume goes on");
  }
  report(err, "[lab] " + path_in_quotes(folder) + " is complete: ahead lab report " + folder +
                  " -o report.html\n");
  if (failed > 0) {
    throw Error(ErrorKind::kDevice, std::to_string(failed) +
                                        " runs failed; they are recorded as failed, and the report "
                                        "tells them");
  }
}

void write_report(const ReportFlags& flags) {
  const std::string text = text_of_file(flags.folder + "/campaign.toml", kMostCampaign);
  lab::Campaign campaign = lab::read_campaign(flags.folder + "/campaign.toml", text);
  apply(kept_flags(text), campaign);
  const std::string path = flags.folder + "/runs.jsonl";
  const lab::Journal journal = lab::read_journal(path, text_of_file(path, kMostJournal));
  const lab::Analysis analysis = lab::analyse(campaign, journal);
  if (flags.page) {
    replace_file(*flags.page, lab::report_page(lab::report_data(campaign, journal, analysis),
                                               lab::page_parts()));
  }
  const std::string markdown = lab::report_markdown(campaign, journal, analysis);
  if (flags.markdown) replace_file(*flags.markdown, markdown);
  if (flags.csv) replace_file(*flags.csv, lab::report_csv(campaign, journal));
  if (!flags.page && !flags.markdown && !flags.csv) write_text(markdown);
}

void add_run(CLI::App& lab) {
  CLI::App* const command = lab.add_subcommand("run", "Make the runs of a campaign");
  const auto flags = std::make_shared<RunFlags>();
  command->add_option("CAMPAIGN", flags->campaign, "The campaign's file (TOML)")->required();
  command->add_option("-o,--output", flags->folder, "Folder of the results (default results/NAME)")
      ->option_text("DIR");
  command->add_option("--pairs", flags->pairs, "Blocks in place of the campaign's")
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  command
      ->add_option("--without", flags->without, "Leave this arm out; may be given more than once")
      ->option_text("ARM");
  command->add_flag("--resume", flags->resume, "Go on with the runs that the folder does not have");
  command->add_flag("--force", flags->force, "Begin anew, over the runs that the folder has");
  command->footer(kRunExamples);
  command->callback([flags] { run(*flags); });
}

void add_report(CLI::App& lab) {
  CLI::App* const command = lab.add_subcommand("report", "Tell what the runs of a folder came to");
  const auto flags = std::make_shared<ReportFlags>();
  command->add_option("DIR", flags->folder, "Folder of the results")->required();
  command->add_option("-o,--output", flags->page, "Write one HTML page that needs no network")
      ->option_text("FILE");
  command->add_option("--markdown", flags->markdown, "Write the tables as Markdown")
      ->option_text("FILE");
  command->add_option("--csv", flags->csv, "Write every run's endpoints as CSV")
      ->option_text("FILE");
  command->footer(kReportExamples);
  command->callback([flags] { write_report(*flags); });
}

}  // namespace

void add_lab_command(CLI::App& app) {
  CLI::App* const lab =
      app.add_subcommand("lab", "Measure: campaigns of runs in counterbalanced order, and reports");
  lab->require_subcommand(1);
  add_run(*lab);
  add_report(*lab);
}

}  // namespace ahead::cli
