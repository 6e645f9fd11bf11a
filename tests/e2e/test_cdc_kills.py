"""PubSub_CDC into several datasets: letters and parked messages across kills between two of their commits; every counter as without a kill."""
import json
import os

import weir

CRASH = os.path.join(weir.ROOT, "build", "crash")
PAUSED = ("d0.t", "d1.t", "d2.t")


def line(i):
    row = {"ds": "d%d" % (i % 4), "tbl": "t", "n": i}
    if i % 11 == 5:
        row["n"] = "many"
    return json.dumps({"id": "m%d" % i, "publish": "2026-01-05T03:10:00Z", "data": row}) + "\n"


def build():
    """The build with crash points where it is made; elsewhere nothing is killed, and what the tests expect is the same."""
    return CRASH if os.path.exists(os.path.join(CRASH, "weird")) else weir.BUILD


def run(home, kill=None, expect=(0, 1)):
    env = {"WEIR_BATCH_RECORDS": "13"}
    if kill and home.build == CRASH:
        env["WEIR_CRASH"] = kill
        expect = (-9,) + expect
    r = home.run("--run", "rows.json", "--until-idle", "--json", env=env, program="weird")
    assert r.code in expect, (kill, r)
    return r


def begin(home, count):
    home.write("schema.json", '[{"name":"n","type":"INTEGER","mode":"NULLABLE"}]')
    home.write("feed.jsonl", "".join(map(line, range(count))))
    home.write("rows.json", json.dumps({"name": "rows", "template": "PubSub_CDC_to_BigQuery", "parameters": {
        "warehouse": "local", "inputFile": "feed.jsonl", "schemaFilePath": "schema.json", "outputDatasetTemplate": "{ds}", "outputTableNameTemplate": "{tbl}"}}))


def pause(home, verb):
    for table in PAUSED:
        r = home.run(verb, "rows", table)
        assert r.code == 0, r
    home.end_engine()


def counters(r):
    """Each table's, without what depends on how often something was read."""
    return {x["table"]: {k: x[k] for k in ("received", "written", "filtered", "dead_lettered", "parked")} for x in r.lines if "table" in x}


def check(home, r, count, parked=0):
    bad = len([i for i in range(count) if i % 11 == 5])
    assert r.last["balanced"] and r.last["received"] == count and r.last["parked"] == parked, r
    if not parked:
        assert r.last["written"] == count - bad and r.last["dead_lettered"] == bad, r
        for d in range(4):
            want = [(i,) for i in range(count) if i % 4 == d and i % 11 != 5]
            assert home.sql("select n from t order by n", "d%d" % d) == want, d
        assert len(home.letters("--limit", "1000")) == bad, home.letters()


def test_letters_of_tables_across_kills_between_their_datasets():
    with weir.Home(build()) as home:
        begin(home, 120)
        for n in (1, 2, 3, 4, 1, 6):
            run(home, "dataset_committed:%d" % n)
        check(home, run(home), 120)


def parked_home(home, kills=()):
    begin(home, 20)
    run(home)
    pause(home, "pause")
    home.write("feed.jsonl", "".join(map(line, range(120))))
    for kill in kills:
        run(home, kill)
    r = run(home)
    held = len([i for i in range(20, 120) if i % 4 < 3])
    check(home, r, 120, held)
    return r


def test_messages_that_are_parked_across_kills_between_their_datasets():
    with weir.Home(build()) as plain, weir.Home(build()) as home:
        want = counters(parked_home(plain))
        assert counters(parked_home(home, ["dataset_committed:%d" % n for n in (1, 2, 3, 1, 5)] + ["parked_committed"])) == want


def test_messages_that_come_back_across_kills_between_their_datasets():
    with weir.Home(build()) as plain, weir.Home(build()) as home:
        results = []
        for place, kills in ((plain, ()), (home, ["dataset_committed:%d" % n for n in (1, 1, 2, 1)] + ["unparked_written"])):
            parked_home(place)
            pause(place, "resume")
            for kill in kills:
                run(place, kill)
            results.append(run(place))
            check(place, results[-1], 120)
        assert counters(results[0]) == counters(results[1])


def test_a_table_of_several_datasets_is_paused_by_its_whole_name():
    with weir.Home(build()) as home:
        begin(home, 20)
        run(home)
        for verb in ("pause", "resume"):
            r = home.run(verb, "rows", "t", "--json")
            assert r.code == 2 and r.error["code"] == "bad_argument" and "more than one has a table of 't'" in r.error["message"], r
            r = home.run(verb, "rows", "d1.t", "--json")
            assert r.code == 0 and r.last["table"] == "d1.t", r


def test_a_table_that_is_paused_again_after_the_kill_has_what_had_come_back():
    """What a dataset has committed is back, whatever the others and the next run do."""
    for n in (1, 2, 3):
        with weir.Home(build()) as home:
            parked_home(home)
            pause(home, "resume")
            run(home, "dataset_committed:%d" % n)
            pause(home, "pause")
            r = run(home)
            assert r.last["balanced"] and r.last["received"] == 120, r
            pause(home, "resume")
            check(home, run(home), 120)
