#!/usr/bin/env python3
"""Makes a stateful FP16 IR of a GGUF file that NPUW and GenAI accept: make_fp16_ir.py MODEL.gguf OUT/

GenAI reads the file; quantised weights are unfolded; two things are put right that NPUW stumbles over: a 0 in the target of
a Broadcast that grows both of its inputs, and a variable of V's that has K's name.
"""

import pathlib
import re
import shutil
import sys

import numpy as np
import openvino as ov
import openvino_genai
from openvino import opset13
from openvino.passes import ConstantFolding, Manager


def main() -> None:
    gguf, out = map(pathlib.Path, sys.argv[1:3])
    if (out / "openvino_model.xml").exists():
        return
    draft = out.with_name(out.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    copy = draft / gguf.name  # GenAI writes the IR beside the file that it reads
    shutil.copy(gguf, copy)
    openvino_genai.LLMPipeline(str(copy), "CPU", enable_save_ov_model=True)
    copy.unlink()

    model = ov.Core().read_model(draft / "openvino_model.xml")
    one = opset13.constant(np.array([1], np.int64))
    for node in model.get_ordered_ops():
        if node.get_type_name() != "Broadcast":
            continue
        target = node.input_value(1).get_node()
        if target.get_type_name() == "Concat" and len(target.inputs()) == 5:
            target.input(3).replace_source_output(one.output(0))
    model.validate_nodes_and_infer_types()
    manager = Manager()
    manager.register_pass(ConstantFolding())
    manager.run_passes(model)
    ov.save_model(model, draft / "whole.xml", compress_to_fp16=True)
    del model
    xml = (draft / "whole.xml").read_text(encoding="utf-8")
    xml = re.sub(r"(past_key_values\.(\d+)\.value)present\.\d+\.key", r"\1present.\2.value", xml)
    (draft / "openvino_model.xml").write_text(xml, encoding="utf-8")
    (draft / "whole.xml").unlink()
    (draft / "whole.bin").replace(draft / "openvino_model.bin")
    draft.rename(out)


main()
