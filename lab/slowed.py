#!/usr/bin/env python3
"""Runs a program a given percentage slower, by stopping it for a moment ten times a second.

usage: slowed.py PERCENT PROGRAM ARGUMENT... --json FILE

For campaigns that test the lab itself: an arm that is slowed on purpose must be told from one that is not. Prints the
JSON that the program wrote to its --json FILE as one line; the FILE is a name for a file of a temporary folder.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PERIOD_S = 0.1


def main() -> int:
    percent, words = float(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder, "run.json")
        words[words.index("--json") + 1] = str(result)
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        begin, stopped = time.monotonic(), 0.0
        while True:
            try:
                child.wait(PERIOD_S)
                break
            except subprocess.TimeoutExpired:
                pass
            # What is owed by now: stops last longer or shorter than asked for.
            owed = (time.monotonic() - begin) * percent / (100 + percent) - stopped
            if owed <= 0:
                continue
            at = time.monotonic()
            os.kill(child.pid, signal.SIGSTOP)
            time.sleep(owed)
            os.kill(child.pid, signal.SIGCONT)
            stopped += time.monotonic() - at
        if child.returncode == 0:
            print(json.dumps(json.loads(result.read_text(encoding="utf-8"))))
        return child.returncode


if __name__ == "__main__":
    sys.exit(main())
