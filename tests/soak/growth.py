#!/usr/bin/env python3
"""growth.py [--starts N] [--messages N]: nothing grows that is not asked to.

Ten thousand starts and stops of a job in one engine, then ten million messages through one job, by standard input into a
replica of 1,000 rows. Memory, descriptors, threads and files are looked at twenty times; what is more at the end than after
the first fifth is a leak. The journal alone may grow: it has four lines a start and a stop."""
import glob
import os
import sqlite3
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(ROOT, "tests", "e2e")]

import weir
from test_again import standing, until
from test_socket import Client

LOOKS = 20
KEYS = 1000
LINES = 20000
MAY_GROW = {"rss_kib": 8 << 10, "descriptors": 2, "threads": 2, "files": 0, "store_kib": 256, "warehouse_kib": 1024}
# The log rolls five files of 10 MiB; two files wait for 50,000 pages of 8 KiB before they are written back.
MOST = {"log_kib": 50 << 10, "wal_kib": 2 * 450 << 10}
JOURNAL_BYTES = 1600


def size_kib(path, tails=(".db", ".log", ".1", ".2", ".3", ".4")):
    """Without SQLite's logs: they grow until they are written back, up to a limit of their own."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            if name.endswith(tails) and os.path.exists(os.path.join(folder, name)):
                total += os.path.getsize(os.path.join(folder, name))
    return total >> 10


def look(home, pid):
    with open("/proc/%d/status" % pid) as f:
        status = dict(line.split(":", 1) for line in f if ":" in line)
    names = [n for _, _, names in os.walk(home.state) for n in names if not n.endswith(("-wal", "-shm"))]
    return {
        "rss_kib": int(status["VmRSS"].split()[0]), "threads": int(status["Threads"]),
        "descriptors": len(os.listdir("/proc/%d/fd" % pid)), "files": len([n for n in names if not n.startswith(("weird.log", "journal.jsonl"))]),
        "store_kib": size_kib(os.path.join(home.state, "jobs")), "warehouse_kib": size_kib(os.path.join(home.state, "warehouse")),
        "wal_kib": size_kib(home.state, "-wal"), "log_kib": size_kib(os.path.join(home.state, "logs")),
        "journal_kib": sum(os.path.getsize(f) for f in glob.glob(os.path.join(home.state, "journal.jsonl*"))) >> 10,
    }


def judged(looks, name):
    """What grew, in words."""
    settled, last = looks[len(looks) // 5], looks[-1]
    print("%s: after a fifth %s\n%s: at the end   %s" % (name, settled, name, last), flush=True)
    grew = ["%s grew from %d to %d" % (k, settled[k], last[k]) for k, most in MAY_GROW.items() if last[k] > settled[k] + most]
    grew += ["%s is %d" % (k, last[k]) for k, most in MOST.items() if last[k] > most]
    return ["%s: %s" % (name, g) for g in grew]


def event_lines(number, count=LINES):
    return weir.feed([weir.event({"id": i % KEYS, "n": i}, lsn=number * count + i + 1) for i in range(count)], weir.id_key).encode()


def finish(home, client):
    """Each run may have been stopped before it read anything: the last one reads all."""
    assert "ok" in client.call("start", job="shop")[1]
    until(home, lambda: standing(home).get("received") == 505, "ledger")
    assert "ok" in client.call("drain", job="shop")[1]


def starts(count):
    count = max(count, LOOKS)
    with weir.Home() as home:
        home.job(home.write("feed", event_lines(0, 500) + b'{"data":{"op":"c"}}\n' * 5))
        assert home.run("job", "create", "shop.json").code == 0
        pid = home.run("engine", "status", "--json").last["pid"]
        client, looks = Client(home), []
        for i in range(count):
            for act in ("start", "stop" if i % 3 else "drain"):
                _, last = client.call(act, job="shop")
                assert "ok" in last, (i, act, last)
            if (i + 1) * LOOKS // count > len(looks):
                looks.append(look(home, pid))
        finish(home, client)
        client.close()
        line = home.run("job", "show", "shop", "--json").last
        assert line["balanced"] and line["received"] == 505 and line["dead_lettered"] == 5, line
        home.verify()
        wrong = judged(looks, "%d starts and stops" % count)
        each = (looks[-1]["journal_kib"] - looks[0]["journal_kib"]) * 1024 / (count * (LOOKS - 1) / LOOKS)
        print("journal: %d bytes a start and stop" % each)
        return wrong + (["the journal has %d bytes a start and stop" % each] if each > JOURNAL_BYTES else [])


def rounds(count, size):
    """The same lines again, each round with later positions."""
    lines = event_lines(0, size)
    mark = b'"lsn": '
    parts = [(p.split(b"}", 1) if n else (b"", p)) for n, p in enumerate(lines.split(mark))]
    for number in range(count):
        out = [parts[0][1]]
        for i, (_, rest) in enumerate(parts[1:]):
            out.append(b'"lsn": %d}' % (number * size + i + 1) + rest)
        yield b"".join(out)


def wait_for_line(home, p, line):
    """Until the job has committed so many lines of its input."""
    until = time.monotonic() + 600
    while True:
        assert p.poll() is None and time.monotonic() < until, "the job does not come to line %d" % line
        try:
            if home.sql("select line from _weir_position")[0][0] >= line:
                return
        except (sqlite3.Error, IndexError):
            pass
        time.sleep(0.05)


def messages(count):
    with weir.Home() as home:
        home.job("-", replicationMode="upsert", changeLogDataset=None)
        p = subprocess.Popen([os.path.join(home.build, "weird"), "--run", "shop.json", "--until-idle", "--json"], cwd=home.path, env=home.env,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        home.children.append(p)
        began, looks = time.monotonic(), []
        size = max(KEYS, min(LINES, count // LOOKS))
        many = max(LOOKS, count // size)
        for i, lines in enumerate(rounds(many, size)):
            p.stdin.write(lines)
            if (i + 1) * LOOKS // many > len(looks):
                p.stdin.flush()
                wait_for_line(home, p, (i + 1) * size)
                looks.append(look(home, p.pid))
        p.stdin.close()
        out = p.stdout.read()
        assert p.wait(timeout=600) == 0, out
        result = weir.Result(0, out, b"").last
        assert result["received"] == result["written"] == many * size and result["balanced"], result
        assert home.sql("select count(*), max(n) from t") == [(KEYS, size - 1)]
        print("%d messages in %.0f s" % (many * size, time.monotonic() - began))
        return judged(looks, "%d messages" % (many * size))


def main():
    args = sys.argv[1:]
    number = lambda name, default: int(args[args.index(name) + 1]) if name in args else default
    failed = starts(number("--starts", 10000)) + messages(number("--messages", 10000000))
    for words in failed:
        print("FAIL " + words)
    print("%d passed, %d failed" % (2 - min(2, len(failed)), len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
