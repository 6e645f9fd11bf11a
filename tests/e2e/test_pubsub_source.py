"""A subscription in place of the feed: the same rows, the same ledger, and nothing left unacknowledged."""
import concurrent.futures
import contextlib
import json
import os
import urllib.request

import emulators
import rows
import test_streams
import weir


def job(home, ps, name="shop", **parameters):
    parameters.setdefault("inputSubscriptions", "changes-sub")
    return home.job(None, name, project=ps.project, **parameters)


@contextlib.contextmanager
def place():
    """A stand-in, and a home whose engines find it."""
    with emulators.pubsub() as ps, weir.Home() as home:
        home.env.update(ps.env)
        yield ps, home


def run(home, ps, *args, expect=0, **parameters):
    r = home.run("run", job(home, ps, **parameters), "--until-idle", "--json", *args)
    assert r.code == expect, r
    return r.last


def refused(home, ps, expect, **parameters):
    r = home.run("run", job(home, ps, **parameters), "--until-idle", "--json")
    assert r.code == expect, r
    return r.error


def seek(ps, subscription, time):
    request = urllib.request.Request("http://%s/v1/%s:seek" % (ps.host, ps.subscription(subscription)),
                                     json.dumps({"time": time}).encode(), {"Content-Type": "application/json"})
    with emulators.HERE.open(request, timeout=30) as answer:
        answer.read()


def nothing_is_left(ps, subscription="changes-sub"):
    counts = ps.counts(subscription)
    assert counts["backlog"] == 0 and counts["outstanding"] == 0, counts
    return counts


def test_a_recorded_stream_gives_the_rows_of_its_feed():
    folder = weir.stream("pg-shop")
    received, filtered = test_streams.counts(folder)
    with place() as (ps, home):
        ps.create("changes", "changes-sub", enableMessageOrdering=True, ackDeadlineSeconds=10)
        ps.publish("changes", file=folder + "/feed.jsonl")
        result = run(home, ps, sourceSchema=folder + "/schema.json", primaryKey=test_streams.SHOP_KEY)
        assert result["received"] == received and result["filtered"] == filtered, result
        assert result["balanced"] is True and result["written"] == received - filtered, result
        found = rows.differences(home.warehouse(), folder)
        assert not found, found[:20]
        home.verify()
        counts = nothing_is_left(ps)
        assert counts["acked"] == received and counts["redelivered"] == 0 and counts["nacked"] == 0, counts
        again = run(home, ps, sourceSchema=folder + "/schema.json", primaryKey=test_streams.SHOP_KEY)
        assert again["this_run"]["received"] == 0 and again["received"] == received, again


def letter(row, **source):
    assert {name: row["source"].get(name) for name in source} == source, row["source"]


def test_bodies_that_are_none_become_letters_and_the_next_message_is_read():
    with place() as (ps, home):
        ps.create("changes", "changes-sub")
        ps.publish("changes", ['{"attrs": {"only": "attributes"}, "data_b64": ""}', '{"data_b64": "//4A"}', '{"key": "k", "data": "text"}',
                               json.dumps({"data": weir.event({"id": 1, "v": 1}, lsn=1)})])
        result = run(home, ps, expect=1, primaryKey="id")
        assert result["received"] == 4 and result["dead_lettered"] == 3 and result["written"] == 1, result
        letters = home.letters()
        assert [x["code"] for x in letters] == ["empty_message", "not_utf8", "unexpected_root"], letters
        letter(letters[0], kind="pubsub", subscription=ps.subscription("changes-sub"))
        assert letters[0]["source"]["message_id"] and "line" not in letters[0]["source"], letters[0]
        nothing_is_left(ps)


def test_two_subscriptions_short_and_full_are_read_by_one_job():
    with place() as (ps, home):
        for name, table in (("one", "x"), ("two", "y")):
            ps.create(name, name + "-sub")
            ps.publish(name, [json.dumps({"data": weir.event({"id": i}, table=table, lsn=i)}) for i in range(1, 301)])
        result = run(home, ps, inputSubscriptions="one-sub, " + ps.subscription("two-sub"), primaryKey="id")
        assert result["written"] == 600, result
        assert [home.sql("select count(*) from " + t) for t in "xy"] == [[(300,)], [(300,)]]
        nothing_is_left(ps, "one-sub")
        nothing_is_left(ps, "two-sub")


def test_what_cannot_be_read_ends_a_run_that_ends_by_itself():
    with place() as (ps, home):
        error = refused(home, ps, 78)
        assert error["code"] == "google_not_found" and "changes-sub" in error["message"], error
        ps.create("changes", "changes-sub", pushConfig={"pushEndpoint": "https://example.com/push"})
        error = refused(home, ps, 78)
        assert error["code"] == "subscription_not_pull", error
        ps.create("other", "other-sub")
        ps.deny(ps.subscription("other-sub"), "pubsub.subscriptions.consume")
        error = refused(home, ps, 77, name="other", inputSubscriptions="other-sub")
        assert error["code"] == "google_denied" and "pubsub.subscriptions.consume" in error["message"], error


def test_a_message_that_comes_again_is_a_repeat_with_one_letter():
    with place() as (ps, home):
        ps.create("changes", "changes-sub", retainAckedMessages=True)
        lines = [json.dumps({"data": weir.event({"id": i, "v": i})}) for i in range(50)] + ['{"data": "no change"}']
        ps.publish("changes", lines)
        result = run(home, ps, expect=1, primaryKey="id")
        assert result["written"] == 50 and result["dead_lettered"] == 1, result
        seek(ps, "changes-sub", "2020-01-01T00:00:00Z")
        result = run(home, ps, expect=1, primaryKey="id")
        assert result["received"] == 102 and result["written"] == 100 and result["repeated"] == 50, result
        assert result["dead_lettered"] == 2 and result["balanced"] is True, result
        assert len(home.letters()) == 1 and home.sql("select count(*) from t") == [(50,)]
        # What the ledger counts and what the store has agree, also at the next start.
        assert run(home, ps, expect=1, primaryKey="id")["received"] == 102


def as_its_feed(name):
    """Words, if the rows differ from the source's own, or the counts from the feed's."""
    folder = weir.stream(name)
    received, filtered = test_streams.counts(folder)
    parameters = {"sourceSchema": folder + "/schema.json"} if os.path.isdir(folder + "/expected-untyped") else {}
    with place() as (ps, home):
        ps.create("changes", "changes-sub", enableMessageOrdering=True)
        ps.publish("changes", file=folder + "/feed.jsonl")
        result = run(home, ps, **parameters)
        found = rows.differences(home.warehouse(), folder)
        nothing_is_left(ps)
        if (result["received"], result["filtered"], result["balanced"]) != (received, filtered, True):
            found.append("%s" % result)
        return ["%s: %s" % (name, words) for words in found[:5]]


def test_streams_of_every_kind_give_the_rows_of_their_feeds():
    names = ["flattened", "flattened-tombstone", "flattened-schemas", "pg-incremental", "pg-types", "mariadb-types"]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        found = [words for some in pool.map(as_its_feed, names) for words in some]
    assert not found, found
