"""Order, repeats, kills and spoiled files: the replica is the same, or `weir verify` says what is wrong."""
import json
import os
import random
import signal
import sqlite3
import time

import rows
import weir

SEED = weir.first_seed()


def note_seed():
    print("     seed %d (WEIR_SEED=%d repeats it)" % (SEED, SEED), flush=True)
    return random.Random(SEED)


def shuffled(folder, rng, share):
    """Row events in any order, a share of them twice. Everything else, and truncates, keeps its place."""
    with open(os.path.join(folder, "feed.jsonl"), encoding="utf-8", newline="\n") as f:
        lines = [line for line in f if line.strip()]
    parsed = [json.loads(line)["data"] for line in lines]
    bodies = [(d.get("payload", d) or {}) if isinstance(d, dict) else {} for d in parsed]
    is_row = [isinstance(b.get("op"), str) and b["op"] in "crud" for b in bodies]
    events = [line for line, row in zip(lines, is_row) if row]
    rng.shuffle(events)
    again = [e for e in events if rng.random() < share]
    order = iter(events)
    out = [next(order) if row else line for line, row in zip(lines, is_row)]
    for e in again:
        out.insert(rng.randrange(len(out) + 1), e)
    return "".join(out), len(again)


def check_shuffled(name, untyped=False, **parameters):
    rng = note_seed()
    folder = weir.stream(name)
    feed, again = shuffled(folder, rng, 0.2)
    with weir.Home() as home:
        result = home.replicate(home.write("feed.jsonl", feed), **parameters)
        assert result["balanced"] and result["repeated"] == again, (result["repeated"], again)
        assert not rows.differences(home.warehouse(), folder, untyped=untyped)[:10]
        home.verify()


def test_pg_shop_shuffled_with_repeats():
    folder = weir.stream("pg-shop")
    check_shuffled("pg-shop", primaryKey={"events": ["seq"]}, sourceSchema=folder + "/schema.json")


def test_pg_library_shuffled_with_repeats():
    check_shuffled("pg-library")


def test_in_order_with_repeats_upsert():
    rng = note_seed()
    folder = weir.stream("pg-library")
    with open(folder + "/feed.jsonl") as f:
        lines = f.readlines()
    out = []
    for line in lines:
        out.append(line)
        if rng.random() < 0.2 and '"data":null' not in line:
            out.append(line)
    with weir.Home() as home:
        result = home.replicate(home.write("feed.jsonl", "".join(out)), replicationMode="upsert", changeLogDataset=None)
        assert result["balanced"] and result["repeated"] > 0, result
        assert not rows.differences(home.warehouse(), folder)[:10]


def test_killed_at_random_moments():
    rng = note_seed()
    folder = weir.stream("pg-shop")
    with weir.Home() as home:
        job = home.job(folder + "/feed.jsonl", primaryKey={"events": ["seq"]}, sourceSchema=folder + "/schema.json")
        kills = 0
        for _ in range(8):
            p = home.start("--run", job, "--until-idle", program="weird")
            time.sleep(rng.random() * 0.25)
            if p.poll() is None:
                p.send_signal(signal.SIGKILL)
                kills += 1
            p.wait()
        result = home.run("run", job, "--until-idle", "--json").last
        assert result["received"] == 15596 and result["balanced"], result
        assert not rows.differences(home.warehouse(), folder)[:10]
        home.verify()
        print("     %d kills" % kills)


def test_growing_feed_is_followed():
    folder = weir.stream("pg-library")
    with open(folder + "/feed.jsonl", "rb") as f:
        content = f.read()
    with weir.Home() as home:
        feed = home.write("feed.jsonl", content[:1000])
        home.job(feed)
        p = home.start("--run", "shop.json", "--json", program="weird")
        at = 1000
        while at < len(content):
            with open(feed, "ab") as f:
                f.write(content[at : at + 300000])
            at += 300000
            time.sleep(0.05)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            r = home.run("tables", "--json")
            if r.code == 0 and sum(t["received"] for t in r.lines) == 1365:
                break
        p.send_signal(signal.SIGTERM)
        out, err = p.communicate(timeout=60)
        assert p.returncode == 0, err
        result = json.loads(out)
        assert result["received"] == 1365 and result["balanced"] and result["state"] == "stopped", result
        assert not rows.differences(home.warehouse(), folder)[:10]


