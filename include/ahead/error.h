// Errors that cross Ahead's public border.
//
// Every failure a caller can meet is an `ahead::Error`: its text says what was wrong, with which
// value, and what to do. Broken invariants of Ahead itself are not errors; they stop the program.
#pragma once

#include <stdexcept>
#include <string>

namespace ahead {

/// What went wrong, coarse enough to branch on.
enum class ErrorKind {
  kInvalidArgument,   ///< a value the caller gave: an option, a ladder, a prompt
  kInvalidModel,      ///< a file that is missing, truncated, hostile or not a model
  kUnsupportedModel,  ///< a valid model whose architecture Ahead refuses to run
  kCompileFailed,     ///< a back end refused a graph; the text names the program and its rung
  kDevice,            ///< a part ran, or would run, on another device than the one asked for
  kOutOfMemory,       ///< memory for the cache was refused; the text says how many bytes
  kIo,                ///< a result, a trace or a cache file could not be read or written
  kInterrupted,       ///< the caller's stop token was triggered before there was a result
};

/// The one exception type of the public API.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}

  /// The coarse cause; stable, unlike the text.
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace ahead
