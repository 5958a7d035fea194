// See sim_command.h. May use: include/ahead, base, CLI11.
#include "sim_command.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "ahead/simulation.h"
#include "base/outlet.h"
#include "exit_code.h"
#include "named_files.h"
#include "output.h"
#include "report.h"
#include "sim_options.h"

namespace ahead::cli {
namespace {

void run_simulations(const SimFlags& flags) {
  const SimRequest request = read_sim_options(flags);
  const auto trace = Destination::of("--trace", request.trace);
  TextOutput out(STDOUT_FILENO);
  Outlet err(STDERR_FILENO);
  const SimulationVerdict verdict =
      run_seeds(request, {.simulate = [](const auto& options) { return simulate(options); },
                          .write = [&](const std::string& text) { out.write(text); },
                          .progress = [&](const std::string& text) { report(err, text); }});
  if (trace) trace->write(to_chrome_trace(verdict.result), {.out = out, .err = err});
  if (!out.error().empty()) throw Error(ErrorKind::kIo, out.error());
  if (!verdict.passed) std::exit(kExitFailed);
}

}  // namespace

void add_sim_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand(
      "sim", "Run the scheduler, compile queue and cache in simulated worlds made from seeds");
  const auto flags = std::make_shared<SimFlags>();
  command->add_option("--seeds", flags->seeds, "Worlds to run, up to the first that fails")
      ->type_name("A..B");
  command->add_option("--seed", flags->seed, "One world, to look at")->type_name("N");
  command->add_option("--trace", flags->trace, "With --seed: write its timeline for Perfetto")
      ->type_name("FILE");
  command->add_flag("--events", flags->events, "With --seed: list everything that happens");
  command->add_flag("--quiet", flags->quiet, "Say nothing but what fails");
  command->callback([flags] { run_simulations(*flags); });
}

}  // namespace ahead::cli
