"""What Pub/Sub and the network do to a stream: nothing is lost, nothing comes twice without need, and it is said in words."""
import concurrent.futures
import json
import sqlite3
import time

import weir
from test_pubsub_source import job, nothing_is_left, place, run

COUNT = 3000


def changes(count, first=1, keys=500):
    """Upserts of `keys` rows, in order; the last ones are the rows that must stand in the end."""
    lines = []
    for i in range(first, first + count):
        row = {"id": i % keys, "v": i}
        lines.append(json.dumps({"key": str(i % keys), "data": weir.event(row, op="c" if i <= keys else "u", lsn=i)}))
    return lines


def right_rows(home, count, keys=500):
    wanted = sorted({i % keys: i for i in range(1, count + 1)}.items())
    found = home.sql("select id, v from t order by id")
    assert found == wanted, (len(found), [p for p in zip(found, wanted) if p[0] != p[1]][:5])


def arrange(ps, **settings):
    settings.setdefault("ackDeadlineSeconds", 10)
    ps.create("changes", "changes-sub", **settings)
    ps.publish("changes", changes(COUNT))


def ends_right(home, ps, most_again=0, primary=("id",), **parameters):
    result = run(home, ps, primaryKey=",".join(primary), **parameters)
    assert result["balanced"] is True and result["in_flight"] == 0 and result["dead_lettered"] == 0, result
    right_rows(home, COUNT)
    counts = nothing_is_left(ps)
    assert counts["redelivered"] <= most_again, counts
    # What was lost on its way comes again, and never came before.
    assert COUNT <= result["received"] <= COUNT + counts["redelivered"], (result["received"], counts)
    return result, counts


# kind, method, members of the fault, how many messages may come again
FAULTS = [
    ("status", "StreamingPull", {"code": "UNAVAILABLE", "times": 3}, 0),
    ("status", "StreamingPull", {"code": "RESOURCE_EXHAUSTED", "times": 2, "retry_ms": 300}, 0),
    ("status", "Acknowledge", {"code": "UNAVAILABLE", "times": 4}, 0),
    ("status", "GetSubscription", {"code": "UNAVAILABLE", "times": 2}, 0),
    ("lost", "Acknowledge", {"code": "UNAVAILABLE", "times": 2}, 0),
    ("end", "StreamingPull", {"code": "OK", "after_messages": 300, "times": 5}, COUNT),
    ("end", "StreamingPull", {"code": "UNAVAILABLE", "after_messages": 300, "times": 5}, COUNT),
    ("cut", "StreamingPull", {"times": 2, "skip": 0}, COUNT),
    ("goaway", "StreamingPull", {"ms": 50, "times": 1}, COUNT),
    ("hang_done", "Acknowledge", {"times": 1}, COUNT),
]


def one_fault(kind, method, members, most_again):
    with place() as (ps, home):
        arrange(ps)
        ps.fault(kind, method, "changes-sub", **members)
        ends_right(home, ps, most_again)
        assert any(ps.met().values()), (kind, method)


def judged(fault):
    try:
        one_fault(*fault)
    except AssertionError as e:
        return "%s: %s" % (fault[:3], e)


def test_faults_of_one_call_lose_nothing():
    # Most of it is waiting for leases: each has a stand-in and a home of its own.
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        failed = [words for words in pool.map(judged, FAULTS) if words]
    assert not failed, "\n".join(failed)


def status(home):
    r = home.run("status", "--json")
    assert r.code in (0, 1), r  # 1: somebody is needed
    return r.lines[-1] if r.lines else {"state": "not yet"}


def comes(home, what, seconds=5):
    """The job's status once `what` holds of it: within five seconds an operator knows."""
    end = time.monotonic() + seconds
    while True:
        row = status(home)
        if what(row):
            return row
        assert time.monotonic() < end, row
        time.sleep(0.05)


def test_what_is_wrong_is_said_within_five_seconds_and_goes_away_by_itself():
    with place() as (ps, home):
        arrange(ps)
        home.start("run", job(home, ps, primaryKey="id"), "--json")
        comes(home, lambda row: row.get("written") == COUNT and row["state"] == "ok", 20)
        ps.fault("status", "StreamingPull", "changes-sub", code="UNAVAILABLE", message="gone fishing")
        ps.end_streams("changes-sub")
        row = comes(home, lambda row: row["state"] == "waiting")
        assert row["code"] == "google_unavailable" and "gone fishing" in row["sentence"] and "reconnecting since" in row["sentence"], row
        ps.clear()
        comes(home, lambda row: row["state"] == "ok", 15)
        ps.deny(ps.subscription("changes-sub"), "pubsub.subscriptions.consume")
        ps.end_streams("changes-sub")
        row = comes(home, lambda row: row["state"] == "needs you")
        assert row["code"] == "google_denied" and "pubsub.subscriptions.consume on " + ps.subscription("changes-sub") in row["sentence"], row
        ps.grant(ps.subscription("changes-sub"), "pubsub.subscriptions.consume")
        comes(home, lambda row: row["state"] == "ok", 20)
        ps.publish("changes", changes(10, COUNT + 1))
        comes(home, lambda row: row["written"] == COUNT + 10, 20)
        r = home.run("stop", "shop")
        assert r.code == 0, r
        nothing_is_left(ps)


