"""Shows that check_rooms.py can fail: a tree that keeps every rule is clean, and each kind of
violation put into it, one at a time, is reported, and nothing else is."""

import tempfile
from pathlib import Path

PURPOSE = "// What this file is for.\n"

# Keeps every rule, with look-alikes of violations in comments, strings and exempt places.
CLEAN = {
    "include/ahead/api.h": "#pragma once\n#include <string>\n#include \"ahead/error.h\"\n",
    "include/ahead/error.h": "#pragma once\n#include <stdexcept>\n",
    "src/base/clock.h": PURPOSE + "#include <chrono>\n",
    "src/base/clock.cc": PURPOSE + '#include "base/clock.h"\n#include <sched.h>\n'
                                   "auto now() { return std::chrono::steady_clock::now(); }\n"
                                   "std::jthread worker;\n",
    "src/base/CMakeLists.txt": "ahead_room(base SOURCES clock.cc)\n",
    "src/model/decoder.h": PURPOSE + "#include <openvino/core/model.hpp>\n",
    "src/graph/program_spec.h": PURPOSE + '#include "base/clock.h"\n',
    "src/graph/cut.h": PURPOSE + '#include "model/decoder.h"\n#include "openvino/op/op.hpp"\n',
    "src/compile/backend.h": PURPOSE + '#include "graph/program_spec.h"\n',
    "src/compile/openvino_backend.h": PURPOSE + '#include "graph/cut.h"\n#include <tbb/task.h>\n',
    "src/kv/cache.h": PURPOSE + '#include <ahead/error.h>\n#include "base/clock.h"\n',
    "src/kv/cache.cc": "/* What this file\n   is for. */\n#include \"cache.h\"\n"
                       "// std::thread, and #include <openvino/core/core.hpp>\n"
                       "/* sleep_for(1)\n#include \"runtime/session.h\"\n*/\n"
                       'const char* s = "std::jthread \\" system_clock::now";\n'
                       'const char* r = R"(\n#include <openvino/core/core.hpp>\n)";\n'
                       "int digits = 1'000'000; char c = '\"';\n",
    "src/kv/cache_test.cc": PURPOSE + '#include <gtest/gtest.h>\nstd::thread t;\n',
    "src/kv/CMakeLists.txt": "ahead_room(kv\n  SOURCES cache.cc # and\n  TESTS cache_test.cc)\n",
    "src/plan/schedule.h": PURPOSE,
    "src/runtime/session.h": PURPOSE + '#include "compile/backend.h"\n#include "kv/cache.h"\n',
    "src/text/tokenizer.h": PURPOSE + "#include <openvino/runtime/core.hpp>\n",
    "src/sim/device.h": PURPOSE + '#include "runtime/session.h"\n#include "compile/backend.h"\n',
    "src/lab/campaign.h": PURPOSE + '#include "base/clock.h"\n#include "ahead/api.h"\n',
    "src/api/pipeline.cc": PURPOSE + '#include "runtime/session.h"\n#include "model/decoder.h"\n'
                                     "std::thread::id id;\n",
    "src/api/CMakeLists.txt": "ahead_room(api SOURCES pipeline.cc)\n",
    "apps/ahead/main.cc": '#include "ahead/api.h"\n#include "flags.h"\n',
    "apps/ahead/flags.h": "",
    "apps/ahead/interrupt.cc": "std::jthread watcher;\n",
    "apps/ahead/CMakeLists.txt":
        "add_executable(ahead main.cc ${CMAKE_CURRENT_SOURCE_DIR}/interrupt.cc)\n",
    "bench/steps.cc": '#include "runtime/session.h"\nauto t = std::chrono::steady_clock::now();\n',
    "bench/CMakeLists.txt": "add_executable(steps steps.cc)\n",
    "tests/e2e/run_test.cc": '#include "sim/device.h"\n#include <openvino/op/op.hpp>\n'
                             'sleep_for(1);\n',
    "tests/CMakeLists.txt": "ahead_test(e2e SOURCES e2e/run_test.cc)\n",
}


def include(path, header):
    """A violation: `path` gets one more #include."""
    return {path: CLEAN[path] + f"#include {header}\n"}


def add(path, text):
    return {path: CLEAN[path] + text}


TABLE = [  # who may not use whom: one for each room, and one for each way to write it
    ("include/ahead/api.h", '"base/clock.h"', "room include may not use base"),
    ("src/base/clock.h", '"kv/cache.h"', "room base may not use kv"),
    ("src/model/decoder.h", '"graph/program_spec.h"', "room model may not use graph"),
    ("src/graph/cut.h", '"compile/backend.h"', "room graph may not use compile"),
    ("src/compile/openvino_backend.h", '"model/decoder.h"', "room compile may not use model"),
    ("src/kv/cache.h", '"plan/schedule.h"', "room kv may not use plan"),
    ("src/plan/schedule.h", '"runtime/session.h"', "room plan may not use runtime"),
    ("src/runtime/session.h", '"graph/program_spec.h"', "room runtime may not use graph"),
    ("src/text/tokenizer.h", '"runtime/session.h"', "room text may not use runtime"),
    ("src/sim/device.h", '"graph/program_spec.h"', "room sim may not use graph"),
    ("src/lab/campaign.h", '"sim/device.h"', "room lab may not use sim"),
    ("src/api/pipeline.cc", '"lab/campaign.h"', "room api may not use lab"),
    ("src/api/pipeline.cc", '"sim/device.h"', "room api may not use sim"),
    ("apps/ahead/main.cc", '"kv/cache.h"', "room apps may not use kv"),
    ("apps/ahead/main.cc", "<kv/cache.h>", "room apps may not use kv"),
    ("src/kv/cache.h", '"../plan/schedule.h"', "room kv may not use plan"),
    ("src/kv/cache.h", '"plan/generated.h"', "room kv may not use plan"),
    ("src/kv/cache_test.cc", '"plan/schedule.h"', "room kv may not use plan"),
    ("src/kv/cache.h", '"e2e/support.h"', "room kv may not use tests"),
]

