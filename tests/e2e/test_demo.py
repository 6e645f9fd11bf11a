"""`make demo` as a newcomer sees it: tests/demo/demo.sh in a home of its own, without a terminal and in one."""
import fcntl
import os
import pty
import re
import select
import sqlite3
import struct
import subprocess
import termios
import time

import weir

DEMO = os.path.join(weir.ROOT, "tests", "demo", "demo.sh")
BALANCED = re.compile(r"ledger balanced: received (\d+) = written (\d+) \+ filtered (\d+) \+ dead-lettered (\d+) \+ parked 0 \+ in flight 0")


def demo(home, **env):
    p = subprocess.run([DEMO, home.build], env=dict(home.env, **env), cwd=home.path, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    return weir.Result(p.returncode, p.stdout, p.stderr)


class Terminal:
    """The demo in a terminal of its own."""

    def __init__(self, home, seconds, term):
        self.out = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 24, 100, 0, 0))
            os.execve(DEMO, [DEMO, home.build], dict(home.env, DEMO_SECONDS=str(seconds), TERM=term, LC_ALL="C", NO_COLOR="1"))

    def read(self):
        """What comes next; false: the other end has closed."""
        try:
            piece = os.read(self.fd, 65536)
        except OSError:
            return False
        self.out += piece
        return bool(piece)

    def read_until(self, wanted):
        """Until the text comes, from here on."""
        begin, until = len(self.out), time.monotonic() + 60
        while wanted not in self.out[begin:]:
            left = until - time.monotonic()
            assert left > 0 and select.select([self.fd], [], [], left)[0] and self.read(), self.out[-3000:]

    def send(self, data):
        os.write(self.fd, data)

    def end(self):
        """Reads to the end; exit status and all that was written."""
        while self.read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), self.out.decode("ascii")


def last_lines(home, lines):
    """Checks the two closing lines; gives the four numbers."""
    found = BALANCED.fullmatch(lines[-2])
    assert found, lines[-4:]
    assert lines[-1] == "tables: " + home.warehouse(), lines[-1]
    assert os.path.isabs(home.warehouse())
    received, written, filtered, letters = map(int, found.groups())
    assert received == written + filtered + letters and letters > 0 and 4000 <= received <= 6000, lines[-2]
    return received, written, filtered, letters


def no_engine(home):
    r = home.run("engine", "status")
    assert r.code == 69, r


def content(path):
    with open(path, "rb") as f:
        return f.read()


def tables(home):
    """Every row of the replica, to compare two runs."""
    db = sqlite3.connect("file:%s?mode=ro" % home.warehouse(), uri=True)
    try:
        names = [n for (n,) in db.execute("select name from sqlite_schema where type = 'table' and name not like '\\_weir\\_%' escape '\\' order by 1")]
        return {n: sorted(map(repr, db.execute("select * from `%s`" % n))) for n in names}
    finally:
        db.close()


def test_demo_without_a_terminal_ends_with_ledger_and_tables():
    with weir.Home() as home:
        r = demo(home)
        assert r.code == 0 and not r.err, r
        last_lines(home, r.out.decode().splitlines())
        no_engine(home)
        rows = tables(home)
        assert sorted(rows) == ["addresses", "audit_log", "carts", "customers", "events", "inventory", "order_items", "orders", "payments"], sorted(rows)
        assert all(rows.values()), {name: len(r) for name, r in rows.items()}
        home.verify("demo")


def test_demo_shows_at_least_five_reasons_each_with_its_page():
    with weir.Home() as home:
        out = demo(home).out.decode()
        groups = home.run("dlq", "groups", "--job", "demo", "--json").lines
        codes = {g["code"] for g in groups}
        assert len(codes) >= 5, codes
        for code in codes:
            assert code in out, code
            assert home.run("explain", code).code == 0, code
        assert "$ weir why shop.inventory" in out and "letter" in out


