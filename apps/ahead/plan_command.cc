// See plan_command.h. May use: include/ahead, base, CLI11.
#include "plan_command.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "ahead/llm_pipeline.h"
#include "ahead/planning.h"
#include "base/outlet.h"
#include "base/printable.h"
#include "named_files.h"
#include "output.h"
#include "plan_options.h"
#include "plan_report.h"

namespace ahead::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  ahead plan --profile profiles/npu5010-compiler.json
  ahead plan --profile profiles/this-machine-cpu.json --ladder 1024,4096,32768 --prompt 3000
  ahead plan SmolLM2.gguf --token-ms 1024=25,8192=54 --compile-s 1.6 --json plan.json

Nothing is compiled or run. A profile says for each cost whether it was measured.)";

namespace fs = std::filesystem;

[[noreturn]] void refuse_file(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::kInvalidArgument, "--profile " + path_in_quotes(path) + ": " + why);
}

Profile profile_in(const std::string& path) {
  constexpr std::size_t kLargest = std::size_t{1} << 20U;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) refuse_file(path, "it is a folder; give a profile's file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    refuse_file(path, std::generic_category().message(errno != 0 ? errno : EIO) +
                          "; give a file that can be read");
  }
  std::string text(kLargest + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargest) refuse_file(path, "it is larger than 1 MiB, so it is no profile");
  try {
    return read_profile(text);
  } catch (const Error& error) {
    refuse_file(path, error.what());
  }
}

/// By the model's size; the ladder within what it was trained on.
void take_model(const std::string& path, PlanRequest& request) {
  const ModelFacts facts = Model(path, {.unverified = true}).facts();
  if (!request.ladder.empty()) check_ladder(request.ladder, facts.trained_context);
  std::error_code error;
  const auto size = fs::file_size(facts.weights, error);
  if (error) {
    throw Error(ErrorKind::kIo, "the size of " + path_in_quotes(facts.weights) +
                                    " can not be had: " + error.message());
  }
  request.profile = guess_profile(facts, static_cast<std::int64_t>(size));
}

void plan(const PlanFlags& flags) {
  PlanRequest request = flags.request;
  CommandFiles files;
  if (flags.model) files.read_model("MODEL", *flags.model);
  files.read("--profile", flags.profile);
  files.write("--json", flags.json);
  files.write("--trace", flags.trace);
  check_files(files);
  const auto json = Destination::of("--json", flags.json);
  const auto trace = Destination::of("--trace", flags.trace);
  if (flags.profile) {
    request.profile = profile_in(*flags.profile);
  } else {
    take_model(*flags.model, request);
  }
  const PlanReport report = make_plan(request);
  TextOutput out(STDOUT_FILENO);
  Outlet err(STDERR_FILENO);
  out.write(plan_text(report));
  std::string lost = out.error();
  const auto write = [&](const std::optional<Destination>& file, const std::string& contents) {
    try {
      if (file) file->write(contents, {.out = out, .err = err});
    } catch (const Error& error) {
      lost += (lost.empty() ? "" : "; ") + std::string(error.what());
    }
  };
  write(json, plan_json(report));
  const PlanForecast& shown = report.forecasts.at(report.shown);
  RunResult timeline{.axes = shown.axes, .design = shown.design, .device = report.profile};
  timeline.trace = shown.trace;
  write(trace, to_chrome_trace(timeline));
  if (!lost.empty()) throw Error(ErrorKind::kIo, lost);
}

}  // namespace

void add_plan_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand(
      "plan", "Tell what a request will take under every schedule, compiling nothing");
  command->footer(kExamples);
  add_plan_options(*command, plan);
}

}  // namespace ahead::cli
