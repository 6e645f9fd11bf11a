"""Changelogs at BigQuery: what a feed brings is there row by row as in the local changelog, and what fails is said and kept."""
import base64
import collections
import contextlib
import json
import os
import random
import re
import signal
import socket
import sqlite3
import struct
import subprocess
import time

import emulators
import weir

LOG = "shop_log"
INTERVAL = re.compile(r"-?\d+-\d+ -?\d+ -?\d+:\d+:\d+\.\d+$")
STORAGE = {"warehouse": "bigquery", "replicationMode": "changelog", "replicaDataset": None, "useStorageWriteApi": True,
           "useStorageWriteApiAtLeastOnce": True}


def bigquery_job(home, feed, name="bq", **more):
    return home.job(feed, name, project="weir-test", **{**STORAGE, **more})


def run_bigquery(home, feed, name="bq", expect=0, args=(), env=None, **more):
    r = home.run("run", bigquery_job(home, feed, name, **more), "--until-idle", "--json", *args, env=env)
    assert expect is None or r.code == expect, r
    return r.last if r.out else r


def without_nulls(value):
    """BigQuery has no NULL array, no NULL in one, and no member that is missing: what both say alike is compared. A list with
    NULLs is JSON in a local column, and so are all lists of that column; so are structures. Of an interval's fraction one side writes six digits."""
    if isinstance(value, str) and INTERVAL.match(value):
        return value.rstrip("0")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except ValueError:
            pass
    if isinstance(value, dict):
        return {k: v for k, v in ((k, without_nulls(v)) for k, v in value.items()) if v not in (None, [], {})}
    if isinstance(value, list):
        return [v for v in map(without_nulls, value) if v is not None]
    return value


def canonical(text):
    return json.dumps(without_nulls(json.loads(text)), sort_keys=True) if text else None


def local_rows(home, table, dataset):
    columns = ("fullRecord, primaryKey, operation, timestampMs, tableName, _weir_position, _weir_key, _weir_old_key, "
               "_weir_unavailable")
    found = []
    for row in home.sql('SELECT %s FROM "%s"' % (columns, table), dataset):
        record, key, operation, at, source, position, key_bytes, old, unavailable = row
        is_change = operation in ("ALTER", "RENAME")
        found.append((position, key_bytes, operation, str(at), source, None if is_change else canonical(record), canonical(key),
                      old, unavailable, canonical(record) if is_change else None))
    return sorted(found, key=repr)


def remote_rows(bq, name):
    found = []
    for row in bq.rows(name):
        unb64 = {c: base64.b64decode(row[c]) if row[c] is not None else None for c in ("_weir_position", "_weir_key", "_weir_old_key")}
        found.append((unb64["_weir_position"], unb64["_weir_key"], row["operation"], row["timestampMs"], row["tableName"],
                      canonical(row.get("fullRecord")), canonical(row.get("primaryKey")), unb64["_weir_old_key"],
                      row["_weir_unavailable"], canonical(row["_weir_change"])))
        assert int(row["_weir_received"]) > 1600000000000000, row
    return sorted(found, key=repr)


def rows_if_any(bq, name):
    """A table all of whose rows are letters is not made."""
    try:
        return remote_rows(bq, name)
    except AssertionError as error:
        assert "there is no table" in str(error), error
        return []


def table_events(home):
    """What the journal tells of tables' troubles, oldest first."""
    lines = home.run("journal", "--json").lines
    return sorted((x for x in lines if x.get("code", "").startswith("table_")), key=lambda x: x["time"])


def place_of(row):
    """Of a changelog row, as letters write it: without the ordinal inside the event."""
    return "%X/%X/%X/%X" % struct.unpack(">4Q", row[0][:32])


