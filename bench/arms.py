#!/usr/bin/env python3
"""Runs `ahead run` with several sets of options in turn and compares what each run measured.

usage: arms.py [--rounds N] [--json FILE] MEASURES AHEAD MODEL ARM... [-- OPTION...]

An ARM is NAME=OPTIONS, as in 'two=--device-cores 0,1'; the OPTIONS behind -- are every arm's. Each
round runs every arm once, in a fresh process and in an order that turns by one each round. MEASURES is
a list of read_s (prompt through the device), first_token_s, decode_ms (a token), rss_mib, with commas
between. Prints the median of each, its spread, its ratio to the least median of all arms, and the
median of the rounds' own ratios to the first arm. Standard library only.
"""

import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

MEASURES = {
    "read_s": lambda run: run["time_s"]["prefill"],
    "first_token_s": lambda run: run["time_s"]["ttft"],
    "decode_ms": lambda run: 1e3 * run["time_s"]["decode"] / max(1, run["tokens"]["generated"] - 1),
    "rss_mib": lambda run: run["memory"]["rss_peak_bytes"] / (1 << 20),
}


def run_once(ahead: str, model: str, options: list[str]) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "run.json")
        command = [ahead, "run", model, *options, "--history", "none", "-q", "--json", str(out)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"arms.py: {shlex.join(command)} ended with {done.returncode}: {done.stderr}")
        return json.loads(out.read_text())


def split_arguments(arguments: list[str]) -> tuple[list[str], list[str]]:
    if "--" in arguments:
        at = arguments.index("--")
        return arguments[:at], arguments[at + 1:]
    return arguments, []


def compare(samples: dict[str, list[float]]) -> list[dict]:
    """A row an arm; samples of one round stand at one index."""
    rounds = range(len(next(iter(samples.values()))))
    first = next(iter(samples.values()))
    rows = []
    for name, values in samples.items():
        rows.append({
            "arm": name, "median": statistics.median(values), "least": min(values),
            "most": max(values),
            "to_best": statistics.median(values) / min(map(statistics.median, samples.values())),
            "to_first": statistics.median([values[i] / first[i] for i in rounds])})
    return rows


def main() -> int:
    own, common = split_arguments(sys.argv[1:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("measures")
    parser.add_argument("ahead")
    parser.add_argument("model")
    parser.add_argument("arms", nargs="+")
    args = parser.parse_args(own)
    measures = args.measures.split(",")
    arms = dict(arm.split("=", 1) for arm in args.arms)

    samples = {measure: {name: [] for name in arms} for measure in measures}
    names = list(arms)
    for turn in range(args.rounds):
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            run = run_once(args.ahead, args.model, shlex.split(arms[name]) + common)
            for measure in measures:
                samples[measure][name].append(MEASURES[measure](run))

    print(f"{pathlib.PurePath(args.model).name}, {args.rounds} rounds, {shlex.join(common)}")
    result = {}
    for measure in measures:
        result[measure] = compare(samples[measure])
        for row in result[measure]:
            print(f"  {measure:14} {row['arm']:10} {row['median']:9.3f} "
                  f"({row['least']:.3f} to {row['most']:.3f})  {row['to_best']:.3f} of the best, "
                  f"{row['to_first']:.3f} of {names[0]}")
    if args.json:
        args.json.write_text(json.dumps({"model": pathlib.PurePath(args.model).name,
                                         "options": common, "arms": arms,
                                         "measures": result}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
