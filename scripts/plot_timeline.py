#!/usr/bin/env python3
"""Draws the timeline that `ahead run --trace` writes.

usage: plot_timeline.py TRACE.json OUT.svg      (or OUT.png)

What the device and the compiler did, over the memory that the KV cache held. Needs matplotlib:
`pip install --no-deps --require-hashes -r scripts/requirements-docs.txt`. The same trace gives the
same SVG, byte for byte. Exits 1 with one line on stderr when the file is not a trace of a run.
"""

import argparse
import json
import pathlib
import re
import sys
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")
import matplotlib.patches as patches
import matplotlib.pyplot as plt

MIB = 1 << 20
INK, FAINT = "#24292f", "#8c959f"
WAIT, PREFILL, HIDDEN, WAITED_FOR = "#cf222e", "#1a7f64", "#8250df", "#f0a58f"
DECODE = ["#a8d1f5", "#6cb0ee", "#2f81d6", "#0a4f9e"]  # by rung, the last for all larger ones
COMMITTED, RESERVED = "#6e7781", "#d5dbe1"
DEVICE_Y, COMPILER_Y, BAR = 1.0, 0.0, 0.64


@dataclass
class Span:
    begin: float  # seconds, as all times here
    end: float
    kind: str  # wait, prefill or decode
    rung: int = 0


@dataclass
class Timeline:
    device: list[Span]
    compiles: list[Span]
    boundaries: list[tuple[float, int, int]]  # time, from, to
    memory: list[tuple[float, float, float]]  # time, reserved MiB, committed MiB
    caption: str

    @property
    def end(self) -> float:
        return max(span.end for span in self.device)

    @property
    def first_token(self) -> float | None:
        return max((span.end for span in self.device if span.kind == "prefill"), default=None)


def device_span(name: str, begin: float, end: float) -> Span:
    waiting = name.startswith("wait for ")
    kind, _, shape = name.removeprefix("wait for ").partition("@")
    return Span(begin, end, "wait" if waiting else kind, int(shape.split()[0]))


def read(path: pathlib.Path) -> Timeline:
    trace = json.loads(path.read_text())
    about = trace["otherData"]
    words = [f"design {about['design']}" if about["design"] else "", f"on {about['device']}",
             pathlib.PurePath(about["model"]).name]
    timeline = Timeline([], [], [], [], ", ".join(filter(None, words)))
    for event in trace["traceEvents"]:
        begin = event.get("ts", 0) / 1e6
        end = begin + event.get("dur", 0) / 1e6
        if event["ph"] == "C":
            timeline.memory.append((begin, event["args"]["reserved"] / MIB,
                                    event["args"].get("committed", float("nan")) / MIB))
        elif event["ph"] != "X" or (event["cat"] == "compiler" and end == begin):
            continue  # names, and decisions without length
        elif event["cat"] == "device":
            timeline.device.append(device_span(event["name"], begin, end))
        elif event["cat"] == "compiler":
            timeline.compiles.append(device_span(event["name"].removesuffix(" (failed)"),
                                                 begin, end))
        elif found := re.fullmatch(r"(\d+) to (\d+)", event["name"]):
            timeline.boundaries.append((begin, int(found[1]), int(found[2])))
    timeline.device = joined(sorted(timeline.device, key=lambda span: span.begin))
    timeline.memory.sort(key=lambda sample: sample[0])
    if not timeline.device:
        raise ValueError("it has no event on the row 'device'")
    return timeline


def joined(spans: list[Span]) -> list[Span]:
    """Steps on one rung stand in the trace in groups; here they are one bar."""
    result: list[Span] = []
    for span in spans:
        last = result[-1] if result else None
        if last and (last.kind, last.rung) == (span.kind, span.rung) and span.begin - last.end < 0.1:
            last.end = span.end
        else:
            result.append(span)
    return result


