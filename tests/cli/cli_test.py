#!/usr/bin/env python3
"""The command line as its users meet it: the real program, run on a real model.

Environment: AHEAD_BIN, the program; AHEAD_DEPS_DIR, the folder that scripts/setup.sh filled.
Every run with a model costs seconds, so one run answers as many questions as it can.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
AHEAD = os.environ.get("AHEAD_BIN", str(ROOT / "build/release/ahead"))
DEPS = pathlib.Path(os.environ.get("AHEAD_DEPS_DIR", ROOT / ".deps"))
MODEL = os.environ.get("AHEAD_MODEL", str(DEPS / "model/SmolLM2-135M-Instruct.Q4_1.gguf"))
FORCED = str(ROOT / "data/forced.txt")

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def default_signals():
    """A shell that runs its jobs in the background starts them with SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def ahead(*words, stdout=subprocess.PIPE):
    return subprocess.run([AHEAD, *words], stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, timeout=300, check=False,
                          preexec_fn=default_signals)


def start(*words):
    return subprocess.Popen([AHEAD, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, preexec_fn=default_signals)


def overlaps(result, trace):
    """Pairs of a compile's record and a span of decode steps that ran at the same time."""
    events = trace["traceEvents"]
    rows = {event["tid"]: event["args"]["name"] for event in events
            if event["ph"] == "M" and event["name"] == "thread_name"}
    spans = [(rows[event["tid"]], event["name"], event["ts"], event["ts"] + event["dur"])
             for event in events if event["ph"] == "X"]
    records = {f"{record['part']}@{record['rung']}": record for record in result["compiles"]}
    return [(records[name], step) for row, name, begin, end in spans
            for row2, step, begin2, end2 in spans
            if row == "compiler" and name in records and
            row2 == "device" and re.fullmatch(r"decode@\d+", step) and
            begin < end2 and begin2 < end]


def hidden_compiles(result, trace):
    """Compiles beside decode that nobody waited for."""
    return {f"{record['part']}@{record['rung']}" for record, _ in overlaps(result, trace)
            if record["waited_s"] == 0}


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ahead-cli-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, contents):
        path = self.path(name)
        pathlib.Path(path).write_bytes(contents)
        return path

    def assert_exit(self, done, code):
        self.assertEqual(done.returncode, code, (done.args, done.stderr))

    def assert_refused(self, done, *named, code=USAGE):
        """One line of error that names the value, no output, no crash."""
        self.assert_exit(done, code)
        errors = [line for line in done.stderr.decode().splitlines() if "error:" in line]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertTrue(errors[0].startswith("ahead: error: "), errors[0])
        self.assertEqual(errors[0], done.stderr.decode().splitlines()[-1])
        self.assertLess(len(errors[0]), 500)
        for name in named:
            self.assertIn(name, errors[0])
        self.assertEqual(done.stdout, b"")


