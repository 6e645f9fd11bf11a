"""Names that BigQuery does not take, that are reserved, or that two things share: stored under a name that is taken, said once with
both names, never mixed."""
import json
import os
import re
import unicodedata

import weir

MODES = ({"replicationMode": "merge"}, {"replicationMode": "upsert", "changeLogDataset": None})


def notes(result, code):
    return [n["text"] for t in result["tables"] for n in t["notes"] if n["code"] == code]


def test_the_table_of_signs_is_unicodes():
    """Characters that Unicode 3.2 had and whose kind has not changed since: their kind is no matter of python's version."""
    with open(os.path.join(weir.ROOT, "core", "base", "name_signs.def"), encoding="ascii") as f:
        ranges = [(int(a, 16), int(b, 16)) for a, b in re.findall(r"SIGNS\((0x\w+), (0x\w+)\)", f.read())]
    assert ranges == sorted(ranges) and all(a[1] + 1 < b[0] for a, b in zip(ranges, ranges[1:]))
    signs = {c for first, last in ranges for c in range(first, last + 1)}
    checked = 0
    for code in range(0x80, 0x30000):
        old, new = unicodedata.ucd_3_2_0.category(chr(code)), unicodedata.category(chr(code))
        if old == new and old != "Cn":
            checked += 1
            assert (code in signs) == (old[0] not in "LMN" and old not in ("Pc", "Pd")), hex(code)
    assert checked > 90000, checked


def test_columns_of_odd_names():
    row = {"id": 1, "Price ($)": 1, "Price (€)": 2, "_TABLE_x": 3, "__weir_key": 4, "_weir_key": 5, "日本 語": 6, "a\"b": 7, "x" * 300: 8,
           "x" * 301: 9, "é" * 301: 10, "e\u0301": 11, "\u00e9": 12, "GROUP": 13, "q'": 14}
    names = {"id": 1, "Price ___": 1, "Price ____2": 22, "__TABLE_x": 3, "__weir_key": 4, "__weir_key_2": 5, "日本 語": 6, "a_b": 7,
             "x" * 300: 8, "x" * 298 + "_2": 9, "é" * 300: 10, "e\u0301": 11, "\u00e9": 12, "GROUP": 13, "q'": 14}
    for mode in MODES:
        with weir.Home() as home:
            events = [weir.event(row, lsn=10), weir.event(dict(row, **{"Price (€)": 22}), row, lsn=20)]
            feed = home.write("feed", weir.feed(events, weir.id_key))
            result = home.replicate(feed, **mode)
            assert home.sql("select %s from t" % ", ".join("`%s`" % n for n in names)) == [tuple(names.values())]
            told = notes(result, "renamed")
            assert any("Price (€)" in t and "Price ($)" in t for t in told), told
            assert any("column __weir_key is" in t and "column _weir_key is" in t for t in told), told
            columns = home.run("tables", "--schema", "--json").last["columns"]
            assert ["Price (€)"] == [c["source"] for c in columns if c["name"] == "Price ____2"], (columns, mode)
            # The same in the next run, and what comes then gets the next number.
            home.write("feed", weir.feed(events + [weir.event({"id": 2, "Price (€)": 5, "Price (%)": 6, "Price [$]": 7}, lsn=30)], weir.id_key))
            home.replicate(feed, **mode)
            assert home.sql("select `Price ___`, `Price ____2`, `Price _%_`, `Price ____3` from t where id = 2") == [(None, 5, 6, 7)]
            if "changeLogDataset" not in mode:
                home.verify()


def test_types_of_columns_with_dots_in_their_names():
    row = {"id": 1, "a.b": "1.50", "c.d.e": "2.50", "b": "3.50", "Ä": "4.50"}
    types = {"t.a.b": "NUMERIC", "public.t.c.d.e": "NUMERIC", "t.ä": "NUMERIC"}
    for mode in MODES:
        with weir.Home() as home:
            home.replicate(home.write("feed", weir.feed([weir.event(row, lsn=1)], weir.id_key)), columnTypes=types, primaryKey={"t": ["a.b"]}, **mode)
            assert home.sql("select `a_b`, `c_d_e`, b, `Ä` from t") == [("1.5", "2.5", "3.50", "4.5")]
            assert home.run("tables", "--json").last["key"] == ["a_b"]


def test_names_that_differ_by_case_are_said_once():
    events = [weir.event({"id": 1, "userId": "a", "Straße": "x"}, lsn=1), weir.event({"id": 2, "userid": "b", "STRAßE": "y"}, lsn=2),
              weir.event({"id": 3, "userId": "c", "Straße": "z"}, lsn=3)]
    with weir.Home() as home:
        result = home.replicate(home.write("feed", weir.feed(events, weir.id_key)))
        assert home.sql("select id, userId, `Straße` from t order by id") == [(1, "a", "x"), (2, "b", "y"), (3, "c", "z")]
        told = notes(result, "column_case_collision")
        assert len(told) == 2 and "userId" in told[0] and "userid" in told[0], told


def test_tables_of_odd_names():
    for name, stored in (("Order Items!", "Order Items_"), ("naïve", "naïve"), ("select", "select"), ("é" * 600, "é" * 507), ("sqlite_x", "_sqlite_x"),
                         ("_weir_tables", "__weir_tables"), ("a\"b'c", "a_b_c")):
        for mode in MODES:
            with weir.Home() as home:
                events = [weir.event({"id": 1, "v": 1}, table=name, lsn=1), weir.event({"id": 1, "v": 2}, {"id": 1, "v": 1}, table=name, lsn=2)]
                result = home.replicate(home.write("feed", weir.feed(events, weir.id_key)), **mode)
                assert home.sql("select id, v from `%s`" % stored) == [(1, 2)]
                assert bool(notes(result, "renamed")) == (name != stored), result
                if "changeLogDataset" not in mode:
                    home.verify()


