#!/usr/bin/env python3
"""Model files as people bring them: other names, other things than models, metadata that ask for more,
files that change while they are in use. On the tiny model where one is needed at all."""
import hashlib
import json
import os
import pathlib
import struct
import subprocess
import unittest

from cli_support import AHEAD, CliTest, DEPS, FAILED, OK, ahead, default_signals, start
from gguf_file import ARRAY, BOOL, F32, GgufFile, I32, STRING, U16, U32, U64

TINY = str(DEPS / "test-qwen2.gguf")
IR = DEPS / "test-ir"
QUIET = ["--history", "none", "-q"]
SHORT = ["--ladder", "64", "--max-new-tokens", "4", "--ignore-eos", *QUIET]


class ModelFiles(CliTest):
    def edited(self, name="edited.gguf", **changes):
        """The tiny file with metadata set, "_" in place of "."; None takes a key away."""
        gguf = GgufFile(TINY)
        for key, value in changes.items():
            gguf.meta.pop(key, None)
            if value is not None:
                gguf.meta[key] = value
        return self.file(name, gguf.bytes())

    def inspected(self, path, **options):
        return subprocess.run([AHEAD, "inspect", path, "--ladder", "64"], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False, **options)

    def assert_read(self, done):
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn(b"qwen2", done.stdout)


class Names(ModelFiles):
    def test_a_gguf_file_is_one_whatever_its_name(self):
        for name in ("sha256-2b1e8a1f0c5d", "model.GGUF", "model.gguf?download=true", ".gguf",
                     "a b'\"$(c).bin", b"\xff\xfe\x0a.dat"):
            with self.subTest(name=name):
                path = os.path.join(os.fsencode(self.folder), os.fsencode(name))
                os.symlink(os.path.abspath(TINY), path)
                self.assert_read(self.inspected(path))

    def test_links_of_a_hubs_cache_and_relative_paths_are_followed(self):
        os.makedirs(self.path("blobs"))
        os.makedirs(self.path("snapshots/1"))
        os.symlink(os.path.abspath(TINY), self.path("blobs/0123"))
        os.symlink("../../blobs/0123", self.path("snapshots/1/model.gguf"))
        self.assert_read(self.inspected("snapshots/1/model.gguf", cwd=self.folder))
        self.assert_read(self.inspected("0123", cwd=self.path("blobs")))

    def test_the_link_that_openvino_needs_goes_again(self):
        os.symlink(os.path.abspath(TINY), self.path("blob"))
        os.makedirs(self.path("t"))
        self.assert_read(self.inspected(self.path("blob"),
                                        env={**os.environ, "TMPDIR": self.path("t")}))
        self.assertEqual(os.listdir(self.path("t")), [])

    def test_a_folder_for_the_link_that_cannot_be_written_is_passed_over(self):
        os.symlink(os.path.abspath(TINY), self.path("blob"))
        self.assert_read(self.inspected(self.path("blob"), env={**os.environ, "TMPDIR": "/proc"}))

    def test_standard_input_may_be_the_file(self):
        with open(TINY, "rb") as model:
            done = subprocess.run([AHEAD, "inspect", "/dev/stdin", "--ladder", "64"], stdin=model,
                                  capture_output=True, timeout=60, check=False)
        self.assert_read(done)


