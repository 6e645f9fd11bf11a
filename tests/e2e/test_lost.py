"""Files of the warehouse that vanish, or are older than what was confirmed: said, found, and made again only when asked."""
import json
import os
import re
import shutil
import sqlite3
import time

import test_replay
import weir


def rows(first, last, table="t"):
    return weir.feed([weir.event({"id": i, "n": i}, table=table, lsn=100 + i) for i in range(first, last)], weir.id_key)


def take(home, dataset):
    """Removes a dataset's file; gives a copy of it."""
    kept = home.file("kept-" + dataset)
    shutil.rmtree(kept, ignore_errors=True)
    os.mkdir(kept)
    for tail in ("", "-wal", "-shm"):
        if os.path.exists(home.warehouse(dataset) + tail):
            shutil.move(home.warehouse(dataset) + tail, kept)
    return kept


def put(home, dataset, kept):
    take_away = [home.warehouse(dataset) + tail for tail in ("", "-wal", "-shm")]
    for path in take_away:
        if os.path.exists(path):
            os.unlink(path)
    for name in os.listdir(kept):
        shutil.copy(os.path.join(kept, name), os.path.dirname(home.warehouse(dataset)))


def copy_of(home, dataset):
    kept = take(home, dataset)
    put(home, dataset, kept)
    return home.file(shutil.move(kept, home.file("copy-" + dataset)))


def mismatch_everywhere(home):
    for words in (("run", "shop.json", "--until-idle"), ("tables",), ("status",), ("job", "list"), ("verify", "shop"), ("merge", "shop"),
                  ("merge", "shop", "t", "--rebuild"), ("dlq", "groups")):
        r = home.run(*words, "--json")
        assert r.code == 70 and r.error["code"] == "ledger_mismatch" and "--from-start" in r.error["message"], (words, r)


MODES = ({}, {"replicationMode": "changelog", "replicaDataset": None}, {"replicationMode": "upsert", "changeLogDataset": None},
         {"changeLogDataset": "shop"})


def main_dataset(mode):
    return "shop" if mode.get("replicationMode") == "upsert" or mode.get("changeLogDataset") == "shop" else "shop_log"


def test_a_lost_file_that_holds_the_position_is_a_mismatch_until_the_loss_is_accepted():
    for mode in MODES:
        with weir.Home() as home:
            dataset = main_dataset(mode)
            home.replicate(home.write("feed", rows(0, 20)), **mode)
            kept = take(home, dataset)
            mismatch_everywhere(home)
            assert not os.path.exists(home.warehouse(dataset)), dataset
            put(home, dataset, kept)
            assert home.run("run", "shop.json", "--until-idle").code == 0, mode
            take(home, dataset)
            r = home.run("run", "shop.json", "--until-idle", "--from-start", "--json")
            assert r.last["received"] == 20 and r.last["written"] == 20, (mode, r)
            if "replicationMode" not in mode:
                replica_is_lost(home, "another changelog" if dataset == "shop_log" else "missing", r)
                rebuild(home)
            assert home.run("run", "shop.json", "--until-idle").code == 0, mode
            assert home.run("tables").code == 0


def test_a_store_that_is_away_is_not_made_anew():
    """Neither by a start nor by a run nor by the end of one that it was taken from; the next engine waits for it too."""
    with weir.Home() as home:
        feed = home.write("feed", rows(0, 20))
        home.run("job", "create", home.job(feed, updateFrequencySecs=1))
        store = os.path.join(home.state, "jobs", "shop.db")
        assert home.run("start", "shop").code == 0
        until(home, lambda: home.run("job", "show", "shop", "--json").last.get("written") == 20)
        home.end_engine()
        with sqlite3.connect(store) as db:
            db.execute("pragma wal_checkpoint(truncate)")
        db.close()
        os.rename(store, home.file("kept.db"))
        for words in (("run", "shop.json", "--until-idle"), ("start", "shop"), ("stop", "shop")):
            r = home.run(*words, "--json")
            assert not os.path.exists(store), (words, r)
            assert words[0] == "stop" or (r.code == 70 and r.error["code"] == "ledger_mismatch" and "store of dead letters" in r.error["message"]), r
        home.end_engine()
        home.run("engine", "start")
        with open(feed, "a") as f:
            f.write(rows(20, 30))
        os.rename(home.file("kept.db"), store)
        until(home, lambda: home.run("job", "show", "shop", "--json").last.get("written") == 30)
        assert home.run("drain", "shop").code == 0
        home.verify()


