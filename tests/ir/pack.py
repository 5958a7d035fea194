#!/usr/bin/env python3
"""Packs the IR folders that make_tiny_ir.py makes into test data: python3 pack.py FOLDER_OF_FOLDERS

Each becomes NAME.tar.gz beside this script, below a megabyte: weights in f16, as exports have them,
and files without times or owners, so that the same folder gives the same archive. Needs openvino
and openvino-tokenizers; the tests unpack the archives.
"""

import gzip
import io
import pathlib
import sys
import tarfile
import tempfile

import openvino as ov
import openvino_tokenizers  # noqa: F401: knows the tokenizers' operations

LIMIT = 1 << 20


def pack(folder: pathlib.Path, archive: pathlib.Path) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        half = pathlib.Path(scratch)
        graph = ov.Core().read_model(folder / "openvino_model.xml")
        ov.save_model(graph, half / "openvino_model.xml", compress_to_fp16=True)
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as tar:
            for file in sorted(folder.iterdir()):
                changed = half / file.name
                data = (changed if changed.exists() else file).read_bytes()
                entry = tarfile.TarInfo(f"{folder.name}/{file.name}")
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
    packed = gzip.compress(content.getvalue(), compresslevel=9, mtime=0)
    archive.write_bytes(packed)
    return len(packed)


def main() -> int:
    here = pathlib.Path(__file__).parent
    for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        size = pack(folder, here / f"{folder.name}.tar.gz")
        print(f"{folder.name}: {size} bytes")
        if size >= LIMIT:
            print(f"{folder.name} is larger than {LIMIT} bytes", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