def test_a_destination_that_waits_and_slow_calls_lose_no_lease():
    with place() as (ps, home):
        arrange(ps)
        run(home, ps, primaryKey="id")
        child = home.start("run", job(home, ps, primaryKey="id"), "--json")
        comes(home, lambda row: row["state"] == "ok", 20)
        ps.fault("late", "ModifyAckDeadline", "changes-sub", ms=3000)
        lock = sqlite3.connect(home.warehouse("shop_log"), isolation_level=None)
        lock.execute("begin immediate")
        ps.publish("changes", changes(COUNT, COUNT + 1))
        comes(home, lambda row: row["state"] == "waiting" and "lock" in row["sentence"], 10)
        # Twice the deadline.
        until = time.monotonic() + 20
        while time.monotonic() < until:
            assert ps.counts("changes-sub")["expired"] == 0
            time.sleep(0.5)
        lock.execute("rollback")
        comes(home, lambda row: row["written"] == 2 * COUNT, 20)
        counts = ps.counts("changes-sub")
        assert counts["redelivered"] == 0 and counts["nacked"] == 0 and counts["extended"], counts
        r = home.run("stop", "shop")
        assert r.code == 0, r
        nothing_is_left(ps)
        child.wait(20)


def test_exactly_once_ids_that_fail_for_now_are_made_again():
    with place() as (ps, home):
        arrange(ps, enableExactlyOnceDelivery=True, enableMessageOrdering=True)
        ps.fault("ids", "Acknowledge", "changes-sub", reason="TRANSIENT_FAILURE_SERVICE_UNAVAILABLE", every=3, times=3)
        _, counts = ends_right(home, ps)
        assert counts["acked"] == COUNT, counts
        calls = ps.calls()["Acknowledge " + ps.subscription("changes-sub")]
        assert calls["ids"] > COUNT and calls["most_ids"] <= 2500 and calls["largest_bytes"] < 512 << 10, calls


def held_while_stopped(**settings):
    """What became of messages that a destination kept waiting when the job was stopped."""
    with place() as (ps, home):
        ps.create("letters")
        arrange(ps, **settings)
        run(home, ps, primaryKey="id")
        child = home.start("run", job(home, ps, primaryKey="id"), "--json")
        comes(home, lambda row: row["state"] == "ok", 20)
        lock = sqlite3.connect(home.warehouse("shop_log"), isolation_level=None)
        lock.execute("begin immediate")
        ps.publish("changes", changes(COUNT, COUNT + 1))
        comes(home, lambda row: row["state"] == "waiting" and ps.counts("changes-sub")["outstanding"] == COUNT, 10)
        r = home.run("stop", "shop")
        assert r.code == 0, r
        child.wait(30)
        lock.execute("rollback")
        counts = ps.counts("changes-sub")
        assert counts["acked"] == COUNT and counts["redelivered"] == 0, counts
        return counts


def test_a_stop_hands_back_what_was_not_begun():
    counts = held_while_stopped()
    assert counts["nacked"] == COUNT and counts["outstanding"] == 0, counts


def test_nothing_is_handed_back_where_that_counts_as_a_failed_delivery():
    counts = held_while_stopped(deadLetterPolicy={"deadLetterTopic": "projects/acme/topics/letters", "maxDeliveryAttempts": 5})
    assert counts["nacked"] == 0 and counts["outstanding"] == COUNT, counts


def test_a_server_that_says_nothing_is_said_within_five_seconds():
    with place() as (ps, home):
        arrange(ps)
        ps.fault("hang", "GetSubscription", "changes-sub")
        home.start("run", job(home, ps, primaryKey="id"), "--json")
        row = comes(home, lambda row: row["state"] == "waiting", 8)
        assert row["code"] == "google_timeout" and "no answer of Pub/Sub" in row["sentence"], row
        ps.clear()
        comes(home, lambda row: row.get("written") == COUNT and row["state"] == "ok", 30)
        # Nothing goes in or out of any connection.
        ps.fault("freeze")
        ps.publish("changes", changes(5, COUNT + 1))
        comes(home, lambda row: row["state"] == "waiting" and row["code"] == "google_timeout", 8)
        ps.clear()
        comes(home, lambda row: row["written"] == COUNT + 5 and row["state"] == "ok", 30)
        r = home.run("stop", "shop")
        assert r.code == 0, r
        nothing_is_left(ps)