class OtherThings(ModelFiles):
    def test_files_that_are_no_models_are_named_with_what_to_do(self):
        header = b'{"a":1}   '
        things = {
            "pointer.gguf": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
                             "git lfs pull"),
            "page.gguf": (b"<!doctype html>\n<html></html>\n", "web page"),
            "m.safetensors": (struct.pack("<Q", len(header)) + header, "optimum-cli"),
            "openvino_model.xml": (b'<?xml version="1.0"?>\n<net name="m" version="11"/>',
                                   "give the folder"),
            "model.pt": (b"PK\3\4\0\0archive/data.pkl", "PyTorch"),
            "empty.gguf": (b"", "empty"),
            "zeros.gguf": (bytes(5000), "zero bytes"),
            "answer.gguf": (b'{"error":"Repository not found"}', "Repository not found"),
            "text.gguf": (b"Entry not found", "'Entry not found'"),
            "ggjt.bin": (b"tjgg\3\0\0\0", "before GGUF"),
            "packed.gguf": (b"\x1f\x8b\x08\0", "gzip"),
            "v1.gguf": (b"GGUF\1\0\0\0", "version 1"),
            "big.gguf": (GgufFile(TINY).bytes(order=">"), "byte order"),
        }
        for name, (contents, word) in things.items():
            with self.subTest(name=name):
                self.assert_refused(ahead("run", self.file(name, contents), "Hi", *SHORT),
                                    name + "'", word)

    def test_gguf_files_that_hold_no_whole_model_are_named(self):
        for word, changes in {
                "part 2 of 3": {"split.count": (U16, 3), "split.no": (U16, 1)},
                "an adapter": {"general.type": (STRING, "adapter")},
                "see or hear": {"general.type": (STRING, "mmproj")}}.items():
            with self.subTest(word=word):
                self.assert_refused(ahead("run", self.edited(**changes), "Hi", *SHORT), word)
        vocabulary = GgufFile(TINY)
        vocabulary.tensors = {}
        self.assert_refused(ahead("run", self.file("v.gguf", vocabulary.bytes()), "Hi", *SHORT),
                            "a vocabulary without weights")

    def test_folders_say_which_file_to_give_or_what_to_do_first(self):
        gguf = pathlib.Path(TINY).read_bytes()
        for number, (files, word) in enumerate((({"a.gguf": gguf}, "'a.gguf'"),
                                                ({"0123": gguf}, "'0123'"),
                                                ({"model.safetensors": bytes(9)}, "optimum-cli"),
                                                ({}, "is empty"))):
            with self.subTest(files=list(files)):
                os.makedirs(self.path(str(number)))
                for name, contents in files.items():
                    self.file(f"{number}/{name}", contents)
                self.assert_refused(ahead("run", self.path(str(number)), "Hi", *SHORT), word)

    def test_an_ir_folder_of_pointers_is_named(self):
        pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
        self.file("openvino_model.xml", b'<?xml version="1.0"?><net name="m" version="11"/>')
        self.file("openvino_model.bin", pointer)
        self.assert_refused(ahead("run", self.folder, "Hi", *SHORT), "openvino_model.bin'", "lfs")
        self.file("openvino_model.xml", pointer)
        self.assert_refused(ahead("run", self.folder, "Hi", *SHORT), "openvino_model.xml'", "lfs")


class AnIrFolder(ModelFiles):
    def setUp(self):
        super().setUp()
        for file in IR.iterdir():
            if file.name != "config.json":
                os.symlink(file.resolve(), self.path(file.name))

    def test_of_links_with_infinity_and_an_escape_sequence_is_read(self):
        self.file("config.json", b'{"model_type": "lla\\u001b[31m\\u009bma\\nx", "a": [-Infinity, NaN],'
                                 b' "max_position_embeddings": 8192, "eos_token_id": 2}')
        done = ahead("inspect", self.folder, "--ladder", "64")
        self.assert_exit(done, OK)
        self.assertNotIn(b"\x1b", done.stdout + done.stderr)
        self.assertNotIn("\x9b", (done.stdout + done.stderr).decode())
        self.assertIn(b"8192 tokens", done.stdout)

    def test_broken_json_is_named_with_its_place(self):
        self.file("config.json", b'{"model_type": "llama",\n "x": }')
        self.assert_refused(ahead("inspect", self.folder), "config.json'", "line 2, column 7")


class Metadata(ModelFiles):
    def test_what_would_be_left_out_is_refused_by_name(self):
        for name, value in {
                "qwen2.rope.scale_linear": (F32, 4.0),
                "qwen2.rope.scaling.type": (STRING, "spiral"),
                "qwen2.attention.causal": (BOOL, False),
                "qwen2.pooling_type": (U32, 3)}.items():
            with self.subTest(name=name):
                self.assert_refused(ahead("run", self.edited(**{name: value}), "Hi", *SHORT), name,
                                    "IR folder")
        factors = GgufFile(TINY)
        factors.add_floats("rope_freqs.weight", [1.0] * 7 + [8.0])
        self.assert_refused(ahead("run", self.file("f.gguf", factors.bytes()), "Hi", *SHORT),
                            "rope_freqs.weight")

    def test_what_nobody_needs_does_no_harm(self):
        factors = GgufFile(TINY)
        factors.add_floats("rope_freqs.weight", [1.0] * 8)
        factors.meta.update({
            "x.bools": (ARRAY, (BOOL, [True, False])), "general.tags": (ARRAY, (STRING, [])),
            "x.count": (U64, 7), "x.half": (12, 0.5), "x.text": (STRING, ""),
            "tokenizer.ggml.eos_token_id": (U64, factors.meta["tokenizer.ggml.eos_token_id"][1]),
            "tokenizer.ggml.eot_token_id": (I32, -1)})
        factors.meta["general.architecture"] = factors.meta.pop("general.architecture")
        factors.meta.pop("qwen2.context_length")
        self.assert_read(self.inspected(self.file("harmless.gguf", factors.bytes())))

    def test_what_openvino_cannot_read_is_refused_by_name(self):
        for name, value in {"x.nested": (ARRAY, (ARRAY, [(U32, [1]), (U32, [2])])),
                            "qwen2.block_count": (U64, 4),
                            "tokenizer.ggml.pre": None}.items():
            with self.subTest(name=name):
                self.assert_refused(ahead("run", self.edited(**{name: value}), "Hi", *SHORT), name)


