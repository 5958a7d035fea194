#!/usr/bin/env python3
"""`ahead lab`: campaigns that run, fail, are killed and go on; reports in a real browser. See
cli_support for the environment."""
import collections
import html.parser
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from cli_support import AHEAD, FAILED, INTERRUPTED, OK, USAGE, CliTest, ahead

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPS = os.environ["AHEAD_DEPS_DIR"]

# Arms that are commands, and quick: what a campaign does needs no model.
COMMANDS = """name = "commands"
title = "Commands"
[protocol]
blocks = {blocks}
cores = [0]
[[set]]
name = "one"
values = {{ word = "1" }}
[[set]]
name = "two"
values = {{ word = "2" }}
[[arm]]
name = "a"
command = ["sh", "-c", "sleep 0.0{{word}}; echo .; echo '{{{{\\"value\\": {{word}}}}'"]
[[arm]]
name = "b"
command = ["sh", "-c", "echo '{{{{\\"value\\": 3, \\"by\\": {{{{\\"64\\": 1, \\"128\\": 2}}}}'"]
[[arm]]
name = "c"
command = ["sh", "-c", "echo hello"]
check = ["true"]
mark = "simulated"
[[endpoint]]
name = "value"
unit = "s"
value = "/value"
[[endpoint]]
name = "by"
unit = "ms"
value = "/by/*"
[[comparison]]
from = "a"
to = "b"
"""