VIOLATIONS = [(f"{path} includes {header}", include(path, header), expected)
              for path, header, expected in TABLE] + [
    ("spaces around an include", add("src/kv/cache.h", '  #  include  "plan/schedule.h" // why\n'),
     "room kv may not use plan"),
    ("a computed include", include("src/kv/cache.h", "HEADER"), "cannot be judged"),
    ("a room nobody knows", {"src/misc/util.h": PURPOSE}, "'misc' is no room"),
    ("a third-party header in the API", include("include/ahead/api.h", "<sys/mman.h>"),
     "standard library only, not sys/mman.h"),
    ("OpenVINO in the API library", include("src/api/pipeline.cc", "<openvino/core/core.hpp>"),
     "room api may not see OpenVINO"),
    ("OpenVINO in the command line", include("apps/ahead/main.cc", '"openvino/core/core.hpp"'),
     "room apps may not see OpenVINO"),
    ("TBB in kv", include("src/kv/cache.cc", "<tbb/parallel_for.h>"), "kv may not see OpenVINO"),
    ("OpenVINO behind an allowed header",
     include("src/runtime/session.h", '"compile/openvino_backend.h"'),
     "reaches OpenVINO: src/runtime/session.h -> src/compile/openvino_backend.h -> tbb/task.h",
     "src/sim/device.h: reaches OpenVINO"),
    ("OpenVINO behind the border", include("src/graph/program_spec.h", '"model/decoder.h"'),
     "src/compile/backend.h: reaches OpenVINO", "src/runtime/session.h: reaches OpenVINO",
     "src/sim/device.h: reaches OpenVINO"),
    ("OpenVINO in a compile header", include("src/compile/backend.h", "<openvino/core/core.hpp>"),
     "src/compile/backend.h: reaches OpenVINO", "src/runtime/session.h: reaches OpenVINO",
     "src/sim/device.h: reaches OpenVINO"),
    ("a thread", add("src/kv/cache.cc", "std::thread t;\n"), "std::thread outside src/base"),
    ("a jthread", add("src/runtime/session.h", "std::jthread t;\n"), "std::jthread outside"),
    ("a thread in the API", add("include/ahead/api.h", "std::thread t;\n"), "std::thread outside"),
    ("a steady clock", add("src/plan/schedule.h", "std::chrono::steady_clock::now();\n"),
     "steady_clock::now outside"),
    ("a system clock", add("apps/ahead/main.cc", "system_clock::now();\n"),
     "system_clock::now outside"),
    ("a sleep", add("src/sim/device.h", "std::this_thread::sleep_for(t);\n"), "sleep_for outside"),
    ("a source nobody builds", {"src/kv/lost.cc": PURPOSE}, "does not list lost.cc"),
    ("a test nobody runs", {"src/kv/lost_test.cc": PURPOSE}, "does not list lost_test.cc"),
    ("a source named in a comment only", {
        "src/kv/lost.cc": PURPOSE,
        "src/kv/CMakeLists.txt": CLEAN["src/kv/CMakeLists.txt"] + "# lost.cc\n"},
     "does not list lost.cc"),
    ("a part of another name", {
        "src/kv/he.cc": PURPOSE}, "does not list he.cc"),
    ("a test across rooms nobody runs", {"tests/e2e/lost_test.cc": ""}, "list e2e/lost_test.cc"),
    ("a room without CMakeLists.txt", {"src/plan/schedule.cc": PURPOSE},
     "src/plan/schedule.cc: no CMakeLists.txt"),
    ("a header without purpose", {"src/plan/schedule.h": "#pragma once\n// Too late to say it.\n"},
     "src/plan/schedule.h: does not begin with a comment"),
    ("a source whose comment is empty", {"src/kv/cache_test.cc": "//\n#include <vector>\n"},
     "src/kv/cache_test.cc: does not begin with a comment"),
]


def run(findings):
    """0 when check_rooms.findings(root) tells all of these apart."""
    wrong = 0
    cases = [("a tree that keeps the rules", {})] + VIOLATIONS
    for name, changes, *expected in cases:
        with tempfile.TemporaryDirectory() as root:
            tree = CLEAN | {"tests/e2e/support.h": ""} | changes
            for path, text in tree.items():
                file = Path(root) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            _, found = findings(root)
        missing = [e for e in expected if not any(e in line for line in found)]
        extra = [line for line in found if not any(e in line for e in expected)]
        if missing or extra:
            wrong += 1
            print(f"{name}: missing {missing}, unexpected {extra}")
    print(f"{len(cases)} trees, {wrong} judged wrongly")
    return 1 if wrong else 0