# What collides, whose name stands first: (db, schema, table) and the parameters that make it so.
COLLISIONS = (
    (("shop", "a", "t"), ("shop", "b", "t"), {}),
    (("shop", "a", "t"), ("crm", "a", "t"), {}),
    (("shop", "public", "Orders"), ("shop", "public", "orders"), {}),
    (("shop", "public", "ÄNDERN"), ("shop", "public", "ändern"), {}),
    (("shop", "public", "a.b"), ("shop", "public", "a/b"), {}),
    (("shop", "public", "x" * 1014), ("shop", "public", "x" * 1015), {}),
    (("shop", "a_b", "c"), ("shop", "a", "b_c"), {"tableNamePattern": "{schema}_{table}"}),
    (("shop", "public", "t"), ("shop", "public", "t_changelog"), {"changeLogDataset": "one", "replicaDataset": "one"}),
    (("shop", "public", "T_Changelog"), ("shop", "public", "t"), {"changeLogDataset": "one", "replicaDataset": "one"}),
)


def test_two_tables_of_one_name_in_one_feed_and_in_two_runs():
    for first, second, parameters in COLLISIONS:
        place = [dict(db=d, schema=s, table=t) for d, s, t in (first, second)]
        one = [weir.event({"id": 1, "v": 1}, lsn=1, **place[0])]
        two = [weir.event({"id": 2, "v": 2}, lsn=2, **place[1]), weir.event({"id": 3, "v": 3}, lsn=3, **place[0])]
        for is_restarted in (False, True):
            for mode in MODES[:1] if "replicaDataset" in parameters else MODES[is_restarted:is_restarted + 1]:
                with weir.Home() as home:
                    feed = home.write("feed", weir.feed(one if is_restarted else one + two, weir.id_key))
                    given = dict(mode, **parameters)
                    if is_restarted:
                        home.replicate(feed, **given)
                        home.write("feed", weir.feed(one + two, weir.id_key))
                    result = home.replicate(feed, expect=1, **given)
                    check_parked(home, result, first, second, parameters.get("replicaDataset", "shop"))
                    again = home.replicate(feed, expect=1, **given)
                    assert again["parked"] == 1 and again["balanced"], again


def check_parked(home, result, first, second, dataset):
    """The later one is listed under the source's own name; of the other nothing is mixed."""
    assert result["parked"] == 1 and result["written"] == 2 and result["balanced"], result
    told = notes(result, "name_collision")
    assert len(told) == 1, told
    if len(second[2]) < 100:  # a sentence has an end
        assert ".".join(first) in told[0] and ".".join(second) in told[0], told
    waits = [t["table"] for t in result["tables"] if t["state"] == "needs you"]
    assert waits == [dataset + "." + ".".join(second)[:1014]], waits
    (other,) = [t["table"].split(".", 1)[1] for t in result["tables"] if t["state"] == "ok"]
    assert home.sql("select id, v from `%s` order by id" % other, dataset) == [(1, 1), (3, 3)]


def test_a_pattern_lets_the_parked_go_on_after_any_restart():
    events = [weir.event({"id": n, "v": n}, schema=s, lsn=n) for n, s in ((1, "a"), (2, "b"), (3, "c"))]
    with weir.Home() as home:
        feed = home.write("feed", weir.feed(events, weir.id_key))
        assert home.replicate(feed, expect=1)["parked"] == 2
        result = home.replicate(feed, args=("--replace",), tableNamePattern="{schema}_{table}")
        assert result["parked"] == 0 and result["written"] == 3 and not notes(result, "name_collision"), result
        assert [home.sql("select id from %s" % t) for t in ("t", "b_t", "c_t")] == [[(1,)], [(2,)], [(3,)]]
        home.verify()


# Columns that an envelope, a transaction, a notification, a CloudEvent or a schema change has as members too.
ALIKE = ({"op": "sold", "source": "web", "before": "noon", "after": "dark"}, {"op": "c", "source": {"a": 1}, "after": {"id": 7}}, {"source": None, "before": None, "after": None},
         {"status": "BEGIN", "event_count": 3}, {"aggregate_type": "order", "type": "x", "additional_data": "{}"}, {"specversion": "1.0", "data": "x"},
         {"tableChanges": "x", "source": "y", "ddl": "drop table t"}, {"ts_ms": 5}, {"schema": "s", "payload": "p"})


def test_flattened_rows_whose_columns_have_the_names_of_an_envelopes_members():
    """They are rows: none is taken for a message about the stream, and lost."""
    for mark in ({"__op": "c", "__lsn": 5}, {"__deleted": "false", "__source_lsn": 5}):
        # An object named source beside op is an envelope's, where __deleted does not say otherwise.
        tables = {"t%d" % i: columns for i, columns in enumerate(ALIKE) if "__deleted" in mark or not isinstance(columns.get("source"), dict)}
        lines = [json.dumps({"id": t, "key": '{"id": "k"}', "data": dict({"id": "k"}, **columns, **mark, __table=t)}) for t, columns in tables.items()]
        with weir.Home() as home:
            result = home.replicate(home.write("feed", "\n".join(lines) + "\n"))
            assert result["written"] == len(lines), result
            for table, columns in tables.items():
                (row,) = home.sql("select id, %s from %s" % (", ".join("`%s`" % c for c in columns), table))
                assert row == ("k", *(json.dumps(v) if isinstance(v, dict) else v for v in columns.values())), (table, row)
