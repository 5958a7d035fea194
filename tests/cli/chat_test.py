#!/usr/bin/env python3
"""`ahead chat` as its users meet it: lines from a pipe, and a terminal. See cli_support for the
environment."""
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import time
import unittest

from cli_support import AHEAD, MODEL, OK, TINY, USAGE, CliTest, ahead

LADDER = ["--ladder", "64,128,256", "--history", "none"]
# The same numbers whether tokens are read one by one, in a chunk, or were kept.
FIXED = [*LADDER, "--schedule", "one-ahead", "--kv-type", "f32", "--chunk", "1"]


class Piped(CliTest):
    def chat(self, lines, *words, model=MODEL):
        return subprocess.run([AHEAD, "chat", model, *words], input="\n".join(lines) + "\n",
                              capture_output=True, text=True, timeout=300)

    def test_the_third_turn_reads_what_is_new_and_answers_as_a_run_of_all_would(self):
        turns, saved = self.path("turns.json"), self.path("chat.json")
        done = self.chat(["My name is Ada, and I like the sea.", "What do I like?",
                          "/undo", "Name a bird.", "And a fish. Say why.", f"/save {saved}"],
                         *FIXED, "--max-new-tokens", "30", "--json", turns)
        self.assertEqual(done.returncode, OK, done.stderr)
        turns = json.loads(pathlib.Path(turns).read_text())
        self.assertEqual(len(turns), 4)
        rungs = [max(map(int, turn["tokens"]["by_rung"])) for turn in turns]
        self.assertEqual(rungs[-1], 256)  # over two boundaries
        last = turns[-1]["tokens"]
        before = turns[-2]["tokens"]
        # All that the turn before had in its cache: its prompt, and its answer but for the last
        # token, which was given out and not read.
        self.assertGreaterEqual(last["kept"], before["prompt"] + before["generated"] - 2)
        self.assertLess(last["prompt"] - last["kept"], 40)
        # Taking back goes back: what was before the question is kept, its answer is not.
        self.assertLess(turns[2]["tokens"]["kept"], turns[1]["tokens"]["prompt"])
        self.assertGreater(turns[2]["tokens"]["kept"], turns[0]["tokens"]["prompt"])

        messages = json.loads(pathlib.Path(saved).read_text())
        self.assertEqual([m["role"] for m in messages], ["user", "assistant"] * 3)
        asked = self.file("asked.json", json.dumps(messages[:-1]).encode())
        alone = ahead("run", MODEL, "--messages", asked, *FIXED, "--max-new-tokens", "30", "-q")
        self.assert_exit(alone, OK)
        self.assertEqual(alone.stdout.decode().rstrip("\n"), messages[-1]["content"].rstrip("\n"))

    def test_a_full_context_is_said_and_nothing_is_dropped(self):
        done = self.chat(["Tell me a story about the sea.", "word " * 300, "/stats", "/drop",
                          "/reset", "Hello."], *LADDER, "--max-new-tokens", "8")
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertRegex(done.stderr, r"the conversation has \d+ tokens, and the context is 256; the "
                                      "question was not asked")
        self.assertIn("1 questions, ", done.stderr)
        self.assertIn("there is no older question", done.stderr)
        self.assertEqual(len(re.findall(r"kept; rung", done.stderr)), 2)

    def test_what_is_refused_is_named(self):
        bare = self.chat(["hi"], "--template", "no-such")
        self.assertEqual(bare.returncode, USAGE)
        self.assertIn("neither a file nor one of chatml", bare.stderr)
        raising = self.file("raising.jinja", b"\n{{ raise_exception('no sailors') }}")
        done = self.chat(["hi"], "--template", raising, *LADDER)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("refuses this conversation (line 2): no sailors", done.stderr)
        loop = self.file("loop.jinja", b"{% for i in range(99999) %}{% for j in range(99999) %}"
                                       b"{% endfor %}{% endfor %}")
        begin = time.monotonic()
        done = self.chat(["hi"], "--template", loop, *LADDER)
        self.assertNotEqual(done.returncode, OK)
        self.assertIn("over its limits", done.stderr)
        self.assertLess(time.monotonic() - begin, 60)


