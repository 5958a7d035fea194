// What compiles and steps took in earlier processes: a JSON file, by model, device and machine.
// Nothing in it is trusted: whatever is not as it should be counts as nothing.
// May use: plan, nlohmann-json.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "plan/cost_model.h"

namespace ahead::api {

/// One file, shared by processes: who writes last keeps its own entry and the others' as it read
/// them. Not thread-safe.
class HistoryFile {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;
  static constexpr std::size_t kEntries = 32;  ///< kept, those written last

  explicit HistoryFile(std::filesystem::path path) : path_(std::move(path)) {}

  struct Loaded {
    plan::History history;
    std::string ignored;  ///< why nothing was taken from a file that is there; else empty
  };
  /// What the file has under `key`. No file, or no such key, is an empty history. Never throws.
  [[nodiscard]] Loaded load(const std::string& key) const;

  /// Puts `history` under `key`. The file is replaced whole or stays as it was, where its folder
  /// allows that; one that save() did not write always stays. Why it could not be done; empty when
  /// it was. Never throws.
  [[nodiscard]] std::string save(const std::string& key, const plan::History& history) const;

 private:
  std::filesystem::path path_;
};

}  // namespace ahead::api
