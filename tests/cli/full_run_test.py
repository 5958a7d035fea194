#!/usr/bin/env python3
"""One run of the real model to its last rung with everything turned on: what is printed, written and
traced, and that a compile beside decode is one that nobody waited for."""
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

from cli_support import FORCED, MODEL, OK, CliTest, ahead, hidden_compiles


class AFullRun(CliTest):
    """One run to the last rung with everything turned on.

    The second rung is long, so that the last one is compiled before it is needed."""

    @classmethod
    def setUpClass(cls):
        cls.results = tempfile.mkdtemp(prefix="ahead-cli-")
        cls.addClassCleanup(shutil.rmtree, cls.results)
        json_file = os.path.join(cls.results, "run.json")
        trace_file = os.path.join(cls.results, "run.trace.json")
        cls.done = ahead("run", MODEL, "--force", FORCED, "--prompt-tokens", "40", "--ladder",
                         "64,320,384", "--verify", "--json", json_file, "--trace", trace_file)
        cls.stderr = cls.done.stderr.decode()
        cls.result = json.loads(pathlib.Path(json_file).read_text()) if os.path.exists(
            json_file) else None
        cls.trace = json.loads(pathlib.Path(trace_file).read_text()) if os.path.exists(
            trace_file) else None

    def test_the_last_rung_ends_it_well(self):
        self.assert_exit(self.done, OK)
        self.assertEqual(self.result["finish_reason"], "length")
        self.assertEqual(self.result["error"], "")
        self.assertRegex(self.stderr, r"ahead: note: .*384")

    def test_the_forced_text_comes_out_where_the_prompt_ended(self):
        forced = pathlib.Path(FORCED).read_text()
        text = self.done.stdout.decode()
        self.assertGreater(len(text), 300)
        self.assertTrue(text.endswith("\n"))
        # The model's own blanks may differ at the ends.
        self.assertIn(text.strip(), forced)
        self.assertFalse(forced.startswith(text.strip()[:40]))
        self.assertEqual(self.result["output"]["text"].strip(), text.strip())

    def test_the_json_keeps_the_contract(self):
        result = self.result
        contract = ["ahead", "design", "axes", "device", "model", "tokens", "time_s", "compiles",
                    "boundaries", "memory", "output"]
        self.assertEqual([key for key in result if key in contract], contract)
        self.assertEqual(result["design"], "i3")
        self.assertEqual(result["axes"], {"ladder": [64, 320, 384], "schedule": "planned",
                                          "kv": "in-place", "partition": "attention"})
        self.assertEqual(result["device"], {"name": "CPU", "executed_on": ["CPU"]})
        self.assertEqual(result["model"]["path"], MODEL)
        self.assertRegex(result["model"]["sha256"], "^[0-9a-f]{64}$")
        self.assertEqual((result["model"]["layers"], result["model"]["kv_heads"],
                          result["model"]["head_dim"]), (30, 3, 64))
        self.assertIn(result["model"]["kv_type"], ("f16", "f32"), "as the machine computes")
        tokens = result["tokens"]
        self.assertEqual(tokens["prompt"], 40)
        self.assertEqual(tokens["generated"], len(result["output"]["token_ids"]))
        self.assertEqual(sorted(tokens["by_rung"], key=int), ["64", "320", "384"])
        # The first token may be prefill's.
        self.assertIn(tokens["generated"] - sum(rung["count"] for rung in
                                                tokens["by_rung"].values()), (0, 1))
        for key in ("load", "foreground_compile", "hidden_compile", "prefill", "ttft", "decode",
                    "boundary_wait", "migration", "critical_path"):
            self.assertGreaterEqual(result["time_s"][key], 0, key)
        time_s = result["time_s"]
        self.assertGreater(time_s["ttft"], 0)
        self.assertGreater(time_s["hidden_compile"], 0)
        self.assertAlmostEqual(
            time_s["critical_path"], time_s["foreground_compile"] + time_s["prefill"] +
            time_s["decode"] + time_s["boundary_wait"] + time_s["migration"], places=3)
        for compile_ in result["compiles"]:
            self.assertLessEqual(compile_["begin_s"], compile_["end_s"])
            self.assertIn(compile_["cache"], ("hit", "miss", "off"))
            # A wait ends a moment after the compile it waits for.
            self.assertGreaterEqual(compile_["waited_s"], 0)
            self.assertLessEqual(compile_["waited_s"],
                                 compile_["end_s"] - compile_["begin_s"] + 0.2, compile_)
            self.assertEqual(compile_["foreground"], compile_["waited_s"] > 0, compile_)
        self.assertAlmostEqual(sum(compile_["waited_s"] for compile_ in result["compiles"]),
                               time_s["foreground_compile"] + time_s["boundary_wait"], delta=0.2)
        memory = result["memory"]
        self.assertGreater(memory["kv_reserved_avg_bytes"], 0)
        self.assertLessEqual(memory["kv_reserved_avg_bytes"], memory["kv_reserved_peak_bytes"])
        self.assertGreater(memory["rss_peak_bytes"], 50 << 20)

    def test_boundaries_copy_nothing(self):
        boundaries = self.result["boundaries"]
        self.assertEqual([(b["from"], b["to"], b["at_token"]) for b in boundaries],
                         [(64, 320, 64), (320, 384, 320)])
        for boundary in boundaries:
            self.assertEqual(boundary["copied_bytes"], 0)
            self.assertGreaterEqual(boundary["wait_s"], 0)

    def test_the_control_agrees_at_both_boundaries(self):
        verify = self.result["verify"]
        self.assertTrue(verify["passed"])
        self.assertEqual([(b["from"], b["to"]) for b in verify["boundaries"]],
                         [(64, 320), (320, 384)])
        for boundary in verify["boundaries"]:
            self.assertEqual(boundary["compared"], 16)
            self.assertEqual(boundary["top1_equal"], 16)
            self.assertGreaterEqual(boundary["min_cosine"], 0.9999)
        self.assertRegex(self.stderr, r"64 -> 320 +16/16")

    def test_the_trace_shows_a_compile_beside_decode_that_nobody_waited_for(self):
        hidden = hidden_compiles(self.result, self.trace)
        self.assertTrue({"decode@384", "decode@384 tier 1"} & hidden, hidden)

    def test_the_trace_has_its_rows(self):
        events = self.trace["traceEvents"]
        rows = {event["tid"]: event["args"]["name"] for event in events
                if event["ph"] == "M" and event["name"] == "thread_name"}
        self.assertEqual([rows[tid] for tid in sorted(rows)][:3], ["device", "compiler", "kv"])
        spans = {row: [] for row in rows.values()}
        for event in events:
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)
                spans[rows[event["tid"]]].append((event["ts"], event["ts"] + event["dur"]))
        for row in ("device", "compiler", "kv"):
            self.assertTrue(spans[row], row)

    def test_progress_and_summary_go_to_standard_error(self):
        self.assertRegex(self.stderr, r"compiling decode@320 in the background")
        for words in ("first token", "foreground", "hidden", "tok/s", "KV reserved"):
            self.assertIn(words, self.stderr)
        self.assertNotIn("\x1b", self.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
