#!/usr/bin/env python3
"""Runs a program and then burns a given percentage of the processor time that it took.

usage: slowed.py PERCENT PROGRAM ARGUMENT...

For campaigns that test the lab itself: an arm that is slowed on purpose must be told from one that is not. Held to one
core, a run takes PERCENT longer so. Prints what it did as one line of JSON.
"""

import ctypes
import json
import resource
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> int:
    percent, words = float(sys.argv[1]), sys.argv[2:]
    child = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=die_with_parent,
                           check=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    took_s = used.ru_utime + used.ru_stime
    added_s = took_s * percent / 100
    begin = time.process_time()
    while time.process_time() - begin < added_s:
        pass
    if child.returncode == 0:
        print(json.dumps({"processor_s": round(took_s, 3), "added_s": round(added_s, 3)}))
    return child.returncode


if __name__ == "__main__":
    sys.exit(main())