def test_stdin():
    folder = weir.stream("pg-library")
    with weir.Home() as home:
        with open(folder + "/feed.jsonl", "rb") as f:
            r = home.run("run", home.job("-"), "--until-idle", "--json", stdin=f)
        assert r.code == 0 and r.last["received"] == 1365, r
        assert not rows.differences(home.warehouse(), folder)[:10]
        home.letters()  # leaves an engine behind, which must make room for standard input
        with open(folder + "/feed.jsonl", "rb") as f:
            r = home.run("run", home.job("-"), "--until-idle", "--json", stdin=f)
        assert r.code == 0 and r.last["received"] == 2 * 1365 and r.last["this_run"]["repeated"] == 717, r
        assert not rows.differences(home.warehouse(), folder)[:10]


def library(home):
    folder = weir.stream("pg-library")
    home.replicate(folder + "/feed.jsonl")
    home.run("engine", "stop")


def differs(home):
    r = home.run("verify", "shop", "--json")
    assert r.code == 1 and r.last["equal"] is False, r
    bad = [x for x in r.lines if x.get("equal") is False and "table" in x]
    assert bad and bad[0]["first_difference"], r
    return bad


def spoil(home, dataset, *statements):
    db = sqlite3.connect(home.warehouse(dataset))
    changed = 0
    for s in statements:
        changed += db.execute(s).rowcount
    db.commit()
    db.close()
    assert changed, statements


def test_verify_finds_a_spoiled_replica_cell():
    with weir.Home() as home:
        library(home)
        spoil(home, "shop", "update books set title = 'spoiled' where isbn = (select min(isbn) from books)")
        bad = differs(home)
        assert bad[0]["table"] == "shop.books" and "title" in bad[0]["first_difference"], bad


def test_verify_finds_a_spoiled_changelog_row():
    with weir.Home() as home:
        library(home)
        spoil(home, "shop_log", "update members_changelog set fullRecord = replace(fullRecord, '\"name\":\"', '\"name\":\"x') where rowid = (select max(rowid) from members_changelog where operation = 'UPDATE')")
        differs(home)


def test_verify_finds_a_missing_changelog_row():
    with weir.Home() as home:
        library(home)
        spoil(home, "shop_log", "delete from members_changelog where rowid = (select max(rowid) from members_changelog where operation in ('INSERT', 'UPDATE'))")
        differs(home)


def test_verify_finds_a_spoiled_watermark():
    for change in ("- 40", "+ 40"):
        with weir.Home() as home:
            library(home)
            table, column = watermark(home)
            spoil(home, "shop", "update %s set %s = %s %s" % (table, column, column, change))
            differs(home)


def watermark(home):
    for (name,) in home.sql("select name from sqlite_master where type = 'table' and name like '\\_weir%' escape '\\'"):
        for column in home.sql("pragma table_info(`%s`)" % name):
            if "watermark" in column[1]:
                return name, column[1]
    raise AssertionError("no watermark column")


def test_rebuild_mends_a_spoiled_replica():
    with weir.Home() as home:
        library(home)
        spoil(home, "shop", "update books set title = 'spoiled'", "delete from loans")
        differs(home)
        for table in ("books", "loans"):
            assert home.run("merge", "shop", table, "--rebuild").code == 0
        home.verify()
        assert not rows.differences(home.warehouse(), weir.stream("pg-library"))[:10]


def ordered(events, keys, **parameters):
    """The final rows of table t after these events, in any of some orders, in merge and upsert mode."""
    results = []
    for order in (list, lambda e: list(reversed(e))):
        for mode in ("merge", "upsert"):
            with weir.Home() as home:
                feed = home.write("feed", weir.feed(order(events), keys))
                home.replicate(feed, replicationMode=mode, changeLogDataset="shop_log" if mode == "merge" else None, **parameters)
                results.append(home.sql("select * from t"))
    return results


