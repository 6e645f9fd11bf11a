"""Keys that are odd: several columns, texts that look alike, NULL, types and columns that change, values with two spellings."""
import weir
from deliveries import GONE, MERGE, UPSERT, Change, block, check, decimal, moved, unscaled
from weir import event

ROWS = "select id, v from t"


def by_id(after, before=None, lsn=None, types=None, attrs=None, table="t"):
    """A change of a table whose message key is the column id."""
    return Change(event(after, before, lsn=lsn, table=table), {"id": (after or before)["id"]}, block(**types) if types else None, attrs)


def written(*values, types=None, table="t"):
    """One row after the other with these ids, and v counted from 0."""
    return [by_id({"id": v, "v": i}, None, i + 1, types and {"id": types, "v": "int32"}, None, table) for i, v in enumerate(values)]


def union(queries):
    return " union all ".join("select * from (%s)" % q for q in queries)


def test_parts_of_a_key_do_not_run_together():
    parts = [("a|b", "c"), ("a", "b|c"), ("a", "bc"), ("ab", "c"), ("", "abc"), ("abc", ""), ("\x01", "\x01"), ("\x01\x01", "")]
    changes = [Change(event({"a": a, "b": b, "v": i}, lsn=i + 1), {"a": a, "b": b}) for i, (a, b) in enumerate(parts)]
    check("parts", changes, [(a, b, i) for i, (a, b) in enumerate(parts)], "select a, b, v from t")


def test_texts_that_look_alike_are_other_keys():
    texts = ["x", "x ", " x", "X", "x\t", "x\0", "x\0y", "", "\u00e9", "e\u0301", "ß", "SS", "'", "😀", "L" * 5000, "NULL", "null", "7", "07"]
    changes = written(*texts)
    changes += [by_id({"id": t, "v": 100 + i}, {"id": t, "v": i}, lsn=100 + i) for i, t in enumerate(texts)]
    changes += [by_id(None, {"id": t, "v": 0}, lsn=300) for t in ("x ", "x\0")]
    want = [(t, 100 + i) for i, t in enumerate(texts) if t not in ("x ", "x\0")]
    check("texts", changes, want, "select cast(cast(id as blob) as text), v from t")


def test_null_in_a_key_is_a_letter():
    changes = [Change(event({"a": a, "b": b, "v": 1}, lsn=i + 1), {"a": a, "b": b}) for i, (a, b) in enumerate([(1, None), (1, 2), (None, 2)])]
    check("null", changes, [(1, 2, 1)], "select a, b, v from t", expect=1, letters=["null_key", "null_key"])
    # Told by the message key, where only the row is silent.
    changes = [Change(event({"id": None, "v": 1}, lsn=1), {"id": 5}), Change(event({"v": 2}, lsn=2), {"id": 6}), Change(event(None, {"v": 1}, lsn=3), {"id": 5})]
    check("silent row", changes, [(6, 2)], ROWS)


def test_a_key_whose_type_changes_in_mid_stream():
    big = 9007199254740993
    text = [by_id({"id": "7", "v": 2}, lsn=10), by_id(None, {"id": "8", "v": 1}, lsn=11), by_id({"id": "abc", "v": 3}, lsn=12),
            by_id({"id": str(big), "v": 4}, {"id": str(big), "v": 1}, lsn=13)]
    check("guessed", written(7, 8, big) + text, [("7", 2), ("abc", 3), (str(big), 4)], ROWS)
    steps = [(1, "int32", {"id": 7, "v": 1}, None), (2, "int32", {"id": 8, "v": 1}, None), (3, "int64", {"id": 7, "v": 2}, None),
             (4, "int64", {"id": big, "v": 1}, None), (5, "string", {"id": "7", "v": 3}, None), (6, "string", None, {"id": "8", "v": 1}),
             (7, "string", {"id": "x", "v": 1}, None)]
    check("told", [by_id(after, before, lsn, {"id": t, "v": "int32"}) for lsn, t, after, before in steps], [("7", 3), ("x", 1), (str(big), 1)], ROWS)


