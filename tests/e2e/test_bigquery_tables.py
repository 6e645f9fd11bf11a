"""Tables at BigQuery: made and given columns by several at once; one table's trouble is that table's alone, and says what mends it."""
import json
import threading
import time

import emulators
import weir
from test_bigquery_insert import INSERT, LOG, WRITE, event, feed, ids, run

PROJECT = "weir-test"
CHANGELOG = LOG + ".%s_changelog"


def job(home, path, name="bq", **more):
    return home.job(path, name, project=PROJECT, **{**INSERT, **WRITE, **more})


def table_of(home, name, table):
    """What `weir tables` says of it now."""
    rows = [row for row in home.run("tables", "--job", name, "--json").lines if row["table"] == "%s.%s" % (LOG, table)]
    return rows[0] if rows else {}


def wait_for(what, seconds, words):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("%s: not within %s s" % (words() if callable(words) else words, seconds))


def test_two_engines_that_add_columns_at_once_lose_no_row():
    for way in (WRITE, {}):
        with emulators.bigquery(LOG, project=PROJECT) as bq, weir.Home() as one, weir.Home() as two:
            bq.settings(schema_delay_s=0.3)
            failures = []

            def engine(home, first, column):
                try:
                    home.env.update(bq.env)
                    events = [event(first + n, **({"%s%d" % (column, n // 40): "x"} if n % 4 == 0 else {})) for n in range(200)]
                    result = run(home, feed(home, events), **way)
                    assert result["written"] == 200 and result["dead_lettered"] == result["parked"] == 0, result
                except Exception as failure:  # told by the thread that began it
                    failures.append(failure)

            threads = [threading.Thread(target=engine, args=a) for a in ((one, 1, "a"), (two, 1001, "b"))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not failures, failures
            assert ids(bq) == list(range(1, 201)) + list(range(1001, 1201))
            fields = {f["name"]: f for f in bq.resource(CHANGELOG % "t")["schema"]["fields"]}
            names = {f["name"] for f in fields["fullRecord"]["fields"]}
            assert names == {"id"} | {c + str(n) for c in "ab" for n in range(5)}, names


def test_tables_are_made_as_the_job_says():
    with emulators.bigquery(LOG, project=PROJECT) as bq, weir.Home() as home:
        home.env.update(bq.env)
        run(home, feed(home, [event(1)]), partition="DAY", expiration=30, clustering="operation, nothing", labels={"team": "shop"}, **WRITE)
        made = bq.resource(CHANGELOG % "t")
        assert made["timePartitioning"] == {"type": "DAY", "expirationMs": str(30 * 86400 * 1000)}, made
        assert made["clustering"] == {"fields": ["operation"]} and made["labels"] == {"team": "shop"}, made
        assert made["description"] == "Changelog Table for shop.t", made
        types = {f["name"]: f["type"] for f in made["schema"]["fields"]}
        assert types["fullRecord"] == "RECORD" and types["timestampMs"] == "INTEGER" and types["_weir_position"] == "BYTES", types


def events_of(tables, numbers):
    return [event(n * len(tables) + i, table) for n in numbers for i, table in enumerate(tables)]


class Trouble:
    """A job that runs, whose feed grows, and whose table `bad` gets into trouble while `good` goes on."""

    def __init__(self, bq, home, **more):
        self.bq, self.home = bq, home
        home.env.update(bq.env)
        self.path, self.numbers = feed(home, events_of(["good", "bad"], range(10))), 10
        self.file = job(home, self.path, **{**WRITE, **more})
        home.run("job", "create", self.file)
        home.run("start", "bq")
        self.all_there("bad")

    def more(self, count=20):
        with open(self.path, "a") as out:
            for e in events_of(["good", "bad"], range(self.numbers, self.numbers + count)):
                out.write(json.dumps(e) + "\n")
        self.numbers += count

    def there(self, table):
        try:
            return ids(self.bq, table)
        except AssertionError:
            return []

    def all_there(self, table, seconds=20):
        wait_for(lambda: len(set(self.there(table))) == self.numbers, seconds, "all rows of " + table)

    def cause(self, code, seconds=10):
        def said():
            row = table_of(self.home, "bq", "bad")
            return row if row.get("code") == code else None
        row = wait_for(said, seconds, "%s is said" % code)
        good = table_of(self.home, "bq", "good")
        assert good["state"] == "ok", good
        return row

    def end(self):
        result = self.home.run("status", "bq", "--json").last
        assert result["balanced"] and result["dead_lettered"] == 0, result
        assert result["written"] == 2 * self.numbers and result["parked"] == 0, result
        self.home.run("engine", "stop")


def trouble(code, begin, repair, state, words, **more):
    with emulators.bigquery(LOG, project=PROJECT) as bq, weir.Home() as home:
        t = Trouble(bq, home, **more)
        begin(bq)
        t.more()
        t.all_there("good")
        row = t.cause(code)
        assert row["state"] == state and words in row["sentence"], row
        why = home.run("why", "bad", "--job", "bq", "--json").last
        assert why["code"] == code and words in why["sentence"], why
        t.more()
        t.all_there("good")
        repair(bq)
        t.all_there("bad", 14)
        wait_for(lambda: table_of(home, "bq", "bad")["state"] == "ok", 10, "ok again")
        t.end()


def test_a_right_that_was_taken_away_is_named_with_its_grant():
    for way in (WRITE, {"useStorageWriteApi": False, "useStorageWriteApiAtLeastOnce": None}):
        trouble("bigquery_denied", lambda bq: bq.withhold(**{CHANGELOG % "bad": ["bigquery.tables.updateData"]}),
                lambda bq: bq.withhold(), "needs you", "bigquery.tables.updateData", **way)


def test_a_quota_that_is_used_up_is_waited_for():
    for way in (WRITE, {"useStorageWriteApi": False, "useStorageWriteApiAtLeastOnce": None}):
        trouble("google_quota", lambda bq: bq.fault("quota", CHANGELOG % "bad", "insertAll" if "useStorageWriteApiAtLeastOnce" not in way or
                                                    way["useStorageWriteApiAtLeastOnce"] is None else "AppendRows"),
                lambda bq: bq.lift(), "waiting", "quota", **way)


def test_a_dropped_table_is_not_made_again_in_silence():
    made = {}

    def drop(bq):
        made.update(bq.resource(CHANGELOG % "bad"))
        bq.drop(CHANGELOG % "bad")

    with emulators.bigquery(LOG, project=PROJECT) as bq, weir.Home() as home:
        bq.settings(ghost_s=0)
        t = Trouble(bq, home)
        drop(bq)
        t.more()
        t.all_there("good")
        row = t.cause("table_dropped")
        assert row["state"] == "needs you" and "bq cp" in row["sentence"], row
        bq.table(CHANGELOG % "bad", made["schema"]["fields"])
        wait_for(lambda: len(set(t.there("bad"))) == 20, 14, "the rows since then")
        home.run("engine", "stop")


def test_a_missing_dataset_is_waited_for_with_the_line_that_makes_it():
    with emulators.bigquery(project=PROJECT) as bq, weir.Home() as home:
        home.env.update(bq.env)
        path = feed(home, [event(n) for n in range(1, 6)])
        home.run("job", "create", job(home, path, location="EU"))
        home.run("start", "bq")
        row = wait_for(lambda: (lambda r: r if r.get("code") == "dataset_missing" else None)(table_of(home, "bq", "t")), 10, "the cause")
        assert row["state"] == "needs you" and "bq --location=EU mk --dataset weir-test:shop_log" in row["sentence"], row
        bq.dataset(LOG)
        wait_for(lambda: table_of(home, "bq", "t").get("state") == "ok", 12, "ok")
        assert ids(bq) == [1, 2, 3, 4, 5]
        home.run("engine", "stop")


def test_a_column_of_another_type_keeps_its_table_alone():
    with emulators.bigquery(LOG, project=PROJECT) as bq, weir.Home() as home:
        home.env.update(bq.env)
        run(home, feed(home, [event(1, v="text")], "first.jsonl"), "first", **WRITE)
        path = feed(home, [event(2, v=7), event(3, "u", v=7)], "second.jsonl")
        result = run(home, path, "second", expect=1, **WRITE)
        assert result["written"] == 1 and result["parked"] == 1 and result["balanced"], result
        assert ids(bq, "u") == [3] and ids(bq) == [1]


# What the stand-in says -> reason code and state of the table.
ANSWERS = {"quota": ("google_quota", "waiting"), "rate": ("google_rate_limited", "waiting"), "backend": ("google_unavailable", "waiting"),
           "internal": ("google_internal", "waiting"), "denied": ("bigquery_denied", "needs you"), "billing": ("google_billing", "needs you")}


def every_answer(method, is_there, **way):
    """A table a row of the decision table, all at once, and one that nothing is wrong with."""
    tables = ["good"] + sorted(ANSWERS)
    with emulators.bigquery(LOG, project=PROJECT) as bq, weir.Home() as home:
        home.env.update(bq.env)
        path = feed(home, events_of(tables if is_there else ["good"], range(2)))
        home.run("job", "create", job(home, path, **way))
        home.run("start", "bq")
        wait_for(lambda: bq.rest("GET", "datasets/%s/tables" % LOG).get("totalItems", 0) == (len(tables) if is_there else 1), 30, "tables")
        for kind in ANSWERS:
            bq.fault(kind, CHANGELOG % kind, method)
        with open(path, "a") as out:
            out.writelines(json.dumps(e) + "\n" for e in events_of(tables, range(10, 20)))

        def states():
            rows = home.run("tables", "--job", "bq", "--json").lines
            return {row["table"].split(".")[1]: (row.get("code"), row["state"]) for row in rows if "." in row["table"]}

        wanted = dict(ANSWERS, good=(None, "ok"))
        wait_for(lambda: states() == wanted, 15, lambda: "%s\n%s" % (wanted, states()))
        bq.lift()
        wait_for(lambda: all(state == "ok" for _, state in states().values()), 15, lambda: "all ok: %s" % states())
        for table in tables:
            wait_for(lambda t=table: len(set(ids(bq, t))) == (12 if is_there or t == "good" else 10), 10, "the rows of " + table)
        last = home.run("status", "bq", "--json").last
        assert last["dead_lettered"] == 0 and last["parked"] == 0 and last["balanced"], last
        home.run("engine", "stop")


def test_every_answer_to_appends_means_what_the_table_says():
    every_answer("AppendRows", True, **WRITE)


def test_every_answer_to_insert_all_means_what_the_table_says():
    every_answer("insertAll", True, useStorageWriteApi=False, useStorageWriteApiAtLeastOnce=None)


def test_every_answer_to_making_a_table_means_what_the_table_says():
    every_answer("tables.insert", False, **WRITE)