class WithoutAModel(CliTest):
    def test_version_and_help(self):
        done = ahead("--version")
        self.assert_exit(done, OK)
        self.assertRegex(done.stdout.decode(), r"^ahead \d+\.\d+\.\d+\n$")
        for words in (["--help"], ["run", "--help"]):
            done = ahead(*words)
            self.assert_exit(done, OK)
            self.assertIn(b"Examples:", done.stdout)
            self.assertEqual(done.stderr, b"")
        self.assertNotIn(b"inject", ahead("run", "--help").stdout)
        for command in ("run", "inspect"):
            self.assertRegex(ahead(command, "--help").stdout,
                             rb"--partition NAME +whole\|blocks:N\|attention")

    def test_designs(self):
        done = ahead("designs", "--json")
        self.assert_exit(done, OK)
        designs = {design["name"]: design for design in json.loads(done.stdout)["designs"]}
        self.assertEqual(sorted(designs), ["b0", "b1", "i1", "i2", "i3"])
        self.assertTrue(designs["b0"]["last_rung_only"])
        self.assertEqual(designs["i2"]["schedule"], "one-ahead")
        self.assertEqual(designs["i3"]["partition"], "attention")
        self.assertEqual([name for name in designs if designs[name]["default"]], ["i3"])
        table = ahead("designs").stdout.decode()
        for design in designs.values():
            self.assertIn(design["summary"], table)

    def test_words_that_are_not_known(self):
        self.assert_refused(ahead("bake"), "'bake'", "run")
        self.assert_refused(ahead("--bogus"), "'--bogus'")
        self.assert_refused(ahead("run", MODEL, "hi", "--bogus"), "'--bogus'", "--help")
        self.assert_refused(ahead("run", MODEL, "hi", "there"), "'there'")
        self.assert_refused(ahead("designs", "--bogus"), "'--bogus'")
        self.assert_refused(ahead("run"), "MODEL")
        self.assert_refused(ahead())

    def test_values_that_can_not_be(self):
        for words, named in (
                (["--design", "i9"], ["'i9'", "b0, b1, i1, i2 or i3"]),
                (["--schedule", "lazy"], ["'lazy'", "one-ahead"]),
                (["--kv", "paged"], ["'paged'", "copy-grow"]),
                (["--kv-type", "f8"], ["'f8'", "f16"]),
                (["--partition", "halves"], ["'halves'", "whole"]),
                (["--partition", "blocks"], ["'blocks'", "blocks:N"]),
                (["--partition", "blocks:0"], ["'blocks:0'", "from 1"]),
                (["--ladder", ""], ["empty"]),
                (["--ladder", " "], ["' '"]),
                (["--ladder", "64, 128"], ["' 128'"]),
                (["--ladder", "128,64"], ["64 after 128"]),
                (["--ladder", "64,64"], ["64 after 64"]),
                (["--ladder", "0,64"], ["0"]),
                (["--ladder", "8"], ["8", "16"]),
                (["--ladder", "99999999999999999999"], ["too large"]),
                (["--ladder", "1k"], ["'1k'"]),
                (["--max-new-tokens", "0"], ["--max-new-tokens", "'0'"]),
                (["--top-p", "2"], ["--top-p", "'2'"]),
                (["--temperature", "warm"], ["--temperature", "'warm'"]),
                (["--seed"], ["--seed"]),
                (["--stop", ""], ["--stop"]),
                (["--prompt-tokens", "4"], ["--prompt-tokens", "--force"]),
                (["--prompt-file", "p.txt"], ["more than one prompt"]),
                (["--force", "none.txt"], ["'none.txt'"]),
                (["--json", "/none/a.json"], ["'/none/a.json'"]),
                (["--trace", "/none/a.json"], ["'/none/a.json'"]),
                (["--json", self.folder], [self.folder])):
            with self.subTest(words=words):
                self.assert_refused(ahead("run", MODEL, "hi", *words), *named)
        self.assert_refused(ahead("run", MODEL), "no prompt")
        self.assert_refused(ahead("run", MODEL, "--prompt-file", "none.txt"), "'none.txt'")

    def test_options_without_effect_are_noted(self):
        missing = self.path("none.gguf")
        for words, named in ((["--seed", "7"], "--seed"),
                             (["--force", FORCED, "--top-p", "0.9"], "--top-p")):
            done = ahead("run", missing, "hi", *words)
            self.assert_refused(done, missing)
            self.assertRegex(done.stderr.decode(), f"(?m)^ahead: note: {named} without effect: ")

    def test_models_that_are_none(self):
        missing = self.path("none.gguf")
        text = self.file("text.gguf", b"this is not a model, whatever its name says\n" * 50)
        empty = self.file("empty.gguf", b"")
        folder = self.path("folder")
        os.mkdir(folder)
        for model in (missing, text, empty, folder):
            for command in (["run", model, "hi"], ["inspect", model]):
                with self.subTest(command=command):
                    self.assert_refused(ahead(*command), model)

    def test_an_ir_folder_without_its_weights(self):
        source = DEPS / "test-ir"
        if not source.is_dir():
            self.skipTest("there is no IR folder; scripts/setup.sh --tests makes it")
        folder = self.path("ir")
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("openvino_model.bin"))
        self.assert_refused(ahead("run", folder, "hi"), folder)


