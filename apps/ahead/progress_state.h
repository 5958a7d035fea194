// What a waiting person is told, as text: pure functions of the events so far and the time.
// May use: include/ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ahead/generation_config.h"

namespace ahead::cli {

/// Where a run stands. Times are seconds since the display began.
struct ProgressState {
  struct Compile {
    std::string program;
    std::int64_t rung = 0;
    bool foreground = false;
    double begin_s = 0;
  };

  std::string phase;  ///< what is done outside generate(): "reading m.gguf"
  double phase_begin_s = 0;
  std::vector<Compile> compiles;  ///< running
  std::int64_t sequences = 1;
  std::int64_t prompt_tokens = 0;  ///< of all sequences, as are the next two
  std::int64_t prefilled = 0;
  std::int64_t generated = 0;
  std::int64_t rung = 0;
  double first_token_s = 0;
  double last_line_s = 0;  ///< when the last line that counts tokens was written
};

/// Takes an event in. The answer is the line it is worth where lines are written, if any: every
/// compile, every boundary, the end of the prompt, and a count of tokens every ten seconds.
[[nodiscard]] std::optional<std::string> apply(ProgressState& state, const Progress& event,
                                               double now_s);

/// Where text that was written leaves a terminal's cursor, as far as that can be known: how wide a
/// character is drawn is the terminal's business except for plain ASCII.
class TextColumn {
 public:
  void write(std::string_view text, std::size_t width);

  /// A line of text is not at its end.
  [[nodiscard]] bool line_open() const { return !known_ || column_ > 0; }
  /// The cursor may leave its place and return: it does not hang behind the last column, where a
  /// terminal forgets that the next character belongs on the next line.
  [[nodiscard]] bool can_leave(std::size_t width) const { return known_ && column_ < width; }

 private:
  std::size_t column_ = 0;
  bool known_ = true;
};

/// The live bar: one line, at most `width` characters.
[[nodiscard]] std::string bar_line(const ProgressState& state, double now_s, std::size_t width);

}  // namespace ahead::cli
