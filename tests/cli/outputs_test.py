#!/usr/bin/env python3
"""Outputs that are inputs, full, mounted, slow or gone, and signals: nothing is lost, nothing waits for
ever. See cli_support for the environment."""
import array
import fcntl
import json
import os
import pathlib
import pty
import re
import resource
import signal
import subprocess
import termios
import threading
import time
import unittest

from cli_support import (AHEAD, FAILED, FORCED, INTERRUPTED, MODEL, OK, ROOT, TINY, USAGE, CliTest, ahead,
                         default_signals)

PAGE = 4096
ALONG = ["--force", FORCED, "--prompt-tokens", "8"]
SHORT = ["run", TINY, *ALONG, "--ladder", "64", "--max-new-tokens", "8"]
LONG = ["run", MODEL, *ALONG, "--ladder", "512", "-q"]  # for what must come in the midst of it
PLAN = ["plan", "--profile", str(ROOT / "profiles/npu5010-compiler.json")]
AS_ROOT = os.getuid() == 0
SECOND_AND_NOISE_S = 3


def run(*words, small_files=0, **options):
    """To its end; with small_files no file that it writes may have more than so many bytes."""
    def prepare():
        default_signals()
        if small_files:
            resource.setrlimit(resource.RLIMIT_FSIZE, (small_files, small_files))
    return subprocess.run([AHEAD, *words], stdin=subprocess.DEVNULL, timeout=60, check=False,
                          preexec_fn=prepare, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                                                 **options})


