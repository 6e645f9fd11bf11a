#!/usr/bin/env python3
"""disk.py [--every K] [HOW:N:TIMES/MODE ...]: a small feed on a disk whose n-th operation fails.

Each n from the first to the one that the run no longer reaches (every K-th with --every, begun at WEIR_SEED), in each way of
core/store/store_disk.c, once, a few times and from then on. A run ends well, waits and says why, or ends with a reason; on a
disk that is well again the next one makes good what is left, and nothing shows. Words repeat single tries. C-c or SIGTERM
ends it behind the tries that run, with the count of all that have ended."""
import concurrent.futures as futures
import os
import signal
import subprocess
import sys
import threading
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(ROOT, "tests", "e2e")]
os.environ.setdefault("WEIR_BUILD", "build/crash")

import delivery
import weir

WAYS = [(how, times) for how in ("io", "full", "half", "half_full") for times in (1, 3, 0)] + [("torn", 1)]
WAYS += [(how, times) for how in ("sync", "open", "read", "lock", "share") for times in (1, 3)]
MOST = 5000
EARLY = 40
WORKERS = 2 * len(os.sched_getaffinity(0))
ROWS = 30
REFUSED = (9, 22)
EXITS = (69, 77)
stopped = threading.Event()


def feed():
    """Inserts with two that are refused, a wider table, updates, deletes, a key change, a large value that is left out."""
    events = [weir.event({"id": i, "name": "n%d" % i, "n": "x" if i in REFUSED else i}, lsn=100 + i) for i in range(ROWS)]
    events += [weir.event({"id": i, "name": "new", "n": -i}, {"id": i}, lsn=200 + i) for i in range(3, 20, 3) if i not in REFUSED]
    events += [weir.event(None, {"id": i}, lsn=300 + i) for i in range(4, 20, 5) if i not in REFUSED]
    events.append(weir.event({"id": 77, "name": "moved", "n": 5}, {"id": 5}, lsn=400))
    events.append(weir.event({"id": 6, "name": "__debezium_unavailable_value", "n": 66}, {"id": 6}, lsn=401))
    events.append(weir.event({"id": 8, "name": "wider", "n": 8, "extra": True}, {"id": 8}, lsn=402))
    return events


def final_rows():
    """The feed again, as one who reads it once and keeps all in mind."""
    rows = {}
    for e in feed():
        after, before = e["after"], e["before"]
        if after and after["n"] == "x":
            continue
        old = rows.pop((before or after)["id"], None)
        if after:
            name = old[1] if after["name"].startswith("__") else after["name"]
            rows[after["id"]] = (after["id"], name, after["n"], {True: 1, None: None}[after.get("extra")])
    return sorted(rows.values())


