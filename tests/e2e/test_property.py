"""Random histories of random tables against a plain model of the source, as each connector would send them: whatever the order,
the repeats, the batches, the merges and the kills, the replica holds the rows that the source holds. WEIR_SEED=N repeats a run,
WEIR_HISTORIES=N makes more, WEIR_CONNECTOR=NAME takes one connector."""
import json
import os
import random

import histories
import shrinking
import weir
from cases import Case, HAS_SWITCHES, play, struck
from shrinking import report

SEED = weir.first_seed()
COUNT = int(os.environ.get("WEIR_HISTORIES", "20"))


def check(name, make):
    """COUNT histories, each with a seed of its own, so that one is repeated alone."""
    print("     seed %d (WEIR_SEED=%d repeats it)" % (SEED, SEED), flush=True)
    wrong = []
    for seed in range(SEED, SEED + COUNT):
        case = make(random.Random(seed))
        failure = play(case) if case.order else None
        if failure:
            wrong.append(report(case, name, seed, failure))
            if len(wrong) > 2:
                break
    assert not wrong, "\n\n".join(wrong)
    return len(struck)


def test_random_histories_shuffled_with_repeats():
    check("histories_shuffled_with_repeats", lambda rng: Case(rng, "merge", True))


def test_random_histories_in_order():
    check("histories_in_order", lambda rng: Case(rng, rng.choice(("merge", "upsert")), False))


def test_random_histories_shuffled_upsert():
    check("histories_shuffled_upsert", lambda rng: Case(rng, "upsert", True))


def test_random_histories_killed():
    struck.clear()
    kills = check("histories_killed", lambda rng: Case(rng, rng.choice(("merge", "merge", "upsert")), rng.random() < 0.5, kills=rng.randrange(1, 4)))
    print("     %d kills" % kills)
    assert kills or COUNT < 10 or not HAS_SWITCHES


def test_a_failure_is_made_small_and_says_how_it_is_repeated():
    """An engine that loses the second delete of a table, and one that does something else wrong where there is no insert."""
    def wrong(case):
        deletes = [c["table"] for c in case.changes if c["op"] == "d"]
        if not any(c["op"] == "c" for c in case.changes):
            return "ledger: another failure"
        return "t: keys expected [], found [1]" if any(deletes.count(t) > 1 for t in deletes) else None

    seeds = [s for s in range(SEED, SEED + 200) if wrong(Case(random.Random(s), "merge", True, kills=2)) == "t: keys expected [], found [1]"][:5]
    assert seeds
    real, shrinking.play = shrinking.play, wrong
    try:
        for seed in seeds:
            case = Case(random.Random(seed), "merge", True, kills=2)
            small = shrinking.shrink(case, wrong(case))
            ops = [c["op"] for c in small.changes]
            assert wrong(small) == wrong(case) and not small.kills and not small.cuts and histories.is_valid(small.history, small.changes), ops
            fewer = [small.smaller(changes=small.changes[:i] + small.changes[i + 1 :]) for i in range(len(ops))]
            assert not [f for f in fewer if histories.is_valid(f.history, f.changes) and wrong(f) == wrong(case)], ops
            told = report(case, "histories_killed", seed, wrong(case))
            assert "again: " in told and "WEIR_SEED=%d WEIR_HISTORIES=1 " % seed in told and told.endswith("-k histories_killed") and "keys expected" in told, told
    finally:
        shrinking.play = real


def test_a_truncate_before_any_row_hides_what_comes_late():
    """Upsert mode knows no key of the table yet; what the truncate hides stays hidden, also in the next run."""
    truncate, late, newer = weir.event(None, None, op="t", lsn=50), weir.event({"id": 1, "v": 1}, lsn=40), weir.event({"id": 2, "v": 2}, lsn=60)
    with weir.Home() as home:
        feed = home.write("feed", weir.feed([truncate], weir.id_key))
        upsert = {"replicationMode": "upsert", "changeLogDataset": None}
        assert home.replicate(feed, **upsert)["dead_lettered"] == 0
        home.write("feed", weir.feed([truncate, late, newer], weir.id_key))
        assert home.replicate(feed, **upsert)["written"] == 3
        assert home.sql("select id, v from t") == [(2, 2)]


def test_a_truncate_before_any_row_of_a_table_whose_columns_a_file_tells():
    """The file tells columns, the messages the key; the truncate comes before both are together."""
    truncate, late, newer = weir.event(None, None, op="t", lsn=50), weir.event({"id": 1, "v": 1}, lsn=40), weir.event({"id": 2, "v": 2}, lsn=60)
    columns = {"id": {"bigquery": "INT64"}, "v": {"bigquery": "INT64"}}
    for key in ([], ["id"]):
        with weir.Home() as home:
            upsert = {"replicationMode": "upsert", "changeLogDataset": None, "sourceSchema": "schema.json"}
            home.write("schema.json", json.dumps({"t": {"primary_key": key, "columns": columns}}))
            assert home.replicate(home.write("feed", weir.feed([truncate], weir.id_key)), **upsert)["dead_lettered"] == 0
            home.write("feed", weir.feed([truncate, late, newer], weir.id_key))
            assert home.replicate("feed", **upsert)["written"] == 3
            assert home.sql("select id, v from t") == [(2, 2)]
