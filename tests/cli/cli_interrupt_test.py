#!/usr/bin/env python3
"""Ctrl-C at every stage of a run. How long each takes to end is printed; only that it is no wait for
what nobody needs any more is asserted. See cli_support for the environment."""
import json
import os
import pathlib
import signal
import time
import unittest

from cli_support import FORCED, INTERRUPTED, MODEL, CliTest, start

BEHIND = "compiling decode@8192 in the background"


class Interrupted(CliTest):
    LIMIT_S = 5  # of what takes a tenth of it; a compile of the runs below takes longer

    def begin(self, *words):
        """A run that leads a group of its own, as one that a terminal's Ctrl-C reaches."""
        self.json_file, self.trace_file = self.path("run.json"), self.path("run.trace.json")
        return start("run", MODEL, *words, "--json", self.json_file, "--trace", self.trace_file,
                     start_new_session=True)

    def await_line(self, run, text):
        lines = []
        for line in run.stderr:
            lines.append(line.decode())
            if text in lines[-1]:
                return lines
        self.fail(f"the run ended without '{text}': {''.join(lines)}")

    def interrupt(self, run, how=signal.SIGINT):
        """What the run writes from now on: its text, and its last words."""
        os.killpg(run.pid, how)
        sent = time.monotonic()
        out, error = run.communicate(timeout=60)
        took = time.monotonic() - sent
        print(f"{self.id().rsplit('.', 1)[1]}: ended {took:.3f} s after the signal", flush=True)
        self.assertLess(took, self.LIMIT_S)
        self.assertEqual(run.returncode, INTERRUPTED, error)
        self.assertNotIn(b"error:", error)
        with self.assertRaises(ProcessLookupError, msg="a process of the run stays"):
            os.killpg(run.pid, 0)
        return out.decode(), error.decode()

    def result(self, error):
        """The files were written, and the note agrees with them."""
        result = json.loads(pathlib.Path(self.json_file).read_text())
        self.assertIn(f"ahead: note: interrupted; {result['tokens']['generated']} tokens were "
                      "generated", error)
        self.assertEqual(result["finish_reason"], "cancelled")
        self.assertEqual(result["error"], "")
        trace = json.loads(pathlib.Path(self.trace_file).read_text())
        self.assertIsInstance(trace["traceEvents"], list)
        return result

    def test_while_the_model_is_read(self):
        run = self.begin("hi")
        self.assertIn(b"reading", run.stderr.readline())
        out, error = self.interrupt(run)
        self.assertEqual(out, "")
        self.assertIn("ahead: note: interrupted while the model was read", error)
        self.assertFalse(os.path.exists(self.json_file), "there is nothing to write about")
        self.assertFalse(os.path.exists(self.trace_file))

    def test_in_the_first_compile(self):
        for partition in ("attention", "whole"):
            with self.subTest(partition=partition):
                run = self.begin("hi", "--partition", partition)
                self.await_line(run, "compiling ")
                out, error = self.interrupt(run)
                self.assertEqual(out, "")
                self.assertEqual(self.result(error)["tokens"]["generated"], 0)

    def test_by_sigterm_in_an_eager_compile(self):
        run = self.begin("hi", "--design", "b1", "--ladder", "1024,2048,4096,8192")
        self.await_line(run, "compiling")
        out, error = self.interrupt(run, signal.SIGTERM)
        self.assertEqual((out, self.result(error)["tokens"]["generated"]), ("", 0))

    def test_in_a_prompt(self):
        for chunk in ("128", "1024"):
            with self.subTest(chunk=chunk):
                run = self.begin("--force", FORCED, "--prompt-tokens", "3000", "--chunk", chunk)
                self.await_line(run, "compiled prefill@1024")
                out, error = self.interrupt(run)
                self.assertEqual(out, "")
                self.assertEqual(self.result(error)["tokens"]["generated"], 0)

    def test_in_decode_with_a_compile_behind_it(self):
        run = self.begin("Once upon a time", "--ignore-eos", "--partition", "whole", "--ladder",
                         "256,8192")
        self.await_line(run, BEHIND)
        first = os.read(run.stdout.fileno(), 1)
        rest, error = self.interrupt(run)
        result = self.result(error)
        self.assertGreater(result["tokens"]["generated"], 0)
        self.assertEqual(result["boundaries"], [])
        self.assertEqual((first.decode() + rest).strip(), result["output"]["text"].strip())
        self.assertIn(("decode", 8192), [(c["part"], c["rung"]) for c in result["compiles"]])

    def test_waiting_at_a_switch(self):
        run = self.begin("Once upon a time", "--ignore-eos", "--partition", "whole", "--ladder",
                         "64,8192", "--schedule", "one-ahead")
        self.await_line(run, "waiting for decode@8192")
        out, error = self.interrupt(run)
        result = self.result(error)
        self.assertEqual(result["boundaries"], [])
        # The rung is full, and its last step chose one token more.
        self.assertEqual(result["tokens"]["prompt"] + result["tokens"]["generated"], 65)
        self.assertEqual(out.strip(), result["output"]["text"].strip())

    def test_behind_a_switch(self):
        run = self.begin("Once upon a time", "--ignore-eos", "--kv", "copy-grow", "--ladder",
                         "64,128,8192")
        self.await_line(run, "rung 64 to 128")
        out, error = self.interrupt(run)
        result = self.result(error)
        self.assertEqual([b["to"] for b in result["boundaries"]], [128])
        self.assertGreaterEqual(result["tokens"]["prompt"] + result["tokens"]["generated"], 65)
        self.assertEqual(out.strip(), result["output"]["text"].strip())

    def test_while_verify_waits_for_a_background_compile(self):
        # The prompt crosses a boundary; a stop ends the run while the decode program compiles.
        run = self.begin("--force", FORCED, "--prompt-tokens", "66", "--ladder", "64,2048",
                         "--schedule", "one-ahead",
                         *(word for letter in " aeiou.,\n" for word in ("--stop", letter)),
                         "--verify")
        self.await_line(run, "making room")
        out, error = self.interrupt(run)
        self.assertNotIn("compiling", error)
        self.assertIn("interrupted", error)
        result = json.loads(pathlib.Path(self.json_file).read_text())
        self.assertEqual(result["finish_reason"], "stop")
        self.assertEqual(out.strip(), result["output"]["text"].strip())


if __name__ == "__main__":
    unittest.main(verbosity=2)
