// Where a program stands, as the compile queue knows it and the planner looks at it.
// May use: std.
#pragma once

namespace ahead {

enum class ProgramStatus {
  kAbsent,     ///< nobody compiled it, or it was released
  kCompiling,  ///< queued or under way
  kReady,
  kFailed,  ///< its error is kept for whoever installs it
};

}  // namespace ahead
