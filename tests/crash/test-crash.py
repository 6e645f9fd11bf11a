#!/usr/bin/env python3
"""test-crash [--list] [-k WORD]: kills the engine at every crash point, restarts it, and checks the promise.

--list prints the points (the rows of core/base/crash_points.def). Each scenario first runs unharmed with a trace of the
points that it passes, then once for each of them (and for later passings), killed there and started again. Afterwards ledger,
letters and rows must be those of the unharmed run, and `weir verify` must agree. A point that no scenario reaches fails."""
import os
import re
import signal
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = HERE if os.path.isdir(os.path.join(HERE, "tests")) else os.path.dirname(HERE)
while not os.path.isdir(os.path.join(ROOT, "tests", "e2e")):
    ROOT = os.path.dirname(ROOT)
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import json

import emulators
import mysql
import weir

CRASH_BUILD = os.path.join(ROOT, "build", "crash")
SMALL = {"WEIR_BATCH_RECORDS": "7"}


def points():
    with open(os.path.join(ROOT, "core", "base", "crash_points.def")) as f:
        return re.findall(r'^CRASH_POINT\((\w+), "(.*)"\)$', f.read(), re.M)


def people(first, last, lsn, bad=()):
    """Inserts with some rows that are refused: text where the table's numbers are."""
    return [weir.event({"id": i, "name": "n%d" % i, "n": "x" if i in bad else i}, lsn=lsn + i) for i in range(first, last)]


def history():
    events = people(1, 30, 100, bad=(9, 10, 22))
    events += [weir.event({"id": i, "name": "new", "n": -i}, {"id": i, "name": "n%d" % i, "n": i}, lsn=300 + i) for i in range(3, 20, 3)]
    events += [weir.event(None, {"id": i}, lsn=400 + i) for i in range(4, 20, 5)]
    events.append(weir.event({"id": 77, "name": "moved", "n": 5}, {"id": 5, "name": "n5", "n": 5}, lsn=500))
    events.append(weir.event({"id": 6, "name": "__debezium_unavailable_value", "n": 66}, {"id": 6}, lsn=501))
    events.append(weir.event({"id": 8, "name": "wider", "n": 8, "extra": True}, {"id": 8}, lsn=502))
    return events


def phones(count):
    """Every second row has a column that the schema does not know; some of these rows are newer again later."""
    events = [weir.event(dict({"id": i, "name": "n%d" % i, "n": i}, **({"phone": "5-%d" % i} if i % 2 else {})), lsn=100 + i) for i in range(count)]
    events += [weir.event({"id": i, "name": "newer", "n": i}, {"id": i, "name": "n%d" % i, "n": i}, lsn=300 + i) for i in range(1, count, 6)]
    return events + [weir.event(None, {"id": i}, lsn=400 + i) for i in range(3, count, 10)]


def two_tables():
    events = []
    for i in range(25):
        events += [weir.event({"id": i, "name": "n%d" % i, "n": i}, table=t, lsn=100 + i) for t in ("t", "other")]
    return events + [weir.event(None, {"id": i}, table="t", lsn=200 + i) for i in range(0, 25, 4)]


def altered():
    """Columns that are filled and renamed between the rows; the first schema change comes last."""
    log = mysql.Log()
    log.tables["t"] = [("id", "int", False), ("a", "int", True)]
    for i in range(12):
        log.insert("t", id=i, a=i)
    log.ddl("alter table t change a b int", "t", [("id", "int", False), ("b", "int", True)])
    for i in range(3, 9):
        log.update("t", {"id": i, "b": i}, id=i, b=-i)
    log.ddl("alter table t change b c int, add n varchar(5) default 'x'", "t", [("id", "int", False), ("c", "int", True), ("n", "varchar(5)", True)])
    log.insert("t", id=20, c=20, n=None)
    return "".join(line + "\n" for line in log.lines[:12] + log.lines[13:] + log.lines[12:13])


def renamed():
    """Two tables take each other's names between their rows."""
    log = mysql.Log()
    log.tables["x"] = log.tables["y"] = [("id", "int", False), ("v", "int", True)]
    for i in range(9):
        log.insert("x", id=i, v=i)
        log.insert("y", id=i + 3, v=-i)
    log.ddl("rename table x to tmp, y to x, tmp to y", "x", also=("y",))
    for i in range(3, 9):
        log.update("x", {"id": i, "v": 3 - i}, id=i, v=100 + i)
        log.row("d", "y", {"id": i, "v": i}, None)
    return log.text()


SCHEMA = {"t": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "name": {"bigquery": "STRING"}, "n": {"bigquery": "INT64"}}}}


