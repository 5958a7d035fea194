#!/usr/bin/env python3
"""The command line when something fails: a compile, a disk, a reader, memory."""
import json
import os
import pathlib
import re
import resource
import unittest

from cli_support import CliTest, FAILED, FORCED, MODEL, OK, TINY, ahead, start


class WhatGoesWrong(CliTest):
    def test_a_background_compile_that_fails_keeps_what_was_produced(self):
        json_file = self.path("run.json")
        done = ahead("run", TINY, "--force", FORCED, "--prompt-tokens", "40", "--ladder",
                     "64,128", "--inject-compile-failure", "128=the compiler ate it", "--json",
                     json_file, "-q")
        self.assert_exit(done, FAILED)
        result = json.loads(pathlib.Path(json_file).read_text())
        # The rung is full, and its last step chose one token more.
        self.assertEqual(result["tokens"]["prompt"] + result["tokens"]["generated"], 65)
        self.assertEqual(done.stdout.decode().strip(), result["output"]["text"].strip())
        self.assertGreater(len(done.stdout), 20)
        error = done.stderr.decode()
        self.assertEqual(error.count("\n"), 1, error)
        self.assertTrue(error.startswith("ahead: error: "), error)
        self.assertIn("128", error)
        self.assertIn("the compiler ate it", error)
        self.assertIn("the compiler ate it", result["error"])
        self.assertEqual(result["finish_reason"], "error")

    def test_a_full_disk_loses_no_text(self):
        done = ahead("run", TINY, "--force", FORCED, "--prompt-tokens", "4", "--ladder", "64",
                     "--json", "/dev/full", "-q")
        self.assert_exit(done, FAILED)
        self.assertGreater(len(done.stdout.strip()), 40)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertIn(b"'/dev/full'", done.stderr)

    def test_a_reader_that_leaves_ends_the_run_quietly(self):
        run = start("run", MODEL, "Once upon a time", "--ignore-eos", "--ladder", "64,128", "-q")
        os.read(run.stdout.fileno(), 1)
        run.stdout.close()
        self.assertEqual(run.stderr.read(), b"")
        run.stderr.close()
        self.assertEqual(run.wait(timeout=60), FAILED)


class ShortOfMemory(CliTest):
    """Address space limited while the real program runs (ulimit -v).

    Between what a run needs of it for all else and what it needs with the cache of a rung of 8192
    lie 360 MiB; the limits stand in the middle, and are lifted when they have done their work."""

    ROOM = 180 << 20
    CUT = ["--partition", "attention", "--kv-type", "f32", "--ignore-eos"]

    @staticmethod
    def address_space(run):
        status = pathlib.Path(f"/proc/{run.pid}/status").read_text()
        return int(re.search(r"VmSize:\s+(\d+) kB", status)[1]) << 10

    @staticmethod
    def limit(run, limit):
        resource.prlimit(run.pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))

    @classmethod
    def setUpClass(cls):
        """Enough to read the model, too little to reserve for 8192 rows besides."""
        run = start("run", MODEL, "hi", "--ladder", "64,8192", "--kv", "in-place", *cls.CUT)
        with run.stdout, run.stderr:
            lines = iter(run.stderr.readline, b"")
            made = any(b"compiling" in line for line in lines)  # The cache is made before.
            size = cls.address_space(run) if made else 0
            run.kill()
        run.wait()
        assert made, "the run never compiled"
        cls.tight = size - cls.ROOM

    def test_address_space_that_is_refused_is_copied_instead_and_noted_once(self):
        json_file, trace_file = self.path("run.json"), self.path("run.trace.json")
        run = start("run", MODEL, "Once upon a time", "--ladder", "64,8192", "--kv", "in-place",
                    *self.CUT, "--max-new-tokens", "63", "--json", json_file, "--trace",
                    trace_file)
        self.limit(run, self.tight)
        lines = []
        for line in run.stderr:
            lines.append(line)
            if b"compiling" in line:
                break
        self.limit(run, resource.RLIM_INFINITY)
        out, rest = run.communicate(timeout=60)
        self.assertEqual(run.returncode, OK, (lines, rest))
        result = json.loads(pathlib.Path(json_file).read_text())
        self.assertEqual(result["tokens"]["generated"], 63)
        self.assertEqual(out.decode().strip(), result["output"]["text"].strip())
        self.assertRegex(result["kv_fallback"], r"copied as it grows.* 377487360 bytes ")
        self.assertEqual([b["copied_bytes"] for b in result["boundaries"]],
                         [64 * 30 * 3 * 64 * 2 * 4])
        trace = json.loads(pathlib.Path(trace_file).read_text())
        noted = [event for event in trace["traceEvents"]
                 if result["kv_fallback"] in json.dumps(event, ensure_ascii=False)]
        self.assertEqual(len(noted), 1)

    def test_no_room_for_the_first_rung_is_an_error_with_the_bytes(self):
        for policy in ("in-place", "copy-grow", "shared-max"):
            with self.subTest(policy=policy):
                run = start("run", MODEL, "hi", "--ladder", "8192", "--kv", policy, *self.CUT,
                            "-q")
                self.limit(run, self.tight)
                out, error = run.communicate(timeout=60)
                self.assertEqual((run.returncode, out), (FAILED, b""), error)
                self.assertRegex(error.decode(), r"^ahead: error: .* 377487360 bytes .*\n$")

    def test_no_room_for_the_second_rung_keeps_what_was_produced(self):
        json_file = self.path("run.json")
        # All programs are there before the first token: what is asked for then is the cache's.
        run = start("run", MODEL, "Once upon a time", "--ladder", "64,8192", "--kv", "copy-grow",
                    "--schedule", "eager", *self.CUT, "--json", json_file, "-q")
        first = os.read(run.stdout.fileno(), 1)
        self.limit(run, self.address_space(run) + self.ROOM)
        rest, error = run.communicate(timeout=60)
        self.assertEqual(run.returncode, FAILED, error)
        self.assertRegex(error.decode(), r"^ahead: error: .* 377487360 bytes .*\n$")
        result = json.loads(pathlib.Path(json_file).read_text())
        self.assertEqual(result["finish_reason"], "error")
        self.assertIn(" 377487360 bytes ", result["error"])
        # The rung is full, and its last step chose one token more.
        self.assertEqual(result["tokens"]["prompt"] + result["tokens"]["generated"], 65)
        self.assertEqual((first + rest).decode().strip(), result["output"]["text"].strip())


if __name__ == "__main__":
    unittest.main(verbosity=2)