RETYPED = (("int32", decimal(2), 7, unscaled(700, 2), "7"), (decimal(2), decimal(4), unscaled(750, 2), unscaled(75000, 3), "7.5"),
           ({"type": "int32", "name": "io.debezium.time.Date"}, "string", 19723, "2024-01-01", "2024-01-01"), ("boolean", "string", True, "true", "true"))


def test_types_whose_texts_are_the_same_are_one_key():
    changes = []
    for i, (first, second, one, two, _) in enumerate(RETYPED):
        changes += [by_id({"id": v, "v": n}, None, n, {"id": kind, "v": "int32"}, None, "t%d" % i) for n, kind, v in ((1, first, one), (2, second, two))]
    queries = ["select %d, cast(id as text), v from t%d" % (i, i) for i in range(len(RETYPED))]
    check("retyped", changes, [(i, row[4], 2) for i, row in enumerate(RETYPED)], union(queries))


def test_a_key_whose_spelling_may_change_is_said():
    """1.50 as text is another key than 1.5, which stood there: the row stands twice, and that is not passed over in silence."""
    steps = ((decimal(2), unscaled(150, 2)), ("string", "1.50"))
    changes = [by_id({"id": value, "v": i}, None, i, {"id": kind, "v": "int32"}) for i, (kind, value) in enumerate(steps, 1)]
    lines = "\n".join(c.line(i + 1) for i, c in enumerate(changes)) + "\n"
    with weir.Home() as home:
        result = home.replicate(home.write("feed", lines))
        (note,) = [n for t in result["tables"] for n in t["notes"] if n["code"] == "key_changed"]
        assert note["column"] == "id" and "NUMERIC" in note["text"] and "STRING" in note["text"], note
        assert home.sql(ROWS + " order by v") == [("1.5", 1), ("1.50", 2)]


def test_a_key_of_other_columns_in_mid_stream_is_refused():
    """The old key cannot tell the new rows apart: never two rows for one."""
    changes = written(1, 2) + [Change(event({"id": 1, "a": 2, "v": 5}, lsn=13), {"id": 1, "a": 2}), Change(event(None, {"id": 2, "a": 0, "v": 5}, lsn=14), {"a": 0})]
    check("refused", changes, [(1, 0), (2, 1)], ROWS, expect=1, letters=["key_changed", "key_changed"], rounds=0)
    both = [Change(event({"id": i, "a": a, "v": v}, lsn=v), key) for i, a, v, key in ((1, 1, 1, {"id": 1}), (1, 2, 2, {"id": 1, "a": 2}), (1, 1, 3, {"id": 1, "a": 1}))]
    check("told by primaryKey", both, [(1, 1, 3), (1, 2, 2)], "select id, a, v from t", primaryKey={"t": ["id", "a"]})
    same = [Change(event({"a": 1, "b": 2, "v": v}, lsn=v), key) for v, key in ((1, {"a": 1, "b": 2}), (2, {"b": 2, "A": 1}), (3, "default"))]
    spaced = [Change(event({"id": 1, "a": v, "v": v}, lsn=v), key) for v, key in ((1, '{"id" : 1}'), (2, '{"a" : 2}'))]
    check("with spaces", spaced, [(1, 1)], ROWS, expect=1, letters=["key_changed"], rounds=0)
    told = [Change(event({"id": 1, "a": v, "v": v}, lsn=v), {"schema": {"type": "struct", "fields": []}, "payload": key}) for v, key in ((1, {"id": 1}), (2, {"a": 2}))]
    check("with a schema", told, [(1, 1)], ROWS, expect=1, letters=["key_changed"], rounds=0)
    check("the same columns otherwise", same, [(1, 2, 3)], "select a, b, v from t", rounds=0)


def test_a_key_that_comes_or_goes_is_said():
    for keys, code in ((({"id": 1}, None), "key_changed"), ((None, {"id": 1}), "key_kept")):
        lines = [Change(event({"id": 1, "v": i}, lsn=i), key).line(i) for i, key in enumerate(keys, 1)]
        with weir.Home() as home:
            result = home.replicate(home.write("feed", "\n".join(lines) + "\n"))
            assert code in [n["code"] for t in result["tables"] for n in t["notes"]], result
            assert home.sql("select count(*) from t_changelog", "shop_log") == [(2,)]