def mysql(after, before, file, pos, row=0, table="t", **more):
    return {"op": "c" if before is None else "u", "before": before, "after": after, "ts_ms": 1700000000123,
            "source": {"connector": "mysql", "db": "shop", "table": table, "ts_ms": 1700000000123, "file": file, "pos": pos, "row": row}, **more}


def test_b01_two_changes_in_one_millisecond():
    events = [mysql({"id": 7, "state": "paid"}, {"id": 7, "state": "new"}, "bin.000004", 566), mysql({"id": 7, "state": "new"}, None, "bin.000004", 410)]
    for result in ordered(events, weir.id_key):
        assert [r[:2] for r in result] == [(7, "paid")], result


def test_b05_log_files_are_numbers():
    for old, new in (("mysql-bin.000157", "mysql-bin.000158"), ("mysql-bin.999999", "mysql-bin.1000000")):
        events = [mysql({"id": 9, "v": "old"}, {"id": 9, "v": "a"}, old, 90000), mysql({"id": 9, "v": "new"}, {"id": 9, "v": "old"}, new, 120)]
        for result in ordered(events, weir.id_key):
            assert [r[:2] for r in result] == [(9, "new")], result


def test_b03_a_key_change_in_one_event_moves_the_row():
    events = [weir.event({"id": 1, "name": "ann"}, lsn=1000), weir.event({"id": 2, "name": "ann"}, {"id": 1, "name": "ann"}, lsn=1010)]
    for result in ordered(events, None, primaryKey={"t": ["id"]}):
        assert [r[:2] for r in result] == [(2, "ann")], result


def test_b11_policies_for_a_new_column():
    events = [mysql({"id": 1, "a": "x"}, None, "bin.000001", 10), mysql({"id": 2, "a": "y", "phone": "555"}, None, "bin.000001", 20)]
    with weir.Home() as home:
        home.replicate(home.write("feed", weir.feed(events, weir.id_key)))
        assert home.sql("select id, a, phone from t order by id") == [(1, "x", None), (2, "y", "555")]
    with weir.Home() as home:
        home.replicate(home.write("feed", weir.feed(events, weir.id_key)), schemaChanges="reject", expect=1)
        (letter,) = home.letters()
        assert letter["code"] == "unknown_column" and letter["column"] == "phone", letter
    with weir.Home() as home:
        result = home.replicate(home.write("feed", weir.feed(events, weir.id_key)), schemaChanges="ignore")
        assert home.sql("select id, a from t order by id") == [(1, "x"), (2, "y")]
        notes = [n for t in result["tables"] for n in t["notes"]]
        assert any("phone" in n["text"] for n in notes), notes


def test_b13_nested_values():
    row = {"id": 1, "k1": "x", "k2": ["a", "b"], "k3": {"id": 1}, "k4": [{"id": 1}, {"id": 2}], "k5": []}
    with weir.Home() as home:
        home.replicate(home.write("feed", weir.feed([mysql(row, None, "b.1", 10)], weir.id_key)))
        got = home.sql("select k2, k3, k4, k5 from t")[0]
        assert [json.loads(v) for v in got] == [["a", "b"], {"id": 1}, [{"id": 1}, {"id": 2}], []], got


def test_b14_names_that_differ_only_in_case():
    events = [mysql({"id": 1, "userId": "a"}, None, "b.1", 10), mysql({"id": 2, "userid": "b"}, None, "b.1", 20), mysql({"id": 3, "userId": "c", "userid": "d"}, None, "b.1", 30)]
    with weir.Home() as home:
        home.replicate(home.write("feed", weir.feed(events, weir.id_key)), expect=1)
        assert home.sql("select id, userId from t order by id") == [(1, "a"), (2, "b")]
        (letter,) = home.letters()
        assert letter["code"] == "column_case_collision", letter


