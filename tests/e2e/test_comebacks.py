"""A column that the source drops and makes again, where no message tells of it: what older rows had is not what they have now.

Its schema blocks tell: rows of before have the default, or NULL, whichever way the rows come."""
import weir
from deliveries import MERGE, Change, block, check
from weir import event

INT, TEXT = {"type": "int32", "optional": True}, {"type": "string", "optional": True}


def by_id(lsn, after, types, before=None):
    return Change(event(after, before, lsn=lsn), {"id": (after or before)["id"]}, block(id="int32", **types))


BEFORE = [by_id(i, {"id": i, "c": i * 10, "v": i}, {"c": INT, "v": INT}) for i in (1, 2, 3)]
WITHOUT = [by_id(11, {"id": 4, "v": 4}, {"v": INT}), by_id(12, {"id": 3, "v": 33}, {"v": INT})]
ROWS = "select id, c, v from t"


def test_a_column_that_is_dropped_keeps_what_it_had():
    check("dropped", BEFORE + WITHOUT, [(1, 10, 1), (2, 20, 2), (3, None, 33), (4, None, 4)], ROWS)


def test_a_column_that_comes_back_as_another_type_has_nothing_of_before():
    back = [by_id(21, {"id": 5, "c": "new", "v": 5}, {"c": TEXT, "v": INT}), by_id(22, {"id": 2, "c": None, "v": 22}, {"c": TEXT, "v": INT})]
    check("back", BEFORE + WITHOUT + back, [(1, None, 1), (2, None, 22), (3, None, 33), (4, None, 4), (5, "new", 5)], ROWS)


def test_it_comes_back_with_a_default():
    again = {"c": dict(INT, default=7), "v": INT}
    check("default", BEFORE + WITHOUT + [by_id(21, {"id": 5, "c": 50, "v": 5}, again)], [(1, 7, 1), (2, 7, 2), (3, 7, 33), (4, 7, 4), (5, 50, 5)], ROWS)


def test_it_comes_and_goes_more_than_once():
    """The second time rows of the first stand too: only those from before the last gap lose their value."""
    twice = [by_id(21, {"id": 5, "c": 50, "v": 5}, {"c": INT, "v": INT}), by_id(31, {"id": 6, "v": 6}, {"v": INT}), by_id(41, {"id": 7, "c": 70, "v": 7}, {"c": INT, "v": INT})]
    check("twice", BEFORE + WITHOUT + twice, [(1, None, 1), (2, None, 2), (3, None, 33), (4, None, 4), (5, None, 5), (6, None, 6), (7, 70, 7)], ROWS, rounds=5)


def test_two_columns_that_come_back_together():
    types, one = {"c": INT, "v": INT}, {"id": 1, "c": 1, "v": 2}
    changes = [by_id(1, one, types), by_id(2, {"id": 2}, {}), by_id(3, {"id": 3, "c": 3, "v": 4}, types)]
    check("two", changes, [(1, None, None), (2, None, None), (3, 3, 4)], ROWS, rounds=5)


def test_a_new_column_is_none_that_came_back():
    """Rows from before it was made lack it too, and what they were filled with stays."""
    types = {"c": dict(INT, default=7), "v": INT}
    changes = [by_id(1, {"id": 1, "v": 1}, {"v": INT}), by_id(2, {"id": 2, "v": 2}, {"v": INT}), by_id(3, {"id": 3, "c": 5, "v": 3}, types)]
    check("new", changes, [(1, 7, 1), (2, 7, 2), (3, 5, 3)], ROWS, rounds=0)
    late = [changes[0], changes[2], changes[1], by_id(4, {"id": 4, "c": 6, "v": 4}, types)]
    check("new, late", late, [(1, 7, 1), (2, 7, 2), (3, 5, 3), (4, 6, 4)], ROWS, rounds=0)


def test_the_timeline_says_it():
    back = by_id(21, {"id": 5, "c": 50, "v": 5}, {"c": INT, "v": INT})
    lines = [c.line(i) for i, c in enumerate(BEFORE + WITHOUT + [back], 1)]
    with weir.Home() as home:
        home.replicate(home.write("feed", "\n".join(lines) + "\n"), **MERGE)
        (table,) = home.run("tables", "--schema", "--json").lines
        (step,) = [s for version in table["timeline"] for s in version["steps"] if s["change"] == "gone for a while"]
        assert step["column"] == "c" and step["did"] == "rows before it are NULL", step
        home.verify()


def test_documents_lack_members_all_the_time():
    """Flattened documents have each their own block: no member was ever dropped."""
    def document(ord, row, types):
        body = dict(row, __op="c", __collection="t", __source_ts_ms=1700000000000, __source_connector="mongodb", __source_ord=ord)
        fields = [dict({"field": n}, **t) for n, t in dict({"_id": {"type": "int32"}}, **types).items()]
        return '{"id":"%d","key":"{\\"id\\":%d}","data":%s}' % (ord, row["_id"], weir.json.dumps({"schema": {"type": "struct", "fields": fields}, "payload": body}))

    lines = [document(1, {"_id": 1, "c": 1}, {"c": INT}), document(2, {"_id": 2}, {}), document(3, {"_id": 3, "c": 3}, {"c": INT})]
    with weir.Home() as home:
        home.replicate(home.write("feed", "\n".join(lines) + "\n"))
        assert home.sql("select _id, c from t order by 1") == [(1, 1), (2, None), (3, 3)]
