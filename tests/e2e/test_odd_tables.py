"""Whole tables at once: TRUNCATE of several, partitions by leaf or root, tables that share a topic; and unchanged large values of
every type."""
import base64
import random

import weir
from deliveries import GONE, MERGE, UPSERT, Change, block, check, decimal, unscaled
from weir import event


def at(table, lsn, after, before=None, key=None, types=None):
    return Change(event(after, before, table=table, lsn=lsn), key or {"id": (after or before)["id"]}, block(**types) if types else None)


def truncated(table, lsn):
    return Change(event(None, None, op="t", table=table, lsn=lsn))


def test_truncate_of_several_tables_in_one_event():
    """One position, a message a table; what is below comes before or behind it."""
    changes = [at(t, i, {"id": i, "v": i}) for t in "abc" for i in (1, 2)] + [truncated("a", 50), truncated("b", 50)]
    changes += [at("a", 60, {"id": 2, "v": 22}), at("b", 40, {"id": 3, "v": 3})]
    query = " union all ".join("select '%s', id, v from %s" % (t, t) for t in "abc")
    check("three tables", changes, [("a", 2, 22), ("c", 1, 1), ("c", 2, 2)], query)


def test_truncates_at_every_place():
    changes = [truncated("early", 50), at("early", 10, {"id": 1, "v": 1}), at("early", 60, {"id": 2, "v": 1})]
    changes += [at("own_place", 50, {"id": 1, "v": 1}), truncated("own_place", 50)]
    changes += [at("twice", 1, {"id": 1, "v": 1}), truncated("twice", 5), at("twice", 6, {"id": 1, "v": 2}), truncated("twice", 7), at("twice", 8, {"id": 2, "v": 3})]
    changes += [at("moved", 1, {"id": 1, "v": 1}), at("moved", 2, {"id": 2, "v": 1}, {"id": 1, "v": 1}), truncated("moved", 3), at("moved", 4, {"id": 1, "v": 7})]
    want = [("early", 2, 1), ("own_place", 1, 1), ("twice", 2, 3), ("moved", 1, 7)]
    check("places", changes, want, " union all ".join("select '%s', id, v from %s" % (t, t) for t, _, _ in want), rounds=4)


def test_partitions_by_leaf_and_by_root():
    """A row that moves is a delete in its old leaf and an insert in its new one; with publish_via_partition_root both are the root's."""
    for name, query in (("m_%d", "select 0, id, d from m_0 union all select 1, id, d from m_1"), ("m", "select d % 2, id, d from m")):
        leaf = (lambda d: name % (d % 2)) if "%" in name else lambda d: name
        changes = [at(leaf(d), d, {"id": d, "d": d}, key={"id": d, "d": d}) for d in range(1, 5)]
        changes += [at(leaf(1), 10, None, {"id": 1, "d": 1}, {"id": 1, "d": 1}), at(leaf(2), 11, {"id": 1, "d": 2}, key={"id": 1, "d": 2})]
        check(name, changes, [(0, 1, 2), (0, 2, 2), (0, 4, 4), (1, 3, 3)], query)


def test_many_tables_in_one_topic():
    """The source block tells the table; the router's mark in the message key is no column."""
    changes = []
    for t in ("m_1", "m_2"):
        for i in (1, 2):
            changes.append(at(t, i, {"id": i, "v": i}, key={"__dbz__physicalTableIdentifier": "s.public." + t, "id": i}))
            changes.append(at(t, i + 10, {"id": i, "v": i + 10}, {"id": i, "v": i}, {"id": i, "__dbz__sourceIdentifier": "s.public." + t}))
    changes += [at("m_2", 30, None, {"id": 2, "v": 1}, {"id": 2, "__dbz__sourceIdentifier": "s.public.m_2"}), at("m_1", 31, {"id": 3, "v": 4}, {"id": 1, "v": 1})]
    check("routed", changes, [(1, 3, 4), (1, 2, 12), (2, 1, 11)], "select 1, * from (select id, v from m_1) union all select 2, * from (select id, v from m_2)")


# The placeholder in every form that a connector writes: type in the schema block (None: only without), a value, the placeholder,
# the type given in columnTypes.
CODES = [ord(c) for c in GONE]
BASE64, HEXED = base64.b64encode(GONE.encode()).decode(), GONE.encode().hex()
JSON, UUID = {"type": "string", "name": "io.debezium.data.Json"}, {"type": "string", "name": "io.debezium.data.Uuid"}
DATE, MICROS = {"type": "int32", "name": "io.debezium.time.Date"}, {"type": "int64", "name": "io.debezium.time.MicroTimestamp"}
MAP = {"type": "map", "keys": {"type": "string"}, "values": {"type": "string", "optional": True}}