class BrokenNumbers(ModelFiles):
    def test_are_an_error_in_sampled_forced_batch_and_verified_runs(self):
        broken = GgufFile(TINY)
        extents, kind, data = broken.tensors["output_norm.weight"]
        broken.tensors["output_norm.weight"] = (extents, kind, struct.pack("<f", float("nan")) +
                                                data[4:])
        model = self.file("nan.gguf", broken.bytes())
        ids = self.file("f.ids", b"[10, 20, 30, 40]")
        prompts = self.file("p.txt", b"one\ntwo\n")
        for words in (["the"], ["--force", ids, "--prompt-tokens", "1"], ["--batch", prompts],
                      ["--force", ids, "--prompt-tokens", "1", "--verify"]):
            with self.subTest(words=words):
                done = ahead("run", model, *words, "--ladder", "64", "--max-new-tokens", "3", *QUIET)
                self.assert_exit(done, FAILED)
                error = done.stderr.decode()
                self.assertIn("NaN", error)
                self.assertIn("file", error)
                self.assertIn("device", error)


class FewerTokensThanLogits(ModelFiles):
    def test_ids_without_text_are_run_and_break_nothing(self):
        gguf = GgufFile(TINY)
        kind, (inner, tokens) = gguf.meta["tokenizer.ggml.tokens"]
        gone = set(tokens[-10:])
        gguf.meta["tokenizer.ggml.tokens"] = (kind, (inner, tokens[:-10]))
        kind, (inner, types) = gguf.meta["tokenizer.ggml.token_type"]
        gguf.meta["tokenizer.ggml.token_type"] = (kind, (inner, types[:-10]))
        kind, (inner, merges) = gguf.meta["tokenizer.ggml.merges"]
        gguf.meta["tokenizer.ggml.merges"] = (kind, (inner, [
            m for m in merges if m.replace(b" ", b"") not in gone]))
        for name in ("bos", "eos", "padding"):
            gguf.meta.pop(f"tokenizer.ggml.{name}_token_id", None)
        last = len(tokens) - 1
        ids = self.file("f.ids", json.dumps([5, last, last - 1, 6]).encode())
        done = ahead("run", self.file("fewer.gguf", gguf.bytes()), "--force", ids, "--prompt-tokens",
                     "1", "--ladder", "64", *QUIET, "--json", self.path("r.json"))
        self.assert_exit(done, OK)
        done.stdout.decode()
        result = json.loads(pathlib.Path(self.path("r.json")).read_text())
        self.assertEqual(result["output"]["token_ids"], [last, last - 1, 6])


class AModelThatGoes(ModelFiles):
    """The run goes on with the file that it opened, and so does the checksum."""

    def run_while(self, change):
        model = self.file("m.gguf", pathlib.Path(TINY).read_bytes())
        run = start("run", model, "the", "--ladder", "512", "--max-new-tokens", "300",
                    "--ignore-eos", *QUIET, "--json", self.path("r.json"))
        os.read(run.stdout.fileno(), 1)
        change(model)
        _, error = run.communicate(timeout=60)
        return run.returncode, error, json.loads(pathlib.Path(self.path("r.json")).read_text())

    def test_a_model_that_is_removed_meanwhile_is_still_the_one_that_ran(self):
        code, error, result = self.run_while(os.remove)
        self.assertEqual(code, OK, error)
        self.assertEqual(result["model"]["sha256"],
                         hashlib.sha256(pathlib.Path(TINY).read_bytes()).hexdigest())

    def test_a_model_that_is_replaced_meanwhile_is_still_the_one_that_ran(self):
        other = self.file("other", b"GGUF, but not for long")
        code, error, result = self.run_while(lambda model: os.replace(other, model))
        self.assertEqual(code, OK, error)
        self.assertEqual(result["model"]["sha256"],
                         hashlib.sha256(pathlib.Path(TINY).read_bytes()).hexdigest())

    def test_a_model_that_is_cut_short_meanwhile_is_told_by_name_and_costs_no_output(self):
        model = self.file("m.gguf", pathlib.Path(TINY).read_bytes())
        run = start("run", model, "the", "--ladder", "512,1024", "--max-new-tokens", "900",
                    "--ignore-eos", "--history", "none", "--json", self.path("r.json"))
        os.read(run.stdout.fileno(), 1)
        os.truncate(model, 1000)
        _, error = run.communicate(timeout=60)
        # An error where something read what is gone, or else a note: there is no checksum.
        self.assertIn(run.returncode, (OK, FAILED), error)
        self.assertIn(b"m.gguf'", error)
        self.assertTrue(json.loads(pathlib.Path(self.path("r.json")).read_text())["tokens"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
