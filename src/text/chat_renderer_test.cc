// Errors, limits and settings of the renderer; real templates are in tests/chat.
#include "text/chat_renderer.h"

#include <gtest/gtest.h>

#include <string>

#include "ahead/error.h"

namespace ahead::text {
namespace {

std::string render(const std::string& source, const std::string& values = "{}") {
  return render_chat(source, {.values = values});
}

void expect_fails(const std::string& source, ErrorKind kind, const std::string& part,
                  const ChatRendering& rendering = {.values = "{}"}) {
  try {
    const std::string text = render_chat(source, rendering);
    FAIL() << "rendered " << text.size() << " bytes of " << source;
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.kind(), kind) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

TEST(ChatRenderer, BlocksAreTrimmedAsHuggingFaceDoes) {
  EXPECT_EQ(render("  {% if true %}\na\n  {% endif %}\nb\n"), "a\nb");
}

TEST(ChatRenderer, ValuesAreWrittenAsPythonWritesThem) {
  EXPECT_EQ(render("{{ true }} {{ none }} {{ [1.0, 'it''s', {'a': 1e16}] }}"),
            "True None [1.0, 'its', {'a': 1e+16}]");
  EXPECT_EQ(render("{{ a | tojson }}", R"({"a": {"z": 1e-7, "b": ["é", null, "<\n"]}})"),
            R"({"z": 1e-07, "b": ["é", null, "<\n"]})");
  EXPECT_EQ(render("{{ {'b': 1, 'a': []} | tojson(indent=2, sort_keys=true) }}"),
            "{\n  \"a\": [],\n  \"b\": 1\n}");
}

TEST(ChatRenderer, ABlockOfThreeCharactersIsNoPanic) {
  expect_fails("{%}", ErrorKind::kInvalidModel, "no Jinja template");
}

TEST(ChatRenderer, GenerationOnlyMarks) {
  EXPECT_EQ(render("a {%- generation -%} b {%- endgeneration +%} c"), "ab c");
}

TEST(ChatRenderer, NowIsWhatItIsTold) {
  ::setenv("TZ", "UTC", 1);
  EXPECT_EQ(render_chat("{{ strftime_now('%d %b %Y') }}",
                        {.values = "{}", .now = std::chrono::seconds(1764547200)}),
            "01 Dec 2025");
}

TEST(ChatRenderer, ATemplateThatSaysNoIsQuotedWithItsLine) {
  expect_fails("\n\n{{ raise_exception('roles must\nalternate') }}", ErrorKind::kInvalidArgument,
               "refuses this conversation (line 3): roles must alternate");
}

TEST(ChatRenderer, ABrokenTemplateIsNamedWithItsLine) {
  expect_fails("a\n{% for %}", ErrorKind::kInvalidModel, "no Jinja template (line 2)");
  expect_fails("a\n\n{{ nothing.at.all }}", ErrorKind::kInvalidModel, "failed (line 3)");
  expect_fails("{{ 1 | no_such_filter }}", ErrorKind::kInvalidModel, "no_such_filter");
}

TEST(ChatRenderer, HostileTemplatesEndAtALimit) {
  for (const char* source :
       {"{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
        "{% set ns = namespace(a='aaaaaaaaaaaaaaaa') %}{% for i in range(90) %}"
        "{% set ns.a = ns.a ~ ns.a %}{% endfor %}",
        "{{ 'x' * 1000000000 }}", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% for i in range(99999) %}{{ 'a long text' * 100000 }}{% endfor %}"}) {
    EXPECT_THROW((void)render(source), Error) << source;
  }
  expect_fails("{% for i in range(99) %}0123456789{% endfor %}", ErrorKind::kInvalidModel,
               "over its limits", {.values = "{}", .limits = {.output_bytes = 100}});
  const std::string deep(100'000, '(');
  EXPECT_THROW((void)render("{{ " + deep), Error);
  EXPECT_THROW((void)render("{{ 1 }}", "{\"a\":" + std::string(100'000, '[')), Error);
}

TEST(ChatRenderer, ValuesThatAreNoObjectAreRefused) {
  for (const char* values : {"", "[]", "{", "{\"a\": \"\xFF\"}"}) {
    expect_fails("a", ErrorKind::kInvalidArgument, "cannot be read", {.values = values});
  }
}

}  // namespace
}  // namespace ahead::text