def array(items):
    return {"type": "array", "items": items if isinstance(items, dict) else {"type": items}}


FORMS = {
    "text": ("string", "long", GONE, None),
    "json": (JSON, '{"a": 1}', GONE, None),
    "xml": ({"type": "string", "name": "io.debezium.data.Xml"}, "<a/>", GONE, None),
    "ltree": ({"type": "string", "name": "io.debezium.data.Ltree"}, "a.b", GONE, None),
    "tsvector": ({"type": "string", "name": "io.debezium.data.Tsvector"}, "'a'", GONE, None),
    "bytea": ("bytes", "AQID", BASE64, None),
    "bytea_base64": ("string", "AQID", BASE64, {"type": "BYTES", "encoding": "base64"}),
    "bytea_hex": ("string", "010203", HEXED, {"type": "BYTES", "encoding": "hex"}),
    "bytea_hex_as_seen": ("string", "010203", GONE, {"type": "BYTES", "encoding": "hex"}),
    "bytea_hex_as_text": ("string", "010203", HEXED, None),
    "texts": (array("string"), ["a", "b"], [GONE], None),
    "byteas": (array("bytes"), ["AQID"], [BASE64], None),
    "ints": (array("int32"), [1, 2], CODES, None),
    "bigints": (array("int64"), [1, 2], CODES, None),
    "doubles": (array("double"), [1.5], [float(c) for c in CODES], None),
    "dates": (array(DATE), [1, 2], CODES, None),
    "timestamps": (array(MICROS), [1000000], CODES, None),
    "numerics": (array(decimal(2)), [unscaled(150, 2)], [BASE64], None),
    "uuids": (array(UUID), ["00000000-0000-0000-0000-000000000001"], ["b68a35a7-17ad-35b3-af2a-ae46edb4545a"], None),
    "hstore_json": (JSON, '{"k": "v"}', '{"%s":"%s"}' % (GONE, GONE), None),
    "hstore_map": (MAP, {"k": "v"}, {GONE: GONE}, None),
    "object": (None, {"k": "v"}, {GONE: GONE}, None),
}


def life(table, kind, value, gone):
    """Inserted, updated twice without the value, moved to another key, which is taken anew; a row that had no value moves, too."""
    types = kind and {"id": "int32", "v": kind, "n": "int32"}
    before = {"id": 1, "v": None, "n": 0}
    return [at(table, 1, {"id": 1, "v": value, "n": 1}, types=types), at(table, 2, {"id": 1, "v": gone, "n": 2}, types=types),
            at(table, 3, {"id": 1, "v": gone, "n": 3}, types=types), at(table, 4, {"id": 2, "v": gone, "n": 4}, before, types=types),
            at(table, 5, {"id": 1, "v": value, "n": 5}, types=types), at(table, 6, {"id": 3, "v": None, "n": 6}, types=types),
            at(table, 7, {"id": 4, "v": gone, "n": 7}, dict(before, id=3), types=types)]


def test_unchanged_large_values_of_every_type():
    rng = random.Random(weir.first_seed())
    columns = {"t_%s.v" % name: form[3] for name, form in FORMS.items() if form[3]}
    for typed in (True, False):
        forms = {name: form for name, form in FORMS.items() if form[0] or not typed}
        lines = [c.line(i + 1) for name, (kind, value, gone, _) in forms.items() for i, c in enumerate(life("t_" + name, kind if typed else None, value, gone))]
        late = lines * 2
        rng.shuffle(late)
        for mode, order in ((MERGE, lines), (MERGE, late), (UPSERT, lines)):
            with weir.Home() as home:
                home.replicate(home.write("feed", "\n".join(order) + "\n"), columnTypes=columns, **mode)
                for name in forms:
                    got = home.sql("select id, v, n from t_%s order by id" % name)
                    assert [(r[0], r[2]) for r in got] == [(1, 5), (2, 4), (4, 7)], (name, typed, mode, got)
                    assert got[0][1] == got[1][1] and got[0][1] and got[2][1] is None, (name, typed, mode, got)
                    assert GONE not in str(got) and str(CODES[0]) + "," not in str(got), (name, typed, mode, got)
                if mode is MERGE:
                    assert home.sql("select count(*) from _weir_unavailable") == [(0,)]
                    home.verify()
