"""Random histories against a plain model of the source: whatever the order, the repeats, the batches, the merges and the
kills, the replica holds the rows that the source holds. WEIR_SEED=N repeats a run, WEIR_HISTORIES=N makes more."""
import json
import os
import random
import re
import signal
import sqlite3

import histories
import weir

SEED = weir.first_seed()
COUNT = int(os.environ.get("WEIR_HISTORIES", "20"))
# Short batches and kills need the switches of a test build; the plain one does without.
HAS_SWITCHES = os.path.basename(weir.BUILD) in ("crash", "asan", "tsan")
SHRINK_TRIES = 150
struck = []  # the kills that came to pass


def crash_points():
    with open(os.path.join(weir.ROOT, "core", "base", "crash_points.def")) as f:
        return re.findall(r"^CRASH_POINT\((\w+),", f.read(), re.M)


class Case:
    """A history and how it is delivered: lines by (change, part), in pieces with a run and a merge behind each."""

    def __init__(self, rng, mode, is_shuffled, kills=0):
        self.mode = mode
        self.history = histories.History(rng, has_gone=mode == "merge" or not is_shuffled)
        if mode == "upsert":  # without a changelog there is nothing to hold rows that cannot be told apart
            self.history.changes = [c for c in self.history.changes if self.history.tables[c["table"]].key]
        self.changes = self.history.changes
        self.batch = rng.choice((1, 2, 3, 7, 5000))
        self.kills = ["%s:%d" % (rng.choice(crash_points()), rng.choice((1, 1, 2, 3))) for _ in range(kills)]
        self.order = [(c["order"], i) for c in self.changes for i in range(len(histories.render(self.history, c)))]
        if is_shuffled:
            rng.shuffle(self.order)
        for place in list(self.order):
            if rng.random() < 0.2:
                self.order.insert(rng.randrange(len(self.order) + 1) if is_shuffled else self.order.index(place), place)
        self.cuts = sorted(rng.randrange(len(self.order) + 1) for _ in range(rng.choice((0, 0, 1, 3))))

    def smaller(self, changes=None, order=None, **more):
        """The same with less in it."""
        other = object.__new__(Case)
        other.__dict__.update(self.__dict__, **more)
        if changes is not None:
            there = {c["order"] for c in changes}
            other.changes, other.order = changes, [o for o in self.order if o[0] in there]
        if order is not None:
            other.order = order
        other.cuts = [min(c, len(other.order)) for c in other.cuts]
        return other

    def lines(self):
        by_order = {c["order"]: histories.render(self.history, c) for c in self.changes}
        return [by_order[order][part] for order, part in self.order]

    def pieces(self):
        lines = [line + "\n" for line, _ in self.lines()]
        ends = self.cuts + [len(lines)]
        return ["".join(lines[a:b]) for a, b in zip([0] + self.cuts, ends)]

    def repeats(self):
        rows = [o for o, (_, is_row) in zip(self.order, self.lines()) if is_row]
        return len(rows) - len(set(rows))


def run_piece(home, kills):
    """Runs until idle; each kill that strikes is followed by another start."""
    while True:
        env = {"WEIR_CRASH": kills.pop(0)} if kills else {}
        result = home.run("--run", "shop.json", "--until-idle", "--json", env=env, program="weird")
        if result.code != -signal.SIGKILL:
            return result
        struck.append(env["WEIR_CRASH"])


def play(case):
    """What is wrong, in words, or None."""
    with weir.Home() as home:
        home.env["WEIR_BATCH_RECORDS"] = str(case.batch)
        home.job(home.write("feed.jsonl", ""), replicationMode=case.mode, changeLogDataset="shop_log" if case.mode == "merge" else None)
        kills = list(case.kills)
        for piece in case.pieces():
            with open(home.file("feed.jsonl"), "a", encoding="utf-8") as f:
                f.write(piece)
            result = run_piece(home, kills)
            if result.code != 0:
                return "a run ends with %d: %s %s" % (result.code, result.out[-800:], result.err[-800:])
        return wrong_ledger(case, result.last) or wrong_rows(case, home) or wrong_verify(case, home)


def wrong_ledger(case, last):
    want = {"received": len(case.order), "dead_lettered": 0, "parked": 0, "in_flight": 0, "balanced": True,
            "filtered": sum(not is_row for _, is_row in case.lines())}
    if not case.kills and case.mode == "merge":
        want["repeated"] = case.repeats()
    found = {k: last[k] for k in want}
    return None if found == want else "ledger: expected %r, found %r" % (want, found)