def test_demo_again_gives_the_same_and_leaves_other_jobs_alone():
    with weir.Home() as home:
        feed = home.write("feed", weir.feed([weir.event({"id": i, "n": i}, lsn=100 + i) for i in range(7)], weir.id_key))
        home.replicate(feed, "mine", changeLogDataset="mine_log", replicaDataset="mine")
        first = demo(home)
        before, mine = tables(home), content(home.warehouse("mine"))
        second = demo(home)
        assert first.code == second.code == 0, second
        assert first.out.splitlines()[-2:] == second.out.splitlines()[-2:]
        assert tables(home) == before
        assert content(home.warehouse("mine")) == mine
        assert home.sql("select count(*) from t", "mine") == [(7,)]
        again = home.replicate(feed, "mine", changeLogDataset="mine_log", replicaDataset="mine")
        assert again["received"] == 7 and again["this_run"]["received"] == 0, again


def test_demo_does_not_disturb_a_running_job():
    with weir.Home() as home:
        feed = home.write("feed", weir.feed([weir.event({"id": 1, "n": 1}, lsn=100)], weir.id_key))
        running = home.start("run", home.job(feed, "mine", changeLogDataset="mine_log", replicaDataset="mine"))
        until = time.monotonic() + 30
        while not (home.run("engine", "status", "--json").out.find(b'"running_jobs":1') > 0):
            assert time.monotonic() < until, "the job does not start"
            time.sleep(0.05)
        r = demo(home)
        assert r.code == 1 and b"another job runs" in r.err, r
        assert running.poll() is None
        assert home.run("engine", "status", "--json").last["running_jobs"] == 1


def test_demo_in_a_poor_terminal_is_paced_and_shows_a_live_line():
    with weir.Home() as home:
        plain = last_lines(home, demo(home).out.decode().splitlines())
        began = time.monotonic()
        code, out = Terminal(home, 3, "dumb").end()
        assert code == 0, out[-2000:]
        assert time.monotonic() - began >= 2.5
        live = [line for line in re.split(r"[\r\n]+", out) if line.startswith("demo: received ")]
        seen = [int(re.match(r"demo: received (\d+)  written \d+  filtered \d+  letters \d+  [a-z ]+$", line).group(1)) for line in live]
        assert len(seen) >= 4 and seen == sorted(seen) and seen[-1] == plain[0], seen
        assert all(len(line) <= 79 for line in live) and "\033" not in out
        assert last_lines(home, out.replace("\r\n", "\n").splitlines()) == plain
        no_engine(home)


def synced(terminal, token):
    """Keys so far are handled and the screen shows what came of them."""
    terminal.send(b"\033]7717;" + token + b"\a")
    terminal.read_until(b"\033]7717;" + token + b"\a")


def console_of(home, seconds):
    terminal = Terminal(home, seconds, "xterm")
    terminal.read_until(b"\033[?2004h")
    synced(terminal, b"begin")
    return terminal


def test_demo_in_a_terminal_opens_the_console_and_leaving_it_drains_the_job():
    with weir.Home() as home:
        terminal = console_of(home, 600)
        screen = terminal.out[terminal.out.index(b"\033[?2004h"):]
        assert b"demo" in screen and b"no job yet" not in screen, screen
        assert home.run("engine", "status", "--json").last["running_jobs"] == 1
        terminal.send(b"q")
        code, out = terminal.end()
        assert code == 0, out[-2000:]
        # Of 600 s only some were taken: the rest waits for the next run.
        found = BALANCED.fullmatch(out.replace("\r\n", "\n").splitlines()[-2])
        assert found and int(found.group(1)) < 4000, out[-2000:]
        assert out.splitlines()[-1] == "tables: " + home.warehouse()
        no_engine(home)


def test_demo_whose_stream_ends_while_the_console_is_open_shows_all_of_it():
    with weir.Home() as home:
        plain = last_lines(home, demo(home).out.decode().splitlines())
        terminal = console_of(home, 2)
        while home.run("engine", "status", "--json").last["running_jobs"]:
            synced(terminal, b"again")
        terminal.send(b"q")
        code, out = terminal.end()
        assert code == 0, out[-2000:]
        assert last_lines(home, out.replace("\r\n", "\n").splitlines()) == plain
        no_engine(home)


def test_demo_takes_over_from_one_whose_terminal_was_lost():
    with weir.Home() as home:
        terminal = console_of(home, 600)
        os.close(terminal.fd)
        os.waitpid(terminal.pid, 0)
        r = demo(home)
        assert r.code == 0 and not r.err, r
        last_lines(home, r.out.decode().splitlines())
        no_engine(home)