class RefusedByTheModel(CliTest):
    def test_an_unknown_device(self):
        self.assert_refused(ahead("run", MODEL, "hi", "--device", "XPU", "-q"), "XPU")

    def test_a_core_that_is_not_there_beside_one_that_is(self):
        core = min(os.sched_getaffinity(0))
        for option in ("--device-cores", "--compile-cores"):
            self.assert_refused(ahead("run", MODEL, "hi", option, f"{core},1023", "-q"),
                                "core 1023 ")

    def test_a_ladder_beyond_the_trained_context(self):
        self.assert_refused(ahead("run", MODEL, "hi", "--ladder", "8192,16384", "-q"), "16384",
                            "8192")

    def test_a_prompt_longer_than_the_last_rung(self):
        self.assert_refused(
            ahead("run", MODEL, "--force", FORCED, "--prompt-tokens", "129", "--ladder", "64,128",
                  "-q"), "129", "128")

    def test_prompts_without_tokens_and_ids_outside_the_vocabulary(self):
        self.assert_refused(ahead("run", MODEL, "", "-q"), "prompt is empty")
        ids = self.file("f.ids", b"1 2 999999")
        self.assert_refused(ahead("run", MODEL, "--force", ids, "--prompt-tokens", "1", "-q"),
                            "999999", ids)


