// Reading and checking a ladder of rungs. May use: base, include/ahead.
#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "ahead/axes.h"
#include "ahead/error.h"
#include "base/printable.h"

namespace ahead {
namespace {

constexpr std::int64_t kSmallestRung = 16;
constexpr std::string_view kRemedy = "; give rungs like 1024,2048,4096";

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::kInvalidArgument, "ladder " + what);
}

std::int64_t parse_rung(std::string_view item, std::string_view ladder) {
  std::int64_t rung = 0;
  const char* const end = item.data() + item.size();
  const auto [stopped, error] = std::from_chars(item.data(), end, rung);
  if (error == std::errc::result_out_of_range) {
    refuse(in_quotes(ladder) + ": rung " + in_quotes(item) + " is too large" +
           std::string(kRemedy));
  }
  if (error != std::errc() || stopped != end) {
    refuse(in_quotes(ladder) + ": " + in_quotes(item) + " is not a whole number" +
           std::string(kRemedy));
  }
  return rung;
}

void check_order(const std::vector<std::int64_t>& ladder) {
  if (ladder.empty()) {
    refuse("is empty" + std::string(kRemedy));
  }
  for (const std::int64_t rung : ladder) {
    if (rung < kSmallestRung) {
      refuse("has the rung " + std::to_string(rung) + "; the smallest rung is " +
             std::to_string(kSmallestRung) + " tokens");
    }
  }
  for (std::size_t i = 1; i < ladder.size(); ++i) {
    if (ladder[i] <= ladder[i - 1]) {
      refuse("has " + std::to_string(ladder[i]) + " after " + std::to_string(ladder[i - 1]) +
             "; give its rungs in increasing order, each once");
    }
  }
}

}  // namespace

std::vector<std::int64_t> parse_ladder(std::string_view text) {
  std::vector<std::int64_t> ladder;
  if (!text.empty()) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t comma = std::min(text.find(',', begin), text.size());
      ladder.push_back(parse_rung(text.substr(begin, comma - begin), text));
      begin = comma + 1;
    }
  }
  check_order(ladder);
  return ladder;
}

void check_ladder(const std::vector<std::int64_t>& ladder, std::int64_t trained_context_tokens) {
  check_order(ladder);
  if (trained_context_tokens <= 0) return;  // the model does not say
  if (ladder.back() > trained_context_tokens) {
    refuse("ends at " + std::to_string(ladder.back()) +
           ", beyond the model's trained context; keep its rungs at or below " +
           std::to_string(trained_context_tokens));
  }
}

DefaultLadder default_ladder(const LadderQuery& query) {
  constexpr std::int64_t kFirst = 1024;
  constexpr std::int64_t kBlock = 128;  // rows: rungs are whole blocks of them
  const std::int64_t trained = query.trained_context;
  if (trained > 0 && trained < kSmallestRung) {
    throw Error(ErrorKind::kUnsupportedModel,
                "the model was trained on a context of " + std::to_string(trained) +
                    " tokens, less than the smallest rung of " + std::to_string(kSmallestRung) +
                    "; correct its context length if that is wrong");
  }
  const bool pays = query.schedule == Schedule::kEager || query.kv == KvPolicy::kSharedMax;
  const std::int64_t known = trained > 0 ? trained : kDefaultTop;
  const std::int64_t top = pays ? std::min(known, kDefaultTop) : known;

  DefaultLadder ladder;
  for (std::int64_t rung = kFirst; rung <= top; rung *= 2) {
    ladder.rungs.push_back(rung);
    if (rung > top / 2) break;  // and so that no doubling overflows
  }
  const std::int64_t last = top >= kFirst ? top / kBlock * kBlock : top / 16 * 16;
  if (ladder.rungs.empty() || last > ladder.rungs.back()) ladder.rungs.push_back(last);
  if (top < known) {
    ladder.note = "the ladder ends at " + std::to_string(top) + " of the model's " +
                  std::to_string(trained) + " tokens, as " +
                  (query.schedule == Schedule::kEager
                       ? "schedule eager compiles every rung before the first token"
                       : "cache policy shared-max holds memory for the last rung") +
                  "; --ladder takes more";
  }
  return ladder;
}

}  // namespace ahead