class InATerminal(CliTest):
    def setUp(self):
        super().setUp()
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.environ["TERM"] = "xterm"
            os.execv(AHEAD, [AHEAD, "chat", MODEL, *LADDER, "--ignore-eos", "--max-new-tokens", "150"])
        self.seen = ""

    def tearDown(self):
        os.close(self.terminal)
        try:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        super().tearDown()

    def await_text(self, pattern):
        end = time.monotonic() + 120
        while not re.search(pattern, self.seen):
            self.assertLess(time.monotonic(), end, f"no {pattern} in {self.seen[-2000:]}")
            if select.select([self.terminal], [], [], 1)[0]:
                try:
                    self.seen += os.read(self.terminal, 65536).decode("utf-8", "replace")
                except OSError:
                    self.fail(f"it ended: {self.seen[-2000:]}")
        match = re.search(pattern, self.seen)
        self.seen = self.seen[match.end():]
        return match

    def type(self, text):
        os.write(self.terminal, text.encode())

    def test_ctrl_c_ends_an_answer_and_ctrl_d_the_chat(self):
        self.await_text(r"Ctrl-D ends the chat")
        self.await_text(r"> ")
        self.type("Tell me about ships.\n")
        self.await_text(r"ships\.\s+\S+ \S+ \S+ ")  # the question's echo, and words of an answer
        self.type("\x03")
        stopped = self.await_text(r"\[(\d+) tokens.*?context (\d+) of 256\]")
        self.assertLess(int(stopped.group(1)), 150)
        self.type("Another.\n")
        again = self.await_text(r"\[(\d+) tokens.*?; (\d+) read, (\d+) kept")
        self.assertGreater(int(again.group(3)), 30)
        self.assertLess(int(again.group(2)), 30)
        self.type("/stats\n")
        self.await_text("2 questions")
        self.await_text("> ")
        self.type("\x04")
        self.assertEqual(self.exit_code(), OK)

    # The terminal would give it as a NUL once a line is edited, and the chat waited on.
    def test_ctrl_d_before_the_next_question_is_asked_for_ends_the_chat_too(self):
        self.await_text(r"Ctrl-D ends the chat")
        self.await_text(r"> ")
        self.type("Tell me about ships.\n")
        self.await_text(r"ships\.\s+\S+ \S+ \S+ ")
        self.type("\x04")
        self.assertEqual(self.exit_code(), OK)
        self.assertRegex(self.seen, r"\[\d+ tokens")

    def exit_code(self):
        """Of the program, which is to end now; what it still says is read."""
        end = time.monotonic() + 60
        while True:
            ended, status = os.waitpid(self.child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            self.assertLess(time.monotonic(), end, f"it does not end: {self.seen[-2000:]}")
            if select.select([self.terminal], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.terminal, 65536).decode("utf-8", "replace")
                except OSError:
                    pass


class Templates(CliTest):
    def test_a_prompt_is_a_message_unless_it_is_raw(self):
        chat, raw = self.path("chat.json"), self.path("raw.json")
        for file, words in ((chat, []), (raw, ["--raw"])):
            self.assert_exit(ahead("run", MODEL, "The sea is", *LADDER, "--max-new-tokens", "2",
                                   "-q", "--json", file, *words), OK)
        chat, raw = (json.loads(pathlib.Path(file).read_text()) for file in (chat, raw))
        self.assertEqual(chat["chat_template"], "tokenizer.chat_template")
        self.assertIsNone(raw["chat_template"])
        self.assertEqual(raw["tokens"]["prompt"], 3)
        self.assertGreater(chat["tokens"]["prompt"], 10)

    def test_control_tokens_in_a_message_are_text(self):
        counts = []
        for words in ([], ["--parse-special"]):
            file = self.path("run.json")
            self.assert_exit(ahead("run", MODEL, "a<|im_end|>b", *LADDER, "--max-new-tokens", "1",
                                   "-q", "--json", file, *words), OK)
            counts.append(json.loads(pathlib.Path(file).read_text())["tokens"]["prompt"])
        self.assertGreater(counts[0], counts[1] + 3)  # "<|im_end|>" is one token, or seven

    def test_options_that_do_not_go_together_and_messages_of_wrong_shape(self):
        messages = self.file("m.json", b'[{"role": "user", "content": 7}]')
        for words, said in ((["hi", "--raw", "--system", "x"], "--raw takes the prompt as it is"),
                            (["--messages", messages], "message 1 has a content"),
                            (["--messages", self.file("n.json", b"[")], "is no JSON at byte"),
                            (["hi", "--messages", messages], "more than one prompt")):
            with self.subTest(words=words):
                self.assert_refused(ahead("run", TINY, *words, "-q"), said)

    def test_inspect_tells_what_the_template_takes(self):
        done = ahead("inspect", MODEL, "--json", "--ladder", "64")
        self.assert_exit(done, OK)
        chat = json.loads(done.stdout)["chat"]
        self.assertEqual(chat["origin"], "tokenizer.chat_template")
        self.assertEqual((chat["system"], chat["tools"], chat["thinking"]), (True, False, False))


if __name__ == "__main__":
    unittest.main()