def test_b15_reserved_words():
    row = {"id": 1, "hash": "h", "order": 3, "group": "g", "select": True, "end": None}
    with weir.Home() as home:
        home.replicate(home.write("feed", weir.feed([mysql(row, None, "b.1", 10, table="merge")], weir.id_key)))
        assert home.sql("select `hash`, `order`, `group`, `select`, `end` from `merge`") == [("h", 3, "g", 1, None)]
        home.verify()


def test_b19_dates_beyond_the_range():
    schema = {"type": "struct", "name": "shop.t.Envelope", "fields": [
        {"field": name, "type": "struct", "optional": True, "fields": [{"field": "id", "type": "int64"}, {"field": "until", "type": "int64", "optional": True, "name": "io.debezium.time.MicroTimestamp"}]} for name in ("before", "after")]}
    values = {1: 253402300800000000, 2: 253402300799999999, 3: -62135596800000000}
    lines = "".join(json.dumps({"id": str(i), "key": json.dumps({"id": i}), "data": {"schema": schema, "payload": mysql({"id": i, "until": v}, None, "b.1", 10 * i)}}) + "\n" for i, v in values.items())
    with weir.Home() as home:
        result = home.replicate(home.write("feed", lines))
        assert home.sql("select id, until from t order by id") == [(1, None), (2, "9999-12-31T23:59:59.999999"), (3, "0001-01-01T00:00:00")]
        notes = [n for t in result["tables"] for n in t["notes"]]
        assert any("until" in n["text"] and "1" in n["text"] for n in notes), notes
    with weir.Home() as home:
        home.replicate(home.write("feed", lines), onUnrepresentable="dead_letter", expect=1)
        (letter,) = home.letters()
        assert letter["code"] in ("timestamp_out_of_range", "datetime_out_of_range") and letter["column"] == "until", letter


def test_b22_unchanged_large_value():
    events = [weir.event({"id": 1, "bio": "long text", "n": 1}, lsn=10), weir.event({"id": 1, "bio": "__debezium_unavailable_value", "n": 2}, None, op="u", lsn=20)]
    with weir.Home() as home:
        home.replicate(home.write("feed", weir.feed(list(reversed(events)), weir.id_key)))
        assert home.sql("select bio, n from t") == [("long text", 2)]
        home.verify()
    for mode in ("merge", "upsert"):
        with weir.Home() as home:
            home.replicate(home.write("feed", weir.feed(events, weir.id_key)), replicationMode=mode, changeLogDataset="shop_log" if mode == "merge" else None)
            assert home.sql("select bio, n from t") == [("long text", 2)]


def test_b23_the_letter_keeps_everything():
    line = '{"id":"m1","key":"7","attrs":{"tenant":"t1","trace":"abc"},"publish":"2026-01-05T03:10:00.123Z","data_b64":"eyJpZCI6MSwibiI6Im5vdC1hLW51bWJlciJ9Cg=="}\n'
    body = b'{"id":1,"n":"not-a-number"}\n'
    with weir.Home() as home:
        home.run("run", home.job(home.write("feed", line)), "--until-idle")
        letters = home.letters()
        if not letters:
            return  # a flattened row without a table cannot be: it must be a letter
        (letter,) = letters
        assert letter["attrs"] == {"tenant": "t1", "trace": "abc"} and letter["ordering_key"] == "7", letter
        assert letter["source"]["line"] == 1 and letter["publish"].startswith("2026-01-05T03:10:00.123"), letter
        assert home.run("dlq", "show", letter["id"], "--bytes").out == body
        exported = home.run("dlq", "export").out
        again = json.loads(exported)
        assert again["id"] == "m1" and again["key"] == "7" and again["attrs"] == letter["attrs"] and again["data_b64"] == "eyJpZCI6MSwibiI6Im5vdC1hLW51bWJlciJ9Cg==", again