def cell(v, kinds):
    """A value of the model as the replica shows it when the column has held values of these kinds."""
    if v is None:
        return None
    if "str" in kinds:
        return v if isinstance(v, str) else str(v).lower() if isinstance(v, bool) else str(v)
    return int(v) if isinstance(v, bool) else float(v) if "float" in kinds else v


def kinds_of(case, table):
    """column -> kinds of the values that were ever sent."""
    kinds = {}
    names = {int: "int", str: "str", bool: "bool", float: "float"}
    for c in case.changes:
        if c["table"] != table:
            continue
        for side in ("row", "old"):
            for column, v in (c[side] or {}).items():
                kinds.setdefault(column, set())
                if v is not None:
                    kinds[column].add(names[type(v)])
                if case.history.blocks:
                    kinds[column].add(c["types"].get(column, "str"))
    return kinds


def wrong_rows(case, home):
    for number, (table, rows) in enumerate(zip(case.history.tables, histories.final(case.history, case.changes))):
        changes = [c for c in case.changes if c["table"] == number]
        if not changes:
            continue
        wrong = wrong_changelog(case, home, table, changes) if not table.key else wrong_table(case, home, number, rows)
        if wrong:
            return "%s: %s" % (table.name, wrong)
    return None


def wrong_table(case, home, number, rows):
    table, kinds = case.history.tables[number], kinds_of(case, number)
    columns = sorted(kinds)
    want = sorted((tuple(cell(row.get(c), kinds[c]) for c in columns) for row in rows.values()), key=repr)
    if not columns:
        return None  # only a truncate: there may be no table at all
    try:
        got = sorted(home.sql("select %s from `%s`" % (", ".join("`%s`" % c for c in columns), table.name)), key=repr)
    except sqlite3.OperationalError as e:
        return None if not rows and not any(c["row"] for c in case.changes if c["table"] == number) else str(e)
    return None if got == want else "%r\n  expected %r\n  found    %r" % (columns, want, got)


def wrong_changelog(case, home, table, changes):
    """Without a key there is only the changelog: each event once."""
    words = {"c": "INSERT", "r": "READ", "u": "UPDATE", "d": "DELETE", "t": "TRUNCATE"}
    want = sorted(words[c["op"]] for c in changes)
    got = sorted(op for (op,) in home.sql("select operation from `%s_changelog`" % table.name, "shop_log"))
    return None if got == want else "changelog expected %r, found %r" % (want, got)


def wrong_verify(case, home):
    if case.mode != "merge":
        return None
    r = home.run("verify", "shop", "--json")
    return None if r.code == 0 and r.last["equal"] is True else "verify: %r" % r


def tried(case, budget):
    """Still wrong? A change that could not have happened without another is not tried."""
    budget[0] -= 1
    return budget[0] > 0 and histories.is_valid(case.history, case.changes) and play(case) is not None


def shrink(case):
    """Leaves out what the failure does not need: kills, cuts, changes in ever smaller groups, repeats, disorder."""
    budget = [SHRINK_TRIES]
    for simpler in (dict(kills=[]), dict(cuts=[]), dict(batch=5000)):
        if tried(case.smaller(**simpler), budget):
            case = case.smaller(**simpler)
    size = max(1, len(case.changes) // 2)
    while size and budget[0] > 0:
        at = 0
        while at < len(case.changes):
            other = case.smaller(changes=case.changes[:at] + case.changes[at + size :])
            if other.changes and tried(other, budget):
                case = other
            else:
                at += size
        size //= 2
    for i in range(len(case.order) - 1, -1, -1):
        order = case.order[:i] + case.order[i + 1 :]
        if case.order[i] in order and tried(case.smaller(order=order), budget):
            case = case.smaller(order=order)
    in_order = case.smaller(order=sorted(case.order))
    return in_order if tried(in_order, budget) else case


def report(case, name, seed):
    small = shrink(case)
    feed = "".join(line + "\n" for line, _ in small.lines())
    return "history %s\nWEIR_SEED=%d WEIR_HISTORIES=1 WEIR_BUILD=%s python3 tests/e2e/run.py -k %s\n%s\nmode %s, batch %d, cuts %r, kills %r, the smallest feed:\n%s%s" % (
        seed, seed, os.path.relpath(weir.BUILD, weir.ROOT), name, play(case), small.mode, small.batch, small.cuts, small.kills, feed, play(small))


def check(name, make):
    """COUNT histories, each with a seed of its own, so that one is repeated alone."""
    print("     seed %d (WEIR_SEED=%d repeats it)" % (SEED, SEED), flush=True)
    wrong = []
    for seed in range(SEED, SEED + COUNT):
        case = make(random.Random(seed))
        if case.order and play(case):
            wrong.append(report(case, name, seed))
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
