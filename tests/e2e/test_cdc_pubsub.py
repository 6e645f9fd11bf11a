"""PubSub_CDC_to_BigQuery as it is meant: a subscription into BigQuery, stand-ins on both sides, Google's client publishing."""
import base64
import contextlib
import datetime
import hashlib
import json
import os
import random
import signal

import emulators
import weir
from test_cdc_bigquery import DEFAULT, EXACTLY, INSERT, types
from test_cdc_rows import many
from test_pubsub_source import nothing_is_left, seek

COUNT = int(os.environ.get("WEIR_CDC_ROWS", "2000"))
KILLS = int(os.environ.get("WEIR_KILLS", "3"))


@contextlib.contextmanager
def place(*datasets):
    with emulators.pubsub() as ps, emulators.bigquery(*datasets, project=ps.project) as bq, weir.Home() as home:
        home.env.update(ps.env)
        home.env.update(bq.env)
        yield ps, bq, home


def job(home, ps, name="rows", **parameters):
    p = {"inputSubscription": ps.subscription("changes-sub"), "outputDatasetTemplate": "d", "outputTableNameTemplate": "{tbl}", **parameters}
    return home.write(name + ".json", json.dumps({"name": name, "project": ps.project, "template": "PubSub_CDC_to_BigQuery",
                                                  "parameters": {k: v for k, v in p.items() if v is not None}}))


def run(home, ps, expect=0, **parameters):
    r = home.run("run", job(home, ps, **parameters), "--until-idle", "--json")
    assert expect is None or r.code == expect, r
    return r.last


def killed_at_random(home, ps, path, chance):
    """Runs it, killed at moments that lie somewhere between two commits; gives how often."""
    kills = 0
    for turn in range(KILLS):
        acked = int((turn + chance.random()) * COUNT / (KILLS + 1))
        child = home.start("run", path, "--until-idle", "--json")
        while child.poll() is None and ps.counts("changes-sub")["acked"] < acked:
            pass
        if child.poll() is not None:
            break
        child.kill()
        child.wait()
        kills += 1
    return kills


def test_each_good_message_is_one_row_whatever_kills_the_engine():
    """50 tables, columns that appear in mid-stream, one message in a hundred bad in one of ten ways."""
    chance = random.Random(weir.first_seed())
    lines, good, bad = many(COUNT)
    with place("d") as (ps, bq, home):
        home.write("schema.json", '[{"name":"n","type":"INTEGER","mode":"NULLABLE"}]')
        ps.create("changes", "changes-sub", ackDeadlineSeconds=10)
        feed = home.write("feed.jsonl", "".join(x if isinstance(x, str) else json.dumps(x) + "\n" for x in lines))
        assert ps.publish_by_client("changes", feed) == COUNT
        more = dict(EXACTLY, schemaFilePath="schema.json")
        kills = killed_at_random(home, ps, job(home, ps, **more), chance)
        result = run(home, ps, expect=1, **more)
        say = "WEIR_SEED=%d: %d kills, %s" % (weir.first_seed(), kills, result)
        assert kills >= KILLS // 3 and result["balanced"] and result["in_flight"] == 0 and result["parked"] == 0, say
        for table, want in good.items():
            found = [int(row["n"]) for row in bq.rows("d." + table)]
            assert len(found) == len(set(found)) == want, (say, table, len(found), len(set(found)), want)
            assert types(bq, "d." + table)["n"] == ("INTEGER", "NULLABLE") and {"tbl", "n", "late0"} <= set(types(bq, "d." + table)), table
        codes = {}
        for letter in home.letters():
            codes[letter["code"]] = codes.get(letter["code"], 0) + 1
        assert codes == bad, (say, codes, bad)
        nothing_is_left(ps)


def test_a_kill_at_any_point_of_a_commit_makes_no_row_twice():
    """With the build for it at every point that a batch passes; else unharmed."""
    build = os.path.join(weir.ROOT, "build", "crash")
    points = ("append_noted:1", "rows_written:1", "position_written:2", "rows_committed:1", "rows_committed:3", "confirmed:1", "letters_committed:1")
    count, env = 60, {"WEIR_BATCH_RECORDS": "7"}
    with emulators.pubsub() as ps, emulators.bigquery("d", project=ps.project) as bq, weir.Home(build if os.path.exists(build + "/weird") else weir.BUILD) as home:
        home.env.update(ps.env)
        home.env.update(bq.env)
        ps.create("changes", "changes-sub", ackDeadlineSeconds=10)
        ps.publish("changes", [json.dumps({"data": {"tbl": "t%d" % (i % 2), "n": str(i)} if i % 10 else [i]}) for i in range(count)])
        path = job(home, ps, **EXACTLY)
        for point in points if home.build == build else ():
            died = home.run("--run", path, "--until-idle", env=dict(env, WEIR_CRASH=point), program="weird")
            assert died.code == -signal.SIGKILL, (point, died)
            ps.clock(advance_s=700)
        r = home.run("--run", path, "--until-idle", "--json", env=env, program="weird")
        assert r.code == 1 and r.last["balanced"] and r.last["in_flight"] == 0, r
        found = [row["n"] for table in ("d.t0", "d.t1") for row in bq.rows(table)]
        assert sorted(found, key=int) == [str(i) for i in range(count) if i % 10], (len(found), r)
        assert len(home.letters()) == count // 10
        nothing_is_left(ps)