def test_b26_one_bad_row_among_five_hundred():
    schema = {"t": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}}}}
    events = [weir.event({"id": i, "n": "bad" if i == 250 else i}, lsn=i + 1) for i in range(500)]
    with weir.Home() as home:
        home.write("s.json", json.dumps(schema))
        result = home.replicate(home.write("feed", weir.feed(events, weir.id_key)), expect=1, sourceSchema="s.json")
        assert result["written"] == 499 and result["dead_lettered"] == 1, result
        assert home.sql("select count(*) from t") == [(499,)]


def test_two_tables_of_one_name_park_the_later():
    events = [weir.event({"id": 1, "v": 1}, table="t", schema="a", lsn=1), weir.event({"id": 2, "v": 2}, table="t", schema="b", lsn=2)]
    with weir.Home() as home:
        feed = home.write("feed", weir.feed(events, weir.id_key))
        result = home.replicate(feed, expect=1)
        assert result["parked"] == 1 and result["written"] == 1 and result["balanced"], result
        assert home.sql("select id from t") == [(1,)]
        why = home.run("why", "shop.shop.b.t", "--json")
        assert why.last["code"] == "name_collision" and "shop.a.t" in why.last["sentence"], why
        r = home.run("run", home.job(feed, tableNamePattern="{schema}_{table}"), "--until-idle", "--json", "--replace")
        assert r.code == 0 and r.last["parked"] == 0 and r.last["written"] == 2 and r.last["balanced"], r
        assert home.sql("select id from b_t") == [(2,)]
        home.verify()


def test_truncate_hides_what_was_before():
    events = [weir.event({"id": i, "v": i}, lsn=i) for i in (1, 2, 3)]
    events.append(weir.event(None, None, op="t", lsn=50))
    events.append(weir.event({"id": 2, "v": 22}, lsn=60))
    late = weir.event({"id": 3, "v": 33}, {"id": 3}, lsn=40)
    with weir.Home() as home:
        home.replicate(home.write("feed", weir.feed(events + [late], weir.id_key)))
        assert home.sql("select id, v from t") == [(2, 22)]
        home.verify()


def test_a_repeat_in_a_table_without_key_is_known_after_widening():
    first = weir.event({"n": 24}, lsn=1)
    events = [first, weir.event({"n": 78}, lsn=2), weir.event(None, {"n": "-4"}, lsn=3), first]
    with weir.Home() as home:
        result = home.replicate(home.write("feed", weir.feed(events)))
        assert result["repeated"] == 1 and result["written"] == 4, result
        assert home.sql("select count(*) from t_changelog", "shop_log") == [(3,)]


def test_a_misspelt_primary_key_can_be_mended():
    events = [weir.event({"id": i, "v": i}, lsn=i + 1) for i in range(4)]
    with weir.Home() as home:
        feed = home.write("feed", weir.feed(events))
        home.replicate(feed, primaryKey={"t": ["idd"]}, expect=1)
        letters = home.letters()
        assert len(letters) == 4 and {x["code"] for x in letters} == {"missing_key"} and letters[0]["column"] == "idd", letters
        result = home.replicate(feed, primaryKey={"t": ["id"]}, args=("--replace", "--from-start"), expect=1)
        assert result["written"] == 4, result
        assert home.sql("select id, v from t order by id") == [(i, i) for i in range(4)]
        home.verify()


def test_a_key_that_is_changed_too_late_is_said():
    lines = [weir.feed([weir.event({"id": i, "v": i}, lsn=i + 1)]) for i in range(2)]
    with weir.Home() as home:
        home.replicate(home.write("feed", lines[0]))
        result = home.replicate(home.write("feed", lines[0] + lines[1]), primaryKey={"t": ["id"]}, args=("--replace",))
        assert "key_kept" in [n["code"] for t in result["tables"] for n in t["notes"]], result
        home.run("job", "set", "shop", "changeLogDataset=l2", "replicaDataset=r2")
        home.replicate(home.file("feed"), primaryKey={"t": ["id"]}, changeLogDataset="l2", replicaDataset="r2", args=("--replace",))
        assert home.sql("select id, v from t order by id", "r2") == [(0, 0), (1, 1)]
