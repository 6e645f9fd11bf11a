"""The text that people read, word for word: tests/cli/NAME.txt has commands, what they print and how they exit, one after
the other in a home of its own, with the files of tests/cli/files. Times, processes and the build are masked. A change of
wording or alignment shows here; WEIR_ACCEPT=1 writes the files anew, and the difference is reviewed."""
import difflib
import os
import re
import shutil

import weir

FOLDER = os.path.join(weir.ROOT, "tests", "cli")

# Each keeps the width of what it hides where something is aligned behind it.
MASKS = (
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", "2000-01-01T00:00:00.000000Z"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "2000-01-01T00:00:00"),
    (r"pid \d+", "pid PID"),
    (r"[\d.]+ GiB free", "N GiB free"),
    (r"\d+ MiB, \d+ sessions", "N MiB, N sessions"),
    (r"descriptors( +)\d+ of \d+", r"descriptors\1N of N"),
    (r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d .*\n", ""),  # the journal has a test of its own
)


def masked(text, home):
    text = text.replace(home.path, "/HOME")
    for pattern, put in MASKS:
        text = re.sub(pattern, put, text)
    return text


def play(home, commands):
    out = ""
    for command in commands:
        r = home.run(*command.split())
        said = (r.out + r.err).decode()
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", said), said
        assert not re.search(r"[ \t]+$", said, re.M), "blanks at the end of a line: %r" % said
        out += "$ weir %s\n%s%sexit %d\n\n" % (command, masked(said, home), "" if said.endswith("\n") or not said else "\n", r.code)
    return out


def check(name):
    path = os.path.join(FOLDER, name + ".txt")
    with open(path, encoding="utf-8") as f:
        want = f.read()
    with weir.Home() as home:
        for file in os.listdir(os.path.join(FOLDER, "files")):
            shutil.copy(os.path.join(FOLDER, "files", file), home.path)
        got = play(home, re.findall(r"(?m)^\$ weir (.*)$", want))
    if os.environ.get("WEIR_ACCEPT") == "1":
        with open(path, "w", encoding="utf-8") as f:
            f.write(got)
        return
    difference = "\n".join(difflib.unified_diff(want.splitlines(), got.splitlines(), "tests/cli/%s.txt" % name, "now", lineterm=""))
    assert not difference, difference


def test_check_in_words():
    check("check")


def test_a_fine_run_in_words():
    check("fine")


def test_letters_in_words():
    check("letters")


def test_a_collision_in_words():
    check("collision")


def test_keys_in_words():
    check("keys")


def test_reasons_in_words():
    check("explain")


def test_mistakes_in_words():
    check("mistakes")


def test_an_argument_that_is_no_text_is_said_in_json_too():
    with weir.Home() as home:
        r = home.run("dlq", "list", "--json", os.fsdecode(b"\xff"))
        assert r.code == 2 and r.error["code"] == "bad_argument" and "\\xff" in r.error["message"], r