def compare(home, bq, dataset="local_log", letters=(), once=False, as_seen=list):
    """What is missing is what the messages of the letters make (lists with NULL among their elements, which BigQuery has not): a row each,
    two of a change of a key, whose insert has ordinal 1 and whose delete is missing with it. Of the default stream rows may be there
    twice where an answer was missing so long that they were sent again, which the journal says."""
    tables = [t for (t,) in home.sql(r"SELECT name FROM sqlite_master WHERE type='table' AND name LIKE '%\_changelog' ESCAPE '\'", dataset)]
    missing, inserts = collections.Counter(), collections.Counter()
    assert tables
    late = {x["table"].rpartition(".")[2] + "_changelog" for x in table_events(home) if "google_timeout" in x["text"]}
    for table in tables:
        ours, theirs = as_seen(local_rows(home, table, dataset)), as_seen(rows_if_any(bq, LOG + "." + table))
        known, found = set(ours), set(theirs)
        extra = [row for row in theirs if row not in known]
        assert not extra, (table, extra[0], [row for row in ours if row[:2] == extra[0][:2]])
        assert len(theirs) == len(found) or (not once and table in late), (table, late)
        for row in (row for row in ours if row not in found):
            missing[table, place_of(row)] += 1
            inserts[table, place_of(row)] += row[0][32]
    told = collections.Counter((letter["table"].rpartition(".")[2] + "_changelog", letter["position"]) for letter in letters)
    wrong = {at: (missing[at], told[at]) for at in set(missing) | set(told) if not told[at] <= missing[at] <= told[at] + inserts[at]}
    assert not wrong, wrong


def check(name, **more):
    folder, once = weir.stream(name), more.get("useStorageWriteApiAtLeastOnce") is False
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        local = home.replicate(folder + "/feed.jsonl", "local", replicationMode="changelog", replicaDataset=None,
                               changeLogDataset="local_log", **more)
        result = run_bigquery(home, folder + "/feed.jsonl", expect=None, **more)
        letters = home.letters() if result["dead_lettered"] else []
        assert all(letter["code"] == "null_element" for letter in letters), letters[0]
        for count in ("received", "filtered", "parked"):
            assert result[count] == local[count], (count, result, local)
        assert result["written"] + len(letters) == local["written"], (result, local)
        assert result["balanced"] and result["in_flight"] == 0, result
        compare(home, bq, letters=letters, once=once)
        again = run_bigquery(home, folder + "/feed.jsonl", expect=None, **more)
        assert again["this_run"]["received"] == 0 and again["received"] == result["received"], again
        compare(home, bq, letters=letters, once=once)


def test_rows_of_a_shop_are_those_of_the_local_changelog():
    check("pg-shop", sourceSchema=weir.stream("pg-shop") + "/schema.json")


def test_rows_of_another_shop_are_those_of_the_local_changelog():
    check("mariadb-shop", sourceSchema=weir.stream("mariadb-shop") + "/schema.json")


def test_every_type_is_that_of_the_local_changelog():
    for name in ("pg-types", "mariadb-types", "mariadb-types-long", "pg-types-connect", "pg-types-iso", "pg-types-micro", "pg-types-nano"):
        check(name)


def two_tables(count, first=0):
    """Rows of `a` and `b` in turn, `count` of each, with their columns told."""
    events = []
    for i in range(first, first + count):
        for table in ("a", "b"):
            events.append(weir.event({"id": i, "v": "%s %d" % (table, i)}, table=table, lsn=1000 + i))
    return weir.feed(events, weir.id_key)


def ids(bq, table):
    return [json.loads(row["fullRecord"])["id"] for row in bq.rows("%s.%s_changelog" % (LOG, table))]


