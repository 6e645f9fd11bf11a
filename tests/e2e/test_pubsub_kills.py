"""kill -9 at random while changes flow from a subscription: the replica is the source's, the ledger balances, nothing is left."""
import json
import os
import random

import weir
from test_pubsub_source import job, nothing_is_left, place, run
from test_pubsub_faults import changes

# Builds with sanitizers are slow: they get a sample.
COUNT = int(os.environ.get("WEIR_KILL_CHANGES", "100000" if weir.BUILD.endswith("build") else "20000"))
KILLS = int(os.environ.get("WEIR_KILLS", "20"))
KEYS = 5000


def kill_when(home, ps, child, acked):
    """At a moment that lies somewhere between two commits. False: the run has ended before."""
    while child.poll() is None:
        if ps.counts("changes-sub")["acked"] >= acked:
            child.kill()
            child.wait()
            return True
    return False


def test_killed_at_random_while_changes_flow():
    seed = weir.first_seed()
    chance = random.Random(seed)
    with place() as (ps, home):
        lines = changes(COUNT, keys=KEYS)
        # One in a thousand cannot be read: letters must balance, too.
        bad = set(chance.sample(range(COUNT), COUNT // 1000))
        for i in sorted(bad):
            lines[i] = json.dumps({"key": str((i + 1) % KEYS), "data": "no change %d" % i})
        feed = home.write("feed.jsonl", "\n".join(lines) + "\n")
        ps.create("changes", "changes-sub", enableMessageOrdering=True, ackDeadlineSeconds=10)
        ps.publish("changes", file=feed)
        path, kills, acked = job(home, ps, primaryKey="id"), 0, 0
        for _ in range(KILLS):
            acked += chance.randrange(1, 2 * COUNT // KILLS)
            if acked >= COUNT or not kill_when(home, ps, home.start("run", path, "--until-idle", "--json"), acked):
                break
            kills += 1
        result = run(home, ps, expect=1, primaryKey="id")  # letters wait for somebody
        say = "WEIR_SEED=%d: %d kills, %s" % (seed, kills, result)
        assert kills >= KILLS // 3, say
        assert result["balanced"] is True and result["in_flight"] == 0, say
        wanted = {i % KEYS: i for i in range(1, COUNT + 1) if i - 1 not in bad}
        found = dict(home.sql("select id, v from t"))
        assert found == wanted, (say, [(k, found.get(k), v) for k, v in wanted.items() if found.get(k) != v][:5])
        assert len(home.letters()) == len(bad), say
        assert result["received"] - result["repeated"] <= COUNT + result["dead_lettered"], say
        nothing_is_left(ps)
        home.verify()
