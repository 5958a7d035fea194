#!/usr/bin/env python3
"""Rooms keep to their borders: reads every #include of the project and says who breaks which rule.

Needs nothing but Python's standard library. Exit code 0 when every rule holds, 1 when one is
broken, 2 when there is nothing to check.

    check_rooms.py --root DIR     check the project in DIR
    check_rooms.py --self-test    check that every kind of violation is found (self_test.py)
"""

import argparse
import os
import posixpath
import re
import sys
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

# Room: rooms whose headers it may include. include/ahead is open to all; a room may use itself.
MAY_USE = {
    "include": set(),
    "base": set(),
    "model": {"base"},
    "graph": {"base", "model"},
    "compile": {"base", "graph"},
    "kv": {"base"},
    "plan": {"base"},
    "runtime": {"base", "compile", "kv", "plan"},
    "text": {"base"},
    "sim": {"runtime", "base", "compile", "kv", "plan"},
    "lab": {"base"},
    "api": {"base", "model", "graph", "compile", "kv", "plan", "runtime", "text"},
    "apps": {"base", "lab"},
}
# Not rooms: they cross them, and time and threads are their business.
FREE = {"tests", "bench"}

OPENVINO_ROOMS = {"model", "graph", "compile", "text"}
OPENVINO_HEADER = re.compile(r"(openvino|tbb|oneapi/tbb)/")
# Nothing in these reaches an OpenVINO header, through any chain of project headers.
OPENVINO_FREE_ROOMS = {"runtime", "kv", "plan", "base", "sim", "lab"}

CLOCKS_AND_THREADS = re.compile(
    r"\bstd::(?:j?thread|async)\b(?!::)|\b(?:steady|system|high_resolution)_clock::now\b"
    r"|\bsleep_(?:for|until)\b")
# The command line's signal threads, the work it walks away from on Ctrl-C and the redraw of its live
# bar are its own, and nothing of a run depends on them.
CLOCKS_AND_THREADS_EXEMPT = {"apps/ahead/interrupt.cc", "apps/ahead/interruptible.h",
                             "apps/ahead/progress.cc", "apps/ahead/progress.h",
                             "apps/ahead/turn_interrupt.cc"}

STANDARD_HEADERS = set("""
    algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono
    cinttypes climits clocale cmath codecvt compare complex concepts condition_variable coroutine
    csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque
    exception execution filesystem format forward_list fstream functional future initializer_list
    iomanip ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource
    mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator
    semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf
    string string_view strstream syncstream system_error thread tuple type_traits typeindex typeinfo
    unordered_map unordered_set utility valarray variant vector version""".split())

TOP_DIRECTORIES = ("include", "src", "apps", "bench", "tests")
INCLUDE_DIRECTORIES = ("include", "src", "tests")
SOURCES = {".cc", ".cpp", ".cxx", ".c"}
HEADERS = {".h", ".hpp", ".hh", ".inc"}

TOKEN = re.compile(
    r'//(?:\\\n|[^\n])*|/\*.*?\*/'                              # comments
    r'|\b(?:u8|[uUL])?R"([^()\\\s"]{0,16})\(.*?\)\1"'           # raw strings
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'',  # strings and characters
    re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|import|include_next)\b[ \t]*(.*?)[ \t]*$',
                     re.MULTILINE)
OPENING_COMMENT = re.compile(r'(?://[^\n]*\n?)+|/\*.*?\*/', re.DOTALL)


@dataclass
class File:
    path: str  # from the root, with slashes
    text: str
    code: str = ""  # without comments and without what strings say
    includes: list = field(default_factory=list)  # (line, name as written, how: '"', '<' or '')

    @property
    def room(self):
        parts = self.path.split("/")
        return parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0]

    @property
    def is_test(self):
        return self.room in FREE or Path(self.path).stem.endswith("_test")


def without_comments_and_strings(text):
    def blank(token):
        found = token.group(0)
        if found.startswith(("//", "/*")):
            return " " + "\n" * found.count("\n")
        line = text[text.rfind("\n", 0, token.start()) + 1:token.start()]
        if re.fullmatch(r"[ \t]*#[ \t]*\w+[ \t]*", line):
            return found  # what an #include names
        return '""' + "\n" * found.count("\n")
    return TOKEN.sub(blank, text)


def read_project(root):
    """Source files by path, and each CMakeLists.txt's words by its directory."""
    files, listed = {}, {}
    for top in TOP_DIRECTORIES:
        for directory, names, leaves in os.walk(root / top):
            names[:] = sorted(name for name in names if not name.startswith("."))
            for leaf in sorted(leaves):
                full = Path(directory) / leaf
                path = full.relative_to(root).as_posix()
                if leaf == "CMakeLists.txt":
                    words = re.sub(r"#[^\n]*", "", full.read_text(encoding="utf-8"))
                    listed[posixpath.dirname(path)] = set(re.split(r'[\s()";]+', words))
                elif full.suffix in SOURCES | HEADERS:
                    file = File(path, full.read_text(encoding="utf-8"))
                    file.code = without_comments_and_strings(file.text)
                    for match in INCLUDE.finditer(file.code):
                        line = file.code.count("\n", 0, match.start()) + 1
                        quoted = re.match(r'"([^"]+)"|<([^>]+)>', match.group(1))
                        name = (quoted.group(1) or quoted.group(2)) if quoted else match.group(1)
                        file.includes.append((line, name, match.group(1)[:1] if quoted else ""))
                    files[path] = file
    return files, listed