def narrow_pipe(free, blocking=True, pages=1):
    """A pipe of a page or two, of which so many bytes are free."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, 1031, pages * PAGE)  # F_SETPIPE_SZ
    os.write(writer, b"#" * (pages * PAGE - free))
    os.set_blocking(writer, blocking)
    return reader, writer


def drain(reader):
    parts = []
    while part := os.read(reader, 1 << 16):
        parts.append(part)
    os.close(reader)
    return b"".join(parts)


class Outputs(CliTest):
    def setUp(self):
        super().setUp()
        self.json_file, self.trace_file = self.path("run.json"), self.path("run.trace.json")
        self.files = ["--history", "none", "--json", self.json_file, "--trace", self.trace_file]

    def result(self):
        json.loads(pathlib.Path(self.trace_file).read_text())
        return json.loads(pathlib.Path(self.json_file).read_text())

    def text_then_json(self, written):
        """What stands behind the text, which must be there."""
        text, brace, rest = written.decode().partition("\n{\n")
        self.assertTrue(text.strip(), written[:80])
        return text, json.loads("{\n" + rest if brace else "")


class OneFileForTwo(Outputs):
    def test_a_result_on_standard_output_stands_behind_the_text(self):
        for name in ("/dev/stdout", self.path("out"), "pipe"):
            with self.subTest(name=name):
                if name == "pipe":
                    done = run(*SHORT, "-q", "--json", "/dev/stdout")
                    written = done.stdout
                else:
                    with open(self.path("out"), "wb") as out:
                        done = run(*SHORT, "-q", "--json", name, stdout=out)
                    written = pathlib.Path(self.path("out")).read_bytes()
                self.assert_exit(done, OK)
                text, result = self.text_then_json(written)
                self.assertEqual(text.strip(), result["output"]["text"].strip())

    def test_a_plan_on_standard_output_stands_behind_the_text(self):
        for name in ("/dev/stdout", self.path("out")):
            with open(self.path("out"), "wb") as out:
                self.assert_exit(run(*PLAN, "--json", name, stdout=out), OK)
            text, plan = self.text_then_json(pathlib.Path(self.path("out")).read_bytes())
            self.assertIn("profile", text)
            self.assertIn("forecasts", plan)

    def test_an_output_that_is_an_input_or_another_output_is_refused_and_stays(self):
        model, prompt = self.file("m.gguf", b"GGUF"), self.file("p.txt", b"The sea is")
        link, new = self.path("link"), self.path("new.json")
        os.symlink(model, link)
        for words, named in (
                (["--json", model], ("--json", "MODEL")),
                (["--trace", link], ("--trace", "MODEL")),
                (["--json", self.path("./p.txt")], ("--json", "--prompt-file")),
                (["--json", new, "--trace", self.path("./new.json")], ("--json", "--trace")),
                (["--json", new, "--history", new], ("--json", "--history")),
                (["--history", prompt], ("--history", "--prompt-file"))):
            with self.subTest(words=words):
                done = ahead("run", model, "--prompt-file", prompt, "-q", *words)
                self.assert_refused(done, *named)
        with open(model, "ab") as out:
            done = run("run", model, "hi", "-q", stdout=out)
        self.assert_exit(done, USAGE)
        self.assertIn(b"standard output", done.stderr)
        self.assertEqual(pathlib.Path(model).read_bytes(), b"GGUF")
        self.assertEqual(pathlib.Path(prompt).read_bytes(), b"The sea is")
        self.assertFalse(os.path.exists(new))

    def test_the_null_device_may_be_given_often(self):
        done = ahead(*PLAN, "--json", "/dev/null", "--trace", "/dev/null")
        self.assert_exit(done, OK)


class WhatCannotBeWritten(Outputs):
    def test_a_limit_on_the_size_of_files_is_an_error_and_leaves_no_draft(self):
        done = run(*SHORT, "-q", *self.files, small_files=1024)
        self.assert_exit(done, FAILED)
        self.assertTrue(done.stdout.strip())
        self.assertEqual(done.stderr.count(b"\n"), 2, done.stderr)
        self.assertIn(b"run.json'", done.stderr)
        self.assertIn(b"run.trace.json'", done.stderr)
        self.assertIn(b"ulimit -f", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_history_that_cannot_be_kept_is_one_note(self):
        done = run(*SHORT, "--history", self.path("h.json"), small_files=64)
        self.assert_exit(done, OK)
        notes = [line for line in done.stderr.splitlines() if b"ahead: note" in line]
        self.assertEqual(len(notes), 1, done.stderr)
        self.assertIn(b"h.json", notes[0])

    def test_a_folder_that_goes_away_costs_nothing_but_its_file(self):
        os.mkdir(self.path("gone"))
        with subprocess.Popen([AHEAD, *LONG, "--max-new-tokens", "60", "--history", "none",
                               "--json", self.path("gone/run.json"), "--trace", self.trace_file],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as child:
            first = os.read(child.stdout.fileno(), 1)
            os.rmdir(self.path("gone"))
            out, error = child.communicate(timeout=60)
        self.assertEqual(child.returncode, FAILED, error)
        self.assertIn(b"gone/run.json'", error)
        self.assertGreater(len(first + out), 100)
        json.loads(pathlib.Path(self.trace_file).read_text())

    def test_a_model_that_goes_away_costs_no_result(self):
        model = self.path("model.gguf")
        os.symlink(os.path.realpath(MODEL), model)
        with subprocess.Popen([AHEAD, "run", model, *LONG[2:], "--max-new-tokens", "20", *self.files],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as child:
            os.read(child.stdout.fileno(), 1)
            os.remove(model)
            _, error = child.communicate(timeout=60)
        self.assertEqual(child.returncode, OK, error)
        self.assertEqual(self.result()["tokens"]["generated"], 20)

    def test_a_full_disk_behind_standard_output_loses_no_result(self):
        with open("/dev/full", "wb") as full:
            done = run(*SHORT, "-q", *self.files, stdout=full)
        self.assert_exit(done, FAILED)
        self.assertEqual(self.result()["tokens"]["generated"], 8)
        self.assertIn(b"standard output", done.stderr)

    def test_help_on_a_full_disk_fails(self):
        with open("/dev/full", "wb") as full:
            for words in (["--help"], ["--version"], ["designs"], PLAN):
                self.assert_exit(run(*words, stdout=full), FAILED)

    @unittest.skipUnless(AS_ROOT, "mounts need root")
    def test_a_mounted_file_is_written_in_place(self):
        mounted, place = self.file("mounted", b"old, and longer than what comes"), self.file("p", b"")
        script = 'mount --bind "$1" "$2" || exit 99; shift 2; exec "$@"'
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", mounted, place, AHEAD, *PLAN,
                               "--json", place], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60, check=False)
        if done.returncode == 99 or b"unshare" in done.stderr:
            self.skipTest("no mounts here")
        self.assert_exit(done, OK)
        self.assertIn("forecasts", json.loads(pathlib.Path(mounted).read_text()))
        self.assertEqual(sorted(os.listdir(self.folder)), ["mounted", "p"])


class Readers(Outputs):
    def begin(self, words, leave=None, **options):
        def prepare():
            os.setsid()
            default_signals()
            for one in (signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE):
                signal.signal(one, signal.SIG_DFL)
            if leave:
                leave()
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, preexec_fn=prepare, **options)
        self.addCleanup(self.end, child)
        return child

    @staticmethod
    def end(child):
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        for stream in (child.stdout, child.stderr):
            if stream:
                stream.close()

    def await_full(self, child, reader, held):
        """The pipe has taken what it can above what it held, and nothing moves any more."""
        count, before = array.array("i", [0]), -1
        for _ in range(200):
            self.assertIsNone(child.poll(), "it ended")
            fcntl.ioctl(reader, termios.FIONREAD, count)
            if count[0] == before > held:
                return
            before = count[0]
            time.sleep(0.3)
        self.fail("the pipe never filled")

    def await_end(self, child, code=INTERRUPTED):
        sent = time.monotonic()
        self.assertEqual(child.wait(timeout=60), code)
        took = time.monotonic() - sent
        print(f"{self.id().rsplit('.', 1)[1]}: ended {took:.3f} s after the signal", flush=True)
        self.assertLess(took, SECOND_AND_NOISE_S)

    def test_a_pipe_that_is_full_and_does_not_block_loses_nothing(self):
        words = [*SHORT[:-1], "50", "-q", "--history", "none"]
        usual = run(*words).stdout
        reader, writer = narrow_pipe(40, blocking=False)
        child = self.begin([AHEAD, *words], stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        self.await_full(child, reader, PAGE - 40)
        self.assertEqual(drain(reader)[PAGE - 40:], usual)
        self.assertEqual(child.wait(timeout=60), OK, child.stderr.read())

    def stuck(self, free=40, pages=1, **options):
        """A run that has written what its reader's pipe takes; nobody reads its progress either."""
        reader, writer = narrow_pipe(free, pages=pages)
        other, progress = narrow_pipe(0)
        child = self.begin([AHEAD, "run", TINY, *ALONG, "--ladder", "512", *self.files], stdout=writer,
                           stderr=progress, **options)
        for one in (writer, progress):
            os.close(one)
        for one in (reader, other):
            self.addCleanup(os.close, one)
        self.await_full(child, reader, pages * PAGE - free)
        return child

    def test_the_first_ctrl_c_ends_a_run_whose_reader_does_not_read(self):
        child = self.stuck()
        os.killpg(child.pid, signal.SIGINT)
        self.await_end(child)
        self.assertEqual(self.result()["finish_reason"], "cancelled")

    @unittest.skipUnless(AS_ROOT, "only root can become somebody else")
    def test_nor_where_the_pipe_is_somebody_elses(self):
        """As in a container that does not run as root: the pipe cannot be opened again."""
        os.chmod(self.folder, 0o777)
        probe = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", "test", "-r", TINY, "-a",
                                "-x", AHEAD], check=False, capture_output=True)
        if probe.returncode != 0:
            self.skipTest("others may not read the model or the program")
        child = self.stuck(free=PAGE, pages=2, leave=lambda: os.setresuid(65534, 65534, 65534))
        os.killpg(child.pid, signal.SIGINT)
        self.await_end(child)
        self.assertEqual(self.result()["finish_reason"], "cancelled")

    def test_progress_that_nobody_reads_keeps_nobody_waiting(self):
        reader, writer = narrow_pipe(0)
        with open(self.path("out"), "wb") as out:
            child = self.begin([AHEAD, *SHORT, *self.files], stdout=out, stderr=writer)
        os.close(writer)
        for _ in range(600):
            if os.path.exists(self.trace_file):
                break
            time.sleep(0.1)
        self.assertEqual(self.result()["tokens"]["generated"], 8)
        told = drain(reader)[PAGE:].decode()
        self.assertEqual(child.wait(timeout=60), OK)
        self.assertLess(told.index("reading"), told.index("compiling"))

    def test_a_terminal_that_hangs_up_ends_the_run_with_its_files(self):
        terminal, other = pty.openpty()

        def control():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        child = subprocess.Popen([AHEAD, *LONG[:-1], *self.files], stdin=other,
                                 stdout=other, stderr=other, start_new_session=True,
                                 preexec_fn=control, env={**os.environ, "TERM": "dumb"})
        self.addCleanup(self.end, child)
        os.close(other)
        seen = b""
        while b"compiled" not in seen:
            seen += os.read(terminal, 1 << 16)
        os.close(terminal)
        self.await_end(child)
        self.result()

    def test_signals_that_come_twice_are_one(self):
        """timeout(1) sends its signal to the program and then to its group."""
        child = self.begin([AHEAD, *LONG, *self.files], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL)
        os.read(child.stdout.fileno(), 1)
        reader = threading.Thread(target=child.stdout.read)
        reader.start()
        os.kill(child.pid, signal.SIGTERM)
        time.sleep(0.02)
        os.killpg(child.pid, signal.SIGTERM)
        self.await_end(child)
        reader.join()
        self.assertEqual(self.result()["finish_reason"], "cancelled")

    def first_process_of(self, child):
        """Once it heeds SIGTERM by a handler or has it blocked; until then the kernel drops it."""
        heeded = 1 << (signal.SIGTERM - 1)
        for _ in range(600):
            children = pathlib.Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
            if children:
                status = pathlib.Path(f"/proc/{children[0]}/status").read_text()
                masks = re.findall(r"Sig(?:Blk|Cgt):\s+([0-9a-f]+)", status)
                if any(int(mask, 16) & heeded for mask in masks):
                    return int(children[0])
            time.sleep(0.05)
        self.fail("process 1 never heeded SIGTERM")

    def test_process_1_of_a_container_hears_sigterm(self):
        space = ["unshare", "-pf", "--mount-proc"] if AS_ROOT else ["unshare", "-rpf", "--mount-proc"]
        if subprocess.run([*space, "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest("no namespaces here")
        for words, code in (([AHEAD, *LONG, *self.files], INTERRUPTED),
                            ([AHEAD, "sim", "--seeds", "1..100000000"], INTERRUPTED)):
            with self.subTest(command=words[1]):
                child = self.begin([*space, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                if words[1] == "run":
                    os.read(child.stdout.fileno(), 1)
                os.kill(self.first_process_of(child), signal.SIGTERM)
                reader = threading.Thread(target=child.stdout.read)
                reader.start()
                self.await_end(child, code)
                reader.join()
        self.result()

    def test_a_pipe_that_nobody_reads_does_not_outlast_ctrl_c(self):
        os.mkfifo(self.json_file)
        child = self.begin([AHEAD, *SHORT, "-q", *self.files], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
        os.read(child.stdout.fileno(), 1)
        time.sleep(0.5)  # most likely it waits for a reader; it must end well wherever it is
        os.killpg(child.pid, signal.SIGINT)
        self.await_end(child)
        self.assertIn(b"run.json'", child.stderr.read())
        json.loads(pathlib.Path(self.trace_file).read_text())

    def test_a_prompt_that_nobody_writes_does_not_outlast_ctrl_c(self):
        os.mkfifo(self.path("prompt"))
        child = self.begin([AHEAD, "run", TINY, "--prompt-file", self.path("prompt"), *self.files],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.5)
        os.killpg(child.pid, signal.SIGINT)
        self.await_end(child)
        self.assertIn(b"interrupted while the prompt was read", child.stderr.read())


class Messages(CliTest):
    def test_a_prompt_that_begins_with_a_dash_is_told_how_to_be_one(self):
        for prompt in ("- item one", "--find me", "-", "-5 degrees", "-n", "--"+"x" * 300):
            with self.subTest(prompt=prompt):
                done = ahead("run", "/none.gguf", prompt, "-q")
                self.assert_exit(done, USAGE)
                if b"/none.gguf" not in done.stderr:  # taken for a prompt
                    self.assert_refused(done, " -- ", "--prompt-file")
        self.assertIn(b"/none.gguf", ahead("run", "-q", "/none.gguf", "--", "--find me").stderr)

    def test_no_message_reaches_the_terminal_as_anything_but_text(self):
        nasty = b"\x1b[31m\xff\xc2\x9b\xe2\x80\xae\r\nx"
        for words in (["run", nasty, "hi", "-q"], ["run", "/none.gguf", "hi", b"--" + nasty],
                      ["run", "/none.gguf", "hi", "--json", b"/none/" + nasty], [nasty],
                      ["run", "/none.gguf", "hi", "--ladder", nasty], ["plan", "--profile", nasty]):
            with self.subTest(words=words):
                done = ahead(*words)
                self.assert_exit(done, USAGE)
                message = done.stderr.decode()  # or it is no UTF-8
                self.assertTrue(all(char.isprintable() for char in message.rstrip("\n").replace("\n", "")),
                                message)


if __name__ == "__main__":
    unittest.main(verbosity=2)
