// Makes a campaign's runs, each in a process of its own. May use: include/ahead, base, lab, POSIX.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "child_process.h"
#include "lab/campaign.h"
#include "lab/conduct.h"
#include "lab/placeholders.h"

namespace ahead::cli {

struct ArmRunnerOptions {
  lab::Places places;
  std::string history_folder;  ///< where arms keep what their runs took
  std::stop_token stop;
};

class ArmRunner final : public lab::Runner {
 public:
  /// `campaign` must outlive it.
  ArmRunner(const lab::Campaign& campaign, ArmRunnerOptions options);

  /// Throws Error(kInvalidArgument) that names the arm where one cannot run here: a file is not
  /// there, a name in braces unknown, its check fails.
  void check() const;

  [[nodiscard]] std::optional<std::vector<lab::RunRecord>> run(
      const std::vector<lab::RunKey>& runs) override;

 private:
  struct Attempt;
  [[nodiscard]] const lab::Set& set(const std::string& name) const;
  [[nodiscard]] const lab::Arm& arm(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> ahead_words(const lab::Set& set,
                                                     const lab::Arm& arm) const;
  void prepare(const lab::Set& set);
  [[nodiscard]] ChildRequest request(const Attempt& attempt) const;
  void take(Attempt& attempt, double load_before) const;

  const lab::Campaign& campaign_;
  const ArmRunnerOptions options_;
  bool first_ = true;
};

}  // namespace ahead::cli