def test_a_dataset_of_many_that_is_away_is_not_made_anew():
    with weir.Home() as home:
        home.write("feed", "".join('{"ds":"d%d","n":%d}\n' % (i % 3, i) for i in range(30)))
        home.write("rows.json", json.dumps({"name": "rows", "template": "PubSub_CDC_to_BigQuery", "parameters": {
            "warehouse": "local", "inputFile": "feed", "outputDatasetTemplate": "{ds}", "outputTableNameTemplate": "t"}}))
        assert home.run("run", "rows.json", "--until-idle").code == 0
        kept = take(home, "d1")
        for _ in range(2):
            r = home.run("run", "rows.json", "--until-idle", "--json")
            assert r.code == 70 and r.error["code"] == "state_damaged" and "dataset 'd1'" in r.error["message"], r
            assert not os.path.exists(home.warehouse("d1"))
        put(home, "d1", kept)
        assert home.run("run", "rows.json", "--until-idle", "--json").last["written"] == 30
        take(home, "d1")
        assert home.run("run", "rows.json", "--until-idle", "--from-start", "--json").last["received"] == 30
        assert home.sql("select count(*) from t", "d1") == [(10,)]


def test_an_older_copy_is_a_mismatch():
    for mode in MODES:
        with weir.Home() as home:
            dataset = main_dataset(mode)
            feed = home.write("feed", rows(0, 20))
            home.replicate(feed, **mode)
            old = copy_of(home, dataset)
            with open(feed, "a") as f:
                f.write(rows(20, 30))
            home.replicate(feed, **mode)
            put(home, dataset, old)
            mismatch_everywhere(home)
            r = home.run("run", "shop.json", "--until-idle", "--from-start", "--json")
            assert r.last["received"] == 30, (mode, r)
            if "replicationMode" not in mode:
                replica_is_lost(home, "another changelog", r)
                rebuild(home)
                home.verify()
            assert home.run("run", "shop.json", "--until-idle").code == 0, mode


def test_an_older_copy_from_before_a_replay_is_a_mismatch():
    """The replay has moved no position and no counter; its rows are gone with the copy all the same."""
    with weir.Home() as home:
        _, group, _ = test_replay.rejected(home)
        old = copy_of(home, "shop_log")
        assert test_replay.replay(home, group)["done"] == 20
        put(home, "shop_log", old)
        r = home.run("run", "shop.json", "--until-idle", "--json")
        assert r.code == 70 and r.error["code"] == "ledger_mismatch", r


def replica_is_lost(home, word, run, table="t"):
    (mine,) = [x for x in run.last["tables"] if x["table"] == "shop." + table]
    assert run.code == 1 and mine["state"] == "needs you", run
    (row,) = [x for x in home.run("tables", "--json").lines if x["table"] == "shop." + table]
    assert row["state"] == "needs you" and row["notes"][0]["code"] == "replica_lost" and word in row["notes"][0]["text"], row
    (line,) = home.run("status", "--json").lines
    assert line["worst"] == "needs you", line
    why = home.run("why", table, "--json")
    assert why.code == 1 and why.last["code"] == "replica_lost" and "weir merge" in why.last["next"][-1], why
    r = home.run("verify", "shop", "--json")
    assert r.code == 1 and r.last["equal"] is False, r
    assert [x["table"] for x in r.lines[:-1] if not x["equal"] and word in x["first_difference"]].count("shop." + table) == 1, r
    r = home.run("merge", "shop", "--json")
    assert r.code == 78 and r.error["code"] == "replica_lost" and "--rebuild" in r.error["message"], r


def rebuild(home, table="t"):
    r = home.run("merge", "shop", table, "--rebuild", "--json")
    assert r.code == 0, r
    home.verify()
    assert all(x["state"] == "ok" for x in home.run("tables", "--json").lines if x["table"] != "-")


