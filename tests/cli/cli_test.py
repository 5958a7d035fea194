#!/usr/bin/env python3
"""The command line as its users meet it: the real program, run on a real model.

Every run with a model costs seconds, so one run answers as many questions as it can.
"""
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

from cli_support import DEPS, FAILED, FORCED, MODEL, OK, USAGE, CliTest, ahead


def overlaps(result, trace):
    """Pairs of a compile's record and a span of decode steps that ran at the same time."""
    events = trace["traceEvents"]
    rows = {event["tid"]: event["args"]["name"] for event in events
            if event["ph"] == "M" and event["name"] == "thread_name"}
    spans = [(rows[event["tid"]], event["name"], event["ts"], event["ts"] + event["dur"])
             for event in events if event["ph"] == "X"]
    records = {name_of(record): record for record in result["compiles"]}
    return [(records[name], step) for row, name, begin, end in spans
            for row2, step, begin2, end2 in spans
            if row == "compiler" and name in records and
            row2 == "device" and re.fullmatch(r"decode@\d+", step) and
            begin < end2 and begin2 < end]


def name_of(record):
    """As the trace calls it."""
    tier = f" tier {record['tier']}" if record["tier"] else ""
    return f"{record['part']}@{record['rung']}{tier}"


def hidden_compiles(result, trace):
    """Compiles beside decode that nobody waited for."""
    return {name_of(record) for record, _ in overlaps(result, trace)
            if record["waited_s"] == 0}


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


if __name__ == "__main__":
    unittest.main(verbosity=2)
