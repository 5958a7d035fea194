#!/usr/bin/env python3
"""`ahead plan` as its users meet it: the shipped profiles, a real model, and files that are wrong.

Environment: AHEAD_BIN, the program; AHEAD_DEPS_DIR, the folder that scripts/setup.sh filled.
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
AHEAD = os.environ.get("AHEAD_BIN", str(ROOT / "build/release/ahead"))
DEPS = pathlib.Path(os.environ.get("AHEAD_DEPS_DIR", ROOT / ".deps"))
MODEL = os.environ.get("AHEAD_MODEL", str(DEPS / "model/SmolLM2-135M-Instruct.Q4_1.gguf"))
PROFILES = sorted((ROOT / "profiles").glob("*.json"))
PUBLISHED = str(ROOT / "profiles/published-npu5-qwen2.5-0.5b.json")
NPU = str(ROOT / "profiles/npu5010-compiler.json")
SCHEDULES = ["eager", "one-ahead", "on-demand", "planned"]

OK, FAILED, USAGE = 0, 1, 2


def plan(*words):
    return subprocess.run([AHEAD, "plan", *words], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60, check=False)


class PlanTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ahead-plan-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, text):
        pathlib.Path(self.path(name)).write_text(text)
        return self.path(name)

    def planned(self, *words):
        """The JSON of a plan."""
        done = plan(*words, "--json", self.path("plan.json"))
        self.assertEqual(done.returncode, OK, done.stderr)
        return json.loads(pathlib.Path(self.path("plan.json")).read_text())

    def assert_refused(self, done, *named, code=USAGE):
        self.assertEqual(done.returncode, code, done.stderr)
        error = done.stderr.decode()
        self.assertTrue(error.startswith("ahead: error: "), error)
        self.assertEqual(error.count("\n"), 1, error)
        for name in named:
            self.assertIn(name, error)
        self.assertEqual(done.stdout, b"")


class Profiles(PlanTest):
    def test_every_shipped_profile_says_where_its_costs_come_from(self):
        self.assertGreaterEqual(len(PROFILES), 3)
        for profile in PROFILES:
            with self.subTest(profile.name):
                done = plan("--profile", str(profile))
                self.assertEqual(done.returncode, OK, done.stderr)
                text = done.stdout.decode()
                for word in (*SCHEDULES, "slack", "window", "critical path", "choice"):
                    self.assertIn(word, text)
                self.assertRegex(text, "measured|estimated|inferred")

    def test_the_published_campaign_comes_out(self):
        rows = self.planned("--profile", PUBLISHED)["forecasts"]
        rows = {row["design"]: row["time_s"] for row in rows}
        for design, foreground, critical, decode in (("i1", 84.29, 232.43, 143.32),
                                                     ("i2", 65.33, 212.98, 142.94)):
            for name, value in (("foreground_compile", foreground), ("critical_path", critical),
                                ("decode", decode)):
                self.assertAlmostEqual(rows[design][name], value, delta=0.01 * value)
            self.assertEqual(rows[design]["boundary_wait"], 0)

    def test_options_stand_for_the_profiles_values(self):
        done = self.planned("--profile", NPU, "--ladder", "1024,4096", "--prompt", "200",
                            "--tokens", "3000", "--token-ms", "1024=50,4096=60", "--compile-s",
                            "2", "--schedule", "one-ahead", "--partition", "whole")
        self.assertEqual(done["request"], {"ladder": [1024, 4096], "prompt": 200, "tokens": 3000})
        self.assertEqual(len(done["forecasts"]), 1)
        first, second = done["forecasts"][0]["rungs"]
        self.assertAlmostEqual(first["token_s"], 0.05)
        self.assertAlmostEqual(second["window_s"], 824 * 0.05)
        self.assertEqual(second["verdict"], "ready")
        self.assertEqual(second["costs"], "given")

    def test_the_timeline_opens_as_that_of_a_run(self):
        trace = self.path("plan.trace.json")
        done = plan("--profile", NPU, "--schedule", "planned", "--trace", trace)
        self.assertEqual(done.returncode, OK, done.stderr)
        events = json.loads(pathlib.Path(trace).read_text())["traceEvents"]
        rows = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
        self.assertLessEqual({"device", "compiler", "decisions"}, rows)
        self.assertTrue(any(event["ph"] == "X" and event["args"].get("reason") for event in events))


class AModel(PlanTest):
    def test_costs_are_guessed_and_say_so(self):
        done = self.planned(MODEL, "--tokens", "3000")
        self.assertEqual({row["axes"]["partition"] for row in done["forecasts"]},
                         {"whole", "attention"})
        self.assertIn("guessed", done["notes"][0])
        self.assertEqual({rung["costs"] for row in done["forecasts"] for rung in row["rungs"]},
                         {"guessed"})

    def test_a_ladder_beyond_its_context_is_refused(self):
        self.assert_refused(plan(MODEL, "--ladder", "1024,16384"), "16384")


class WhatGoesWrong(PlanTest):
    def test_options(self):
        self.assert_refused(plan(), "--profile")
        self.assert_refused(plan(MODEL, "--profile", NPU), "one of them")
        for option, value in (("--prompt", "0"), ("--prompt", "9000"), ("--tokens", "-1"),
                              ("--token-ms", "fast"), ("--compile-s", "0"), ("--chunks", "1,x"),
                              ("--chunks", "4096"), ("--ladder", "2048,1024"),
                              ("--schedule", "lazy"), ("--partition", "blocks:9")):
            with self.subTest(option=option, value=value):
                self.assert_refused(plan("--profile", NPU, option, value),
                                    value.replace("2048,", ""))

    def test_files_that_are_no_profile(self):
        text = pathlib.Path(NPU).read_text()
        for name, contents, named in (
                ("half.json", text[:len(text) // 2], "no JSON"),
                ("empty.json", "", "no JSON"),
                ("list.json", "[1, 2]", "an object"),
                ("negative.json", text.replace('"seconds": 94', '"seconds": -94'),
                 "rung_compile_s.1024.seconds"),
                ("word.json", text.replace('"prompt": 128', '"prompt": "long"'), "request.prompt"),
                ("huge.json", text.replace('"prompt": 128', '"prompt": 1e30'), "request.prompt"),
                ("new.json", text.replace('"calls": 1,', '"calls": 1, "cost": 1,', 1), "'cost'"),
                ("large.json", " " * (2 << 20), "1 MiB")):
            with self.subTest(name):
                self.assert_refused(plan("--profile", self.file(name, contents)), name, named)
        self.assert_refused(plan("--profile", self.path("none.json")), "none.json", "No such file")
        self.assert_refused(plan("--profile", self.folder), "folder")

    def test_results_that_can_not_be_written(self):
        self.assert_refused(plan("--profile", NPU, "--json", "/nowhere/plan.json"), "/nowhere")


if __name__ == "__main__":
    unittest.main(verbosity=2)
