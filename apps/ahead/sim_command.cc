// See sim_command.h. May use: include/ahead, CLI11.
#include "sim_command.h"

#include <cstdlib>

#include "ahead/simulation.h"
#include "exit_code.h"
#include "output.h"
#include "report.h"
#include "sim_options.h"

namespace ahead::cli {
namespace {

void run_simulations(const SimRequest& request) {
  if (request.trace) check_writable(*request.trace);
  TextOutput out(1);
  const SimulationVerdict verdict =
      run_seeds(request, {.simulate = [](const auto& options) { return simulate(options); },
                          .write = [&](const std::string& text) { out.write(text); },
                          .progress = [](const std::string& text) { report(text); }});
  if (request.trace) write_file(*request.trace, to_chrome_trace(verdict.result));
  if (!out.error().empty() && !out.reader_gone()) throw Error(ErrorKind::kIo, out.error());
  if (!verdict.passed) std::exit(kExitFailed);
}

}  // namespace

void add_sim_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand(
      "sim", "Run the scheduler, compile queue and cache in simulated worlds made from seeds");
  add_sim_options(*command, run_simulations);
}

}  // namespace ahead::cli
