#!/usr/bin/env python3
"""Writes the token ids and texts that the tokenizer parity test expects.

Takes vocabulary, merges and token types from a GGUF file and builds tokenizers from them with
Hugging Face's `tokenizers` package (pip install tokenizers==0.23.3), pre-tokenizers as the original
models have them. Everything is deterministic.

  make_reference.py --gguf SmolLM2-135M-Instruct.Q4_1.gguf --output smollm2_reference.json

It writes the list below and 250 random texts. With --random N it writes N random texts and no list;
point the test at such a file with AHEAD_TEST_REFERENCE.
"""

import argparse
import hashlib
import json
import pathlib
import random
import struct
import unicodedata

import tokenizers
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
)

UNKNOWN, CONTROL, USER_DEFINED = 2, 3, 4
LISTED = 250  # random texts behind the list
SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
STRING, ARRAY = 8, 9
# GPT-2's expression as IR folders carry it, run by a library that counts U+180E among the spaces.
GPT2_IR = (
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\x{180e}\p{L}\p{N}]+"
    r"|[\s\x{180e}]+(?![^\s\x{180e}])|[\s\x{180e}]+"
)
QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def read_gguf_metadata(path):
    """The key-value part of a GGUF file of version 2 or 3."""
    with open(path, "rb") as file:

        def scalar(code):
            size = struct.calcsize("<" + code)
            return struct.unpack("<" + code, file.read(size))[0]

        def value(kind):
            if kind == STRING:
                return file.read(scalar("Q")).decode("utf-8")
            if kind == ARRAY:
                of, count = scalar("I"), scalar("Q")
                return [value(of) for _ in range(count)]
            return scalar(SCALARS[kind])

        assert file.read(4) == b"GGUF", f"{path} is not a GGUF file"
        scalar("I"), scalar("Q")  # version, number of tensors
        metadata = {}
        for _ in range(scalar("Q")):
            key = value(STRING)
            metadata[key] = value(scalar("I"))
        return metadata


def build(metadata, pre, unknown=None):
    tokens = metadata["tokenizer.ggml.tokens"]
    types = metadata["tokenizer.ggml.token_type"]
    merges = [tuple(merge.split(" ")) for merge in metadata["tokenizer.ggml.merges"]]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, unk_token=unknown))
    byte_level = pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=pre in ("smollm", "gpt-2")
    )
    before = {
        "smollm": [pre_tokenizers.Digits(individual_digits=True)],
        "smollm-ir": [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.Split(Regex(GPT2_IR), "isolated"),
        ],
        "gpt-2": [],
        "qwen2": [pre_tokenizers.Split(Regex(QWEN2), "isolated")],
    }[pre]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(before + [byte_level])
    if pre == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.decoder = decoders.ByteLevel()
    for token, kind in zip(tokens, types):
        if kind in (UNKNOWN, CONTROL):
            tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False)])
        elif kind == USER_DEFINED:
            tokenizer.add_tokens([AddedToken(token, special=False, normalized=False)])
    return tokenizer


TEXTS = json.loads(pathlib.Path(__file__).with_name("strings.json").read_text(encoding="utf-8"))
PROSE, CODE, WORLD = TEXTS["prose"], TEXTS["code"], TEXTS["world"]
EMOJI, MARKS = TEXTS["emoji"], TEXTS["marks"]
WIDE_SPACES = (
    "\u00a0\u1680\u2000\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000\u0085\u180e\u200b\u2060"
)


