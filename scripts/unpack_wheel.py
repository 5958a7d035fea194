#!/usr/bin/env python3
"""Puts some files of a wheel into a folder, all or nothing.

usage: unpack_wheel.py --sha256 HEX WHEEL DESTINATION PATTERN=PREFIX...

Each PATTERN=PREFIX takes the wheel's members that match the shell pattern and strips PREFIX from
their names. The wheel is checked against HEX, each file written is read back and checked against
the wheel's own RECORD, and only then does the folder take the place of what DESTINATION was: an
older folder, a symbolic link (the link goes, not what it points at) or nothing.
Standard library only; reads and writes local files only.
"""

import argparse
import base64
import csv
import fnmatch
import hashlib
import io
import os
import pathlib
import shutil
import sys
import tempfile
import zipfile


class UnpackError(Exception):
    """The text is for the person at the terminal."""


def sha256_of(path: pathlib.Path) -> "hashlib._Hash":
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256")


def record_of(wheel: zipfile.ZipFile) -> dict[str, str]:
    """Member name -> "sha256=..." as the wheel's RECORD has it."""
    names = [n for n in wheel.namelist() if n.endswith(".dist-info/RECORD")]
    if len(names) != 1:
        raise UnpackError(f"{wheel.filename}: expected one RECORD, found {len(names)}")
    rows = csv.reader(io.StringIO(wheel.read(names[0]).decode()))
    return {row[0]: row[1] for row in rows if row}


def select(wheel: zipfile.ZipFile, rules: list[str]) -> dict[str, pathlib.PurePosixPath]:
    """Member name -> path below the destination. Every rule must select something."""
    chosen = {}
    for rule in rules:
        pattern, _, prefix = rule.partition("=")
        hits = [n for n in fnmatch.filter(wheel.namelist(), pattern) if not n.endswith("/")]
        if not hits:
            raise UnpackError(f"{wheel.filename} has no file {pattern}: not the wheel that is pinned")
        for name in hits:
            target = pathlib.PurePosixPath(name.removeprefix(prefix))
            if target.is_absolute() or ".." in target.parts:
                raise UnpackError(f"{wheel.filename}: refusing the member name {name}")
            chosen[name] = target
    return chosen


def extract(wheel: zipfile.ZipFile, rules: list[str], out: pathlib.Path) -> None:
    record = record_of(wheel)
    for name, target in select(wheel, rules).items():
        path = out / target
        path.parent.mkdir(parents=True, exist_ok=True)
        with wheel.open(name) as source, path.open("wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)
        digest = base64.urlsafe_b64encode(sha256_of(path).digest()).rstrip(b"=").decode()
        # RECORD has no hash for the few signature files a wheel may carry.
        if record.get(name) and record[name] != f"sha256={digest}":
            raise UnpackError(f"{path}: written file differs from the wheel's RECORD; check the disk")


def replace(new: pathlib.Path, destination: pathlib.Path, trash: pathlib.Path) -> None:
    if destination.is_symlink() or destination.is_file():
        destination.unlink()
    elif destination.exists():
        destination.rename(trash)
    new.rename(destination)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sha256", required=True)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("destination", type=pathlib.Path)
    parser.add_argument("rules", nargs="+")
    args = parser.parse_args()
    actual = sha256_of(args.wheel).hexdigest()
    if actual != args.sha256:
        raise UnpackError(f"{args.wheel}: sha256 is {actual}, pinned is {args.sha256}")
    # Not through resolve(): a destination that is a link must be replaced, not followed.
    destination = pathlib.Path(os.path.abspath(args.destination))
    destination.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unpack-", dir=destination.parent) as scratch:
        new = pathlib.Path(scratch, "new")
        with zipfile.ZipFile(args.wheel) as wheel:
            extract(wheel, args.rules, new)
        replace(new, destination, pathlib.Path(scratch, "old"))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (UnpackError, OSError, zipfile.BadZipFile) as error:
        sys.exit(f"unpack_wheel.py: {error}")
