// A campaign: what is run, in which order, and what of it is compared. Plain data.
// May use: std.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ahead::lab {

/// How runs are made; a set may have its own values of the first four.
struct Protocol {
  std::optional<std::int64_t> prompt_tokens;  ///< the first of the forced text
  std::optional<std::int64_t> tokens;         ///< at most so many are generated
  std::vector<std::int64_t> ladder;           ///< empty: the program's own
  std::vector<int> cores;                     ///< the run is held to these; empty: to none

  std::size_t blocks = 3;  ///< in each every arm runs once
  std::string forced;      ///< file along whose tokens generation goes; empty: none
  bool history = false;    ///< each arm keeps what its runs took, for its next run
  bool cold_file = false;  ///< the model's file is put out of the system's memory before a run
  double cool_down_s = 0;  ///< between two runs
  /// The arms of a block run at once and take turns of so long, one running while the others are
  /// stopped: a machine whose speed drifts is then as fast for each. 0: one runs after the other.
  std::chrono::milliseconds turn{0};
  double timeout_s = 3600;  ///< of one run
};

/// A setting in which all arms run: a model, a context, a number of threads.
struct Set {
  std::string name;
  std::string model;                          ///< may be empty where only commands run
  std::vector<std::string> options;           ///< further ones of the arms that are Ahead's
  std::map<std::string, std::string> values;  ///< further names in braces for commands
  Protocol protocol;
};

/// One of the contenders.
struct Arm {
  std::string name;
  std::vector<std::string> options;  ///< of `ahead run`, where there is no command
  std::vector<std::string> command;  ///< prints one line of JSON; empty: the arm is Ahead's
  std::vector<std::string> check;    ///< a command that fails where the arm cannot run
  std::vector<std::string> sets;     ///< in which it runs; empty: in all
  bool once = false;                 ///< in the first block only, behind the others
  std::string mark;                  ///< "simulated" or "compile-only"; empty: it ran for real
  std::string note;

  [[nodiscard]] bool runs_in(const std::string& set) const;
};

/// A value of a run, computed from the JSON of its result by pointers (RFC 6901).
struct Endpoint {
  std::string name;
  std::string label;
  std::string unit;
  std::vector<std::string> value;  ///< summed; one may hold a *: then there is a value for each key
  std::vector<std::string> less;   ///< subtracted; one that is not there counts as 0
  std::string per;                 ///< divided by; empty: by nothing
  double per_less = 0;             ///< what is divided by is so much less: steps behind a first one
  double scale = 1;                ///< multiplied by
  bool more_is_better = false;
};

/// Two arms of the same blocks: what `to` differs by from `from`.
struct Comparison {
  std::string from;
  std::string to;
};

struct Campaign {
  std::string name;
  std::string title;
  std::string question;
  std::vector<std::string> limits;  ///< what it does not show
  Protocol protocol;
  std::vector<std::string> options;  ///< of all arms that are Ahead's
  std::vector<Set> sets;             ///< at least one
  std::vector<Arm> arms;
  std::vector<Endpoint> endpoints;
  std::vector<Comparison> comparisons;
};

}  // namespace ahead::lab
