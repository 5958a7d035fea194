// A handler of SIGBUS that puts an empty page where one is gone. May use: std, the kernel.
#include "base/mapped_files.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "ahead/error.h"
#include "base/printable.h"

namespace ahead {
namespace {

std::atomic<bool> page_gone = false;
static_assert(std::atomic<bool>::is_always_lock_free, "it is set in a handler of a signal");
std::atomic<bool> watched = false;
std::uintptr_t page_bytes = 0;  // set before the handler is

/// The instruction that read the page is run again when this returns.
void on_bus_error(int signal, siginfo_t* info, void* /*context*/) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr) / page_bytes * page_bytes;
  if (info->si_code == BUS_ADRERR) {
    void* const page = reinterpret_cast<void*>(address);
    if (mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == page) {
      page_gone = true;
      return;
    }
  }
  std::signal(signal, SIG_DFL);  // it ends the process, as it would have
}

bool set_handler() {
  struct sigaction before {};
  if (sigaction(SIGBUS, nullptr, &before) != 0) return false;
  if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL) return false;
  page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction handler {};
  handler.sa_sigaction = on_bus_error;
  handler.sa_flags = SA_SIGINFO;
  sigemptyset(&handler.sa_mask);
  return sigaction(SIGBUS, &handler, nullptr) == 0;
}

struct Watch {
  std::mutex mutex;
  std::vector<std::weak_ptr<const InputFile>> files;
};

Watch& watch() {
  static Watch* const one = new Watch;  // never destroyed: threads may outlive main()
  return *one;
}

/// Those that were written to since they were opened.
std::string changed_files() {
  const std::lock_guard lock(watch().mutex);
  std::string names;
  for (const auto& one : watch().files) {
    const auto file = one.lock();
    if (!file || file->unchanged()) continue;
    names += (names.empty() ? "" : ", ") + path_in_quotes(file->path());
  }
  return names;
}

}  // namespace

void watch_mapped(const std::shared_ptr<const InputFile>& file) {
  static const bool set = set_handler();
  watched = set;
  const std::lock_guard lock(watch().mutex);
  std::erase_if(watch().files, [](const auto& one) { return one.expired(); });
  watch().files.push_back(file);
}

bool mapped_is_watched() { return watched; }

void check_mapped() {
  if (!page_gone) return;
  const std::string names = changed_files();
  // Nothing changed: a disk that cannot be read does the same, and what was computed since is
  // worth nothing either.
  throw Error(ErrorKind::kIo,
              names.empty()
                  ? "a page of a file in use could not be read; check the disk that the model is "
                    "on, and run again"
                  : names +
                        " was cut short while it was in use; put the whole file back, leave it "
                        "alone meanwhile, and run again");
}

}  // namespace ahead
