// The parts of one program that are still to be compiled, taken one at a time by whoever compiles.
// May use: base.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "compile/backend.h"

namespace ahead::compile {

/// Any thread. `compile` may be called from several at once, for a part each.
class PartQueue {
 public:
  using Compile = std::function<std::shared_ptr<Artifact>(std::size_t part)>;
  PartQueue(std::vector<std::size_t> parts, Compile compile)
      : parts_(std::move(parts)), compile_(std::move(compile)) {}

  /// Compiles parts while there is one to take and `wanted()` holds, asked before each. An error is
  /// kept, and no further part is taken.
  void work(const std::function<bool()>& wanted);

  /// Waits for the parts that others took; artifacts by part. Throws the error of the first part
  /// that failed.
  [[nodiscard]] std::map<std::size_t, std::shared_ptr<Artifact>> finish();

 private:
  const std::vector<std::size_t> parts_;
  const Compile compile_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;                                   // guarded by mutex_
  std::size_t running_ = 0;                                // guarded by mutex_
  std::map<std::size_t, std::shared_ptr<Artifact>> made_;  // guarded by mutex_
  std::map<std::size_t, std::exception_ptr> failed_;       // guarded by mutex_
};

}  // namespace ahead::compile
