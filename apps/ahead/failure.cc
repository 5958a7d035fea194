// See failure.h. May use: include/ahead, base.
#include "failure.h"

#include <unistd.h>

#include <cstdlib>
#include <new>

#include "ahead/error.h"
#include "base/resources.h"
#include "report.h"

namespace ahead::cli {
namespace {

[[noreturn]] void end_uncaught() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      Outlet err(STDERR_FILENO);
      report_error(err, failure_text(error));
      if (shortage_in(error)) std::_Exit(kExitFailed);
    } catch (...) {
    }
  }
  std::abort();
}

}  // namespace

std::string failure_text(const std::exception& error) {
  const auto remedy = resource_remedy(error);
  if (!remedy || dynamic_cast<const Error*>(&error) != nullptr) return error.what();
  const bool says_nothing = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  return says_nothing ? *remedy : error.what() + ("; " + *remedy);
}

ExitCode tell_failure(Outlet& err, const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    report_error(err, failure_text(error));
    return exit_code(error.kind());
  } catch (const std::exception& error) {
    report_error(err, failure_text(error));
  }
  return kExitFailed;
}

void report_what_nobody_catches() { std::set_terminate(&end_uncaught); }

}  // namespace ahead::cli