class Bars:
    """Bars of the upper panel, with a label where one fits."""

    def __init__(self, axes, rungs: list[int]):
        self.axes = axes
        self.rungs = rungs

    def add(self, begin: float, end: float, y: float, colour: str, hatch: str = "") -> None:
        self.axes.add_patch(patches.Rectangle(
            (begin, y - BAR / 2), end - begin, BAR, linewidth=0.8, hatch=hatch,
            facecolor="white" if hatch else colour, edgecolor=colour if hatch else "white"))

    def label(self, begin: float, end: float, y: float, colour: str, texts: list[str]) -> None:
        renderer = self.axes.figure.canvas.get_renderer()
        to_pixels = self.axes.transData.transform
        room = to_pixels((end, y))[0] - to_pixels((begin, y))[0]
        for text in texts:
            label = self.axes.text((begin + end) / 2, y, text, ha="center", va="center",
                                   color=colour, fontsize=8.5, linespacing=1.25)
            if label.get_window_extent(renderer).width + 6 <= room:
                return
            label.remove()

    def device(self, span: Span) -> None:
        here = (span.begin, span.end, DEVICE_Y)
        if span.kind == "wait":
            self.add(*here, WAIT, "////")
        elif span.kind == "prefill":
            self.add(*here, PREFILL)
            self.label(*here, "white", ["prefill"])
        else:
            shade = min(self.rungs.index(span.rung), len(DECODE) - 1)
            self.add(*here, DECODE[shade])
            self.label(*here, INK if shade < 2 else "white",
                       [f"decode, rung {span.rung}", f"decode\n{span.rung}", f"{span.rung}"])

    def compile(self, span: Span, waits: list[Span]) -> None:
        self.add(span.begin, span.end, COMPILER_Y, HIDDEN)
        for wait in waits:
            begin, end = max(span.begin, wait.begin), min(span.end, wait.end)
            if end > begin:
                self.add(begin, end, COMPILER_Y, WAITED_FOR)
        self.axes.add_patch(patches.Rectangle((span.begin, COMPILER_Y - BAR / 2),
                                              span.end - span.begin, BAR, fill=False,
                                              linewidth=1.2, edgecolor="white"))
        mostly_waited = sum(max(0.0, min(span.end, wait.end) - max(span.begin, wait.begin))
                            for wait in waits) > (span.end - span.begin) / 2
        self.label(span.begin, span.end, COMPILER_Y, INK if mostly_waited else "white",
                   [f"{span.kind}\n{span.rung}", f"{span.rung}"])


def draw_rows(axes, timeline: Timeline, rungs: list[int]) -> None:
    bars = Bars(axes, rungs)
    waits = [span for span in timeline.device if span.kind == "wait"]
    for span in timeline.device:
        bars.device(span)
    for span in timeline.compiles:
        bars.compile(span, waits)
    axes.set_ylim(-0.5, 1.5)
    axes.set_yticks([DEVICE_Y, COMPILER_Y], ["device", "compiler"], fontsize=10)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", length=0, labelbottom=False)
    axes.spines[:].set_visible(False)


def draw_memory(axes, timeline: Timeline) -> None:
    times = [time for time, _, _ in timeline.memory] + [timeline.end]
    for column, colour in ((1, RESERVED), (2, COMMITTED)):
        values = [sample[column] for sample in timeline.memory]
        axes.fill_between(times, values + values[-1:], step="post", color=colour, linewidth=0)
    peak = max(timeline.memory, key=lambda sample: sample[1])
    axes.set_ylim(0, 1.12 * peak[1])
    held = max(after[0] - sample[0] for sample, after in zip(timeline.memory, timeline.memory[1:])
               if sample[1] == peak[1])
    if held < 0.005 * timeline.end:  # too short to be seen as an area
        axes.plot(*peak[:2], marker="_", markersize=9, color=INK, zorder=4)
        axes.annotate(f"{peak[1]:.0f} MiB while both buffers exist", peak[:2], (8, 0), va="center",
                      textcoords="offset points", fontsize=8, color=INK)
    axes.locator_params(axis="y", nbins=4)
    axes.set_ylabel("KV cache, MiB", fontsize=9, color=INK)
    axes.set_xlabel("seconds since the request", fontsize=9, color=INK)
    axes.tick_params(labelsize=8.5, color=FAINT)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)


