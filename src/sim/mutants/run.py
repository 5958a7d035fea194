#!/usr/bin/env python3
"""Builds each mutant of mutants.py and runs it until a seed breaks a rule; scripts/mutants.sh calls it.

    run.py --build DIR [NAME...]     DIR: a build of Ahead by Ninja, with ahead_sim_driver built

A mutant is the simulator's driver, linked with patched copies of a few sources in front of the
libraries, so that theirs are not pulled in. Compiler and options are those of the build, but for
the optimising. Exit code 0 when every mutant was caught by its rule.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

from mutants import MUTANTS

ROOT = pathlib.Path(__file__).resolve().parents[3]
SEEDS = 2000
SECONDS = 300  # that one mutant's seeds may take


class Failed(Exception):
    """The mutant could not be made, or was not caught."""


def patched(mutant):
    """Texts of the mutant's sources by their names."""
    texts = {}
    for source, text, replacement in mutant.edits:
        before = texts.get(source) or (ROOT / "src" / source).read_text(encoding="utf-8")
        if before.count(text) != 1:
            raise Failed(f"src/{source} has to have this once, and has it {before.count(text)} "
                         f"times; say the mistake anew in src/sim/mutants/mutants.py:\n{text}")
        texts[source] = before.replace(text, replacement)
    return texts


def run(command, build, **options):
    return subprocess.run(command, cwd=build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **options)


def compile_command(database, source, copy, result):
    """As the build compiles `source`, for `copy`."""
    words = shlex.split(database[str(ROOT / "src" / source)])
    words[words.index("-o") + 1] = result
    words[words.index("-c") + 1] = copy
    # What a mistake makes of the code is not to be warned of, nor to run for long.
    return [word for word in words if word not in ("-O3", "-Winvalid-pch")] + ["-O1", "-w"]


def link_command(build):
    """As the build links the driver."""
    done = run(["ninja", "-t", "commands", "ahead_sim_driver"], build)
    linked = [line for line in done.stdout.splitlines() if " -o ahead_sim_driver " in line]
    if done.returncode != 0 or len(linked) != 1:
        raise SystemExit(f"{build} has no driver to link; configure it with `cmake --preset`, "
                         "which takes Ninja")
    return linked[0]


def made(mutant, build, database, link):
    """The program of a mutant."""
    folder = build / "mutants" / mutant.name
    folder.mkdir(parents=True, exist_ok=True)
    objects = []
    for source, text in patched(mutant).items():
        copy = folder / source.replace("/", "_")
        copy.write_text(text, encoding="utf-8")
        done = run(compile_command(database, source, str(copy), f"{copy}.o"), build)
        if done.returncode != 0:
            raise Failed(f"it does not compile:\n{done.stdout}")
        objects.append(f"{copy}.o")
    program = folder / "driver"
    front = " ".join(shlex.quote(path) for path in objects)
    done = run(link.replace(" -o ahead_sim_driver ", f" -o {shlex.quote(str(program))} {front} "),
               build, shell=True)
    if done.returncode != 0:
        raise Failed(f"it does not link:\n{done.stdout}")
    return program


def caught(mutant, program, build):
    """The seed that showed it."""
    seeds = f"{mutant.first_seed}..{mutant.first_seed + SEEDS - 1}"
    try:
        done = run([str(program), "--seeds", seeds], build, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Failed(f"seeds {seeds} take more than {SECONDS} s") from None
    found = re.search(r"^seed (\d+): broken: ([\w-]+)( at )?", done.stdout, re.MULTILINE)
    if not found:
        raise Failed(f"seeds {seeds} break no rule:\n{done.stdout[-2000:]}")
    if found[2] != mutant.rule:
        raise Failed(f"it breaks '{found[2]}', and should break '{mutant.rule}':\n{done.stdout}")
    return found[1]


def judge(mutant, build, database, link):
    """Whether it was caught, and a line that says so."""
    begin = time.monotonic()
    try:
        seed = caught(mutant, made(mutant, build, database, link), build)
    except Failed as failure:
        return False, f"mutant {mutant.name}: NOT CAUGHT: {failure}"
    return True, (f"mutant {mutant.name}: caught by '{mutant.rule}' at seed {seed} "
                  f"({time.monotonic() - begin:.1f} s)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {mutant.name for mutant in MUTANTS}
    if unknown:
        parser.error(f"no mutant is called {', '.join(sorted(unknown))}")
    chosen = [mutant for mutant in MUTANTS if not arguments.names or mutant.name in arguments.names]
    build = arguments.build.resolve()
    database = {entry["file"]: entry["command"]
                for entry in json.loads((build / "compile_commands.json").read_text())}
    link = link_command(build)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(lambda mutant: judge(mutant, build, database, link), chosen))
    for _, line in verdicts:
        print(line)
    escaped = sum(not was for was, _ in verdicts)
    print(f"mutants: {len(verdicts) - escaped} passed, {escaped} failed")
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main())
