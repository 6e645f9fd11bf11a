"""A link of 300 ms each way: a key's echo is there after one round trip, and a pause is followed by no flood."""
import fcntl
import os
import pty
import random
import select
import struct
import subprocess
import termios
import threading
import time

import console
import screen
import weir

DELAY_S = 0.3
# What the console and this machine may take beside the link.
WORK_S = 10 if "san" in weir.BUILD else 2


class SlowLink:
    """The console in a terminal at the other end of a link: what is sent and what comes is each DELAY_S under way."""

    def __init__(self, home, *flags, cols=80, rows=24):
        self.master, slave = pty.openpty()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        self.lock, self.up, self.down, self.arrived, self.is_over = threading.Lock(), [], [], b"", False
        self.wake_read, self.wake_write = os.pipe()
        self.child = subprocess.Popen([os.path.join(home.build, "weir"), *flags], stdin=slave, stdout=slave, stderr=slave, cwd=home.path,
                                      env=dict(home.env, TERM="xterm-256color"), start_new_session=True)
        os.close(slave)
        self.thread = threading.Thread(target=self.relay, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_over = True
        os.write(self.wake_write, b"x")
        self.thread.join()
        self.child.kill()
        self.child.wait()
        for fd in (self.master, self.wake_read, self.wake_write):
            os.close(fd)

    def relay(self):
        while not self.is_over:
            now = time.monotonic()
            with self.lock:
                while self.up and self.up[0][0] <= now:
                    os.write(self.master, self.up.pop(0)[1])
                while self.down and self.down[0][0] <= now:
                    self.arrived += self.down.pop(0)[1]
                due = min([queue[0][0] for queue in (self.up, self.down) if queue], default=now + 1)
            ready, _, _ = select.select([self.master, self.wake_read], [], [], max(0, due - now))
            if self.wake_read in ready:
                os.read(self.wake_read, 64)
            if self.master in ready:
                try:
                    data = os.read(self.master, 65536)
                except OSError:
                    return
                with self.lock:
                    self.down.append((time.monotonic() + DELAY_S, data))

    def send(self, data):
        with self.lock:
            self.up.append((time.monotonic() + DELAY_S, data))
        os.write(self.wake_write, b"x")

    def take(self):
        with self.lock:
            arrived, self.arrived = self.arrived, b""
        return arrived

    def until(self, shown, deadline_s=screen.DEADLINE_S):
        """Seconds until the bytes came; what came before is taken with them."""
        began, seen = time.monotonic(), b""
        while shown not in seen:
            assert time.monotonic() < began + deadline_s, (shown, seen[-500:])
            time.sleep(0.002)
            seen += self.take()
        return time.monotonic() - began


def test_an_echo_takes_one_round_trip():
    with console.broken_shop() as home, SlowLink(home) as link:
        link.until(b"unknown_column")
        for keys, shown in ((b":", b"Tab complete"), (b"z", b"z"), (b"q", b"q"), (b"7", b"7")):
            link.take()
            link.send(keys)
            took = link.until(shown)
            assert 2 * DELAY_S <= took < 2 * DELAY_S + WORK_S, (keys, took)


def test_a_terminal_that_answers_late_is_told_of_and_spared():
    """It is asked more than once: a machine that was busy at the first time is no slow link."""
    with console.broken_shop() as home, SlowLink(home) as link:
        for _ in range(3):
            link.until(b"\033[6n")
            link.send(b"\033[1;1R")
        link.until(b"the terminal answers after ")
        link.send(b":charts scroll\r")
        link.until(b"charts move on")
        link.send(b":charts sideways\r")
        link.until(b"usage: charts scroll|sweep")
        # What a key asks for comes at once all the same.
        link.send(b"gt")
        link.until(b"worst first", deadline_s=2 * DELAY_S + WORK_S)
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        t.press(": m e s s a g e s Enter")
        assert not any("answers after" in line for line in t.picture().lines), t.picture().lines


def test_keys_in_pieces_over_a_slow_link_do_not_leave():
    """An arrow whose bytes come one by one, a few milliseconds apart, is an arrow; leaving would end the program."""
    with console.broken_shop() as home, SlowLink(home) as link:
        link.until(b"unknown_column")
        link.send(b"gt")
        link.until(b"worst first")
        for part in (b"\033", b"[", b"B", b"\033", b"O", b"A"):
            link.send(part)
            time.sleep(0.004)  # the link's own jitter: the test's subject
        link.take()
        link.send(b":tables-are-still-here")
        link.until(b"still-here")
        assert link.child.poll() is None


def test_typing_ahead_is_not_lost():
    with console.broken_shop() as home, SlowLink(home) as link:
        link.until(b"unknown_column")
        link.send(b":note typed-ahead\r")
        link.send(b"gj")
        link.until(b"typed-ahead")
        assert "typed-ahead" in home.run("journal", "--json").out.decode()


def test_no_flood_after_a_pause():
    """Nobody reads for a while in which much is drawn: what comes then is the newest, not all that was."""
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        t.bytes()
        t.press("C-l")
        frame = t.bytes()
        t.stall(True)
        for _ in range(400):
            t.send(b"\x0c")
        for number in range(10):
            assert home.run("note", "during the pause %d" % number).code == 0
        t.stall(False)
        t.wait_for("during the pause 9")
        # What the terminal had taken before it was full, the frame it was full at, the keys that waited, and the newest.
        assert t.bytes() < 65536 + 10 * frame, frame


def test_sizes_change_at_random_while_something_is_typed():
    """Ten thousand sizes: no crash, and no letter is lost."""
    chance = random.Random(5)
    with console.broken_shop() as home:
        for opening, row in ((":", lambda lines: lines[-1]), ("/", lambda lines: lines[-1]), ("X", lambda lines: next(l for l in lines if "Why, for" in l))):
            with console.console(home) as t:
                t.press("g d")
                if opening == "X":
                    t.press("a")
                t.press(opening)
                if opening == "X":
                    t.wait_for("Type the count")
                    t.press("Tab")
                typed = ""
                for step in range(3400):
                    t.resize_only(chance.choice((1, 19, 20, 44, 60, 80, 100, 200)), chance.choice((1, 2, 8, 15, 16, 24, 30, 60)))
                    if step % 200 == 0:
                        t.resize(80, 24)  # a question that does not fit takes no letters
                        letter = chance.choice("abcdefghij")
                        t.send(letter.encode())
                        t.sync()
                        typed += letter
                t.resize(80, 24)
                # A field shows the end of what is longer than it is.
                assert typed[-30:] in row(t.picture().lines), (opening, typed, t.picture().lines)
