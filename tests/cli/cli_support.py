"""What the tests of the command line share: the program, how it is run, what is asserted of a run.

Environment: AHEAD_BIN, the program; AHEAD_DEPS_DIR, the folder that scripts/setup.sh filled.
"""
import atexit
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
AHEAD = os.environ.get("AHEAD_BIN", str(ROOT / "build/release/ahead"))
DEPS = pathlib.Path(os.environ.get("AHEAD_DEPS_DIR", ROOT / ".deps"))
MODEL = os.environ.get("AHEAD_MODEL", str(DEPS / "model/SmolLM2-135M-Instruct.Q4_1.gguf"))
# Four layers, a vocabulary of 305 and a context of 1024: for what does not depend on the model.
TINY = str(DEPS / "test-qwen2.gguf")
FORCED = str(ROOT / "data/forced.txt")

# Histories of other runs are no part of a test, and tests leave none behind.
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="ahead-cache-")
atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], ignore_errors=True)

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def default_signals():
    """A shell that runs its jobs in the background starts them with SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def ahead(*words, stdout=subprocess.PIPE):
    return subprocess.run([AHEAD, *words], stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, timeout=300, check=False,
                          preexec_fn=default_signals)


def start(*words, **options):
    return subprocess.Popen([AHEAD, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, preexec_fn=default_signals, **options)


def overlaps(result, trace):
    """Pairs of a compile's record and a span of decode steps that ran at the same time."""
    events = trace["traceEvents"]
    rows = {event["tid"]: event["args"]["name"] for event in events
            if event["ph"] == "M" and event["name"] == "thread_name"}
    spans = [(rows[event["tid"]], event["name"], event["ts"], event["ts"] + event["dur"])
             for event in events if event["ph"] == "X"]
    records = {name_of(record): record for record in result["compiles"]}
    return [(records[name], step) for row, name, begin, end in spans
            for row2, step, begin2, end2 in spans
            if row == "compiler" and name in records and
            row2 == "device" and re.fullmatch(r"decode@\d+", step) and
            begin < end2 and begin2 < end]


def name_of(record):
    """As the trace calls it."""
    tier = f" tier {record['tier']}" if record["tier"] else ""
    return f"{record['part']}@{record['rung']}{tier}"


def hidden_compiles(result, trace):
    """Compiles beside decode that nobody waited for."""
    return {name_of(record) for record, _ in overlaps(result, trace)
            if record["waited_s"] == 0}


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ahead-cli-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, contents):
        path = self.path(name)
        pathlib.Path(path).write_bytes(contents)
        return path

    def assert_exit(self, done, code):
        self.assertEqual(done.returncode, code, (done.args, done.stderr))

    def assert_refused(self, done, *named, code=USAGE):
        """One line of error that names the value, no output, no crash."""
        self.assert_exit(done, code)
        errors = [line for line in done.stderr.decode().splitlines() if "error:" in line]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertTrue(errors[0].startswith("ahead: error: "), errors[0])
        self.assertEqual(errors[0], done.stderr.decode().splitlines()[-1])
        self.assertLess(len(errors[0]), 500)
        for name in named:
            self.assertIn(name, errors[0])
        self.assertEqual(done.stdout, b"")
