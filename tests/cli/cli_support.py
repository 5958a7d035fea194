"""What the tests of the command line share: the program, how it is run, what is asserted of a run.

Environment: AHEAD_BIN, the program; AHEAD_DEPS_DIR, the folder that scripts/setup.sh filled.
"""
import atexit
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
AHEAD = os.environ.get("AHEAD_BIN", str(ROOT / "build/release/ahead"))
DEPS = pathlib.Path(os.environ.get("AHEAD_DEPS_DIR", ROOT / ".deps"))
MODEL = os.environ.get("AHEAD_MODEL", str(DEPS / "model/SmolLM2-135M-Instruct.Q4_1.gguf"))
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