def test_attributes_id_and_order_key_name_dataset_and_table():
    with place("shop", "d") as (ps, bq, home):
        ps.create("changes", "changes-sub", enableMessageOrdering=True)
        ps.publish("changes", [json.dumps(x) for x in (
            {"attrs": {"ds": "shop", "tbl": "orders"}, "key": "k1", "data": {"a": 1, "tbl": "not this"}},
            {"attrs": {"tbl": "orders"}, "key": "k1", "data": {"a": 2}},
            {"attrs": {"ds": "shop", "tbl": ""}, "data": {"a": 3}},
            {"data": {"a": 4, "_message_id": "own"}})])
        result = run(home, ps, expect=1, messageMetadata=True, outputDatasetTemplate="{_attributes.ds:-d}", outputTableNameTemplate="{_attributes.tbl}")
        assert result["written"] == 2 and result["dead_lettered"] == 2, result
        assert [row["a"] for row in bq.rows("shop.orders")] == ["1"] and [row["a"] for row in bq.rows("d.orders")] == ["2"]
        assert {x["code"] for x in home.letters()} == {"template_unfilled"}
        ps.create("changes", "more-sub")
        ps.publish("changes", ['{"key": "k9", "data": {"a": 5}}'])
        result = run(home, ps, name="named", messageMetadata=True, inputSubscription=ps.subscription("more-sub"), outputTableNameTemplate="m_{_ordering_key}_{_message_id}")
        table = result["tables"][0]["table"]
        assert table.startswith("d.m_k9_") and [row["a"] for row in bq.rows(table)] == ["5"], result


def test_rows_of_a_key_stand_in_the_order_in_which_they_were_published():
    count = 240
    for way in (INSERT, DEFAULT, EXACTLY):
        with place("d") as (ps, bq, home):
            ps.create("changes", "changes-sub", enableMessageOrdering=True)
            ps.publish("changes", [json.dumps({"key": "k%d" % (i % 3), "data": {"tbl": "t", "k": str(i % 3), "n": str(i)}}) for i in range(count)])
            result = run(home, ps, **way)
            assert result["written"] == count and result["balanced"], result
            found = bq.rows("d.t")
            for key in "012":
                order = [int(row["n"]) for row in found if row["k"] == key]
                assert order == list(range(int(key), count, 3)), (way, key, order[:10])


def test_what_is_delivered_again_is_one_row_and_equal_messages_are_two():
    with place("d") as (ps, bq, home):
        ps.create("changes", "changes-sub", ackDeadlineSeconds=10)
        ps.publish("changes", ['{"data": {"tbl": "t", "a": "same"}}'] * 2 + ['{"data": {"tbl": "t", "a": "other"}}'])
        # Their acknowledgements are lost once, so all come again.
        lost = ps.fault("lost", "Acknowledge", "changes-sub", code="UNAVAILABLE", times=1)
        result = run(home, ps, **EXACTLY)
        assert result["balanced"] and result["written"] - result["repeated"] == 3, (result, ps.met(), lost)
        assert sorted(row["a"] for row in bq.rows("d.t")) == ["other", "same", "same"]
        nothing_is_left(ps)


def test_messages_that_come_again_in_a_later_run_are_no_rows():
    """As after a kill between the commit and its confirmation; streams with offsets alone would not know."""
    count = 300
    with place("d") as (ps, bq, home):
        ps.create("changes", "changes-sub", ackDeadlineSeconds=10, retainAckedMessages=True)
        before = datetime.datetime.now(datetime.timezone.utc).isoformat()
        ps.publish("changes", [json.dumps({"data": {"tbl": "t%d" % (i % 3), "n": str(i)}}) for i in range(count)])
        assert run(home, ps, **EXACTLY)["written"] == count
        seek(ps, "changes-sub", before)
        ps.publish("changes", ['{"data": {"tbl": "t0", "n": "new"}}'])
        result = run(home, ps, **EXACTLY)
        assert result["this_run"]["received"] == count + 1 and result["repeated"] == count and result["balanced"], result
        assert sorted(row["n"] for t in range(3) for row in bq.rows("d.t%d" % t)) == sorted([str(i) for i in range(count)] + ["new"])
        nothing_is_left(ps)


def test_dead_letters_keep_attributes_and_every_byte():
    bodies = [b"\xff\x00 no text", b"bad id 1", b'{"tbl":', b'{"tbl":"t","a":"\xc3\x28"}', b'{"id":1}']
    with place("d") as (ps, _, home):
        ps.create("changes", "changes-sub")
        ps.publish("changes", [json.dumps({"attrs": {"from": "shop", "n": str(i), "\u00fc": "\u2713"}, "key": "k%d" % i, "data_b64": base64.b64encode(body).decode()})
                               for i, body in enumerate(bodies)])
        result = run(home, ps, expect=1)
        assert result["dead_lettered"] == len(bodies) and result["balanced"], result
        found = {x["attrs"]["n"]: x for x in home.letters()}
        for i, body in enumerate(bodies):
            letter = found[str(i)]
            assert letter["sha256"] == hashlib.sha256(body).hexdigest() and letter["bytes"] == len(body), letter
            assert letter["attrs"] == {"from": "shop", "n": str(i), "\u00fc": "\u2713"} and letter["ordering_key"] == "k%d" % i, letter
            assert letter["source"]["message_id"] and letter["publish"], letter
        assert [found[str(i)]["code"] for i in range(5)] == ["not_utf8", "not_json", "not_json", "not_utf8", "template_unfilled"], [x["code"] for x in found.values()]
        # Mended ones go the same way as fresh ones.
        nothing_is_left(ps)
