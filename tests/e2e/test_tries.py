"""Random disturbances: clients and engines killed, two of each at once, signals, a home that goes away. After each the next run
must end right: ledger balanced, replica equal, letters once, `weir verify` agrees, no engine, lock or socket in the way.

WEIR_TRIES=N tries (default 40), WEIR_TRY=SEED repeats one. Crash points are tried where the build has them."""
import fcntl
import json
import os
import random
import re
import shutil
import signal
import threading
import time
import traceback

import weir
import workers

TRIES = int(os.environ.get("WEIR_TRIES", "40"))
WORKERS = 4
SCHEMA = {t: {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}}} for t in ("a", "b")}


def has_switches():
    with open(os.path.join(weir.BUILD, "weird"), "rb") as f:
        return b"WEIR_CRASH" in f.read()


def crash_points():
    with open(os.path.join(weir.ROOT, "core/base/crash_points.def")) as f:
        return re.findall(r"^CRASH_POINT\((\w+),", f.read(), re.M)


class Try(weir.Home):
    """A home with a job on a random feed, and what must be there in the end."""

    def __init__(self, seed):
        super().__init__()
        self.random = random.Random(seed)
        self.said = []
        self.make_feed(self.random.randrange(30, 600))
        self.write("schema.json", json.dumps(SCHEMA))
        self.job("feed.jsonl", name="job", sourceSchema="schema.json")
        # The second C-c ends at once, on purpose without waiting for threads.
        self.env["TSAN_OPTIONS"] += ":report_thread_leaks=0"
        if self.random.random() < 0.7:
            self.env["WEIR_BATCH_RECORDS"] = str(self.random.choice((1, 7, 50)))

    def make_feed(self, count):
        r, rows, events = self.random, {"a": {}, "b": {}}, []
        self.bad = 0
        for lsn in range(1, count + 1):
            table, row_id = r.choice("ab"), r.randrange(20)
            old = rows[table].get(row_id)
            if r.random() < 0.05:
                events.append(weir.event({"id": row_id, "n": "x"}, table=table, lsn=lsn))
                self.bad += 1
            elif old is not None and r.random() < 0.2:
                events.append(weir.event(None, {"id": row_id, "n": old}, table=table, lsn=lsn))
                del rows[table][row_id]
            else:
                before = None if old is None else {"id": row_id, "n": old}
                events.append(weir.event({"id": row_id, "n": lsn}, before, table=table, lsn=lsn))
                rows[table][row_id] = lsn
        self.count, self.rows = count, rows
        self.write("feed.jsonl", weir.feed(events, weir.id_key))

    def nap(self, most=0.25):
        """Often at once, sometimes after it is all over."""
        time.sleep(most * self.random.random() ** 2)

    def serve(self, **env):
        engine = self.start("--serve", env=env, program="weird")
        until = time.monotonic() + 20
        while engine.poll() is None and self.run("engine", "status").code != 0 and time.monotonic() < until:
            time.sleep(0.005)
        return engine

    def ask(self, *words, allowed=()):
        """A command whose failure must be one of the allowed codes, in words."""
        return self.judge(self.run(*words, "--json"), words, allowed)

    def judge(self, result, words, allowed):
        self.said.append("%s: exit %d %s" % (" ".join(words), result.code, result.err.decode(errors="replace")[-300:]))
        if words[0] in ("pause", "resume", "merge") and len(words) > 2:
            allowed = (*allowed, "table_unknown")  # it has not come yet
        if result.code not in (0, 1) or b'{"error"' in result.err:
            error = result.error
            assert error["code"] in allowed, (words, result)
            assert error["message"] and error["next"], (words, result)
        return result

    def end(self, child, words, allowed=(), dies_of=None, wait=60):
        """Waits for a program that was started; its words as for ask."""
        out, err = child.communicate(timeout=wait)
        for mark in (b"Sanitizer", b"runtime error:", b"ssertion"):
            assert mark not in err, err.decode(errors="replace")[-6000:]
        if dies_of and child.returncode == -dies_of:
            return None
        return self.judge(weir.Result(child.returncode, out, err), words, allowed)

    def client(self, *words, **env):
        return self.start(*words, "--json", env=env)


# What happens when an engine goes away under a client, or its home does.
GONE = ("connection_lost", "engine_not_running")


def client_killed(t):
    """A client of a running engine: the job goes on without it."""
    engine = t.serve()
    client = t.client("run", "job.json", "--until-idle")
    t.nap()
    client.kill()
    t.end(client, ["run"], dies_of=signal.SIGKILL)
    assert engine.poll() is None, "the engine went with its client"
    t.ask("engine", "stop")
    assert t.end(engine, ["--serve"]).code == 0