class Scenario:
    """feed lines, parameters, and the commands in order; each command is run again if it was killed."""

    left_out = ("_weir_received",)  # columns that differ from run to run

    def __init__(self, name, lines, commands=(("run",),), **parameters):
        self.name, self.lines, self.commands, self.parameters = name, lines, commands, parameters

    def prepare(self, home):
        home.write("schema.json", json.dumps(SCHEMA))
        home.write("feed.jsonl", self.lines)
        home.job("feed.jsonl", name="job", sourceSchema="schema.json", **self.parameters)

    def command(self, home, words, env):
        if words[0] == "run":
            return home.run("--run", "job.json", "--until-idle", "--json", *words[1:], env=dict(SMALL, **env), program="weird")
        return self.through_socket(home, words, env)

    @staticmethod
    def word(state):
        return state

    def tables(self, home):
        return tables(home, self.left_out)

    def through_socket(self, home, words, env):
        """Commands of the socket: the engine is started with the switch, so that it is the one that dies."""
        home.end_engine()
        engine = home.start("--serve", env=dict(SMALL, **env), program="weird")
        for _ in range(200):
            if os.path.exists(os.path.join(home.state, "weird.sock")) and home.run("engine", "status").code == 0:
                break
            time.sleep(0.01)
        result = home.run(*words, "--json")
        if engine.poll() is None:
            home.run("engine", "stop")
        try:
            code = engine.wait(timeout=60)
        finally:
            home.end_engine()
        return weir.Result(code if code < 0 else result.code, result.out, result.err)


class Parked(Scenario):
    """Two source tables of one name: the second waits until a pattern tells them apart."""

    def prepare(self, home):
        super().prepare(home)
        home.write("schema.json", "{}")

    def command(self, home, words, env):
        if words[-1] == "apart":
            home.job("feed.jsonl", name="job", sourceSchema="schema.json", tableNamePattern="{schema}_{table}", **self.parameters)
            words = ("run", "--replace")
        return super().command(home, words, env)


class Replay(Scenario):
    """Rows with a column that the job does not take; then it takes it, and their letters are replayed."""

    def prepare(self, home):
        self.register(home, "reject")
        home.write("schema.json", json.dumps(SCHEMA))
        home.write("feed.jsonl", self.lines)

    def register(self, home, word):
        home.job("feed.jsonl", name="job", sourceSchema="schema.json", schemaChanges=word, **self.parameters)

    def command(self, home, words, env):
        self.register(home, "reject" if words == ("run",) else "add")
        return super().command(home, words, env)

    @staticmethod
    def word(state):
        """What was killed between its rows and its state had no effect the second time."""
        return "done" if state == "no effect" else state


class Paused(Scenario):
    """One of two tables is paused while the rest of the feed comes, and goes on afterwards."""

    def prepare(self, home):
        super().prepare(home)
        home.write("feed.jsonl", "".join(self.lines.splitlines(True)[:12]))

    def command(self, home, words, env):
        if words[-1] == "more":
            home.write("feed.jsonl", self.lines)
            words = ("run",)
        return super().command(home, words, env)


class Chosen(Scenario):
    """JSON rows that choose their dataset: one file each, and one for the books."""
    left_out = ("_weir_received", "_weir_position")  # lines are told apart by the feed, which is another file in each home

    def prepare(self, home):
        home.write("feed.jsonl", self.lines)
        parameters = dict({"warehouse": "local", "inputFile": "feed.jsonl", "outputDatasetTemplate": "{ds}"}, **self.parameters)
        home.write("job.json", json.dumps({"name": "job", "template": "PubSub_CDC_to_BigQuery", "parameters": parameters}))


def chosen():
    lines = []
    for i in range(40):
        row = {"ds": "d%d" % (i % 3), "_metadata_table": "t%d" % (i % 2), "id": str(i % 17), "v": i}
        if i % 7 == 3:
            row.pop("ds")
        if i > 20:
            row["new%d" % (i % 3)] = i
        lines.append(json.dumps(row) if i % 9 else "[%d]" % i)
    return "\n".join(lines) + "\n"


class Posted(Chosen):
    """Letters go to a table and a folder, and come back out of it until they have been tried too often."""
    left_out = ("_weir_received", "_weir_position", "_weir_letter", "timestamp", "stacktrace")

    def command(self, home, words, env):
        for folder, _, names in os.walk(home.file("letters")):
            for name in names:
                os.utime(os.path.join(folder, name), (1_600_000_000, 1_600_000_000))
        return super().command(home, ("run",), env)


class Unruled(Scenario):
    """No sourceSchema tells the tables."""

    def prepare(self, home):
        super().prepare(home)
        home.write("schema.json", "{}")