class Try:
    def __init__(self, how, first, times, mode):
        self.how, self.first, self.times, self.mode = how, first, times, mode

    def __str__(self):
        return "%s:%d:%d/%s" % (self.how, self.first, self.times, self.mode)

    def prepare(self, home):
        schema = '{"t": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "name": {"bigquery": "STRING"}, "n": {"bigquery": "INT64"}}}}'
        home.write("schema.json", schema)
        home.job(home.write("feed.jsonl", weir.feed(feed(), weir.id_key)), sourceSchema="schema.json", replicationMode=self.mode,
                 changeLogDataset="shop_log" if self.mode == "merge" else None)

    def fault(self, home):
        """The switches that break the first start."""
        return {"WEIR_DISK": "%s:%d:%d" % (self.how, self.first, self.times), "WEIR_DISK_TRACE": home.file("trace")}

    def start(self, home, env):
        with open(home.file("out"), "wb") as out, open(home.file("err"), "wb") as err:
            p = subprocess.Popen([os.path.join(home.build, "weird"), "--run", "shop.json", "--until-idle", "--json"], cwd=home.path,
                                 env=dict(home.env, WEIR_BATCH_RECORDS="7", **env), stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        home.children.append(p)
        if env and self.times == 0:
            delivery.kill_when_it_waits(p, home.file("err"), self.reasons)
        p.wait(timeout=120)
        return delivery.result_of(home, p.returncode)

    @property
    def reasons(self):
        """What a start may say that does not end well."""
        return ("disk_full",) if "full" in self.how else ("io_error",)

    def play(self):
        """(was the fault met, what is wrong in words)"""
        with weir.Home() as home:
            self.prepare(home)
            result = self.start(home, self.fault(home))
            is_met = os.path.exists(home.file("trace"))
            wrong = self.wrong_end(result) or self.wrong_result(home, self.start(home, {}))
            return is_met, wrong

    def wrong_end(self, result):
        if result.code == 1 and result.last["balanced"] is True:
            return ""
        if result.code == -signal.SIGKILL and (self.times == 0 or self.how == "torn"):
            return ""
        if result.code in EXITS and result.error["code"] in self.reasons:
            return ""
        return "the run ends with %r" % result

    def wrong_result(self, home, result):
        if result.code != 1:
            return "on a disk that is well: %r" % result
        want = {"received": len(feed()), "written": len(feed()) - len(REFUSED), "dead_lettered": len(REFUSED), "in_flight": 0, "balanced": True}
        found = {k: result.last[k] for k in want}
        rows = home.sql("select id, name, n, extra from t order by id")
        lines = sorted(letter["source"]["line"] for letter in home.letters())
        if found != want or rows != final_rows() or lines != [i + 1 for i in REFUSED]:
            return "ledger %r, letters of lines %r, rows\n  expected %r\n  found    %r" % (found, lines, final_rows(), rows)
        if self.mode == "merge":
            home.verify()
        return ""


def played(one):
    """(was the fault met, 1 if all is well); None of one that was cut off"""
    if stopped.is_set():
        return None
    try:
        is_met, wrong = one.play()
    except Exception:
        is_met, wrong = True, traceback.format_exc()[-3000:]
    if wrong and stopped.is_set():
        return None  # C-c reaches the programs under test too
    if wrong:
        script = os.path.basename(sys.argv[0])
        print("FAIL %s\n%s\nagain: WEIR_BUILD=%s python3 tests/soak/%s %s" % (one, wrong[:3000], os.path.relpath(weir.BUILD, weir.ROOT), script, one), flush=True)
    return is_met, 0 if wrong else 1


def play_way(pool, tries):
    """Several at a time, to the first whose fault is not met: from there on there is nothing to break."""
    found = []
    while tries and not stopped.is_set():
        for end in filter(None, pool.map(played, tries[:WORKERS])):
            found.append(end[1])
            if not end[0]:
                return found
        tries = tries[WORKERS:]
    return found


def places(every, seed):
    """Each n, or every K-th; then one of the first too: some ways have few in all."""
    first = range(1 + seed % every, MOST, every)
    return sorted({1 + seed % EARLY, *first}) if every > EARLY else list(first)


def play_all(kind, ways, every, seed):
    found = []
    with futures.ThreadPoolExecutor(WORKERS) as pool:
        for number, (how, times) in enumerate(ways):
            for mode in ("merge", "upsert"):
                if stopped.is_set():
                    return sum(found, [])
                found.append(play_way(pool, [kind(how, at, times, mode) for at in places(every, seed + number * 7)]))
                print("%s:N:%d/%s: %d tries, %d wrong" % (how, times, mode, len(found[-1]), found[-1].count(0)), flush=True)
    return sum(found, [])


def try_of(kind, word):
    place, mode = word.split("/")
    how, first, times = place.split(":")
    return kind(how, int(first), int(times), mode)


def main(kind=Try, ways=tuple(WAYS)):
    args = sys.argv[1:]
    every = int(args.pop(args.index("--every") + 1)) if "--every" in args else 1
    words = [a for a in args if a != "--every"]
    seed = weir.first_seed()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    print("seed %d" % seed, flush=True)
    found = [end[1] for end in (played(try_of(kind, word)) for word in words) if end] if words else play_all(kind, ways, every, seed)
    print("%d passed, %d failed%s" % (sum(found), len(found) - sum(found), ", stopped before the end" if stopped.is_set() else ""))
    return 0 if all(found) and found and not stopped.is_set() else 1


if __name__ == "__main__":
    sys.exit(main())