class Inspect(CliTest):
    def test_facts_ladder_and_parts(self):
        done = ahead("inspect", MODEL, "--json", "--ladder", "64,128", "--partition", "whole")
        self.assert_exit(done, OK)
        report = json.loads(done.stdout)
        model = report["model"]
        self.assertEqual((model["architecture"], model["layers"], model["q_heads"],
                          model["kv_heads"], model["head_dim"], model["vocabulary"],
                          model["trained_context"]), ("llama", 30, 9, 3, 64, 49152, 8192))
        self.assertRegex(model["sha256"], "^[0-9a-f]{64}$")
        a_token = 30 * 3 * 64 * 2
        self.assertEqual([rung["kv_bytes"] for rung in report["ladder"]],
                         [{"f32": a_token * rung * 4, "f16": a_token * rung * 2}
                          for rung in (64, 128)])
        self.assertEqual({(part["part"], part["rung"]) for part in report["parts"]},
                         {("prefill", 64), ("decode", 64), ("prefill", 128), ("decode", 128)})
        self.assertEqual({part["rung"]: part["tokens"] for part in report["parts"]
                          if part["part"] == "prefill"}, {64: 64, 128: 128})

    def test_parts_of_a_model_cut_at_attention(self):
        done = ahead("inspect", MODEL, "--json", "--ladder", "128,256", "--partition", "attention")
        self.assert_exit(done, OK)
        report = json.loads(done.stdout)
        self.assertEqual(report["partition"], "attention")
        self.assertEqual([(part["part"], part["tokens"], part["graphs"])
                          for part in report["parts"] if part["rung"] is None],
                         [("prefill", 128, 31), ("decode", 1, 31)])


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
        self.assertEqual(result["axes"], {"ladder": [64, 320, 384], "schedule": "one-ahead",
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

    def test_copy_grow_copies_its_live_rows(self):
        json_file = self.path("run.json")
        done = ahead("run", MODEL, "The sea is", "--ladder", "32,64", "--kv", "copy-grow",
                     "--kv-type", "f32", "--ignore-eos", "--max-new-tokens", "40", "--json",
                     json_file, "--quiet")
        self.assert_exit(done, OK)
        result = json.loads(pathlib.Path(json_file).read_text())
        self.assertEqual([b["copied_bytes"] for b in result["boundaries"]],
                         [32 * 30 * 3 * 64 * 2 * 4])

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
        self.assertIn("decode@384", hidden_compiles(self.result, self.trace))

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


class InBlocks(CliTest):
    def test_groups_of_layers_give_the_tokens_of_the_whole_graph(self):
        ids = {}
        with tempfile.TemporaryDirectory() as results:
            for partition in ("whole", "blocks:10"):
                json_file = os.path.join(results, "run.json")
                done = ahead("run", MODEL, "The sea is", "--partition", partition, "--ladder",
                             "64,128", "--max-new-tokens", "80", "--ignore-eos", "--quiet",
                             "--json", json_file)
                self.assert_exit(done, OK)
                result = json.loads(pathlib.Path(json_file).read_text())
                self.assertEqual(result["axes"]["partition"], partition)
                self.assertEqual([boundary["to"] for boundary in result["boundaries"]], [128])
                ids[partition] = result["output"]["token_ids"]
        self.assertEqual(len(ids["whole"]), 80)
        self.assertEqual(ids["blocks:10"], ids["whole"])


class AnEagerRun(CliTest):
    def test_its_trace_shows_no_compile_beside_decode(self):
        json_file, trace_file = self.path("run.json"), self.path("run.trace.json")
        done = ahead("run", MODEL, "--design", "b1", "--force", FORCED, "--prompt-tokens", "40",
                     "--ladder", "64,128", "--max-new-tokens", "34", "--json", json_file, "--trace",
                     trace_file, "-q")
        self.assert_exit(done, OK)
        result = json.loads(pathlib.Path(json_file).read_text())
        trace = json.loads(pathlib.Path(trace_file).read_text())
        self.assertIn("decode@128", [event["name"] for event in trace["traceEvents"]])
        self.assertEqual(hidden_compiles(result, trace), set())
        self.assertEqual(overlaps(result, trace), [])
        self.assertTrue(all(record["foreground"] for record in result["compiles"]))


class WhatGoesWrong(CliTest):
    def test_a_background_compile_that_fails_keeps_what_was_produced(self):
        json_file = self.path("run.json")
        done = ahead("run", MODEL, "--force", FORCED, "--prompt-tokens", "40", "--ladder",
                     "64,128", "--inject-compile-failure", "128=the compiler ate it", "--json",
                     json_file, "-q")
        self.assert_exit(done, FAILED)
        result = json.loads(pathlib.Path(json_file).read_text())
        # The rung is full, and its last step chose one token more.
        self.assertEqual(result["tokens"]["prompt"] + result["tokens"]["generated"], 65)
        self.assertEqual(done.stdout.decode().strip(), result["output"]["text"].strip())
        self.assertGreater(len(done.stdout), 40)
        error = done.stderr.decode()
        self.assertEqual(error.count("\n"), 1, error)
        self.assertTrue(error.startswith("ahead: error: "), error)
        self.assertIn("128", error)
        self.assertIn("the compiler ate it", error)
        self.assertIn("the compiler ate it", result["error"])
        self.assertEqual(result["finish_reason"], "error")

    def test_an_interrupt_while_decoding_keeps_what_was_produced(self):
        json_file = self.path("run.json")
        run = start("run", MODEL, "Once upon a time", "--ignore-eos", "--ladder", "512,1024",
                    "--json", json_file)
        first = os.read(run.stdout.fileno(), 1)  # Decoding, and compiling 1024 behind it.
        run.send_signal(signal.SIGINT)
        sent = time.monotonic()
        rest, error = run.communicate(timeout=60)
        self.assertLess(time.monotonic() - sent, 3)
        self.assertEqual(run.returncode, INTERRUPTED, error)
        result = json.loads(pathlib.Path(json_file).read_text())
        self.assertEqual(result["finish_reason"], "cancelled")
        self.assertEqual((first + rest).decode().strip(), result["output"]["text"].strip())
        self.assertIn(b"interrupted", error)

    def test_an_interrupt_while_compiling_ends_promptly(self):
        json_file = self.path("run.json")
        run = start("run", MODEL, "hi", "--design", "b1", "--ladder", "1024,2048,4096,8192",
                    "--json", json_file)
        for line in run.stderr:
            if b"compiling" in line:
                break
        run.send_signal(signal.SIGTERM)
        sent = time.monotonic()
        out, error = run.communicate(timeout=60)
        self.assertLess(time.monotonic() - sent, 3)
        self.assertEqual((run.returncode, out), (INTERRUPTED, b""), error)
        self.assertEqual(json.loads(pathlib.Path(json_file).read_text())["finish_reason"],
                         "cancelled")

    def test_an_interrupt_while_the_model_is_read_ends_promptly(self):
        run = start("run", MODEL, "hi")
        self.assertIn(b"reading", run.stderr.readline())
        run.send_signal(signal.SIGINT)
        sent = time.monotonic()
        out, error = run.communicate(timeout=60)
        self.assertLess(time.monotonic() - sent, 3)
        self.assertEqual((run.returncode, out), (INTERRUPTED, b""), error)
        self.assertIn(b"interrupted while the model was read", error)

    def test_an_interrupt_while_verify_waits_for_a_background_compile_ends_promptly(self):
        json_file = self.path("run.json")
        # The prompt crosses a boundary; a stop ends the run while the decode program compiles.
        run = start("run", MODEL, "--force", FORCED, "--prompt-tokens", "66", "--ladder", "64,2048",
                    *(word for letter in " aeiou.,\n" for word in ("--stop", letter)), "--verify",
                    "--json", json_file)
        for line in run.stderr:
            if b"making room" in line:
                break
        run.send_signal(signal.SIGINT)
        sent = time.monotonic()
        out, error = run.communicate(timeout=60)
        self.assertLess(time.monotonic() - sent, 3)
        self.assertEqual(run.returncode, INTERRUPTED, error)
        self.assertNotIn(b"compiling", error)
        self.assertIn(b"interrupted", error)
        result = json.loads(pathlib.Path(json_file).read_text())
        self.assertEqual(result["finish_reason"], "stop")
        self.assertEqual(out.decode().strip(), result["output"]["text"].strip())

    def test_a_full_disk_loses_no_text(self):
        done = ahead("run", MODEL, "Once upon a time", "--ladder", "64", "--max-new-tokens", "5",
                     "--json", "/dev/full", "-q")
        self.assert_exit(done, FAILED)
        self.assertGreater(len(done.stdout.strip()), 5)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertIn(b"'/dev/full'", done.stderr)

    def test_a_reader_that_leaves_ends_the_run_quietly(self):
        run = start("run", MODEL, "Once upon a time", "--ignore-eos", "--ladder", "64,128", "-q")
        os.read(run.stdout.fileno(), 1)
        run.stdout.close()
        self.assertEqual(run.stderr.read(), b"")
        run.stderr.close()
        self.assertEqual(run.wait(timeout=60), FAILED)


class Batch(CliTest):
    def test_rows_run_together_and_what_cannot_run_is_reported(self):
        """Each row has its own length, end and rung; nothing of a bad row stops the others."""
        lines = ["The sea is", "", "Once upon a time there was a lighthouse", "word " * 100,
                 "The keeper wrote"]
        prompts = self.file("prompts.txt", "\n".join(lines).encode())
        options = ["--ladder", "16,32,64", "--max-new-tokens", "24", "--ignore-eos", "--kv-type",
                   "f32"]
        json_file = self.path("batch.json")
        done = ahead("run", MODEL, "--batch", prompts, *options, "--json", json_file)
        self.assert_exit(done, FAILED)
        error = done.stderr.decode()
        self.assertRegex(error, r"line 2 of --batch did not run: .*no tokens")
        self.assertRegex(error, r"line 4 of --batch did not run: .*last rung of 64")
        rows = json.loads(pathlib.Path(json_file).read_text())["rows"]
        self.assertEqual([bool(row["error"]) for row in rows], [False, True, False, True, False])
        out = done.stdout.decode()
        for number in (0, 2, 4):
            row = rows[number]
            self.assertEqual(row["generated"], 24)
            self.assertEqual(row["finish_reason"], "max_tokens")
            self.assertGreaterEqual(row["rung"], row["prompt"] + 23)
            self.assertIn(f"=== line {number + 1}\n{row['output']['text']}\n", out)
        alone_file = self.path("alone.json")
        alone = ahead("run", MODEL, lines[2], *options, "--json", alone_file, "--quiet")
        self.assert_exit(alone, OK)
        alone = json.loads(pathlib.Path(alone_file).read_text())
        self.assertEqual(rows[2]["output"]["token_ids"], alone["output"]["token_ids"])
        self.assertNotIn("rows", alone)

    def test_more_rows_than_a_batch_has_are_reported(self):
        prompts = self.file("prompts.txt", b"The sea is\n" * 10)
        done = ahead("run", MODEL, "--batch", prompts, "--ladder", "16", "--max-new-tokens", "2",
                     "--quiet")
        self.assert_exit(done, FAILED)
        for line in (9, 10):
            self.assertRegex(done.stderr.decode(), f"line {line} of --batch did not run: .*8 rows")
        self.assertEqual(done.stdout.decode().count("=== line "), 8)

    def test_a_batch_that_cannot_be_is_refused(self):
        empty = self.file("empty.txt", b"")
        for words, said in ((["--batch", self.path("none.txt")], "none.txt"),
                            (["--batch", empty], "no line"),
                            (["A prompt", "--batch", empty], "more than one prompt"),
                            (["--batch", empty, "--verify"], "--verify"),
                            (["A prompt", "--resident", "0"], "--resident")):
            with self.subTest(words=words):
                done = ahead("run", MODEL, *words)
                self.assert_exit(done, USAGE)
                self.assertIn(said, done.stderr.decode())


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