def test_a_lost_replica_needs_somebody_and_the_rest_goes_on():
    with weir.Home() as home:
        feed = home.write("feed", rows(0, 20) + rows(0, 7, "other"))
        home.replicate(feed)
        kept = take(home, "shop")
        with open(feed, "a") as f:
            f.write(rows(20, 30) + rows(0, 3, "new"))
        r = home.run("run", "shop.json", "--until-idle", "--json")
        assert r.last["received"] == 40, r
        replica_is_lost(home, "missing", r)
        replica_is_lost(home, "missing", r, "other")
        assert home.sql("select count(*) from new") == [(3,)]
        assert home.sql("select count(*) from sqlite_master where name = 't'") == [(0,)]
        r = home.run("journal", "--job", "shop", "--json")
        assert [x["table"] for x in r.lines if x["kind"] == "event" and x["code"] == "replica_lost"] == ["shop.t", "shop.other"], [(x.get("table"), x.get("code"), x.get("text")) for x in r.lines]
        home.run("merge", "shop", "t", "--rebuild")
        rebuild(home, "other")
        assert home.sql("select count(*) from t") == [(30,)]
        assert home.run("run", "shop.json", "--until-idle").code == 0
        # The file that was taken away comes back: an older copy now.
        put(home, "shop", kept)
        r = home.run("run", "shop.json", "--until-idle", "--json")
        replica_is_lost(home, "older copy", r)
        replica_is_lost(home, "missing", r, "new")
        home.run("merge", "shop", "t", "--rebuild")
        rebuild(home, "new")


def test_a_replica_is_merged_on_only_where_it_was():
    """Every older state of the file, at every later one."""
    with weir.Home() as home:
        feed = home.write("feed", "")
        copies = []
        for step in range(4):
            with open(feed, "a") as f:
                f.write(rows(step * 10, step * 10 + 10))
            home.replicate(feed)
            for older in copies:
                newest = copy_of(home, "shop")
                put(home, "shop", older)
                replica_is_lost(home, "older copy", home.run("run", "shop.json", "--until-idle", "--json"))
                shutil.rmtree(home.file("kept-shop"), ignore_errors=True)
                put(home, "shop", newest)
                shutil.rmtree(newest)
                home.verify()
                assert home.run("run", "shop.json", "--until-idle").code == 0
            copies.append(shutil.move(copy_of(home, "shop"), home.file("copy%d" % step)))


def test_files_of_the_first_version_go_on():
    with weir.Home() as home:
        feed = home.write("feed", rows(0, 20))
        home.replicate(feed)
        for path in (home.warehouse("shop"), home.warehouse("shop_log")):
            with sqlite3.connect(path) as db:
                for table, column in (("_weir_position", "commits"), ("_weir_position", "logs"), ("_weir_position", "digest"), ("_weir_ledger", "digest"),
                                      ("_weir_tables", "identity"), ("_weir_replica", "made_from")):
                    db.execute("alter table %s drop column %s" % (table, column))
                for table in ("_weir_altered", "_weir_datasets", "_weir_order"):
                    db.execute("drop table %s" % table)
                db.execute("pragma user_version = 1")
        with sqlite3.connect(os.path.join(home.state, "jobs", "shop.db")) as db:
            for table in ("remembered", "outbound", "files_made", "files_read", "due", "retried", "piles"):
                db.execute("drop table %s" % table)
            db.execute("alter table timeline drop column steps")
            db.execute("drop index letters_by_time")
            db.execute("alter table letters drop column committed")
            for trigger in ("parked_added", "parked_removed"):
                (text,), = db.execute("select sql from sqlite_master where name = ?", (trigger,)).fetchall()
                db.execute("drop trigger " + trigger)
                db.execute(re.sub(r" [+-] coalesce\(length\((new|old)\.kept\), 0\)", "", text))
            for table in ("parked", "letters"):
                db.execute("alter table %s drop column kept" % table)
            db.execute("pragma user_version = 1")
        with open(feed, "a") as f:
            f.write(rows(20, 30))
        assert home.replicate(feed)["received"] == 30
        home.verify()
        take(home, "shop")
        replica_is_lost(home, "missing", home.run("run", "shop.json", "--until-idle", "--json"))