def engine_killed(t):
    """kill -9: the client says that it lost the engine; a kept job runs again in the next one."""
    engine = t.serve()
    t.ask("job", "create", "job.json")
    client = None
    if t.random.random() < 0.5:
        client = t.client("run", "job", "--until-idle")
    else:
        t.ask("start", "job")
    t.nap()
    engine.kill()
    engine.wait()
    if client:
        t.end(client, ["run"], allowed=GONE)
        return
    t.serve()
    line = t.ask("job", "show", "job").last
    assert line["running"] or line["state"] in ("ok", "needs you", "catching up"), line


def run_killed(t):
    """weir run without an engine is the engine."""
    client = t.client("run", "job.json", "--until-idle")
    t.nap()
    client.kill()
    t.end(client, ["run"], dies_of=signal.SIGKILL)


def crash_point(t):
    """Killed between two steps of a commit, by --run or below --serve."""
    if not has_switches():
        return engine_killed(t)
    env = {"WEIR_CRASH": "%s:%d" % (t.random.choice(crash_points()), t.random.choice((1, 1, 2, 3, 9)))}
    if t.random.random() < 0.5:
        t.end(t.client("run", "job.json", "--until-idle", **env), ["run"], dies_of=signal.SIGKILL)
        return
    engine = t.serve(**env)
    client = t.client("run", "job.json", "--until-idle")
    t.end(client, ["run"], allowed=GONE)
    if engine.poll() is None:
        t.ask("engine", "stop", allowed=GONE)
    t.end(engine, ["--serve"], dies_of=signal.SIGKILL)


def two_engines(t):
    """One holds the home, the other says so and ends."""
    engines = [t.start("--serve", program="weird") for _ in range(2)]
    until = time.monotonic() + 20
    while all(e.poll() is None for e in engines) and time.monotonic() < until:
        time.sleep(0.002)
    assert sorted(e.poll() is None for e in engines) == [False, True], [e.poll() for e in engines]
    loser, winner = sorted(engines, key=lambda e: e.poll() is None)
    out, err = loser.communicate()
    assert loser.returncode == 69 and b"engine_running" in err and b"next: " in err, (loser.returncode, err)
    # It may hold the home and not answer yet: then `weir run` says so, and joins it when asked again.
    words, until = ("run", "job.json", "--until-idle"), time.monotonic() + 20
    while not t.ask(*words, allowed=("engine_running",)).out and time.monotonic() < until:
        time.sleep(0.005)
    assert winner.poll() is None


def two_starters(t):
    """Two clients find no engine: they start one between them."""
    clients = [t.client("job", "create", "job.json") for _ in range(2)]
    for client in clients:
        t.end(client, ["job", "create"])
    clients = [t.client("start", "job") for _ in range(2)]
    for client in clients:
        t.end(client, ["start"], allowed=("job_running",))
    t.nap()


def same_job_twice(t):
    """One runs it, the other is told; where nobody serves, the other finds the first one's engine or its lock."""
    if t.random.random() < 0.6:
        t.serve()
    clients = [t.client("run", "job.json", "--until-idle") for _ in range(2)]
    ended = [t.end(c, ["run"], allowed=("job_running", "engine_running", *GONE)) for c in clients]
    assert any(r.out for r in ended), ended


def home_deleted(t):
    """The engine ends by itself; what it had is gone, and the next run is a first one."""
    engine = t.serve()
    t.ask("job", "create", "job.json")
    t.ask("start", "job")
    t.nap()
    while os.path.exists(t.state):
        shutil.rmtree(t.state, ignore_errors=True)
    engine.communicate(timeout=30)
    assert engine.returncode in (0, 1), engine.returncode


def terminated(t):
    """SIGTERM drains; what was received is in place, and the engine ends well."""
    if t.random.random() < 0.5:
        client = t.client("run", "job.json", "--until-idle")
        t.nap()
        client.terminate()
        t.end(client, ["run"], dies_of=signal.SIGTERM)  # it does so before it has become the engine
        return
    engine = t.serve()
    t.ask("job", "create", "job.json")
    t.ask("start", "job")
    t.nap()
    engine.terminate()
    assert t.end(engine, ["--serve"]).code == 0


