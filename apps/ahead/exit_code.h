// What the program's exit codes mean. May use: include/ahead.
#pragma once

#include "ahead/error.h"
#include "ahead/verify.h"

namespace ahead::cli {

/// The whole list; README and --help say the same.
enum ExitCode : int {
  kExitOk = 0,            ///< done, also when the last rung ended generation
  kExitFailed = 1,        ///< something failed while running; what was produced is kept
  kExitUsage = 2,         ///< an option or an input is wrong
  kExitMismatch = 3,      ///< --verify found logits that differ
  kExitInterrupted = 130  ///< Ctrl-C, or another signal that ends a process; what was made is kept
};

[[nodiscard]] inline ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
    case ErrorKind::kInvalidModel:
    case ErrorKind::kUnsupportedModel:
      return kExitUsage;
    case ErrorKind::kInterrupted:
      return kExitInterrupted;
    case ErrorKind::kCompileFailed:
    case ErrorKind::kDevice:
    case ErrorKind::kOutOfMemory:
    case ErrorKind::kIo:
      return kExitFailed;
  }
  return kExitFailed;
}

[[nodiscard]] inline ExitCode exit_code(const VerifyReport& report) {
  return report.passed ? kExitOk : kExitMismatch;
}

}  // namespace ahead::cli
