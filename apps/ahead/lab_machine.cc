// See lab_machine.h. May use: include/ahead, base, POSIX, nlohmann-json.
#include "lab_machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

#include "ahead/llm_pipeline.h"
#include "base/clock.h"
#include "base/cpu_limits.h"
#include "child_process.h"

namespace ahead::cli {
namespace {

/// Of the first processor.
std::string cpuinfo(const std::string& name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name, 0) != 0) continue;
    const std::size_t colon = line.find(": ");
    return colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return "";
}

std::string machine() {
  const CpuLimits limits = cpu_limits();
  std::ostringstream text;
  text << cpuinfo("model name") << " (family " << cpuinfo("cpu family") << ", model "
       << cpuinfo("model\t") << "), " << limits.cores.size() << " cores";
  if (limits.quota_cores) text << " with a quota of " << *limits.quota_cores;
  std::istringstream flags(cpuinfo("flags"));
  std::string has;
  for (std::string flag; flags >> flag;) {
    for (const char* known : {"avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile"}) {
      if (flag == known) has += (has.empty() ? "" : " ") + flag;
    }
  }
  text << ", " << (has.empty() ? "no AVX2" : has);
  const double gib = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                     static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 30);
  text << ", " << std::lround(gib) << " GiB";
  return text.str();
}

std::string system_of() {
  utsname names{};
  ::uname(&names);
  std::string pretty;
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("PRETTY_NAME=", 0) == 0) pretty = line.substr(13, line.size() - 14);
  }
  return (pretty.empty() ? "Linux" : pretty) + ", kernel " + names.release;
}

std::string git(const std::string& folder, std::vector<std::string> words) {
  words.insert(words.begin(), {"git", "-C", folder});
  const ChildResult done =
      run_child({.words = std::move(words), .timeout = std::chrono::seconds(10)});
  return done.good() ? done.output : "";
}

lab::Json commit(const std::string& folder) {
  std::string hash = git(folder, {"rev-parse", "--short=12", "HEAD"});
  if (hash.size() < 2) return {};
  hash.pop_back();
  return git(folder, {"status", "--porcelain", "--untracked-files=no"}).empty() ? hash : hash + "+";
}

std::string now() {
  const std::time_t seconds = seconds_since_1970().count();
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts);
  return text.data();
}

}  // namespace

lab::Json session_facts(const std::string& folder) {
  return {{"began", now()},
          {"machine", machine()},
          {"system", system_of()},
          {"ahead", version()},
          {"commit", commit(folder)}};
}

double load_average() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

}  // namespace ahead::cli
