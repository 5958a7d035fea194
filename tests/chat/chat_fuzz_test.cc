// Templates and values changed at random: rendered or refused, never a crash, never beyond a limit.
// AHEAD_TEST_CHAT_MUTATIONS=100000 draws so many; an ordinary run draws a few hundred.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "ahead/error.h"
#include "references.h"
#include "text/chat_renderer.h"

namespace ahead::text {
namespace {

using Random = std::mt19937_64;

constexpr const char* kPieces[] = {"{% for i in range(9999) %}",
                                   "{% endfor %}",
                                   "{{ ",
                                   " }}",
                                   "{%- if x %}",
                                   "{% endif %}",
                                   "{#",
                                   "#}",
                                   " ~ ",
                                   " * 99999999 ",
                                   " | tojson ",
                                   " | join('') ",
                                   "messages",
                                   "[::-1]",
                                   "[:-1]",
                                   "(",
                                   ")",
                                   "loop.previtem",
                                   "namespace(a=1)",
                                   "{% macro m(a) %}",
                                   "{% endmacro %}",
                                   "m(m)",
                                   "'",
                                   "\"",
                                   "\\",
                                   "{% set ",
                                   " = ",
                                   "%}",
                                   "raise_exception('no')",
                                   "strftime_now('%')",
                                   " is defined",
                                   " in ",
                                   " not ",
                                   " else ",
                                   "{% generation %}",
                                   "{% endgeneration %}",
                                   "0x",
                                   "1e999",
                                   "-1 // 0",
                                   "| map(attribute='a.b')",
                                   "|sort",
                                   "|batch(0)",
                                   "|indent(99999999)",
                                   ".split('')",
                                   ".replace('', 'aaaaaaaa')",
                                   "\xF0\x9F\x8C\x8A",
                                   "{% break %}",
                                   "{% call m() %}"};

void mutate(std::string& text, Random& random) {
  for (std::size_t i = 1 + random() % 4; i > 0; --i) {
    const std::size_t at = text.empty() ? 0 : random() % text.size();
    const std::size_t length = std::min<std::size_t>(random() % 40, text.size() - at);
    switch (random() % 5) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, kPieces[random() % std::size(kPieces)]);
        break;
      case 2:
        text.insert(at, text.substr(random() % (text.size() + 1), length));
        break;
      case 3:
        text.replace(at, length, kPieces[random() % std::size(kPieces)]);
        break;
      default:
        if (!text.empty()) text[at] = static_cast<char>(random() % 256);
    }
  }
}

TEST(ChatFuzz, IsRenderedOrRefusedWithinItsLimits) {
  const char* const wanted = std::getenv("AHEAD_TEST_CHAT_MUTATIONS");
  const long count = wanted == nullptr ? 300 : std::strtol(wanted, nullptr, 10);
  std::vector<std::pair<std::string, std::string>> corpus;
  for (const std::string& name : reference_names()) {
    const Json all = reference(name);
    for (const Json& one : all.at("cases")) {
      corpus.emplace_back(all.at("template").get<std::string>(), one.at("context").dump());
    }
  }
  const ChatLimits limits{.work = 200'000, .output_bytes = std::size_t{1} << 20U};
  Random random(5);
  long rendered = 0;
  for (long i = 0; i < count; ++i) {
    auto [source, values] = corpus[random() % corpus.size()];
    if (random() % 8 != 0) mutate(source, random);
    if (random() % 4 == 0) mutate(values, random);
    try {
      const std::string text = render_chat(source, {.values = values, .limits = limits});
      ASSERT_LE(text.size(), limits.output_bytes);
      ++rendered;
    } catch (const Error& error) {
      const std::string text = error.what();
      ASSERT_NE(text, "");
      ASSERT_EQ(text.find('\n'), std::string::npos) << text;
      ASSERT_EQ(text.find("engine failed"), std::string::npos)
          << "a panic, with template " << i << ":\n"
          << source << "\nvalues " << values;
    }
  }
  EXPECT_GT(rendered, count / 20);
  EXPECT_LT(rendered, count);
}

}  // namespace
}  // namespace ahead::text
