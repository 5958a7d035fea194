// Whether memory grows with the number of requests: short requests over boundaries, one after the
// other on one pipeline, and the resident memory after each. Prints one JSON object; exits with 1
// when it ends further from the memory after the twentieth request than the limit allows.
//
//   build/release/soak MODEL.gguf --requests 200 --limit-percent 2
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ahead/llm_pipeline.h"

namespace ahead::bench {
namespace {

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total_pages = 0;
  std::int64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

}  // namespace
}  // namespace ahead::bench

int main(int argc, char** argv) {
  using ahead::bench::resident_bytes;
  std::string path;
  std::string design{ahead::default_design().name};
  std::string ladder = "32,64,96";
  std::size_t requests = 200;
  std::size_t settled = 20;
  double limit_percent = 2;
  CLI::App app("Memory over many requests");
  app.add_option("MODEL", path)->required();
  app.add_option("--design", design);
  app.add_option("--ladder", ladder);
  app.add_option("--requests", requests);
  app.add_option("--settled", settled, "Requests before memory should stay");
  app.add_option("--limit-percent", limit_percent);
  CLI11_PARSE(app, argc, argv);
  if (settled == 0 || requests <= settled) {
    std::cerr << "soak: --requests " << requests << " is not above --settled " << settled << "\n";
    return 2;
  }
  try {
    const ahead::Model model(path);
    ahead::PipelineConfig config;
    config.axes = axes_of(ahead::find_design(design), ahead::parse_ladder(ladder));
    ahead::LLMPipeline pipeline(model, "CPU", config);
    std::vector<std::int64_t> resident;
    std::size_t boundaries = 0;
    for (std::size_t request = 0; request < requests; ++request) {
      ahead::GenerationConfig generation;
      generation.max_new_tokens = 56 + static_cast<std::int64_t>(request % 5);
      generation.ignore_eos = true;
      const ahead::RunResult result =
          pipeline.generate("Request number " + std::to_string(request) + " is about", generation);
      if (!result.error.empty()) throw std::runtime_error(result.error);
      boundaries += result.boundaries.size();
      resident.push_back(resident_bytes());
    }
    const auto then = static_cast<double>(resident[settled - 1]);
    const auto now = static_cast<double>(resident.back());
    const double percent = 100 * (now - then) / then;
    nlohmann::ordered_json out = {{"design", design},
                                  {"requests", requests},
                                  {"boundaries", boundaries},
                                  {"rss_settled_bytes", resident[settled - 1]},
                                  {"rss_end_bytes", resident.back()},
                                  {"change_percent", percent}};
    std::cout << out.dump() << "\n";
    if (boundaries < requests) throw std::runtime_error("the requests crossed too few boundaries");
    return std::abs(percent) <= limit_percent ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "soak: " << error.what() << "\n";
    return 1;
  }
}
