"""
Two operators at once, and a kill now and then: they pause and resume tables and the job, start and stop it, replay groups,
change the job, in any order, while changes come in. In the end every letter has an answer and the replica is what it would be
had nobody touched anything and the column existed from the start.
"""
import json
import os
import random
import threading
import time

import weir

SCHEMA = {t: {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}}} for t in "abc"}
ROUNDS = int(os.environ.get("WEIR_ROUNDS", "4"))
# What an act may be told by the other operator's acts, or by a kill.
TOLD = {"wrong_state", "table_unknown", "job_running", "replay_running", "group_unknown", "connection_lost", "engine_not_running", "engine_running",
        "job_stopped", "no_answer", "replay_stopped", "database_locked"}


class Table:
    """The source's own rows."""

    def __init__(self, rand):
        self.rand, self.rows, self.lsn, self.lock = rand, {t: {} for t in "abc"}, 100, threading.Lock()

    def events(self, count):
        events = []
        for _ in range(count):
            self.lsn += 1
            table, key = self.rand.choice("abc"), self.rand.randrange(12)
            old = self.rows[table].get(key)
            if old and self.rand.random() < 0.2:
                events.append(weir.event(None, {"id": key}, table=table, lsn=self.lsn))
                del self.rows[table][key]
                continue
            row = {"id": key, "n": self.lsn}
            if self.rand.random() < 0.3:
                row["more"] = "m%d" % self.lsn
            events.append(weir.event(row, {"id": key} if old else None, table=table, lsn=self.lsn))
            self.rows[table][key] = row
        return events


def acts(rand):
    table = rand.choice("abc")
    return rand.choice((("pause", "shop", table), ("resume", "shop", table), ("pause", "shop", table), ("resume", "shop", table),
                        ("dlq", "replay", "--group", rand.randrange(1, 4), "--yes"), ("dlq", "replay", "--group", rand.randrange(1, 4), "--yes"),
                        ("stop", "shop"), ("start", "shop"), ("start", "shop"), ("pause", "shop"), ("resume", "shop"), ("drain", "shop"),
                        ("job", "set", "shop", "schemaChanges=add"), ("merge", "shop"), ("verify", "shop"), ("tables",), ("status",)))


def operate(home, seed, count, said):
    rand = random.Random(seed)
    for _ in range(count):
        words = acts(rand)
        r = home.run(*words, "--json", timeout=120)
        line = "%s: exit %d %s" % (" ".join(map(str, words)), r.code, r.err.decode()[-300:])
        said.append(line)
        error = r.error if b'{"error"' in r.err else None
        if error and error["code"] not in TOLD or r.code not in (0, 1) and not error or error and not (error["message"] and error["next"]):
            said.append("UNEXPECTED " + line)
            return
        if words[0] == "verify" and r.code and not error:
            said.append("UNEXPECTED %s %s" % (line, r.out.decode()))
            return


def feed_more(home, table, rand, until):
    while not until.is_set():
        with open(home.file("feed"), "a") as f:
            f.write(weir.feed(table.events(rand.randrange(1, 30)), weir.id_key))
        until.wait(rand.random() * 0.1)


def killing(home, rand, until):
    while not until.wait(0.3 + rand.random()):
        home.end_engine()


def disturb(home, rand, table, said):
    over = threading.Event()
    operators = [threading.Thread(target=operate, args=(home, rand.random(), 15, said)) for _ in range(2)]
    others = [threading.Thread(target=feed_more, args=(home, table, random.Random(rand.random()), over))]
    if rand.random() < 0.5:
        others.append(threading.Thread(target=killing, args=(home, random.Random(rand.random()), over)))
    for t in operators + others:
        t.start()
    for t in operators:
        t.join()
    over.set()
    for t in others:
        t.join()
    assert not [s for s in said if s.startswith("UNEXPECTED")], "\n".join(said[-30:])


def come_to_rest(home, said):
    """As an operator would: everything goes on, then every group is replayed."""
    for t in "abc":
        home.run("resume", "shop", t)
    home.run("stop", "shop")
    home.run("job", "set", "shop", "schemaChanges=add")
    run = home.run("run", "shop", "--until-idle", "--json")
    assert run.code in (0, 1) and run.last["balanced"] and run.last["parked"] == 0 and run.last["in_flight"] == 0, (run, said)
    for group in home.run("dlq", "groups", "--json").lines:
        if group["state"] not in ("done", "no effect"):
            r = home.run("dlq", "replay", "--group", group["group"], "--yes", "--json")
            assert r.code == 0 and r.last["failed_again"] == 0, (r, group)
    return run.last


def one(seed):
    rand = random.Random(seed)
    with weir.Home() as home:
        table, said = Table(random.Random(seed + 1)), []
        home.write("schema.json", json.dumps(SCHEMA))
        home.write("feed", weir.feed(table.events(50), weir.id_key))
        home.run("job", "create", home.job("feed", sourceSchema="schema.json", schemaChanges="reject", updateFrequencySecs=1))
        home.run("start", "shop")
        disturb(home, rand, table, said)
        last = come_to_rest(home, said)
        with open(home.file("feed")) as f:
            assert last["received"] == sum(1 for _ in f), (last, said)
        assert {x["state"] for x in home.letters()} <= {"done", "no effect"}, (home.letters(), said)
        for name, rows in table.rows.items():
            columns = [c[1] for c in home.sql("pragma table_info(%s)" % name)]
            more = "more" if "more" in columns else "null"
            got = {i: (n, m) for i, n, m in home.sql("select id, n, %s from %s" % (more, name))}
            assert got == {i: (r["n"], r.get("more")) for i, r in rows.items()}, (name, said)
        home.verify()


def test_two_operators_lose_nothing_between_them():
    base = weir.first_seed()
    for seed in range(base, base + ROUNDS):
        try:
            one(seed)
        except Exception as e:
            raise AssertionError("WEIR_SEED=%d WEIR_ROUNDS=1 python3 tests/e2e/run.py -k two_operators_lose" % seed) from e