class AtBigQuery(Scenario):
    """Rows at the stand-in of BigQuery, exactly once; each home has one of its own."""
    bq = None

    def prepare(self, home):
        if self.bq:
            self.bq.__exit__()
        self.bq = emulators.bigquery("shop_log", project="weir-test")
        home.env.update(self.bq.env)
        home.write("schema.json", json.dumps(SCHEMA))
        home.write("feed.jsonl", self.lines)
        home.job("feed.jsonl", name="job", sourceSchema="schema.json", project="weir-test", warehouse="bigquery", replicationMode="changelog",
                 replicaDataset=None, useStorageWriteApi=True, storageWriteApiTriggeringFrequencySec=1, **self.parameters)

    def tables(self, _):
        rows = [{k: v for k, v in row.items() if k not in self.left_out} for row in self.bq.rows("shop_log.t_changelog")]
        return {"t": sorted(rows, key=repr)}


class ChosenAtBigQuery(Chosen):
    """The same into datasets of the stand-in of BigQuery, whose books are one file."""
    bq = None

    def prepare(self, home):
        if self.bq:
            self.bq.__exit__()
        self.bq = emulators.bigquery("d0", "d1", "d2", project="weir-test")
        home.env.update(self.bq.env)
        super().prepare(home)
        with open(home.file("job.json")) as file:
            job = json.load(file)
        job["parameters"].pop("warehouse")
        job["parameters"].update(useStorageWriteApi=True, storageWriteApiTriggeringFrequencySec=1)
        home.write("job.json", json.dumps(dict(job, project="weir-test")))

    def tables(self, _):
        found = {}
        for dataset in ("d0", "d1", "d2"):
            for table in ("t0", "t1"):
                rows = self.bq.rows("%s.%s" % (dataset, table))
                found["%s.%s" % (dataset, table)] = sorted((sorted((k, v) for k, v in row.items() if v is not None) for row in rows), key=repr)
        return found


class Altered(Unruled):
    """All but the last line first, and then that one, which changes the schema behind a later change."""

    def prepare(self, home):
        super().prepare(home)
        home.write("feed.jsonl", "".join(self.lines.splitlines(True)[:-1]))

    def command(self, home, words, env):
        if words[-1] == "more":
            home.write("feed.jsonl", self.lines)
            words = ("run",)
        return super().command(home, words, env)


def scenarios():
    keyed = weir.feed(history(), weir.id_key)
    other = [weir.event({"id": i, "v": i}, table="t", schema="a", lsn=10 + i) for i in range(5)]
    other += [weir.event({"id": i, "v": -i}, table="t", schema="b", lsn=20 + i) for i in range(120)] # enough to be parked together
    long_line = keyed + '{"data":{"x":"' + "y" * 20000 + '"}}\n'
    return [
        Scenario("merge", keyed),
        Scenario("upsert", keyed, replicationMode="upsert", changeLogDataset=None),
        Scenario("changelog", keyed, replicationMode="changelog", replicaDataset=None),
        Scenario("same dataset", keyed, changeLogDataset="shop"),
        Scenario("from start", keyed, commands=(("run",), ("run", "--from-start"))),
        Scenario("rebuild", keyed, commands=(("run",), ("merge", "job", "t", "--rebuild"))),
        Scenario("long line", long_line, maxRecordBytes=16384),
        Replay("replay", weir.feed(phones(40), weir.id_key), commands=(("run",), ("run", "--replace"), ("dlq", "replay", "--group", "1", "--yes"), ("run", "--replace"))),
        Replay("replay upsert", weir.feed(phones(40), weir.id_key), commands=(("run",), ("run", "--replace"), ("dlq", "replay", "--group", "1", "--yes"), ("run", "--replace")),
               replicationMode="upsert", changeLogDataset=None),
        Paused("paused table", weir.feed(two_tables(), weir.id_key),
               commands=(("run",), ("pause", "job", "t"), ("run", "more"), ("resume", "job", "t"), ("run",))),
        AtBigQuery("exactly once at BigQuery", keyed),
        ChosenAtBigQuery("chosen datasets at BigQuery", chosen(), replicationMode="append"),
        Altered("altered", altered(), commands=(("run",), ("run", "more"))),
        Altered("altered upsert", altered(), commands=(("run",), ("run", "more")), replicationMode="upsert", changeLogDataset=None),
        Unruled("renamed", renamed()),
        Unruled("renamed upsert", renamed(), replicationMode="upsert", changeLogDataset=None),
        Chosen("chosen datasets", chosen(), replicationMode="append"),
        Chosen("chosen datasets upsert", chosen(), replicationMode="upsert", primaryKey=["id"]),
        Chosen("chosen datasets from start", chosen(), commands=(("run",), ("run", "--from-start")), replicationMode="append"),
        Posted("posted letters", chosen(), commands=(("run",), ("run", "again"), ("run", "again")), replicationMode="append",
               outputDatasetTemplate="d", outputDeadletterTable="p:dl.errors", deadLetterQueueDirectory="letters", deadLetterRetries=1),
        Parked("parked", weir.feed(other, weir.id_key), commands=(("run",), ("run", "apart"))),
    ]