def listed_texts(special):
    yield ""
    yield from PROSE + CODE + WORLD + EMOJI + MARKS
    for run in (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 32, 64, 100):
        for space in (" ", "\t", "\n", "\r", "\r\n"):
            yield space * run
            yield "a" + space * run + "b"
        yield "a" + " " * run
        yield " " * run + "\n" + " " * run + "1"
    for space in WIDE_SPACES:
        yield space
        yield f"a{space}b {space}{space} 1{space}2{space} "
        yield f"a  {space}!\n\n{space}{space}c {space}"
    for code in list(range(0x20)) + list(range(0x7F, 0xA1)):
        yield chr(code)
        yield f"a{chr(code)}b {chr(code)}{chr(code)} 1"
    yield from TEXTS["numbers"]
    for token in special:
        yield token
        yield f"a{token}b"
        yield f" {token} "
        yield f"{token}{token}\n{token}1"
        yield token[:-1]
        yield token[1:] + " " + token.upper()
    yield "".join(special)
    yield " ".join(special)
    yield from TEXTS["specials"]
    for letter in ("a", "ab", "z", "_", "-", "=", "é", "你", "😀", "の", "!", "aA", " a"):
        for run in (3, 17, 100, 1000):
            yield letter * run
    yield "".join(PROSE + CODE + WORLD + EMOJI)
    for first in (
        0x300,
        0x600,
        0x900,
        0x1F00,
        0x2070,
        0x2190,
        0x2460,
        0x3040,
        0x4E00,
        0xA000,
        0xAC00,
        0xFB00,
        0xFF00,
        0x10300,
        0x1D400,
        0x1F300,
        0x20000,
        0x40000,
        0x10FFF0,
    ):
        yield "".join(chr(code) for code in range(first, first + 16))


def random_texts(count, special):
    """Mixtures of what tends to break pre-tokenizers."""
    source = random.Random(1)
    assigned = [
        chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")
    ]
    words = " ".join(PROSE + CODE + WORLD).split(" ")
    kinds = [
        lambda: source.choice(assigned),
        lambda: source.choice(assigned) * source.randint(1, 9),
        lambda: source.choice(" \t\n\r" + WIDE_SPACES) * source.randint(1, 6),
        lambda: " ",
        lambda: source.choice(words),
        lambda: " " + source.choice(words),
        lambda: str(source.randint(0, 99999)),
        lambda: "".join(
            source.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(source.randint(1, 12))
        ),
        lambda: source.choice("abcxyz.-=_#") * source.randint(1, 40),
        lambda: chr(source.randint(0, 0x2FF)),
        lambda: source.choice(special),
        lambda: source.choice("'<>|.,;:!?()[]{}\"") * source.randint(1, 4),
        lambda: source.choice(EMOJI + MARKS),
    ]
    for _ in range(count):
        yield "".join(source.choice(kinds)() for _ in range(source.randint(1, 12)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gguf", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--random", type=int, default=LISTED)
    arguments = parser.parse_args()

    metadata = read_gguf_metadata(arguments.gguf)
    tokens = metadata["tokenizer.ggml.tokens"]
    special = [
        t
        for t, kind in zip(tokens, metadata["tokenizer.ggml.token_type"])
        if kind in (UNKNOWN, CONTROL, USER_DEFINED)
    ]
    smollm = build(metadata, "smollm")
    # Some writers of IR folders name an unknown token, which then stands for the bytes it lacks.
    unknown = tokens[metadata["tokenizer.ggml.unknown_token_id"]]
    others = {
        "ids_gpt-2": build(metadata, "gpt-2"),
        "ids_qwen2": build(metadata, "qwen2"),
        "ids_ir": build(metadata, "smollm-ir"),
        "ids_ir_unknown": build(metadata, "smollm-ir", unknown),
    }

    texts = random_texts(arguments.random, special)
    if arguments.random == LISTED:
        texts = [*listed_texts(special), *texts]
    cases = []
    for text in dict.fromkeys(texts):
        ids = smollm.encode(text, add_special_tokens=False).ids
        case = {"text": text, "ids": ids, "decoded": smollm.decode(ids, skip_special_tokens=True)}
        for key, tokenizer in others.items():
            other = tokenizer.encode(text, add_special_tokens=False).ids
            if other != ids:
                case[key] = other
        cases.append(case)
    head = {
        "made_by": f"make_reference.py with tokenizers {tokenizers.__version__}",
        "vocabulary_sha256": hashlib.sha256("\n".join(tokens).encode()).hexdigest(),
    }
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    with open(arguments.output, "w", encoding="ascii") as file:
        file.write(json.dumps(head)[:-1] + ',\n "cases": [\n' + lines + "\n]}\n")
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