# Rows of one table as (lsn, after, before, attributes), ids and values alone, and what is left of them.
MOVES = {
    "one_event": ([(1, (1, 1), None), (2, (2, 2), (1, 1)), (3, (1, 3), None), (4, (2, 4), (2, 2))], [(1, 3), (2, 4)]),
    "a_before_of_the_key_alone": ([(1, (1, 1), None), (2, (2, 1), (1, None))], [(2, 1)]),
    "two_events_of_one_position": ([(1, (1, 1), None), (2, None, (1, 1)), (2, (2, 2), None)], [(2, 2)]),
    "two_events_that_name_each_other": ([(1, (1, 1), None), (2, None, (1, 1), moved("newkey", {"id": 2})), (2, (2, 2), None, moved("oldkey", {"id": 1}))], [(2, 2)]),
    "a_swap": ([(1, (1, 1), None), (2, (2, 2), None), (10, (0, 1), (1, 1)), (11, (1, 2), (2, 2)), (12, (2, 1), (0, 1))], [(1, 2), (2, 1)]),
    "there_and_back": ([(1, (1, 1), None), (2, (2, 2), (1, 1)), (3, (1, 3), (2, 2)), (4, None, (1, 3)), (5, (2, 5), None)], [(2, 5)]),
}


def test_key_changes_in_every_delivery():
    def row(pair):
        return pair and {"id": pair[0], "v": pair[1]}

    changes, want = [], []
    for table, (steps, left) in MOVES.items():
        changes += [by_id(row(after), row(before), lsn, None, *(attrs or [None]), table) for lsn, after, before, *attrs in steps]
        want += [(table, *pair) for pair in left]
    check("moves", changes, want, union("select '%s', id, v from %s" % (table, table) for table in MOVES))
    parts = [Change(event({"a": a, "b": b, "v": v}, before, lsn=v), {"a": a, "b": b}) for a, b, v, before in
             ((1, "x", 1, None), (1, "y", 2, {"a": 1, "b": "x", "v": 1}), (2, "y", 3, {"a": 1, "b": "y", "v": 2}))]
    check("a part of the key", parts, [(2, "y", 3)], "select a, b, v from t")


def test_mysql_moves_all_keys_up_by_one():
    """Delete and insert share file, position and row; each key is left by one row and taken by the next."""
    def at(after, before, pos, row, attrs=None):
        source = {"connector": "mysql", "file": "b.000001", "pos": pos, "row": row, "server_id": 1}
        return Change(event(after, before, source=source), {"id": (after or before)["id"]}, None, attrs)

    changes = [at({"id": i, "v": i}, None, 10, i) for i in (1, 2, 3)]
    for row, i in enumerate((3, 2, 1)):
        changes += [at(None, {"id": i, "v": i}, 20, row, moved("newkey", {"id": i + 1})), at({"id": i + 1, "v": i}, None, 20, row, moved("oldkey", {"id": i}))]
    check("up by one", changes, [(2, 1), (3, 2), (4, 3)], ROWS)


def test_large_values_go_with_a_key_that_changes():
    one = [by_id({"id": 1, "v": "big"}, lsn=1), by_id({"id": 2, "v": GONE}, {"id": 1, "v": None}, lsn=2), by_id({"id": 3, "v": GONE}, {"id": 2, "v": None}, lsn=3),
           by_id({"id": 1, "v": "other"}, lsn=4)]
    check("one event", one, [(3, "big"), (1, "other")], ROWS, modes=(MERGE,))
    check("one event", one, [(3, "big"), (1, "other")], ROWS, modes=(UPSERT,), rounds=0)


# Spellings of one value: type in the schema block, spellings, what stands in the column, type in columnTypes.
NUMERIC, HEX = "NUMERIC", {"type": "BYTES", "encoding": "hex"}
VARIABLE = {"type": "struct", "name": "io.debezium.data.VariableScaleDecimal", "version": 1,
            "fields": [{"type": "int32", "field": "scale"}, {"type": "bytes", "field": "value"}]}
