"""The changelog holds each change once, and SQL that is none of weir's makes the replica from it (changelogs.py)."""
import collections
import json
import random

import changelogs
import rows
import weir
from deliveries import GONE, Change
from test_replica import shuffled
from weir import event


def sent(feed):
    """{table: changes}: what the source has sent, each change once, by the envelopes of a recorded stream without key changes in
    one event (Debezium sends those as two)."""
    found = collections.defaultdict(set)
    for line in feed.split("\n"):
        data = json.loads(line)["data"] if line.strip() else None
        body = data.get("payload", data) if isinstance(data, dict) else None
        if isinstance(body, dict) and body.get("op") in list("crudt") and "source" in body:
            source = {k: v for k, v in body["source"].items() if k in ("lsn", "file", "pos", "row", "sequence", "snapshot")}
            found[body["source"]["table"]].add(json.dumps([body["op"], source, body.get("before"), body.get("after")], sort_keys=True))
    return {table: len(changes) for table, changes in found.items()}


def expected(folder, table):
    """Columns, the key, and the source's final rows; None of a table that it has dropped."""
    with open(folder + "/schema.json", encoding="utf-8") as f:
        info = json.load(f).get(table)
    if not info:
        return None
    with open("%s/expected/%s.jsonl" % (folder, table), encoding="utf-8") as f:
        want = [json.loads(line) for line in f if line.strip()]
    return info["columns"], info["primary_key"], want


def check(name, feed, keys=None, **parameters):
    folder = weir.stream(name)
    with weir.Home() as home:
        result = home.replicate(home.write("feed.jsonl", feed), **parameters)
        assert result["balanced"], result
        log = home.warehouse("shop_log")
        held = changelogs.counts(log)
        for table, count in sent(feed).items():
            assert held[table] == (count, count), (table, held[table], count)
        compare(home, log, folder, held, keys or {})


def compare(home, log, folder, tables, keys):
    """From the changelog = in the replica = at the source. A dropped table stays as it was."""
    checked = 0
    for table in tables:
        of = expected(folder, table)
        kinds = changelogs.types(log, table)
        info = of[0] if of else kinds
        made = changelogs.applied(log, table, {c: kinds[c] for c in info})
        replica = changelogs.stored(home.warehouse(), table, list(info))
        assert sorted(made, key=repr) == sorted(replica, key=repr), (table, [r for r in made if r not in replica][:3])
        checked += len(made)
        if of:
            made = [{c: rows.stored_text(v, info[c]) for c, v in row.items()} for row in made]
            assert not rows.table_differences(table, keys.get(table, of[1]), info, of[2], made)[:5]
    assert checked > 50, checked


def read(name):
    with open(weir.stream(name) + "/feed.jsonl", encoding="utf-8", newline="\n") as f:
        return f.read()


def test_pg_shop():
    check("pg-shop", read("pg-shop"), {"events": ["seq"]}, primaryKey={"events": ["seq"]}, sourceSchema=weir.stream("pg-shop") + "/schema.json")


def test_pg_library_shuffled_with_repeats():
    feed, again = shuffled(weir.stream("pg-library"), random.Random(weir.first_seed()), 0.5)
    assert again
    check("pg-library", feed)


def test_mariadb_shop():
    check("mariadb-shop", read("mariadb-shop"))


def test_placeholders_and_key_changes():
    def at(lsn, after, before=None, attrs=None):
        return Change(event(after, before, lsn=lsn), {"id": (after or before)["id"]}, None, attrs)

    changes = [at(1, {"id": 1, "a": "A", "b": "B"}), at(2, {"id": 1, "a": GONE, "b": "B2"}), at(3, {"id": 2, "a": GONE, "b": GONE}, {"id": 1, "a": None, "b": None}),
               at(4, {"id": 1, "a": "new", "b": None}), at(5, {"id": 2, "a": GONE, "b": None}), at(6, None, {"id": 1, "a": None, "b": None}),
               at(7, {"id": 1, "a": GONE, "b": "c"}), at(8, {"id": 3, "a": "x", "b": "y"}), at(9, {"id": 4, "a": GONE, "b": GONE}, {"id": 3, "a": None, "b": None})]
    lines = [c.line(i + 1) for i, c in enumerate(changes)]
    rng = random.Random(weir.first_seed())
    for number in range(4):
        with weir.Home() as home:
            home.replicate(home.write("feed", "\n".join(lines) + "\n"))
            log = home.warehouse("shop_log")
            made = changelogs.applied(log, "t", changelogs.types(log, "t"))
            want = [{"id": 1, "a": None, "b": "c"}, {"id": 2, "a": "A", "b": None}, {"id": 4, "a": "x", "b": "y"}]
            assert sorted(made, key=repr) == sorted(want, key=repr), (number, made)
            assert sorted(changelogs.stored(home.warehouse(), "t", ["id", "a", "b"]), key=repr) == sorted(want, key=repr), number
            assert changelogs.counts(log)["t"] == (11, 11)
        lines = lines + [rng.choice(lines)]
        rng.shuffle(lines)
