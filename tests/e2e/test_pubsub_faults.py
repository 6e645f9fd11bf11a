"""What Pub/Sub and the network do to a stream: nothing is lost, nothing comes twice without need, and it is said in words."""
import json
import time

import emulators
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


def test_faults_of_one_call_lose_nothing():
    for fault in FAULTS:
        try:
            one_fault(*fault)
        except AssertionError as e:
            raise AssertionError("%s: %s" % (fault[:3], e))