def until(what, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come about within %d s" % seconds)


def table_row(home, table):
    r = home.run("tables", "--json")
    assert r.code == 0, r
    found = [row for row in r.lines if row["table"] == "%s.%s" % (LOG, table)]
    return found[0] if found else {"state": "", "sentence": ""}


def count(bq, table):
    try:
        return len(ids(bq, table))
    except AssertionError:
        return 0


def test_what_passes_of_one_table_is_waited_for_and_nothing_is_lost():
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        bq.fault("quota", LOG + ".a_changelog", "AppendRows", seconds=4)
        result = run_bigquery(home, home.write("f.jsonl", two_tables(500)))
        assert result["written"] == 1000 and result["parked"] == result["dead_lettered"] == 0 and result["balanced"], result
        assert ids(bq, "a") == ids(bq, "b") == list(range(500))


def test_short_troubles_cost_nothing_but_a_moment():
    for kind, more in (("abort", {}), ("close", {}), ("backend", {}), ("cut", {"bytes": 3}), ("internal", {}), ("in_band", {"code": 14})):
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            home.env.update(bq.env)
            bq.fault(kind, LOG + ".*", "AppendRows", times=2, **more)
            result = run_bigquery(home, home.write("f.jsonl", two_tables(300)))
            assert result["written"] == 600 and result["parked"] == result["dead_lettered"] == 0, (kind, result)
            for table in ("a", "b"):
                found = ids(bq, table)
                assert sorted(set(found)) == list(range(300)), (kind, table)
                # What was lost on its way back may be there twice, at least once as it is.
                assert kind in ("cut", "close", "abort") or len(found) == 300, (kind, table, len(found))


class Followed:
    """A job that follows its feed in an engine of its own."""

    def __init__(self, home, bq, feed, env=None, **more):
        home.env.update(env or bq.env)
        self.home, self.feed = home, home.write("f.jsonl", feed)
        self.process = home.start("run", bigquery_job(home, self.feed, **more), "--json")

    def add(self, lines):
        with open(self.feed, "a") as f:
            f.write(lines)

    def drain(self):
        r = self.home.run("drain", "bq", "--json", timeout=60)
        self.process.wait(60)
        return r


def needs_somebody_and_comes_back(break_it, mend, code):
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        job = Followed(home, bq, two_tables(100))
        until(lambda: count(bq, "a") == count(bq, "b") == 100)
        break_it(bq)
        job.add(two_tables(100, 100))
        row = until(lambda: table_row(home, "a")["state"] == "needs you" and table_row(home, "a"), 10)
        assert row["code"] == code and row["sentence"], row
        until(lambda: count(bq, "b") == 200, 10)
        assert table_row(home, "b")["state"] != "needs you", table_row(home, "b")
        job.add(two_tables(100, 200))
        until(lambda: count(bq, "b") == 300, 10)
        before = count(bq, "a")
        mend(bq)
        until(lambda: count(bq, "a") == before + 200, 10)
        until(lambda: table_row(home, "a")["state"] == "ok", 10)
        assert ids(bq, "a")[before:] == list(range(100, 300)), ids(bq, "a")
        assert table_row(home, "a")["parked"] == 0 and not home.letters()
        told = until(lambda: [x for x in table_events(home) if x["code"] == "table_goes_on"] and table_events(home))
        assert [(x["table"], x["code"]) for x in told] == [(LOG + ".a", "table_needs_you"), (LOG + ".a", "table_goes_on")], told
        assert code in told[0]["text"] and told[0]["text"].endswith("; its rows are parked"), told
        job.drain()


def test_a_right_that_was_revoked_is_that_tables_trouble_alone():
    needs_somebody_and_comes_back(lambda bq: bq.withhold(**{LOG + ".a_changelog": ["bigquery.tables.updateData"]}),
                                  lambda bq: bq.withhold(), "bigquery_denied")


def test_a_dropped_table_is_that_tables_trouble_alone():
    kept = []

    def drop(bq):
        kept.append(bq.resource(LOG + ".a_changelog")["schema"]["fields"])
        bq.drop(LOG + ".a_changelog")

    needs_somebody_and_comes_back(drop, lambda bq: bq.table(LOG + ".a_changelog", kept[0]), "table_dropped")


def test_a_table_that_was_dropped_between_two_runs_is_not_made_again_in_silence():
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        feed = home.write("f.jsonl", two_tables(50))
        run_bigquery(home, feed)
        fields = bq.resource(LOG + ".a_changelog")["schema"]["fields"]
        bq.drop(LOG + ".a_changelog")
        with open(feed, "a") as f:
            f.write(two_tables(50, 50))
        result = run_bigquery(home, feed, expect=1)
        assert result["parked"] == 50 and ids(bq, "b") == list(range(100)) and count(bq, "a") == 0, result
        assert [x["code"] for x in table_events(home)] == ["table_needs_you"] and "table_dropped" in table_events(home)[0]["text"]
        bq.table(LOG + ".a_changelog", fields)
        result = run_bigquery(home, feed)
        assert result["parked"] == 0 and result["balanced"] and ids(bq, "a") == list(range(50, 100)), result


def test_a_missing_dataset_keeps_all_and_goes_on_when_it_is_made():
    with weir.Home() as home, emulators.bigquery(project="weir-test") as bq:
        job = Followed(home, bq, two_tables(100))
        row = until(lambda: table_row(home, "a")["state"] == "needs you" and table_row(home, "a"), 10)
        assert row["code"] == "dataset_missing" and LOG in row["sentence"], row
        bq.dataset(LOG)
        until(lambda: count(bq, "a") == count(bq, "b") == 100, 10)
        assert ids(bq, "a") == list(range(100)) and not home.letters()
        job.drain()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def test_out_of_reach_the_job_waits_and_parks_nothing():
    """What every table suffers from is no table's trouble: the source is held up, not the disk filled."""
    for more in ({}, {"useStorageWriteApi": False, "useStorageWriteApiAtLeastOnce": False}):
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            gates = {free_port(): bq.ports[name] for name in ("rest", "storage")}
            job = Followed(home, bq, two_tables(100), env=dict(zip(bq.env, ("127.0.0.1:%d" % port for port in gates))), **more)
            waits = until(lambda: [line for line in home.run("status", "--json").lines if line["state"] == "waiting"], 10)[0]
            assert waits["code"] == "google_unreachable" and waits["parked"] == 0, waits
            assert home.run("status", "--json").lines[0]["parked"] == 0
            opened = [subprocess.Popen(["socat", "TCP-LISTEN:%d,bind=127.0.0.1,reuseaddr,fork" % port, "TCP:127.0.0.1:%d" % real])
                      for port, real in gates.items()]
            try:
                until(lambda: count(bq, "a") == count(bq, "b") == 100, 20)
                job.drain()
            finally:
                for gate in opened:
                    gate.terminate()
                    gate.wait()
            assert not home.letters() and home.run("status", "--json").lines[0]["balanced"]


def test_rows_that_are_refused_are_letters_and_all_others_are_written():
    bad = {7, 8, 30, 499}
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        bq.fault("row", LOG + ".a_changelog", "AppendRows", rows=sorted(bad), times=1, message="Value out of range")
        events = [weir.event({"id": i}, table="a", lsn=1000 + i) for i in range(500)]
        result = run_bigquery(home, home.write("f.jsonl", weir.feed(events, weir.id_key)), expect=1)
        assert result["written"] == 500 - len(bad) and result["dead_lettered"] == len(bad), result
        assert ids(bq, "a") == [i for i in range(500) if i not in bad]
        letters = home.letters()
        assert {json.loads(letter["key"])["id"] for letter in letters} == bad, letters
        assert all(letter["stage"] == "write" and "out of range" in letter["message"] for letter in letters), letters[0]


ONCE = {"useStorageWriteApiAtLeastOnce": False, "storageWriteApiTriggeringFrequencySec": 1}


def test_committed_streams_have_the_same_rows():
    check("pg-shop", sourceSchema=weir.stream("pg-shop") + "/schema.json", **ONCE)


KILLS = int(os.environ.get("WEIR_KILLS", "6"))
ROWS = 50000 if KILLS >= 20 else 12000 # of each of the two tables
BATCH_ROWS = 2500 # of a table: half of the 5,000 messages that a batch has


def committed(home, name="bq"):
    """{table: messages whose fate is known for good}, by the books of a job that nobody runs."""
    path = os.path.join(home.state, "warehouse", "bigquery", name + ".db")
    if not os.path.exists(path):
        return {}
    with contextlib.closing(sqlite3.connect(path)) as db:
        try:
            return {table.rpartition(".")[2]: received for table, received in db.execute("SELECT table_name, received FROM _weir_ledger")}
        except sqlite3.OperationalError:
            return {}


def kills(**more):
    """Killed at random; in the end each row is there. Gives of each table how often each row is there, and what had been committed at each kill."""
    seed = weir.first_seed()
    chance = random.Random(seed)
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        feed = home.write("f.jsonl", two_tables(ROWS))
        job = bigquery_job(home, feed, **more)
        known = []
        bq.fault("slow", LOG + ".*", "AppendRows", delay_ms=100)
        for _ in range(KILLS):
            process = home.start("run", job, "--until-idle", "--json", program="weir", start_new_session=True)
            before = bq.counts().get("AppendRows", 0) + chance.randrange(0, 3)
            until(lambda: process.poll() is not None or bq.counts().get("AppendRows", 0) > before, 20)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                known.append(committed(home))
        assert len(known) >= KILLS // 3, (seed, known)
        bq.lift()
        result = run_bigquery(home, feed, **more)
        assert result["received"] == 2 * ROWS and result["balanced"] and result["dead_lettered"] == 0, (seed, result)
        for table in ("a", "b"):
            found = collections.Counter(ids(bq, table))
            assert sorted(found) == list(range(ROWS)), (seed, table, len(found))
            yield seed, table, found, [at.get(table, 0) for at in known]


def test_killed_at_random_each_row_is_there_once():
    for seed, table, found, _ in kills(**ONCE):
        assert set(found.values()) == {1}, (seed, table, found.most_common(3))


def test_killed_at_random_each_row_is_there_at_least_once():
    """Twice only what was in a batch that had not been committed when a kill came."""
    for seed, table, found, known in kills():
        for row, times in found.items():
            reasons = sum(at <= row < at + BATCH_ROWS for at in known)
            assert times <= 1 + reasons, (seed, table, row, times, known)


def test_a_schema_that_changes_again_and_again_is_followed():
    for more in ({}, ONCE):
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            home.env.update(bq.env)
            events = []
            for i in range(6000):
                row = {"id": i}
                row.update({"c%d" % k: "v%d" % i for k in range(i // 1000)})
                events.append(weir.event(row, table="a", lsn=1000 + i))
            result = run_bigquery(home, home.write("f.jsonl", weir.feed(events, weir.id_key)), **more)
            assert result["written"] == 6000 and result["parked"] == result["dead_lettered"] == 0, result
            rows = sorted((json.loads(row["fullRecord"]) for row in bq.rows(LOG + ".a_changelog")), key=lambda row: row["id"])
            assert [row["id"] for row in rows] == list(range(6000))
            for row in rows:
                for k in range(5):
                    assert row.get("c%d" % k) == ("v%d" % row["id"] if k < row["id"] // 1000 else None), row


def test_requests_are_cut_by_rows_and_one_row_that_is_too_large_is_alone():
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        events = [weir.event({"id": i, "v": "x" * 400000}, table="a", lsn=1000 + i) for i in range(40)]
        events.insert(20, weir.event({"id": 999, "v": "y" * 20000000}, table="a", lsn=2000))
        result = run_bigquery(home, home.write("f.jsonl", weir.feed(events, weir.id_key)), expect=1, maxRecordBytes="32M")
        assert result["written"] == 40 and result["dead_lettered"] == 1, result
        assert home.letters()[0]["code"] == "row_too_large", home.letters()
        assert ids(bq, "a") == list(range(40))


def test_answers_that_are_slow_are_waited_for():
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        bq.fault("slow", LOG + ".*", "AppendRows", delay_ms=300)
        result = run_bigquery(home, home.write("f.jsonl", two_tables(300)))
        assert result["written"] == 600 and result["parked"] == result["dead_lettered"] == 0, result
        assert ids(bq, "a") == ids(bq, "b") == list(range(300))


def test_a_table_whose_answers_are_missing_keeps_no_other_waiting():
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        job = Followed(home, bq, two_tables(50))
        until(lambda: count(bq, "a") == count(bq, "b") == 50)
        bq.fault("hang", LOG + ".a_changelog", "AppendRows")
        job.add(two_tables(50, 50))
        row = until(lambda: table_row(home, "a")["state"] == "waiting" and table_row(home, "a"), 20)
        assert row["code"] == "google_timeout" and row["until"], row
        job.add(two_tables(50, 100))
        until(lambda: sorted(set(ids(bq, "b"))) == list(range(150)), 10)
        bq.lift()
        until(lambda: sorted(set(ids(bq, "a"))) == list(range(150)), 20)
        assert not home.letters()
        job.drain()


def test_a_table_whose_answers_are_slow_has_its_rows_once_and_keeps_no_other_waiting():
    """The default stream would take twice what is sent twice: what is slow is waited for, by its own table only."""
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        job = Followed(home, bq, two_tables(50))
        until(lambda: count(bq, "a") == count(bq, "b") == 50)
        bq.fault("slow", LOG + ".a_changelog", "AppendRows", delay_ms=13000)
        job.add(two_tables(50, 50))
        row = until(lambda: table_row(home, "a")["state"] == "waiting" and table_row(home, "a"), 10)
        assert row["code"] == "google_timeout" and "waiting for an answer since" in row["sentence"] and row["until"], row
        bq.lift()
        job.add(two_tables(50, 100))
        until(lambda: sorted(set(ids(bq, "b"))) == list(range(150)), 10)
        until(lambda: count(bq, "a") == 150, 25)
        assert ids(bq, "a") == list(range(150)) and not home.letters()
        until(lambda: table_row(home, "a")["state"] == "ok")
        job.drain()


def test_a_column_comes_with_its_first_value():
    """Until then nobody knows its type, which BigQuery never changes."""
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        feed = home.write("f.jsonl", weir.feed([weir.event({"id": i, "n": None}, table="a", lsn=i + 1) for i in range(10)], weir.id_key))
        run_bigquery(home, feed)
        with open(feed, "a") as f:
            f.write(weir.feed([weir.event({"id": i, "n": i}, table="a", lsn=i + 1) for i in range(10, 20)], weir.id_key))
        result = run_bigquery(home, feed)
        assert result["written"] == 20 and result["parked"] == 0, result
        rows = [json.loads(row["fullRecord"]) for row in bq.rows(LOG + ".a_changelog")]
        assert [row.get("n") for row in rows] == [None] * 10 + list(range(10, 20)), rows


def test_every_call_is_paid_by_the_quota_project():
    """REST's and Storage Write's, at least once, exactly once and by insertAll; a project that may not be used is said, and goes on by itself."""
    for way, calls in (({}, {"AppendRows", "GetWriteStream"}), (ONCE, {"AppendRows", "CreateWriteStream", "GetWriteStream"}),
                       ({"useStorageWriteApi": False, "useStorageWriteApiAtLeastOnce": False}, {"insertAll"})):
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            home.env.update(bq.env)
            result = run_bigquery(home, home.write("f.jsonl", two_tables(20)), quotaProject="acme-bills", **way)
            assert result["written"] == 40, result
            counts = bq.counts()
            paid = {name.partition(" paid by ")[0] for name in counts if name.endswith(" paid by acme-bills")}
            assert calls | {"tables.get", "tables.insert"} <= paid, (way, counts)
            for call in paid - {"AppendRows"}: # of which one call is many requests
                assert counts[call + " paid by acme-bills"] == counts[call], (call, counts)


def test_a_quota_project_that_may_not_be_used_is_said():
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        bq.control("POST", "permissions", {"acme-bills": ["serviceusage.services.use"]})
        feed = home.write("f.jsonl", two_tables(5))
        result = run_bigquery(home, feed, expect=None, quotaProject="acme-bills")
        assert result["written"] == 0 and not result["dead_lettered"], result
        assert "quota_project_denied" in json.dumps(result), result
        bq.control("POST", "permissions", {})
        result = run_bigquery(home, feed, expect=None, quotaProject="acme-bills")
        assert result["written"] == 10 and result["balanced"] and not result["parked"], result


def test_rows_do_not_wait_for_the_triggering_frequency():
    """It is the longest time, and in exactly-once mode it must be given; a day of it holds no row back."""
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        job = Followed(home, bq, two_tables(10), useStorageWriteApiAtLeastOnce=False, storageWriteApiTriggeringFrequencySec=86400)
        until(lambda: count(bq, "a") == count(bq, "b") == 10)
        job.add(two_tables(10, 10))
        until(lambda: count(bq, "a") == count(bq, "b") == 20)
        job.drain()
        assert ids(bq, "a") == ids(bq, "b") == list(range(20))
