#!/usr/bin/env python3
"""The command line as its users meet it: the real program, run on models.

What does not depend on the model is asked of a tiny one. A run with the real one costs seconds, so
one run answers as many questions as it can.
"""
import json
import os
import pathlib
import shutil
import unittest

from cli_support import (DEPS, FAILED, FORCED, OK, TINY, USAGE, CliTest, ahead, hidden_compiles,
                         overlaps)


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
        self.assert_refused(ahead("run", TINY, "hi", "--bogus"), "'--bogus'", "--help")
        self.assert_refused(ahead("run", TINY, "hi", "there"), "'there'")
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
                self.assert_refused(ahead("run", TINY, "hi", *words), *named)
        self.assert_refused(ahead("run", TINY), "no prompt")
        self.assert_refused(ahead("run", TINY, "--prompt-file", "none.txt"), "'none.txt'")

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
        self.assert_refused(ahead("run", TINY, "hi", "--device", "XPU", "-q"), "XPU")

    def test_a_core_that_is_not_there_beside_one_that_is(self):
        core = min(os.sched_getaffinity(0))
        for option in ("--device-cores", "--compile-cores"):
            self.assert_refused(ahead("run", TINY, "hi", option, f"{core},1023", "-q"),
                                "core 1023 ")

    def test_a_ladder_beyond_the_trained_context(self):
        self.assert_refused(ahead("run", TINY, "hi", "--ladder", "1024,2048", "-q"), "2048", "1024")

    def test_a_prompt_longer_than_the_last_rung(self):
        self.assert_refused(
            ahead("run", TINY, "--force", FORCED, "--prompt-tokens", "129", "--ladder", "64,128",
                  "-q"), "129", "128")

    def test_prompts_without_tokens_and_ids_outside_the_vocabulary(self):
        self.assert_refused(ahead("run", TINY, "", "-q"), "prompt is empty")
        ids = self.file("f.ids", b"1 2 999999")
        self.assert_refused(ahead("run", TINY, "--force", ids, "--prompt-tokens", "1", "-q"),
                            "999999", ids)


class Inspect(CliTest):
    def test_facts_ladder_and_parts(self):
        done = ahead("inspect", TINY, "--json", "--ladder", "64,128", "--partition", "whole")
        self.assert_exit(done, OK)
        report = json.loads(done.stdout)
        model = report["model"]
        self.assertEqual((model["architecture"], model["layers"], model["q_heads"],
                          model["kv_heads"], model["head_dim"], model["vocabulary"],
                          model["trained_context"]), ("qwen2", 4, 8, 2, 16, 299, 1024))
        self.assertRegex(model["sha256"], "^[0-9a-f]{64}$")
        a_token = 4 * 2 * 16 * 2
        self.assertEqual([rung["kv_bytes"] for rung in report["ladder"]],
                         [{"f32": a_token * rung * 4, "f16": a_token * rung * 2}
                          for rung in (64, 128)])
        self.assertEqual({(part["part"], part["rung"]) for part in report["parts"]},
                         {("prefill", 64), ("decode", 64), ("prefill", 128), ("decode", 128)})
        self.assertEqual({part["rung"]: part["tokens"] for part in report["parts"]
                          if part["part"] == "prefill"}, {64: 64, 128: 128})

    def test_parts_of_a_model_cut_at_attention(self):
        done = ahead("inspect", TINY, "--json", "--ladder", "128,256", "--partition", "attention")
        self.assert_exit(done, OK)
        report = json.loads(done.stdout)
        self.assertEqual(report["partition"], "attention")
        self.assertEqual([(part["part"], part["tokens"], part["graphs"])
                          for part in report["parts"] if part["rung"] is None],
                         [("prefill", 128, 5), ("decode", 1, 5)])


class OnTheTinyModel(CliTest):
    def test_copy_grow_copies_its_live_rows(self):
        json_file = self.path("run.json")
        done = ahead("run", TINY, "The sea is", "--ladder", "32,64", "--kv", "copy-grow",
                     "--kv-type", "f32", "--ignore-eos", "--max-new-tokens", "40", "--json",
                     json_file, "--quiet")
        self.assert_exit(done, OK)
        result = json.loads(pathlib.Path(json_file).read_text())
        self.assertEqual([b["copied_bytes"] for b in result["boundaries"]],
                         [32 * 4 * 2 * 16 * 2 * 4])

    def test_groups_of_layers_agree_with_the_control(self):
        """Under forced tokens: which form makes a token depends on when compiles end, and forms may
        turn a tie."""
        json_file = self.path("run.json")
        done = ahead("run", TINY, "--force", FORCED, "--prompt-tokens", "40", "--partition",
                     "blocks:2", "--ladder", "64,128", "--max-new-tokens", "40", "--verify",
                     "--quiet", "--json", json_file)
        self.assert_exit(done, OK)
        result = json.loads(pathlib.Path(json_file).read_text())
        self.assertEqual(result["axes"]["partition"], "blocks:2")
        self.assertEqual([boundary["to"] for boundary in result["boundaries"]], [128])
        self.assertEqual(result["tokens"]["generated"], 40)
        self.assertTrue(result["verify"]["passed"])
        self.assertEqual([(b["compared"], b["top1_equal"]) for b in
                          result["verify"]["boundaries"]], [(16, 16)])


class AnEagerRun(CliTest):
    def test_its_trace_shows_no_compile_beside_decode(self):
        json_file, trace_file = self.path("run.json"), self.path("run.trace.json")
        done = ahead("run", TINY, "--design", "b1", "--force", FORCED, "--prompt-tokens", "40",
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
        # One form and f32: no tie turns with who else runs, or with when a compile ends.
        options = ["--raw", "--ladder", "16,32,64", "--max-new-tokens", "24", "--ignore-eos", "--kv-type",
                   "f32", "--schedule", "one-ahead"]
        json_file = self.path("batch.json")
        done = ahead("run", TINY, "--batch", prompts, *options, "--json", json_file)
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
        alone = ahead("run", TINY, lines[2], *options, "--json", alone_file, "--quiet")
        self.assert_exit(alone, OK)
        alone = json.loads(pathlib.Path(alone_file).read_text())
        self.assertEqual(rows[2]["output"]["token_ids"], alone["output"]["token_ids"])
        self.assertNotIn("rows", alone)

    def test_more_rows_than_a_batch_has_are_reported(self):
        prompts = self.file("prompts.txt", b"The sea is\n" * 10)
        done = ahead("run", TINY, "--batch", prompts, "--raw", "--ladder", "16", "--max-new-tokens", "2",
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
                done = ahead("run", TINY, *words)
                self.assert_exit(done, USAGE)
                self.assertIn(said, done.stderr.decode())


if __name__ == "__main__":
    unittest.main(verbosity=2)
