#!/usr/bin/env python3
"""day.py [--seconds N]: a day's worth of trouble in ten minutes, through one home and one feed that grows.

Engines that are killed, stopped and started, disks that fill up, files that somebody locks, takes away and puts back, clocks
set years forward and back, descriptors that run out, consoles that do not read, tables that are paused, letters that are
replayed. At the end the trouble ends, nothing else is done, and the ledger, the letters and the replica must be those of the
feed. Memory is looked at all the time. WEIR_SEED repeats the choices."""
import os
import random
import resource
import sqlite3
import struct
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(ROOT, "tests", "e2e")]

import descriptors
import weir
from test_again import Kept, stores
from test_socket import Client

DISK_MIB = 1024
RSS_MIB = 160
YEAR_S = 365 * 86400
SCHEMA = '{"t": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}, "text": {"bigquery": "STRING"}}}}'


class Day:
    def __init__(self, home, rng):
        self.home, self.rng = home, rng
        self.rows, self.lsn, self.lines, self.refused = {}, 0, 0, 0
        self.sleepers, self.done, self.rss = [], {}, []
        self.disk = home.file("disk")
        os.mkdir(self.disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dm" % DISK_MIB, "tmpfs", self.disk], check=True)
        home.env["WEIR_HOME"] = home.state = os.path.join(self.disk, "home")
        clock = descriptors.library("clock")
        home.write("clock", struct.pack("q", 0))
        home.env.update(LD_PRELOAD=clock, WEIR_CLOCK=home.file("clock"))
        home.write("schema.json", SCHEMA)
        home.write("feed", "")

    def begin(self):
        self.grows()
        job = self.home.job("feed", sourceSchema="schema.json", schemaChanges="reject", updateFrequencySecs=1)
        assert self.home.run("job", "create", job).code == 0
        assert self.home.run("start", "shop").code == 0
        # Before a job has run, a file in the place of one that is away is as good as that; putting that back would take away the
        # one that was used.
        until = time.monotonic() + 60
        while self.merged() == 0:
            assert time.monotonic() < until, self.standing()
            time.sleep(0.1)

    def merged(self):
        try:
            return self.home.sql("select count(*) from t")[0][0]
        except sqlite3.Error:
            return 0

    def pid(self):
        try:
            with open(os.path.join(self.home.state, "weird.lock")) as f:
                pid = int(f.read())
            os.kill(pid, 0)
            return pid
        except (OSError, ValueError):
            return None

    def wait(self, least=0.02, most=0.5):
        time.sleep(self.rng.uniform(least, most))

    def event(self):
        self.lsn += 1
        key = self.rng.randrange(5000)
        if self.rng.random() < 0.01:
            self.refused += 1
            return weir.event({"id": key, "n": "x"}, lsn=self.lsn)
        if key in self.rows and self.rng.random() < 0.2:
            del self.rows[key]
            return weir.event(None, {"id": key}, lsn=self.lsn)
        before = {"id": key} if key in self.rows else None
        self.rows[key] = self.lsn
        return weir.event({"id": key, "n": self.lsn, "text": "t" * self.rng.randrange(300)}, before, lsn=self.lsn)

    # What happens.

    def grows(self):
        count = self.rng.randrange(1, 1500)
        with open(self.home.file("feed"), "a") as f:
            f.write(weir.feed([self.event() for _ in range(count)], weir.id_key))
        self.lines += count

    def is_killed(self):
        pid = self.pid()
        if pid:
            os.kill(pid, 9)
        self.engine_starts()

    def engine_starts(self):
        self.home.run("engine", "start", timeout=60)

    def engine_stops(self):
        self.home.run("engine", "stop", timeout=120)
        self.engine_starts()

    def disk_is_full(self):
        path = os.path.join(self.disk, "ballast")
        try:
            with open(path, "wb") as f:
                os.posix_fallocate(f.fileno(), 0, max(1, os.statvfs(self.disk).f_bavail * 4096 - (1 << 20)))
                f.seek(0, os.SEEK_END)
                while True:
                    f.write(b"x" * 4096)
                    f.flush()
        except OSError:
            pass
        self.grows()
        self.wait(0.3, 2)
        os.unlink(path)

    def clock_jumps(self):
        off = self.rng.choice((0, -3600, 86400, -10 * YEAR_S, 10 * YEAR_S, 60 * YEAR_S))
        with open(self.home.file("clock"), "r+b") as f:
            f.write(struct.pack("q", off))

    def console_sleeps(self):
        try:
            client = Client(self.home)
            client.send({"id": 1, "call": "subscribe", "args": {"topics": ["jobs", "journal", "logs"]}})
            for _ in range(20):
                client.send({"id": 2, "call": "journal", "args": {}})
            self.sleepers.append(client)
        except (OSError, AssertionError):
            pass
        while len(self.sleepers) > 8:
            self.sleepers.pop(0).s.close()

    def is_locked(self):
        path = self.rng.choice(stores(self.home))
        if os.path.exists(path):
            db = sqlite3.connect(path, isolation_level=None, timeout=1)
            try:
                db.execute("begin immediate")
                self.grows()
                self.wait(0.3, 2)
            except sqlite3.Error:
                pass
            finally:
                db.close()

    def file_is_away(self):
        kept = Kept(self.home, self.rng.choice(stores(self.home)), self.disk)
        kept.take()
        self.wait(0.3, 3)
        kept.put_back()
        os.rmdir(kept.folder)

    def feed_is_away(self):
        os.rename(self.home.file("feed"), self.home.file("feed.away"))
        self.wait(0.3, 3)
        os.rename(self.home.file("feed.away"), self.home.file("feed"))

    def descriptors_run_out(self):
        pid = self.pid()
        if not pid:
            return
        try:
            before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (len(os.listdir("/proc/%d/fd" % pid)), before[1]))
            self.grows()
            self.wait(0.3, 2)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        except OSError:
            pass

    def table_is_paused(self):
        if self.home.run("pause", "shop", "t", timeout=60).code == 0:
            self.grows()
            self.wait()
        self.home.run("resume", "shop", "t", timeout=60)

    def somebody_looks(self):
        for words in (("tables",), ("status",), ("why", "t"), ("dlq", "groups"), ("engine", "status"), ("journal",), ("logs",)):
            self.home.run(*words, timeout=60)

    def is_replayed(self):
        self.home.run("dlq", "replay", "--group", "1", "--yes", timeout=120)

    def happens(self):
        rows = [(self.grows, 30), (self.is_killed, 8), (self.engine_stops, 3), (self.disk_is_full, 5), (self.clock_jumps, 6), (self.console_sleeps, 6),
                (self.is_locked, 5), (self.file_is_away, 4), (self.feed_is_away, 3), (self.descriptors_run_out, 4), (self.table_is_paused, 3),
                (self.somebody_looks, 3), (self.is_replayed, 2)]
        act = self.rng.choices([r[0] for r in rows], [r[1] for r in rows])[0]
        act()
        self.done[act.__name__] = self.done.get(act.__name__, 0) + 1
        pid = self.pid()
        try:
            with open("/proc/%s/status" % pid) as f:
                self.rss.append(next(int(line.split()[1]) >> 10 for line in f if line.startswith("VmRSS")))
        except (OSError, StopIteration):
            pass

    def standing(self):
        """What the job says; of a home that cannot say it, the error."""
        r = self.home.run("job", "show", "shop", "--json", timeout=60)
        return r.last if r.out else r.error

    def has_all(self):
        try:
            return dict(self.home.sql("select id, n from t")) == self.rows
        except sqlite3.Error:
            return False

    def ends(self):
        """The trouble is over. A paused table goes on when somebody says so; all else by itself."""
        self.home.run("resume", "shop", "t")
        self.engine_starts()
        until = time.monotonic() + 120
        line = {}
        while not (line.get("received") == self.lines and line.get("state") in ("ok", "needs you") and not line.get("in_flight") and line.get("own_state") == "ok" and self.has_all()):
            assert time.monotonic() < until, (self.lines, line, self.home.run("journal").out.decode()[-4000:])
            time.sleep(0.2)
            line = self.standing()
        assert self.home.run("drain", "shop").code in (0, 1)
        line = self.standing()
        assert (line["written"], line["dead_lettered"], line["parked"], line["balanced"]) == (self.lines - self.refused, self.refused, 0, True), line
        assert len(self.home.letters()) == self.refused
        self.home.verify()
        assert self.has_all()
        third = len(self.rss) // 3
        early, late = max(self.rss[:third + 1]), max(self.rss[-third - 1:])
        print("%d messages, %d letters, %s\nmemory: at most %d MiB early, %d MiB late" % (self.lines, self.refused, self.done, early, late))
        assert late <= RSS_MIB and late <= max(early, 64) + 32, self.rss


def main():
    seconds = int(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else 600
    seed = weir.first_seed()
    print("seed %d" % seed, flush=True)
    with weir.Home() as home:
        try:
            day = Day(home, random.Random(seed))
            day.begin()
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                day.happens()
                day.wait()
            day.ends()
        finally:
            home.end_engine()
            subprocess.run(["umount", "-l", home.file("disk")])
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
