"""insertAll (useStorageWriteApi=false): the same rows as through the Storage Write API, whatever is refused, late or large."""
import json

import emulators
import weir

LOG = "shop_log"
INSERT = {"warehouse": "bigquery", "replicationMode": "changelog", "replicaDataset": None, "changeLogDataset": LOG}
WRITE = {"useStorageWriteApi": True, "useStorageWriteApiAtLeastOnce": True}


def event(number, table="t", **columns):
    return {"id": "m%d" % number, "data": {
        "op": "c", "before": None, "after": dict({"id": number}, **columns), "ts_ms": 1700000000000,
        "source": {"connector": "mysql", "db": "shop", "table": table, "file": "bin.000001", "pos": number * 10, "row": 0,
                   "ts_ms": 1700000000000}}}


def feed(home, events, name="feed.jsonl"):
    return home.write(name, "".join(json.dumps(e) + "\n" for e in events))


def run(home, path, name="bq", expect=0, **more):
    job = home.job(path, name, project="weir-test", **{**INSERT, **more})
    r = home.run("run", job, "--until-idle", "--json")
    assert expect is None or r.code == expect, r
    return r.last


def ids(bq, table="t"):
    return sorted(int(json.loads(row["fullRecord"])["id"]) for row in bq.rows("%s.%s_changelog" % (LOG, table)))


def rows_of(bq, name):
    """Without the moment of the write; in the order of their places, for requests of one table may overtake each other."""
    rows = [{column: value for column, value in row.items() if column != "_weir_received"} for row in bq.rows(name)]
    return sorted(rows, key=lambda row: (row["_weir_position"], row["_weir_key"]))


def both_ways(name, **more):
    with weir.Home() as home, emulators.bigquery(LOG, "other_log", project="weir-test") as bq:
        home.env.update(bq.env)
        path = weir.stream(name) + "/feed.jsonl"
        written = run(home, path, "write", expect=None, changeLogDataset="other_log", **WRITE, **more)
        inserted = run(home, path, "insert", expect=None, **more)
        for count in ("received", "written", "dead_lettered", "rows"):
            assert inserted[count] == written[count], (name, count, inserted, written)
        assert inserted["balanced"] and inserted["in_flight"] == inserted["parked"] == 0, inserted
        tables = [t["tableReference"]["tableId"] for t in bq.rest("GET", "datasets/%s/tables" % LOG)["tables"]]
        assert len(tables) > 1
        for table in tables:
            a, b = rows_of(bq, "other_log." + table), rows_of(bq, LOG + "." + table)
            for one, other in zip(a, b):
                assert one == other, (name, table, one, other)
            assert len(a) == len(b), (name, table)
        assert not bq.counts("%s.%s" % (LOG, tables[0])).get("AppendRows"), bq.counts()


def test_rows_are_those_of_the_storage_write_api():
    for name in ("pg-shop",):
        both_ways(name, sourceSchema=weir.stream(name) + "/schema.json")


def test_every_type_is_that_of_the_storage_write_api():
    for name in ("pg-types", "mariadb-types"):
        both_ways(name)


def test_requests_are_cut_by_rows_and_bytes():
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        many = feed(home, [event(n) for n in range(1, 1601)])
        result = run(home, many)
        assert result["written"] == 1600 and result["balanced"] and ids(bq) == list(range(1, 1601)), result
        counts = bq.counts(LOG + ".t_changelog")
        assert 4 <= counts["insertAll"] <= 8, counts
        large = feed(home, [event(n, "large", v="x" * 2500000) for n in range(1, 6)] + [event(6, "large", v="y" * 11000000)] +
                     [event(7, "large", v="z")], "large.jsonl")
        result = run(home, large, "large", expect=1, maxRecordBytes="64M")
        assert result["written"] == 6 and result["dead_lettered"] == 1 and ids(bq, "large") == [1, 2, 3, 4, 5, 7], result
        (letter,) = home.run("dlq", "list", "--job", "large", "--json").lines
        assert letter["code"] == "row_too_large", letter


def test_a_new_table_and_a_new_column_that_are_late_lose_no_row():
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        bq.settings(create_delay_s=1, schema_delay_s=3)
        path = feed(home, [event(n) for n in range(1, 11)] + [event(n, phone="555-%d" % n) for n in range(11, 21)])
        result = run(home, path)
        assert result["written"] == 20 and result["dead_lettered"] == 0 and ids(bq) == list(range(1, 21)), result
        rows = [json.loads(row["fullRecord"]) for row in bq.rows(LOG + ".t_changelog")]
        assert sorted(r["phone"] for r in rows if r.get("phone")) == sorted("555-%d" % n for n in range(11, 21)), rows


def test_a_refused_row_is_a_letter_and_its_neighbours_are_written():
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        run(home, feed(home, [event(1)], "first.jsonl"), "first")
        bq.fault("row", LOG + ".t_changelog", "insertAll", rows=[3, 5], times=1)
        path = feed(home, [event(n) for n in range(2, 12)])
        result = run(home, path, expect=1)
        assert result["written"] == 8 and result["dead_lettered"] == 2 and result["balanced"], result
        letters = home.run("dlq", "list", "--job", "bq", "--json").lines
        assert len(letters) == 2 and all(x["stage"] == "write" for x in letters), letters
        again = home.run("dlq", "replay", "--job", "bq", "--group", str(letters[0]["group"]), "--yes", "--json")
        assert again.last["done"] == 2, again
        assert ids(bq) == list(range(1, 12))


def test_a_table_that_is_slow_for_ever_comes_to_be_written():
    """Each silence doubles the time that its next answer may take; what was written and comes again has the same row ids."""
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        events = [event(n * 2 + i, table) for n in range(20) for i, table in enumerate(("good", "slow"))]
        bq.fault("slow", "%s.slow_changelog" % LOG, "insertAll", delay_ms=5500)
        result = run(home, feed(home, events))
        assert result["written"] == 40 and result["parked"] == result["dead_lettered"] == 0 and result["balanced"], result
        assert ids(bq, "slow") == [n * 2 + 1 for n in range(20)] and ids(bq, "good") == [n * 2 for n in range(20)]


def test_rows_of_a_snapshot_whose_long_keys_differ_at_their_ends_are_rows_each():
    """They share their position, so all of the key has to be in a row's id: what BigQuery takes for a repeat is lost in silence."""
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        events = [dict(weir.event({"id": "k" * 600 + str(n), "v": n}, lsn=1000), op="r") for n in range(20)]
        result = run(home, home.write("feed.jsonl", weir.feed(events, weir.id_key)))
        rows = bq.rows("%s.t_changelog" % LOG)
        assert result["written"] == 20 == len(rows), (result, len(rows))
        assert sorted(json.loads(row["fullRecord"])["v"] for row in rows) == list(range(20)), rows


def test_a_table_that_is_dropped_before_its_first_rows_is_made_again_or_said():
    """It was made a moment ago, when insertAll may not know it yet: that is no reason to wait for it for minutes."""
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        bq.fault("drop", LOG + ".t_changelog", "insertAll", times=1)
        result = run(home, feed(home, [event(n) for n in range(1, 11)]), expect=None)
        assert result["balanced"] and result["written"] + result["parked"] == 10, result
        if result["parked"]:
            (table,) = result["tables"]
            assert table["state"] == "needs you" and table["code"] == "table_dropped", table
        else:
            assert ids(bq) == list(range(1, 11)), ids(bq)