def test_a_file_that_goes_away_under_a_running_job_is_said_before_anything_is_confirmed():
    for dataset, lost in (("shop_log", "ledger_mismatch"), ("shop", "replica_lost"), (None, "ledger_mismatch")):
        with weir.Home() as home:
            feed = home.write("feed", rows(0, 20))
            home.run("job", "create", home.job(feed, updateFrequencySecs=1))
            home.run("start", "shop")
            until(home, lambda: os.path.exists(home.warehouse()) and home.sql("select count(*) from sqlite_master where name='t'") == [(1,)])
            if dataset:
                kept = take(home, dataset)
            else:
                os.rename(os.path.join(home.state, "jobs", "shop.db"), home.file("kept.db"))
            with open(feed, "a") as f:
                f.write(rows(20, 30) + '{"data":{"op":"c"}}\n')
            until(home, lambda: b"state_gone" in home.run("logs", "--job", "shop").out)
            until(home, lambda: not home.run("engine", "status", "--json").last["running_jobs"])
            home.run("engine", "stop")
            if dataset == "shop":
                r = home.run("run", "shop.json", "--until-idle", "--json")
                replica_is_lost(home, "missing", r)
                rebuild(home)
            else:
                mismatch = home.run("run", "shop.json", "--until-idle", "--json")
                assert mismatch.code == 70 and mismatch.error["code"] == lost, mismatch
                if dataset:
                    put(home, dataset, kept)
                else:
                    for tail in ("", "-wal", "-shm"):
                        if os.path.exists(os.path.join(home.state, "jobs", "shop.db" + tail)):
                            os.unlink(os.path.join(home.state, "jobs", "shop.db" + tail))
                    os.rename(home.file("kept.db"), os.path.join(home.state, "jobs", "shop.db"))
            r = home.run("run", "shop.json", "--until-idle", "--json")
            assert r.code == 1 and r.last["received"] == 31 and r.last["dead_lettered"] == 1 and r.last["balanced"], r
            home.verify()
            assert home.sql("select count(*) from t") == [(30,)]


def until(home, is_so):
    end = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < end, home.run("logs").out[-2000:]
        time.sleep(0.02)


def test_a_number_of_the_books_that_became_another_is_said():
    turns = (("shop_log", "update _weir_position set byte_offset = byte_offset + 1"), ("shop_log", "update _weir_position set line = line ^ 8"),
             ("shop_log", "update _weir_position set commits = commits + 1"), ("shop_log", "update _weir_position set digest = x'00'"),
             ("shop_log", "update _weir_ledger set received = received + 64"), ("shop_log", "update _weir_ledger set table_name = 'u' where number = 0"),
             ("shop_log", "update _weir_ledger set number = 3 where number = 0"))
    with weir.Home() as home:
        feed = home.write("feed", rows(0, 20))
        home.replicate(feed)
        with open(feed, "a") as f:
            f.write(rows(20, 30))
        kept = copy_of(home, "shop_log")
        for dataset, turn in turns:
            with sqlite3.connect(home.warehouse(dataset)) as db:
                db.execute(turn.replace("line ^ 8", "(line | 8) - (line & 8)"))
            r = home.run("run", "shop.json", "--until-idle", "--json")
            assert (r.code, r.error["code"]) == (70, "state_damaged"), (turn, r)
            assert "_weir" not in r.error["message"] and "shop_log.db" in r.error["message"], r
            for words in (("status",), ("tables",), ("job", "list"), ("merge", "shop")):
                r = home.run(*words, "--json")
                assert r.code == 70 and r.error["code"] == "state_damaged" and "--from-start" in r.error["message"], (words, r)
            put(home, "shop_log", kept)
        assert home.run("run", "shop.json", "--until-idle", "--json").last["received"] == 30
        # Who accepts it begins anew.
        with sqlite3.connect(home.warehouse("shop_log")) as db:
            db.execute(turns[0][1])
        assert home.run("run", "shop.json", "--until-idle", "--from-start", "--json").last["received"] == 30
        home.verify()
