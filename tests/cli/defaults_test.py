#!/usr/bin/env python3
"""What nobody asked for by name: cores, ladder, caches, and texts as editors write them.

A small synthetic model serves: what is tested here does not depend on what it says."""
import ctypes
import json
import os
import pathlib
import struct
import subprocess
import unittest

from cli_support import AHEAD, CliTest, DEPS, OK, USAGE, ahead, default_signals

TINY = str(DEPS / "test-qwen2.gguf")
SHORT = ["--ladder", "32", "--max-new-tokens", "2", "--ignore-eos"]
X86_64_SCHED_SETAFFINITY = 203


def refuse_pinning():
    """From now on the kernel refuses sched_setaffinity with EPERM, as a service manager's filter does."""
    default_signals()
    load_number, allow, refuse = (0x20, 0, 0, 0), (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001)
    code = [load_number, (0x15, 0, 1, X86_64_SCHED_SETAFFINITY), refuse, allow]
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(filters))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(38, 1, 0, 0, 0) != 0 or prctl(22, 2, program, 0, 0) != 0:  # no new privileges; a filter
        raise OSError(ctypes.get_errno(), "prctl")


class Defaults(CliTest):
    def result_of(self, *words, **options):
        out = self.path("run.json")
        done = ahead("run", TINY, *words, "--history", "none", "--json", out, **options)
        self.assert_exit(done, OK)
        return json.loads(pathlib.Path(out).read_text()), done.stderr.decode()

    def test_cores_that_the_kernel_does_not_pin_to_are_done_without(self):
        words = ["run", TINY, "the cat", *SHORT, "--history", "none"]

        def refused(*more):
            return subprocess.run([AHEAD, *words, *more], stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=120, check=False,
                                  preexec_fn=refuse_pinning)
        done = refused()
        self.assert_exit(done, OK)
        self.assertIn("not pinned", done.stderr.decode())
        self.assertNotIn("note:", done.stderr.decode())
        named = refused("-q", "--device-cores", "0")
        self.assert_refused(named, "core 0", "Operation not permitted")
        self.assertNotIn("name some of them", named.stderr.decode())

    def test_the_choice_of_cores_stands_in_the_summary_and_the_json(self):
        allowed = sorted(os.sched_getaffinity(0))
        result, told = self.result_of("the cat", *SHORT)
        cores = result["cores"]
        self.assertTrue(set(cores["device"]) <= set(allowed))
        self.assertLessEqual(cores["decoding_threads"], cores["reading_threads"])
        self.assertTrue(cores["pinned"])
        self.assertIn(cores["reason"], told)
        one, _ = self.result_of("the cat", *SHORT, "--device-cores", str(allowed[-1]))
        self.assertEqual(one["cores"]["device"], [allowed[-1]])
        self.assertEqual(one["cores"]["reading_threads"], 1)
        self.assertIn("named", one["cores"]["reason"])

    def test_one_core_is_enough(self):
        core = sorted(os.sched_getaffinity(0))[-1]
        out = self.path("run.json")
        done = subprocess.run([AHEAD, "run", TINY, "the cat", "--ladder", "16,32", "--max-new-tokens",
                               "25", "--ignore-eos", "--history", "none", "-q", "--json", out],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False,
                              preexec_fn=lambda: os.sched_setaffinity(0, [core]))
        self.assert_exit(done, OK)
        cores = json.loads(pathlib.Path(out).read_text())["cores"]
        self.assertEqual((cores["device"], cores["compile"]), ([core], [core]))

    def test_the_ladder_that_nobody_named_reaches_the_models_context(self):
        result, told = self.result_of("the cat", "--max-new-tokens", "2", "--ignore-eos")
        self.assertEqual(result["axes"]["ladder"], [1024])  # what it was trained on
        self.assertNotIn("note:", told)

    def test_a_home_that_cannot_be_used_costs_at_most_a_note(self):
        for home in ("/dev/null", "/proc/self", "/nonexistent"):
            environment = {k: v for k, v in os.environ.items() if k != "XDG_CACHE_HOME"}
            done = subprocess.run([AHEAD, "run", TINY, "the cat", *SHORT], stdin=subprocess.DEVNULL,
                                  env={**environment, "HOME": home}, capture_output=True, timeout=120,
                                  check=False)
            self.assert_exit(done, OK)
            self.assertLessEqual(done.stderr.decode().count("ahead: note"), 1, done.stderr)


class Texts(CliTest):
    def tokens_of(self, contents):
        out = self.path("run.json")
        done = ahead("run", TINY, "--prompt-file", self.file("p.txt", contents), *SHORT, "--history",
                     "none", "--json", out)
        self.assert_exit(done, OK)
        notes = [line for line in done.stderr.decode().splitlines() if "note:" in line]
        return json.loads(pathlib.Path(out).read_text())["tokens"]["prompt"], notes

    def test_a_prompt_is_the_same_however_an_editor_wrote_it(self):
        for contents in (b"the cat\n", b"the cat\r\n", b"\xef\xbb\xbfthe cat", b"the cat\r"):
            self.assertEqual(self.tokens_of(contents), self.tokens_of(b"the cat"), contents)

    def test_text_of_another_encoding_is_refused_or_told_once(self):
        done = ahead("run", TINY, "--prompt-file", self.file("p.txt", "the cat".encode("utf-16")),
                     *SHORT, "-q")
        self.assert_refused(done, "p.txt", "UTF-16LE", "iconv")
        _, notes = self.tokens_of("Das Caf\xe9 ist".encode("latin-1"))
        self.assertEqual(len(notes), 1, notes)
        self.assertIn("byte 7", notes[0])

    def test_blank_lines_at_the_end_of_a_batch_are_no_prompts_that_failed(self):
        for contents in (b"the cat\non a\n\n", b"the cat\r\non a\r\n\r\n", b"\xef\xbb\xbfthe cat\non a",
                         b"the cat\ron a\r"):
            out = self.path("run.json")
            done = ahead("run", TINY, "--batch", self.file("b.txt", contents), *SHORT, "--history",
                         "none", "--json", out)
            self.assert_exit(done, OK)
            rows = json.loads(pathlib.Path(out).read_text())["rows"]
            self.assertEqual(len(rows), 2, contents)
            self.assertRegex(done.stderr.decode(), r"(\d+) of \1 prompt tokens read")

    def test_ids_may_have_a_byte_order_mark_too(self):
        ids = self.file("f.json", b"\xef\xbb\xbf[1, 2, 3, 4]")
        done = ahead("run", TINY, "--force", ids, "--prompt-tokens", "1", "--ladder", "16", "-q",
                     "--history", "none")
        self.assert_exit(done, OK)
        self.assert_refused(ahead("run", TINY, "--prompt-file", self.file("e.txt", b"\n"), *SHORT, "-q"),
                            "empty", code=USAGE)


if __name__ == "__main__":
    unittest.main()
