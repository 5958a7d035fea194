#!/usr/bin/env python3
"""Prints results of `ahead run --json` as a table.

usage: designs_table.py RESULT.json...             one row a result: a table of designs
       designs_table.py --boundaries [--at-least N] RESULT.json
                                                   one line a boundary; fails when they are fewer than N

Standard library only. Exits 1 with one line on stderr when a file is not a result, and after
printing when a result says that its run ended in an error.
"""

import argparse
import json
import pathlib
import sys

MIB = 1 << 20


def load(path: pathlib.Path) -> dict:
    try:
        result = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        sys.exit(f"designs_table.py: {path} cannot be read as a run's result: {error}")
    if not isinstance(result, dict) or "ahead" not in result:
        sys.exit(f"designs_table.py: {path} is not what `ahead run --json` writes")
    return result


def name_of(result: dict) -> str:
    axes = result["axes"]
    return result.get("design") or "/".join((axes["schedule"], axes["kv"], axes["partition"]))


def speed(result: dict, rung: int) -> str:
    """Decoded tokens a second on a rung, or a dash where the design did not decode on it."""
    on_rung = result["tokens"]["by_rung"].get(str(rung))
    if not on_rung or on_rung["seconds"] <= 0:
        return "-"
    return f"{on_rung['count'] / on_rung['seconds']:.1f}"


def columns(results: list[dict]) -> list[tuple[str, str, list[str]]]:
    """(heading, unit, one cell a result)."""
    rungs = sorted({int(rung) for result in results for rung in result["tokens"]["by_rung"]})

    def seconds(key):
        return [f"{result['time_s'][key]:.2f}" for result in results]

    def mib(key):
        return [f"{result['memory'][key] / MIB:.1f}" for result in results]

    table = [
        ("design", "", [name_of(result) for result in results]),
        ("TTFT", "s", seconds("ttft")),
        ("foreground compile", "s", seconds("foreground_compile")),
        ("hidden compile", "s", seconds("hidden_compile")),
        ("boundary wait", "s", seconds("boundary_wait")),
        ("migration", "ms", [f"{1000 * r['time_s']['migration']:.2f}" for r in results]),
    ]
    for rung in rungs:
        table.append((f"rung {rung}", "tok/s", [speed(result, rung) for result in results]))
    table.append(("reserved KV average", "MiB", mib("kv_reserved_avg_bytes")))
    table.append(("reserved KV peak", "MiB", mib("kv_reserved_peak_bytes")))
    return table


def print_table(results: list[dict]) -> None:
    lines = [""] * (2 + len(results) + 1)
    for index, (heading, unit, cells) in enumerate(columns(results)):
        # A long heading takes two lines, so that the table fits a terminal.
        first, _, second = heading.rpartition(" ")
        rows = [first, second, unit, *cells]
        width = max(map(len, rows))
        for line, cell in enumerate(rows):
            text = cell.ljust(width) if index == 0 else cell.rjust(width)
            lines[line] += ("" if index == 0 else "  ") + text
    rule = "-" * max(map(len, lines))
    lines.insert(3, rule)
    print("\n".join(line.rstrip() for line in lines))


def print_boundaries(result: dict, at_least: int) -> None:
    for boundary in result["boundaries"]:
        ready = "successor ready" if boundary["ready"] else f"waited {boundary['wait_s']:.2f} s"
        print(
            f"{boundary['from']} -> {boundary['to']} at token {boundary['at_token']}: {ready}, "
            f"migration {1000 * boundary['migration_s']:.2f} ms, "
            f"{boundary['copied_bytes'] / MIB:.1f} MiB copied"
        )
    if len(result["boundaries"]) < at_least:
        sys.exit(
            f"designs_table.py: {len(result['boundaries'])} boundaries crossed, "
            f"{at_least} expected; generation ended early"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boundaries", action="store_true", help="list a result's boundaries")
    parser.add_argument("--at-least", type=int, default=0, metavar="N")
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    results = [load(path) for path in args.results]
    try:
        if args.boundaries:
            for result in results:
                print_boundaries(result, args.at_least)
        else:
            print_table(results)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        sys.exit(f"designs_table.py: a result lacks or misspells a field: {error!r}")
    failures = [f"{name_of(r)}: {r['error']}" for r in results if r.get("error")]
    for failure in failures:
        print(f"designs_table.py: run ended in an error: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
