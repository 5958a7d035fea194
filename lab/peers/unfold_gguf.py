#!/usr/bin/env python3
"""Writes a GGUF file whose quantised weights are FP16: unfold_gguf.py MODEL.gguf OUT.gguf (gguf from PyPI)"""

import pathlib
import sys

import gguf
import numpy as np


def main() -> None:
    source, out = map(pathlib.Path, sys.argv[1:3])
    if out.exists():
        return
    reader = gguf.GGUFReader(source)
    draft = out.with_suffix(".draft")
    architecture = reader.get_field("general.architecture").contents()
    writer = gguf.GGUFWriter(draft, architecture)
    skipped = {"GGUF.version", "GGUF.tensor_count", "GGUF.kv_count", "general.architecture", "general.file_type",
               "general.quantization_version"}
    for name, field in reader.fields.items():
        if name in skipped:
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, field.contents(), kind, sub_type=inner)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        wide = len(tensor.shape) < 2 or tensor.tensor_type == gguf.GGMLQuantizationType.F32
        writer.add_tensor(tensor.name, values.astype(np.float32 if wide else np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    draft.replace(out)


main()