def interrupted_twice(t):
    """The first C-c drains, the second leaves the job to its engine, or, where weir is the engine, ends at once."""
    serves = t.random.random() < 0.6
    engine = t.serve() if serves else None
    client = t.client("run", "job.json")  # without --until-idle: it would go on for ever
    t.nap()
    for _ in range(2):
        if client.poll() is None:
            client.send_signal(signal.SIGINT)
        t.nap(0.05)
    out, err = client.communicate(timeout=60)
    assert client.returncode in (0, 1, -signal.SIGINT), (client.returncode, err)
    if serves:
        assert engine.poll() is None, "C-c reached the engine"


ACTS = (("start",), ("stop",), ("drain",), ("pause",), ("resume",), ("pause", "a"), ("resume", "a"), ("pause", "b"), ("resume", "b"))


def steered(t):
    """Acts in any order: each has an answer, none loses anything."""
    t.serve()
    t.ask("job", "create", "job.json")
    for _ in range(t.random.randrange(3, 10)):
        act, *table = t.random.choice(ACTS)
        t.ask(act, "job", *table, allowed=("wrong_state", "job_running"))
        t.nap(0.05)
    for table in "ab":
        t.ask("resume", "job", table, allowed=("wrong_state",))


KINDS = (client_killed, engine_killed, engine_killed, run_killed, crash_point, crash_point, crash_point, two_engines, two_starters,
         same_job_twice, home_deleted, terminated, interrupted_twice, steered, steered)


def engines_of(home):
    """Processes whose home this is."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as f:
                ours = ("WEIR_HOME=" + home.state).encode() in f.read().split(b"\0")
            if ours and os.path.basename(os.readlink("/proc/%s/exe" % pid)) in ("weird", "weir"):
                found.append(int(pid))
        except OSError:
            continue
    return found


def settle(t):
    """Whatever runs is ended as an operator would: drain, stop the engine."""
    if t.run("engine", "status").code == 0:
        t.ask("stop", "job", allowed=("job_unknown", *GONE))
        t.ask("engine", "stop", allowed=GONE)
    until = time.monotonic() + 30
    while engines_of(t) and time.monotonic() < until:
        time.sleep(0.01)
    assert not engines_of(t), "an engine is left behind: %s" % engines_of(t)


def is_free(t):
    with open(os.path.join(t.state, "weird.lock")) as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return not os.path.exists(os.path.join(t.state, "weird.sock"))


def check(t):
    settle(t)
    last = t.ask("run", "job.json", "--until-idle").last
    want = {"balanced": True, "received": t.count, "written": t.count - t.bad, "dead_lettered": t.bad, "filtered": 0, "parked": 0,
            "in_flight": 0, "state": "stopped"}
    assert {k: last[k] for k in want} == want, (want, last)
    for table, rows in t.rows.items():
        got = dict(t.sql("select id, n from %s" % table)) if rows or os.path.exists(t.warehouse()) and has_table(t, table) else {}
        assert got == rows, (table, rows, got)
    assert is_free(t), "lock or socket of the run is left"
    assert len(t.letters()) == t.bad
    t.verify("job")
    settle(t)
    assert is_free(t), "lock or socket of the engine is left"


def has_table(t, name):
    return bool(t.sql("select 1 from sqlite_master where name = '%s'" % name))


def one(seed):
    """None, or what went wrong; leaving the home counts, for a sanitizer's words are read there."""
    kind = random.Random(seed).choice(KINDS)
    t = Try(seed)
    try:
        with t:
            kind(t)
            check(t)
    except Exception:
        return "WEIR_TRY=%d python3 tests/e2e/run.py -k test_tries   (%s, %d messages)\n%s\n%s" % (
            seed, kind.__name__, t.count, "\n".join(t.said[-12:]), traceback.format_exc()[-4000:])
    return None


@workers.alone  # it has workers of its own
def test_random_tries_end_right():
    seeds = [int(os.environ["WEIR_TRY"])] if "WEIR_TRY" in os.environ else random.SystemRandom().sample(range(10**9), TRIES)
    wanted, done, failures, lock = len(seeds), [], [], threading.Lock()

    def work():
        while True:
            with lock:
                if not seeds or len(failures) >= 5:
                    return
                seed = seeds.pop()
            failure = one(seed)
            with lock:
                done.append(seed)
                if failure:
                    failures.append(failure)

    workers = [threading.Thread(target=work) for _ in range(WORKERS)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert not failures, "%d of %d tries failed\n%s" % (len(failures), len(done), "\n\n".join(failures))
    assert len(done) == wanted, "%d of %d tries were made" % (len(done), wanted)