def tables(home, left_out=("_weir_received",)):
    """All source columns of all tables of the warehouse, sorted; nothing of the order of arrival."""
    found = {}
    folder = os.path.join(home.state, "warehouse")
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".db"):
            continue
        dataset = file[:-3]
        names = [n for (n,) in home.sql("select name from sqlite_master where type = 'table' and name not like '\\_weir%' escape '\\' and name not like 'sqlite%'", dataset)]
        for name in names:
            columns = sorted(c[1] for c in home.sql("pragma table_info(`%s`)" % name, dataset) if c[1] not in left_out)
            query = "select %s from `%s`" % (", ".join("`%s`" % c for c in columns), name)
            found[dataset + "." + name] = (columns, sorted(home.sql(query, dataset), key=repr))
    return found


def outcome(home, last, scenario):
    # How often a repeat was met depends on where the kill came; what is there does not.
    ledger = {k: v for k, v in last.items() if k in ("received", "written", "filtered", "dead_lettered", "parked", "in_flight", "balanced", "state")}
    letters = sorted((x["source"]["line"], x["code"], x["sha256"], scenario.word(x["state"])) for x in home.letters())
    return {"ledger": ledger, "letters": letters, "tables": scenario.tables(home)}


def play(scenario, home, crash=None):
    """Runs the scenario's commands; with `crash` the first command that dies is run again. True if one died."""
    died = False
    last = None
    for words in scenario.commands:
        env = {"WEIR_CRASH": crash} if crash and not died else {}
        result = scenario.command(home, words, env)
        if result.code == -signal.SIGKILL:
            died = True
            result = scenario.command(home, words, {})
        assert result.code in (0, 1), result
        if words[0] == "run":
            last = result.last
    return died, last


def unlike(want, got, path):
    """Where two outcomes differ, leaf by leaf."""
    if isinstance(want, dict) and isinstance(got, dict):
        return [line for k in sorted(set(want) | set(got)) for line in unlike(want.get(k), got.get(k), path + "/" + str(k))]
    if isinstance(want, (list, tuple)) and isinstance(got, (list, tuple)) and len(want) == len(got):
        return [line for i in range(len(want)) for line in unlike(want[i], got[i], "%s/%d" % (path, i))]
    return [] if want == got else ["%s: want %.300r got %.300r" % (path, want, got)]


def check(home, scenario, want, got):
    assert got == want, "not as without the kill: " + "\n".join(unlike(want, got, ""))[:1500]
    if scenario.parameters.get("replicationMode", "merge") == "merge" and not isinstance(scenario, AtBigQuery):
        home.verify("job")


def run_scenario(scenario, reached, word):
    passed = failed = 0
    with weir.Home(CRASH_BUILD) as home:
        scenario.prepare(home)
        trace = home.file("trace")
        os.environ["WEIR_CRASH_TRACE"] = trace
        home.env["WEIR_CRASH_TRACE"] = trace
        _, last = play(scenario, home)
        home.env.pop("WEIR_CRASH_TRACE")
        os.environ.pop("WEIR_CRASH_TRACE")
        want = outcome(home, last, scenario)
        with open(trace) as f:
            seen = list(dict.fromkeys(f.read().split()))
    reached.update(seen)
    for point in seen:
        for passing in (1, 2, 4):
            name = "%s: killed at %s, passing %d" % (scenario.name, point, passing)
            if word and word not in name:
                continue
            with weir.Home(CRASH_BUILD) as home:
                scenario.prepare(home)
                try:
                    died, last = play(scenario, home, "%s:%d" % (point, passing))
                    if not died:
                        break
                    check(home, scenario, want, outcome(home, last, scenario))
                    passed += 1
                    print("ok   " + name, flush=True)
                except Exception as e:
                    failed += 1
                    print("FAIL %s\n%s" % (name, str(e)[:4000]), flush=True)
    return passed, failed


def main():
    if "--list" in sys.argv:
        for name, note in points():
            print("%-24s %s" % (name, note))
        return 0
    word = sys.argv[sys.argv.index("-k") + 1] if "-k" in sys.argv else None
    passed = failed = 0
    reached = set()
    for scenario in scenarios():
        p, f = run_scenario(scenario, reached, word)
        passed, failed = passed + p, failed + f
    for name, _ in points():
        if name not in reached:
            failed += 1
            print("FAIL no scenario reaches the crash point " + name)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


sys.exit(main())