ZONED, ISO = {"type": "string", "name": "io.debezium.time.ZonedTimestamp"}, {"type": "string", "name": "io.debezium.time.IsoDate"}
BITS = {"type": "bytes", "name": "io.debezium.data.Bits", "parameters": {"length": "24"}}
UUID, ENUM = {"type": "string", "name": "io.debezium.data.Uuid"}, {"type": "string", "name": "io.debezium.data.Enum", "parameters": {"allowed": "a,x\\,y"}}
ZONED_TIME = {"type": "string", "name": "io.debezium.time.ZonedTime"}
SPELLINGS = (
    (VARIABLE, [{"scale": 1, "value": unscaled(10, 1)}, {"scale": 2, "value": unscaled(100, 1)}, {"scale": 0, "value": unscaled(1, 1)}, {"scale": 3, "value": unscaled(1000, 4)}], "1", None),
    (decimal(2), [unscaled(150, 2), unscaled(150, 5)], "1.5", None),
    (decimal(2), [unscaled(0, 1), unscaled(0, 3)], "0", None),
    (None, ["1.0", "1.00", "1", "01.0", "+1.0"], "1", NUMERIC),
    (None, ["-0.0", "0", "0.000"], "0", NUMERIC),
    (None, [1.0, 1, 1.00], "1", NUMERIC),
    ("double", [0.0, -0.0, 0], "0.0", None),
    (None, [0.0, -0.0], "0.0", None),
    ("double", [1, 1.0], "1.0", None),
    ("double", [1e20, 100000000000000000000.0], "1.0e+20", None),
    (ZONED, ["2024-01-01T00:00:00.5Z", "2024-01-01T00:00:00.500000Z", "2024-01-01T01:00:00.5+01:00"], "2024-01-01 00:00:00.500000+00", None),
    (ISO, ["2024-01-01Z", "2024-01-01"], "2024-01-01", None),
    (None, ["deadBEEF", "DEADbeef", "deadbeef"], b"\xde\xad\xbe\xef", HEX),
    ("float", [0.1, 0.10000000149011612, 0.100000001], "0.1", None),
    (BITS, ["BQ==", "BQA=", "BQAAAA=="], b"\x05", None),
    (UUID, ["6f9619ff-8b86-d011-b42d-00c04fc964ff", "6F9619FF-8B86-D011-B42D-00C04FC964FF"], "6f9619ff-8b86-d011-b42d-00c04fc964ff", None),
    (ENUM, ["x,y", "x\\,y"], "x,y", None),
    (ZONED_TIME, ["10:15:30.5Z", "10:15:30.500Z", "10:15:30.500000Z"], "10:15:30.5Z", None),
)


def test_a_value_with_two_spellings_is_one_key():
    changes, types, want, queries = [], {}, [], []
    for i, (kind, spellings, stored, column) in enumerate(SPELLINGS):
        table = "t%d" % i
        rows = written(*spellings, types=kind, table=table)
        for change, other in zip(rows, reversed(spellings)):
            change.key = {"id": other}
        changes += rows
        if column:
            types[table + ".id"] = column
        want.append((i, stored, len(spellings) - 1))
        queries.append("select %d, %s, v from %s" % (i, "id" if isinstance(stored, bytes) else "cast(id as text)", table))
    check("spellings", changes, want, union(queries), columnTypes=types)


def test_sql_server_shows_its_uuids_in_capitals():
    """Whichever way they come, one row; and shown as the source shows it."""
    texts = ("6F9619FF-8B86-D011-B42D-00C04FC964FF", "6f9619ff-8b86-d011-b42d-00c04fc964ff")
    changes = []
    for i, text in enumerate(texts):
        source = {"connector": "sqlserver", "schema": "dbo", "commit_lsn": "00000027:00000758:000%d" % (i + 5), "change_lsn": "00000027:00000758:000%d" % (i + 3),
                  "event_serial_no": 1}
        changes.append(Change(event({"id": text, "v": i}, source=source), {"id": text}, block(id=UUID, v="int32")))
    check("capitals", changes, [(texts[0], 1)], ROWS)


