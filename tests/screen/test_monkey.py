"""A monkey at the console: random keys, pastes, halves of escape sequences and sizes. Whatever it did, the console lives,
what is on the screen is what a fresh drawing would put there, and the engine has not noticed.

WEIR_MONKEY=SEED repeats one; WEIR_MONKEY_KEYS=N sets how many steps it takes (default 400)."""
import os
import random

import console
import screen
import weir

STEPS = int(os.environ.get("WEIR_MONKEY_KEYS", "400"))
STEPS_BETWEEN_LOOKS = 25

# Letters more often than the rest; C-z stops no process here: a session's leader has nobody to wake it.
PLAIN_KEYS = "abcdefghijklmnopqrstuvwxyzABDEFGHIJKLMNPRSTUVXYZ0123456789 .:/?,;<>[]{}+-=_'\"!@#$%^&*()|~`\\"
NAMED_KEYS = [name for name in screen.KEYS] + ["C-" + c for c in "abcdefghijknoprstuvwxyz"] + ["M-" + c for c in "abcfx1<"]
HALVES = [b"\033", b"\033[", b"\033[1", b"\033[1;", b"\033]", b"\033]52;c;", b"\033O", b"\033[200~", b"\033[<0;5;", b"\033P",
          b"\xe4", b"\xe4\xb8", b"\xf0\x9f", b"\xff\xfe", b"\0", b"\033[201~", b"\033[999;999R", b"\033[?1;2c"]
PASTES = ["x", "delete shop\r", "q\rq\r", "\u4e2d\u6587 \u202e abc", "a" * 5000, ":q\n:quit\n", "\033[31mred", ""]
SIZES = [(1, 1), (1, 60), (200, 1), (19, 1), (20, 2), (44, 8), (59, 15), (60, 16), (79, 23), (80, 24), (100, 30), (200, 60)]


class Monkey:
    """Steps by a seed; what it has done is told when something fails."""

    def __init__(self, terminal, seed):
        self.terminal, self.random, self.done = terminal, random.Random(seed), []
        self.acts = ((80, self.key), (6, self.resize), (5, self.paste), (5, self.half), (4, self.line))

    def step(self):
        weights, acts = zip(*self.acts)
        self.random.choices(acts, weights)[0]()

    def note(self, what):
        self.done = self.done[-60:] + [what]

    def key(self):
        name = self.random.choice(NAMED_KEYS) if self.random.random() < 0.35 else self.random.choice(PLAIN_KEYS)
        self.note(name)
        self.terminal.send(b" " if name == " " else screen.key_bytes(name))

    def resize(self):
        cols, rows = self.random.choice(SIZES)
        self.note("%dx%d" % (cols, rows))
        self.terminal.resize_only(cols, rows)

    def paste(self):
        text = self.random.choice(PASTES)
        self.note("paste %r" % text[:20])
        self.terminal.send(b"\033[200~" + text.encode() + b"\033[201~")

    def half(self):
        half = self.random.choice(HALVES)
        self.note(repr(half))
        self.terminal.send(half)

    def line(self):
        line = self.random.choice([":help", ":go logs", "/ab", ":job show shop", ":theme mono", ":save-screen out", ":nonsense"])
        self.note(line)
        self.terminal.send(line.encode() + b"\r")


def settle(terminal):
    """Out of what a half sequence has left open, then synchronised: a paste that was begun is ended first."""
    terminal.send(b"\033[201~\033\\")
    terminal.sync()


def looks(terminal):
    picture = terminal.picture()
    return picture.masked, picture.layers()[0]


def assert_fresh(terminal, monkey):
    """What is on the screen is what a fresh drawing puts there. Of a number that changes between the two, one look says
    nothing: then there is another, and the third difference counts."""
    for _ in range(3):
        settle(terminal)
        before = looks(terminal)
        terminal.send(b"\014")
        terminal.sync()
        after = looks(terminal)
        if before == after:
            return
    rows = [i for i in range(len(after[0])) if (before[0][i], before[1][i]) != (after[0][i], after[1][i])]
    raise AssertionError("stale rows after %s:\n%s" % (" ".join(monkey.done), "\n".join(
        "%d: %r %s\n   %r %s" % (i, before[0][i], before[1][i], after[0][i], after[1][i]) for i in rows)))


def play(home, terminal_of, seed):
    """Steps until the budget is used; a console that was asked to leave is opened again."""
    left = STEPS
    opened = 0
    while left > 0:
        opened += 1
        with terminal_of() as terminal:
            terminal.sync()
            monkey = Monkey(terminal, "%d/%d" % (seed, opened))
            while left > 0 and not visit(terminal, monkey):
                left -= STEPS_BETWEEN_LOOKS


def visit(terminal, monkey):
    """Some steps and a look; True: the monkey has left the console, in good order."""
    for _ in range(STEPS_BETWEEN_LOOKS):
        monkey.step()
    try:
        assert_fresh(terminal, monkey)
        return False
    except screen.Deadline as why:
        if "has ended" not in str(why):
            raise AssertionError("after %s: %s" % (" ".join(monkey.done), why)) from why
    status = terminal.wait()
    lines, same, on = terminal.modes()
    assert status == 0 and same, "status %d, modes %s %s after %s" % (status, same, on, " ".join(monkey.done))
    return True


def random_visit(*flags):
    seed = int(os.environ.get("WEIR_MONKEY", "0")) or random.randrange(1, 1 << 30)
    repeat = "WEIR_MONKEY=%d WEIR_MONKEY_KEYS=%d WEIR_BUILD=%s python3 tests/screen/run.py test_monkey.py" % (
        seed, STEPS, os.path.relpath(weir.BUILD, weir.ROOT))
    print("monkey: " + repeat, flush=True)
    with console.finished_shop() as home:
        before = home.run("status", "--json")
        try:
            play(home, lambda: console.console(home, *flags, stderr="sanitizer.console"), seed)
        except AssertionError as why:
            raise AssertionError("%s\nagain: %s" % (why, repeat)) from why
        after = home.run("status", "--json")
        assert after.code == before.code == 0, (before, after)
        return home, before, after


def test_random_keys_leave_nothing_stale_and_change_nothing_when_only_looking():
    _, before, after = random_visit("--readonly")
    assert [console.unchanging(line) for line in before.lines] == [console.unchanging(line) for line in after.lines]


def test_random_keys_of_an_operator_leave_console_and_engine_alive():
    random_visit()
