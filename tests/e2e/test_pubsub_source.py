"""A subscription in place of the feed: the same rows, the same ledger, and nothing left unacknowledged."""
import contextlib

import emulators
import rows
import test_streams
import weir


def job(home, ps, subscriptions="changes-sub", name="shop", **parameters):
    return home.job(None, name, project=ps.project, inputSubscriptions=subscriptions, **parameters)


@contextlib.contextmanager
def place():
    """A stand-in, and a home whose engines find it."""
    with emulators.pubsub() as ps, weir.Home() as home:
        home.env.update(ps.env)
        yield ps, home


def run(home, ps, *args, expect=0, **parameters):
    r = home.run("run", job(home, ps, **parameters), "--until-idle", "--json", *args)
    assert r.code == expect, r
    return r.last if r.out else r


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