def test_a_key_that_would_lose_digits_is_refused():
    """BigQuery's times have microseconds: two keys that differ by less would be one row."""
    nanos, zoned = {"type": "int64", "name": "io.debezium.time.NanoTimestamp"}, {"type": "string", "name": "io.debezium.time.ZonedTimestamp"}
    stamps = written(1001, 1002, 2000, types=nanos, table="a") + written("2024-01-01T00:00:00.1234567Z", "2024-01-01T00:00:00.1234560Z", types=zoned, table="b")
    want = [("a", "1970-01-01T00:00:00.000002", 2), ("b", "2024-01-01 00:00:00.123456+00", 1)]
    check("cut", stamps, want, union("select '%s', id, v from %s" % (t, t) for t in "ab"), expect=1, rounds=1, letters=["timestamp_out_of_range"] * 3)
    check("as numbers", written(1001, 1002, types=nanos), [(1001, 0), (1002, 1)], ROWS, columnTypes={"t.id": "INT64"})


def test_a_key_of_too_many_columns_is_refused():
    """Never a row that is in the changelog and in no replica; and primaryKey mends it."""
    for count in (64, 65, 300):
        key = {"k%03d" % i: i for i in range(count)}
        changes = [Change(event(dict(key, v=i), lsn=i), key) for i in (1, 2)]
        refused = count > 64
        check("wide", changes, [] if refused else [(1, 2)], "select count(*), max(v) from t" if not refused else "select 1 where 0", expect=1 if refused else 0, rounds=0,
              letters=["key_too_wide"] * 2 if refused else None)
        check("named", changes, [(1, 2)], "select count(*), max(v) from t", rounds=0, primaryKey={"t": ["k001"]})


def test_a_key_that_bigquery_would_not_take_is_said_once():
    wide = {"k%02d" % i: i for i in range(17)}
    cases = ((dict(wide, v=1), wide, block(v="int32", **{c: "int32" for c in wide}), [(None, "17 columns")]),
             ({"id": 1.5, "v": 1}, {"id": 1.5}, block(id="double", v="int32"), [("id", "FLOAT64")]),
             ({"id": 1, "v": 1}, {"id": 1}, block(id={"type": "int64", "name": "io.debezium.time.MicroTime"}, v="int32"), [("id", "TIME")]),
             ({"id": 1, "v": 1}, {"id": 1}, block(id="int32", v="int32"), []))
    for row, key, types, want in cases:
        lines = [Change(event(dict(row, v=i), lsn=i), key, types).line(i) for i in (1, 2)]
        with weir.Home() as home:
            home.replicate(home.write("feed", lines[0] + "\n"))
            result = home.replicate(home.write("feed", "\n".join(lines) + "\n"))
            found = [(n.get("column"), n["count"], n["text"]) for t in result["tables"] for n in t["notes"] if n["code"] == "key_beyond_bigquery"]
            assert [(c, 1) for c, _ in want] == [(c or None, count) for c, count, _ in found], found
            assert all(word in f[2] for (_, word), f in zip(want, found)), found
            assert home.sql("select v from t") == [(2,)]


def test_rows_without_a_key_are_each_told_once():
    """Two equal rows of one transaction are two where its order is told; where it is not, they may be one, and the table says so."""
    def inserted(lsn, order=None):
        return Change(event({"n": 1}, lsn=lsn, transaction={"id": "9:%d" % lsn, "total_order": order, "data_collection_order": 1} if order else None))

    changes = [inserted(10, 1), inserted(10, 2), inserted(20), Change(event({"n": 2}, {"n": 1}, lsn=30)), Change(event(None, {"n": 2}, lsn=40))]
    lines = [c.line(i + 1) for i, c in enumerate(changes)]
    with weir.Home() as home:
        result = home.replicate(home.write("feed", "\n".join(lines[::-1] + lines) + "\n"))
        assert result["repeated"] == 5 and result["written"] == 10 and result["balanced"], result
        assert home.sql("select operation, count(*) from t_changelog where primaryKey is null group by 1 order by 1", "shop_log") == [("DELETE", 1), ("INSERT", 3), ("UPDATE", 1)]
        assert "no_key" in [n["code"] for t in result["tables"] for n in t["notes"]], result
    with weir.Home() as home:
        home.replicate(home.write("feed", "\n".join(lines) + "\n"), expect=1, **UPSERT)
        assert {letter["code"] for letter in home.letters()} == {"no_key"}, home.letters()