def lab(*words, **options):
    return subprocess.run([AHEAD, "lab", *map(str, words)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=400,
                          env={**os.environ, "DEPS_DIR": DEPS}, **options)


def runs_of(folder):
    lines = [json.loads(line) for line in (pathlib.Path(folder) / "runs.jsonl").read_text().splitlines()]
    return [line for line in lines if line["kind"] == "run"]


class Page(html.parser.HTMLParser):
    """What a browser made of a report."""

    def __init__(self, text):
        super().__init__()
        self.drawn, self.body, self.cells = [], {}, 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "data-drawn" in found:
            self.drawn.append(found["data-drawn"])
        if tag == "body":
            self.body = found
        self.cells += tag == "td"


class LabTest(CliTest):
    def campaign(self, text=None, name="c.toml", blocks=2):
        path = pathlib.Path(self.path(name))
        path.write_text(text if text is not None else COMMANDS.format(blocks=blocks))
        return path


class Running(LabTest):
    def test_every_arm_runs_and_one_that_fails_is_recorded_as_failed(self):
        folder = self.path("out")
        done = lab("run", self.campaign(), "-o", folder)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertIn("4 runs failed; they are recorded as failed", done.stderr)
        self.assertIn("[lab] 12 of 12 runs", done.stderr)
        runs = runs_of(folder)
        self.assertEqual(len(runs), 12)
        for run in runs:
            if run["arm"] == "c":
                self.assertEqual(run["error"], "it ended well and printed no line of JSON")
            else:
                self.assertEqual(run["error"], "")
                self.assertGreater(run["result"]["process"]["seconds"], 0)
        one = next(run for run in runs if run["arm"] == "a" and run["set"] == "two")
        self.assertEqual(one["result"]["value"], 2)
        self.assertGreater(one["result"]["process"]["first_output_s"], 0.015)
        table = lab("report", folder)
        self.assertEqual(table.returncode, OK, table.stderr)
        self.assertIn("| value, s | 1.00 (1.00 to 1.00) | 3.00 (3.00 to 3.00) | failed |", table.stdout)
        self.assertIn("a → b: value, s", table.stdout)
        self.assertIn("by [128], ms", table.stdout)
        self.assertIn("- `c`: simulated", table.stdout)

    def test_killed_at_any_moment_and_resumed_no_run_is_missing_and_none_there_twice(self):
        chance = random.Random(5)
        campaign = self.campaign(blocks=12)
        folder = pathlib.Path(self.path("out"))
        kills = 0
        while True:
            child = subprocess.Popen([AHEAD, "lab", "run", campaign, "-o", folder, "--resume"],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                _, said = child.communicate(timeout=chance.uniform(0.05, 0.3) if kills < 10 else 60)
                break
            except subprocess.TimeoutExpired:
                child.kill()
                child.communicate()
                kills += 1
                if chance.random() < 0.5 and (folder / "runs.jsonl").exists():
                    # As if the kill had come in the middle of a line.
                    text = (folder / "runs.jsonl").read_bytes()
                    (folder / "runs.jsonl").write_bytes(text[:-1 - chance.randrange(40)])
        self.assertEqual(child.returncode, FAILED, said)  # arm c fails
        self.assertGreaterEqual(kills, 3)
        counted = collections.Counter((run["set"], run["block"], run["arm"]) for run in runs_of(folder))
        wanted = {(s, b, a) for s in ("one", "two") for b in range(12) for a in "abc"}
        self.assertEqual(set(counted), wanted)
        self.assertEqual(set(counted.values()), {1})

    def test_ctrl_c_ends_the_run_and_its_process_and_resume_goes_on(self):
        text = COMMANDS.format(blocks=1).replace("sleep 0.0{word}", "sleep 30.7{word}; sleep 0")
        folder = self.path("out")
        child = subprocess.Popen([AHEAD, "lab", "run", self.campaign(text), "-o", folder],
                                 stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 30
        while not subprocess.run(["pgrep", "-f", "sleep 30.7"], stdout=subprocess.DEVNULL,
                                 check=False).returncode == 0:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=30)
        self.assertEqual(child.returncode, INTERRUPTED, said)
        self.assertIn("--resume goes on", said)
        self.assertNotEqual(subprocess.run(["pgrep", "-f", "sleep 30.7"], stdout=subprocess.DEVNULL,
                                           check=False).returncode, 0, "its process was left behind")

    def test_a_run_that_takes_too_long_is_ended_and_failed(self):
        text = COMMANDS.format(blocks=1).replace("cores = [0]", "cores = [0]\ntimeout_s = 0.3")
        folder = self.path("out")
        done = lab("run", self.campaign(text.replace("sleep 0.0", "sleep 3")), "-o", folder)
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("it was ended after 0 s, its timeout", done.stderr)

    def test_a_device_that_is_not_here_is_a_failed_arm(self):
        text = f"""name = "npu"
title = "No such device"
[protocol]
blocks = 1
tokens = 2
[[set]]
name = "s"
model = "{DEPS}/model/SmolLM2-135M-Instruct.Q4_1.gguf"
[[arm]]
name = "npu"
options = ["--device", "NPU", "--raw", "Hello"]
[[endpoint]]
name = "t"
unit = "s"
value = "/time_s/ttft"
"""
        folder = self.path("out")
        done = lab("run", self.campaign(text), "-o", folder)
        self.assertEqual(done.returncode, FAILED)
        self.assertRegex(runs_of(folder)[0]["error"], r"it ended with exit code \d: ahead: error: .*NPU")


class BadInput(LabTest):
    def assert_refused(self, done, *words):
        self.assertEqual(done.returncode, USAGE, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_campaigns_that_are_wrong_are_told_by_line_and_key(self):
        good = COMMANDS.format(blocks=2)
        folder = self.path("out")
        for text, *words in (
                (good.replace("blocks", "blokcs"), "line 4", "protocol.blokcs is no key here"),
                (good.replace('mark = "simulated"', 'mark = "dreamt"'), "'dreamt'", "'compile-only'"),
                (good + "]", "is no TOML"),
                (good.replace("{word}; echo .", "{weird}; echo ."), "arm 'a' cannot run here", "{weird}"),
                (good.replace('check = ["true"]', 'check = ["sh", "-c", "echo no peer >&2; exit 3"]'),
                 "arm 'c' cannot run here", "no peer", "--without"),
                (good.replace('check = ["true"]', 'check = ["no-such-program"]'),
                 "'no-such-program' cannot be run"),
                (good.replace('name = "one"', 'name = "one"\nmodel = "gone.gguf"'), "'gone.gguf'")):
            self.assert_refused(lab("run", self.campaign(text), "-o", folder), *words)
            self.assertFalse(pathlib.Path(folder).exists())
        self.assert_refused(lab("run", "gone.toml", "-o", folder), "'gone.toml'")
        self.assert_refused(lab("run", self.campaign(), "-o", folder, "--without", "x"), "'x' is the name of no arm")

    def test_results_are_not_written_over(self):
        folder = pathlib.Path(self.path("out"))
        self.assertEqual(lab("run", self.campaign(blocks=1), "-o", folder, "--without", "c").returncode, OK)
        before = (folder / "runs.jsonl").read_bytes()
        self.assert_refused(lab("run", self.campaign(blocks=1), "-o", folder), "--resume goes on, --force begins anew")
        self.assert_refused(lab("run", self.campaign(blocks=1), "-o", folder, "--resume"), "another campaign")
        (folder / "runs.jsonl").write_bytes(before.replace(b"AMD", b"Other").replace(b"Intel", b"Other"))
        self.assert_refused(lab("run", self.campaign(blocks=1), "-o", folder, "--resume", "--without", "c"),
                            "runs of another machine")
        (folder / "runs.jsonl").write_bytes(b"no\n" + before)
        self.assert_refused(lab("run", self.campaign(blocks=1), "-o", folder, "--resume", "--without", "c"),
                            "line 1", "nothing was changed")
        self.assert_refused(lab("report", folder), "line 1")
        self.assertEqual((folder / "runs.jsonl").read_bytes(), b"no\n" + before)
        self.assert_refused(lab("run", self.campaign(blocks=1), "-o", self.file("a-file", b"")), "cannot be made a folder")
        self.assert_refused(lab("report", self.path("gone")), "campaign.toml")
        done = lab("run", self.campaign(blocks=1), "-o", folder, "--force", "--without", "c")
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(len(runs_of(folder)), 4)

    def test_two_do_not_write_to_one_folder(self):
        text = COMMANDS.format(blocks=1).replace("sleep 0.0", "sleep 5.")
        folder = self.path("out")
        child = subprocess.Popen([AHEAD, "lab", "run", self.campaign(text), "-o", folder], stderr=subprocess.PIPE)
        while not child.stderr.readline().startswith(b"[lab] 0 of"):
            pass
        self.assert_refused(lab("run", self.campaign(text), "-o", folder, "--resume"), "another process runs a campaign")
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=30)


class Quick(LabTest):
    """campaigns/quick.toml as a newcomer runs it, and its report in Chromium."""

    # At the end: what the page came to, for --dump-dom.
    PROBE = """<script>setInterval(() => { if (document.body.dataset.done) {
      document.body.dataset.wide = document.documentElement.scrollWidth > innerWidth;
      document.body.dataset.ground = getComputedStyle(document.body).backgroundColor; } }, 20);</script></html>"""

    def open(self, page, *options):
        chromium = shutil.which("chromium")
        self.assertIsNotNone(chromium, "chromium is missing; run scripts/setup.sh --tests")
        done = subprocess.run(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=20000",
             f"--user-data-dir={self.path('browser')}", "--enable-logging=stderr", "--dump-dom", *options,
             f"file://{page}"], capture_output=True, text=True, timeout=120)
        said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        self.assertEqual(said, [], "the browser's console")
        return Page(done.stdout)

    def test_quick_runs_and_its_report_is_drawn_dark_and_narrow(self):
        folder, page = self.path("out"), self.path("report.html")
        begin = time.monotonic()
        done = lab("run", ROOT / "campaigns/quick.toml", "-o", folder)
        self.assertEqual(done.returncode, OK, done.stderr)
        table, csv = self.path("report.md"), self.path("runs.csv")
        done = lab("report", folder, "-o", page, "--markdown", table, "--csv", csv)
        self.assertEqual(done.returncode, OK, done.stderr)
        print(f"quick took {time.monotonic() - begin:.0f} s")
        text = pathlib.Path(page).read_text()
        self.assertEqual(re.findall(r'(?:src|href)="https?:', text), [], "it asks the network")
        self.assertIn("i3, verified", pathlib.Path(table).read_text())
        self.assertGreater(len(pathlib.Path(csv).read_text().splitlines()), 60)
        verified = next(run for run in runs_of(folder) if run["arm"] == "i3, verified")
        self.assertTrue(verified["result"]["verify"]["passed"])
        self.assertEqual(len(verified["result"]["boundaries"]), 2)

        probed = self.file("probed.html", (text[:text.rindex("</html>")] + self.PROBE).encode())
        for options, wide, dark in ((["--window-size=1280,900"], False, False),
                                    (["--window-size=520,900"], False, False),
                                    (["--window-size=1280,900", "--blink-settings=preferredColorScheme=0"], False, True)):
            seen = self.open(probed, *options)
            self.assertEqual(seen.body.get("data-done"), "yes")
            self.assertEqual(seen.drawn, ["yes"] * 6)
            self.assertGreater(seen.cells, 100)
            self.assertEqual(seen.body["data-wide"], str(wide).lower(), options)
            self.assertEqual(seen.body["data-ground"], "rgb(20, 23, 28)" if dark else "rgb(255, 255, 255)")


if __name__ == "__main__":
    unittest.main(verbosity=2)