def draw_marks(rows, memory, timeline: Timeline) -> None:
    def mark(time: float, colour: str, style) -> None:
        rows.add_artist(patches.ConnectionPatch(
            (time, 0), (time, 1.5), memory.get_xaxis_transform(), rows.transData, color=colour,
            linewidth=1, linestyle=style, zorder=3))

    times = [time for time, _, _ in timeline.boundaries] + [float("inf")]
    for (time, from_rung, to_rung), following in zip(timeline.boundaries, times[1:]):
        mark(time, INK, (0, (3, 2)))
        close = following - time < 0.12 * timeline.end
        rows.annotate(f"{from_rung} → {to_rung}", (time, 1.5), (6 if close else 0, 3),
                      ha="right" if close else "center", textcoords="offset points",
                      fontsize=8.5, color=INK)
    if timeline.first_token is not None:
        mark(timeline.first_token, PREFILL, "-")
        rows.annotate(f"first token, {timeline.first_token:.1f} s", (timeline.first_token, 1.5),
                      (0, 16), ha="left", textcoords="offset points", fontsize=8.5, color=PREFILL,
                      weight="bold")


def legend_entries(rungs: list[int]) -> list[tuple[patches.Patch, str]]:
    shade = DECODE[min(len(rungs), len(DECODE)) // 2]
    return [
        (patches.Patch(facecolor="white", edgecolor=WAIT, hatch="////"), "request waits"),
        (patches.Patch(color=PREFILL), "prefill"),
        (patches.Patch(color=shade), "decode (darker: larger rung)"),
        (patches.Patch(color=WAITED_FOR), "compile, waited for"),
        (patches.Patch(color=HIDDEN), "compile, hidden"),
        (patches.Patch(color=RESERVED), "KV reserved"),
        (patches.Patch(color=COMMITTED), "KV committed"),
    ]


def draw(timeline: Timeline) -> plt.Figure:
    plt.rcParams.update({"svg.hashsalt": "ahead", "svg.fonttype": "path", "hatch.linewidth": 0.9,
                         "font.family": "DejaVu Sans", "text.color": INK, "axes.labelcolor": INK,
                         "xtick.labelcolor": INK, "ytick.labelcolor": INK})
    figure, (rows, memory) = plt.subplots(
        2, 1, sharex=True, figsize=(10, 4.6), facecolor="white", dpi=100,
        gridspec_kw={"height_ratios": [1.25, 1], "hspace": 0.08, "left": 0.075, "right": 0.985,
                     "top": 0.86, "bottom": 0.2})
    rungs = sorted({span.rung for span in timeline.device if span.kind == "decode"})
    rows.set_xlim(0, timeline.end)
    rows.set_zorder(1)  # so that marks run through both panels
    rows.patch.set_visible(False)
    draw_rows(rows, timeline, rungs)
    if timeline.memory:
        draw_memory(memory, timeline)
    draw_marks(rows, memory, timeline)
    handles, names = zip(*legend_entries(rungs))
    figure.legend(handles, names, loc="lower center", ncols=len(names), frameon=False,
                  fontsize=8, handlelength=1.3, columnspacing=1.4, handletextpad=0.5)
    figure.text(0.985, 0.955, timeline.caption, ha="right", fontsize=8.5, color=FAINT)
    return figure


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    args = parser.parse_args()
    try:
        timeline = read(args.trace)
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"plot_timeline.py: {args.trace} is not what `ahead run --trace` writes: {error!r}")
    figure = draw(timeline)
    metadata = {"Date": None, "Title": "Timeline of a run"} if args.out.suffix == ".svg" else None
    try:
        figure.savefig(args.out, metadata=metadata, facecolor="white",
                       dpi="figure" if args.out.suffix == ".svg" else 150)
    except (OSError, ValueError) as error:
        sys.exit(f"plot_timeline.py: {args.out} cannot be written: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
