// See progress_state.h. May use: include/ahead.
#include "progress_state.h"

#include <algorithm>

#include "wording.h"

namespace ahead::cli {
namespace {

constexpr double kLineEvery = 10;

std::string program_name(std::string_view program, std::int64_t rung) {
  return std::string(program) + "@" + std::to_string(rung);
}

std::string tokens_per_second(const ProgressState& state, double now_s) {
  const double elapsed = now_s - state.first_token_s;
  if (state.generated < 2 || elapsed <= 0) {
    return "";
  }
  return fixed(static_cast<double>(state.generated - 1) / elapsed, 1) + " tok/s";
}

// A background compile begins a second time when the request comes to wait for it.
std::string begin_compile(ProgressState& state, const Progress& event, double now_s) {
  for (ProgressState::Compile& compile : state.compiles) {
    if (compile.program == event.program && compile.rung == event.rung) {
      compile.foreground = event.foreground;
      return "waiting for " + program_name(event.program, event.rung);
    }
  }
  state.compiles.push_back({.program = std::string(event.program),
                            .rung = event.rung,
                            .foreground = event.foreground,
                            .begin_s = now_s});
  return "compiling " + program_name(event.program, event.rung) +
         (event.foreground ? "" : " in the background");
}

std::string end_compile(ProgressState& state, const Progress& event) {
  std::erase_if(state.compiles, [&](const ProgressState::Compile& compile) {
    return compile.program == event.program && compile.rung == event.rung;
  });
  return "compiled " + program_name(event.program, event.rung) + " in " + seconds(event.seconds);
}

// How many there are of them all: the caller of a batch does not know before it runs.
void take_sizes(ProgressState& state, const Progress& event) {
  if (event.prompt_tokens > 0) state.prompt_tokens = event.prompt_tokens;
  state.sequences = event.sequences;
}

std::optional<std::string> count_token(ProgressState& state, const Progress& event, double now_s) {
  take_sizes(state, event);
  if (state.generated == 0) {
    state.first_token_s = now_s;
    state.last_line_s = now_s;
  }
  state.generated = event.tokens;
  state.rung = event.rung > 0 ? event.rung : state.rung;
  if (now_s - state.last_line_s < kLineEvery) {
    return std::nullopt;
  }
  state.last_line_s = now_s;
  return std::to_string(state.generated) + " tokens generated, rung " + std::to_string(state.rung) +
         ", " + tokens_per_second(state, now_s);
}

std::optional<std::string> count_prompt(ProgressState& state, const Progress& event, double now_s) {
  take_sizes(state, event);
  state.prefilled = event.tokens;
  state.rung = event.rung > 0 ? event.rung : state.rung;
  if (event.tokens < state.prompt_tokens && now_s - state.last_line_s < kLineEvery) {
    return std::nullopt;
  }
  state.last_line_s = now_s;
  return std::to_string(event.tokens) + " of " + std::to_string(state.prompt_tokens) +
         " prompt tokens read";
}

std::string gauge(std::int64_t value, std::int64_t whole) {
  constexpr std::int64_t kCells = 20;
  const std::int64_t full =
      whole > 0 ? std::clamp(value * kCells / whole, std::int64_t{0}, kCells) : 0;
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(kCells - full), '-') + "]";
}

std::string since(double begin_s, double now_s) { return fixed(now_s - begin_s, 1) + " s"; }

}  // namespace

std::optional<std::string> apply(ProgressState& state, const Progress& event, double now_s) {
  switch (event.kind) {
    case Progress::Kind::kCompileBegin:
      return begin_compile(state, event, now_s);
    case Progress::Kind::kCompileEnd:
      return end_compile(state, event);
    case Progress::Kind::kPrefill:
      return count_prompt(state, event, now_s);
    case Progress::Kind::kToken:
      return count_token(state, event, now_s);
    case Progress::Kind::kBoundary: {
      const std::string from = state.rung > 0 ? std::to_string(state.rung) + " to " : "";
      state.rung = event.rung;
      return "rung " + from + std::to_string(event.rung) + ", waited " + seconds(event.seconds);
    }
  }
  return std::nullopt;
}

void TextColumn::write(std::string_view text, std::size_t width) {
  for (const char c : text) {
    if (c == '\n') {
      *this = TextColumn{};
    } else if (c >= 0x20 && c < 0x7F) {
      column_ = column_ >= width ? 1 : column_ + 1;
    } else {
      known_ = false;
    }
  }
}

std::string bar_line(const ProgressState& state, double now_s, std::size_t width) {
  std::string line;
  const auto waited = std::find_if(state.compiles.begin(), state.compiles.end(),
                                   [](const auto& compile) { return compile.foreground; });
  if (state.generated > 0 && state.sequences > 1) {  // each has a rung of its own
    line = std::to_string(state.sequences) + " sequences  " + std::to_string(state.generated) +
           " tokens generated  " + tokens_per_second(state, now_s);
  } else if (state.generated > 0) {
    const std::int64_t live = state.prompt_tokens + state.generated;
    line = "rung " + std::to_string(state.rung) + " " + gauge(live, state.rung) + " " +
           std::to_string(live) + " tokens  " + tokens_per_second(state, now_s);
  } else if (waited == state.compiles.end() && state.prompt_tokens > 0 && state.prefilled > 0) {
    line = "prompt " + gauge(state.prefilled, state.prompt_tokens) + " " +
           std::to_string(state.prefilled) + " of " + std::to_string(state.prompt_tokens) +
           " tokens";
  } else if (state.compiles.empty()) {
    line = state.phase + "  " + since(state.phase_begin_s, now_s);
  }
  for (const auto& compile : state.compiles) {
    line += line.empty() ? "" : "  ";
    line += (compile.foreground ? "waiting for " : "compiling ") +
            program_name(compile.program, compile.rung) + " " + since(compile.begin_s, now_s);
  }
  return line.substr(0, width);
}

}  // namespace ahead::cli