def resolve(files, file, name, how):
    """The project file that an include means, or None."""
    places = [posixpath.dirname(file.path)] if how == '"' else []
    for place in places + list(INCLUDE_DIRECTORIES):
        path = posixpath.normpath(posixpath.join(place, name))
        if path in files:
            return path
    return None


def check_table(files):
    for file in files.values():
        if file.room in FREE:
            continue
        if file.room not in MAY_USE:
            yield f"{file.path}: {file.room!r} is no room; add it to the table of check_rooms.py"
            continue
        for line, name, how in file.includes:
            where = f"{file.path}:{line}"
            if not how:
                yield f"{where}: #include {name} cannot be judged; name the header"
                continue
            target = resolve(files, file, name, how)
            # A header that is not there yet, or is generated, counts as its room's.
            used = files[target].room if target else name.split("/")[0]
            if not target and used == "ahead":
                used = "include"
            if used == file.room or (used == "include" and target is not None):
                continue
            if used in (set(MAY_USE) | FREE if target else MAY_USE):
                if used not in MAY_USE[file.room] | {"include"}:
                    allowed = ", ".join(sorted(MAY_USE[file.room] | {"include/ahead"}))
                    yield f"{where}: room {file.room} may not use {used} ({name}), only {allowed}"
            elif file.room == "include" and name not in STANDARD_HEADERS:
                yield f"{where}: the public API may use the standard library only, not {name}"


def check_openvino(files):
    for file in files.values():
        if file.room in OPENVINO_ROOMS | FREE:
            continue
        for line, name, _ in file.includes:
            if OPENVINO_HEADER.match(name):
                yield f"{file.path}:{line}: room {file.room} may not see OpenVINO ({name})"


def check_openvino_reached(files):
    """The same through other project headers, for what must build without OpenVINO."""
    for root in files.values():
        border = (root.room == "compile" and Path(root.path).suffix in HEADERS
                  and not posixpath.basename(root.path).startswith("openvino_"))
        if root.room not in OPENVINO_FREE_ROOMS and not border:
            continue
        came_from = {root.path: None}
        queue = deque([root.path])
        while queue:
            path = queue.popleft()
            for _, name, how in files[path].includes:
                if OPENVINO_HEADER.match(name) and (path != root.path or border):
                    chain = [name]
                    while path is not None:
                        chain.append(path)
                        path = came_from[path]
                    yield f"{root.path}: reaches OpenVINO: " + " -> ".join(reversed(chain))
                    queue.clear()
                    break
                target = resolve(files, files[path], name, how)
                if target and target not in came_from:
                    came_from[target] = path
                    queue.append(target)


def check_clocks_and_threads(files):
    for file in files.values():
        if file.room == "base" or file.is_test or file.path in CLOCKS_AND_THREADS_EXEMPT:
            continue
        for match in CLOCKS_AND_THREADS.finditer(file.code):
            line = file.code.count("\n", 0, match.start()) + 1
            yield (f"{file.path}:{line}: {match.group(0)} outside src/base; "
                   "take a Clock or an Executor")


def check_listed(files, listed):
    for file in files.values():
        if Path(file.path).suffix not in SOURCES:
            continue
        parts = file.path.split("/")
        shallowest = 2 if parts[0] == "src" else 1
        for depth in range(len(parts) - 1, shallowest - 1, -1):
            directory = "/".join(parts[:depth])
            if directory in listed:
                name = "/".join(parts[depth:])
                if not any(w == name or w.endswith("}/" + name) for w in listed[directory]):
                    yield f"{file.path}: {directory}/CMakeLists.txt does not list {name}"
                break
        else:
            yield f"{file.path}: no CMakeLists.txt of its room lists it"


def check_purpose(files):
    for file in files.values():
        if not file.path.startswith("src/"):
            continue
        comment = OPENING_COMMENT.match(file.text)
        if not comment or len(re.findall(r"[A-Za-z]{2,}", comment.group(0))) < 3:
            yield f"{file.path}: does not begin with a comment that says what it is for"


def findings(root):
    files, listed = read_project(Path(root))
    found = [*check_table(files), *check_openvino(files), *check_openvino_reached(files),
             *check_clocks_and_threads(files), *check_listed(files, listed), *check_purpose(files)]
    return len(files), sorted(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", help="the project's directory")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        import self_test  # beside this file
        return self_test.run(findings)
    if not arguments.root:
        parser.error("--root or --self-test")
    count, found = findings(arguments.root)
    for line in found:
        print(line)
    if count == 0:
        print(f"{arguments.root} has no sources to check", file=sys.stderr)
        return 2
    print(f"{count} files, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
