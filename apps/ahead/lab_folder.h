// The folder of a campaign's results: its campaign, its runs, and who writes to it.
// May use: include/ahead, base, lab, POSIX.
#pragma once

#include <string>

#include "lab/conduct.h"
#include "lab/journal.h"

namespace ahead::cli {

/// DIR/campaign.toml and DIR/runs.jsonl. While it lives, no other process writes to the folder.
class LabFolder final : public lab::JournalWriter {
 public:
  struct Options {
    std::string folder;
    std::string campaign;  ///< the campaign's text
    bool resume = false;   ///< go on where the folder has runs of the same campaign
    bool force = false;    ///< begin anew whatever is there
  };
  /// Makes the folder where it is not there. Throws Error(kInvalidArgument) that says what to do
  /// where it has runs and neither was asked for, has those of another campaign, or is in use.
  explicit LabFolder(Options options);
  ~LabFolder() override;
  LabFolder(const LabFolder&) = delete;
  LabFolder& operator=(const LabFolder&) = delete;

  /// What was there when it was opened; a line that was cut is dropped from the file.
  [[nodiscard]] const lab::Journal& journal() const { return journal_; }
  /// Whether a line that was cut stood there.
  [[nodiscard]] bool was_cut() const { return was_cut_; }

  void append(const std::string& line) override;

 private:
  void lock();
  void read();

  const Options options_;
  std::string path_;
  int file_ = -1;
  lab::Journal journal_;
  bool was_cut_ = false;
};

/// A file's text. Throws Error(kInvalidArgument) that names it where it cannot be read or is above
/// `most` bytes.
[[nodiscard]] std::string text_of_file(const std::string& path, std::size_t most);

}  // namespace ahead::cli
