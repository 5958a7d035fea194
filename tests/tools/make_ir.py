#!/usr/bin/env python3
"""Makes an OpenVINO IR folder, as exported for OpenVINO GenAI, from a GGUF file.

usage: make_ir.py MODEL.gguf OUT

A tool of the tests only: Ahead itself reads GGUF and IR folders natively. OpenVINO GenAI can save
what it reads from GGUF; this takes that, mends what would make it unlike an exported folder, turns
the weights to FP16 and leaves in OUT

  openvino_model.xml/.bin         stateful: input_ids, attention_mask, position_ids, beam_idx
  openvino_tokenizer.xml/.bin     for the OpenVINO tokenizers extension
  openvino_detokenizer.xml/.bin
  config.json                     the facts of the GGUF file under their Hugging Face names

Mended: a 0 in the target shape of a bidirectional Broadcast, where it means "empty" once shapes are
static and 1 is meant; and the names of the value variables, which end in a key's name.
"""

import collections
import json
import pathlib
import re
import shutil
import sys
import tempfile

import gguf
import numpy as np
import openvino as ov
import openvino_genai
from openvino.passes import ConstantFolding, Manager


def facts_of(path: pathlib.Path) -> dict:
    """The GGUF file's hyperparameters, named as a Hugging Face config.json names them."""
    fields = gguf.GGUFReader(path).fields
    arch = fields["general.architecture"].contents()

    def get(key, default=None):
        field = fields.get(key)
        return default if field is None else field.contents()

    heads = get(f"{arch}.attention.head_count")
    hidden = get(f"{arch}.embedding_length")
    return {
        "model_type": arch,
        "max_position_embeddings": get(f"{arch}.context_length"),
        "num_hidden_layers": get(f"{arch}.block_count"),
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_key_value_heads": get(f"{arch}.attention.head_count_kv", heads),
        "head_dim": get(f"{arch}.attention.key_length", hidden // heads),
        "vocab_size": len(get("tokenizer.ggml.tokens")),
        "rope_theta": get(f"{arch}.rope.freq_base"),
        "bos_token_id": get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": get("tokenizer.ggml.eos_token_id"),
    }


def mend_broadcasts(model: ov.Model) -> None:
    one = ov.opset13.constant(np.array([1], np.int64))
    for node in model.get_ops():
        if node.get_type_name() != "Broadcast" or node.get_attributes()["mode"] != "bidirectional":
            continue
        target = node.input_value(1).get_node()
        if target.get_type_name() != "Concat":
            continue
        for element in target.inputs():
            source = element.get_source_output().get_node()
            if source.get_type_name() == "Constant" and (source.get_data() == 0).all():
                element.replace_source_output(one.output(0))
    model.validate_nodes_and_infer_types()


def mend_variable_names(xml: pathlib.Path, layers: int) -> None:
    text = re.sub(
        r'(variable_id="past_key_values\.(\d+)\.value)present\.\d+\.key"',
        r'\1present.\2.value"',
        xml.read_text(),
    )
    uses = collections.Counter(re.findall(r'variable_id="([^"]+)"', text))
    # One read and one write of each, a key and a value a layer.
    if len(uses) != 2 * layers or set(uses.values()) != {2}:
        sys.exit(f"make_ir.py: unexpected variables after renaming: {uses}")
    xml.write_text(text)


def main() -> int:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    facts = facts_of(source)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as scratch:
        # OpenVINO GenAI saves beside the file it is given.
        link = pathlib.Path(scratch, source.name)
        link.symlink_to(source)
        openvino_genai.LLMPipeline(str(link), "CPU", enable_save_ov_model=True)

        # A read model maps its weights file, so it must be gone before the folder is.
        model = ov.Core().read_model(pathlib.Path(scratch, "openvino_model.xml"))
        mend_broadcasts(model)
        manager = Manager()
        manager.register_pass(ConstantFolding())  # unfolds the quantised weights
        manager.run_passes(model)
        ov.save_model(model, out / "openvino_model.xml", compress_to_fp16=True)
        del model
        for name in ("openvino_tokenizer", "openvino_detokenizer"):
            for suffix in (".xml", ".bin"):
                shutil.move(pathlib.Path(scratch, name + suffix), out / (name + suffix))
    mend_variable_names(out / "openvino_model.xml", facts["num_hidden_layers"])
    (out / "config.json").write_text(json.dumps(facts, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
