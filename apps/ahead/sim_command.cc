// See sim_command.h. May use: include/ahead, base, CLI11.
#include "sim_command.h"

#include <unistd.h>

#include <cstdlib>

#include "ahead/simulation.h"
#include "base/outlet.h"
#include "exit_code.h"
#include "named_files.h"
#include "output.h"
#include "report.h"
#include "sim_options.h"

namespace ahead::cli {
namespace {

void run_simulations(const SimRequest& request) {
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
  add_sim_options(*command, run_simulations);
}

}  // namespace ahead::cli
