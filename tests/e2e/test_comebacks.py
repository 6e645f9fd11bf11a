"""A column that the source drops and makes again, where no message tells of it: what older rows had is not what they have now.

Its schema blocks tell: rows of before have the default, or NULL, whichever way the rows come."""
import random

import cases
import weir
from deliveries import MERGE, UPSERT, Change, block, check, orders
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


def pieces(what, changes, want, cuts=None, rounds=1):
    """As `check`, with a run behind each of `cuts` (every line). A build that can kills one run of two around its commit, and begins it again."""
    lines = [change.line(i + 1) + "\n" for i, change in enumerate(changes)]
    rng = random.Random(weir.first_seed())
    for mode in (MERGE, UPSERT):
        for order in orders(lines, rng, rounds):
            with weir.Home() as home:
                home.job(home.write("feed", ""), **mode)
                ends = [*(cuts or range(1, len(order))), len(order)]
                for begin, end in zip([0] + ends, ends):
                    with open(home.file("feed"), "a") as f:
                        f.write("".join(order[begin:end]))
                    kill = rng.choice(("position_written:1", "rows_committed:1", None, None))
                    result = cases.run_piece(home, [kill] if kill and cases.HAS_SWITCHES else [])
                    assert result.code == 0, result
                got = home.sql(ROWS)
                assert sorted(got, key=repr) == sorted(want, key=repr), (what, mode, order, got)
                if mode is MERGE:
                    home.verify()


def test_a_run_may_end_in_the_gap():
    """It was there in one run, gone in the next, and is back in the third."""
    back = [by_id(21, {"id": 5, "c": "new", "v": 5}, {"c": TEXT, "v": INT}), by_id(22, {"id": 2, "c": None, "v": 22}, {"c": TEXT, "v": INT})]
    want = [(1, None, 1), (2, None, 22), (3, None, 33), (4, None, 4), (5, "new", 5)]
    pieces("gap", BEFORE + WITHOUT + back, want, cuts=[3, 5], rounds=0)
    pieces("every line", BEFORE + WITHOUT + back, want)


def test_a_run_may_end_before_it_comes_back_with_a_default():
    again = {"c": dict(INT, default=7), "v": INT}
    pieces("default", BEFORE + WITHOUT + [by_id(21, {"id": 5, "c": 50, "v": 5}, again)], [(1, 7, 1), (2, 7, 2), (3, 7, 33), (4, 7, 4), (5, 50, 5)], cuts=[5], rounds=0)


def test_a_row_of_the_gap_that_comes_in_a_later_run():
    """The default is that of the block which its rows have now; nothing is said of it before one comes."""
    again = {"c": dict(INT, default=7), "v": INT}
    late = BEFORE + [by_id(21, {"id": 5, "c": 50, "v": 5}, again), WITHOUT[0], by_id(22, {"id": 6, "c": None, "v": 6}, again)]
    pieces("late", late, [(1, 7, 1), (2, 7, 2), (3, 7, 3), (4, 7, 4), (5, 50, 5), (6, None, 6)], rounds=0)
    pieces("late, NULL", BEFORE + [by_id(21, {"id": 5, "c": 50, "v": 5}, {"c": INT, "v": INT}), WITHOUT[0]],
           [(1, None, 1), (2, None, 2), (3, None, 3), (4, None, 4), (5, 50, 5)])


def test_it_comes_and_goes_more_than_once_in_many_runs():
    twice = [by_id(21, {"id": 5, "c": 50, "v": 5}, {"c": INT, "v": INT}), by_id(31, {"id": 6, "v": 6}, {"v": INT}), by_id(41, {"id": 7, "c": 70, "v": 7}, {"c": INT, "v": INT})]
    pieces("twice", BEFORE + WITHOUT + twice, [(1, None, 1), (2, None, 2), (3, None, 33), (4, None, 4), (5, None, 5), (6, None, 6), (7, 70, 7)])


def test_a_column_that_was_new_in_an_earlier_run_is_none_that_came_back():
    """A row from before it was made comes in a later run; its default is another by then."""
    def types(default):
        return {"c": dict(INT, default=default), "v": INT}

    changes = [by_id(1, {"id": 1, "v": 1}, {"v": INT}), by_id(3, {"id": 3, "c": 5, "v": 3}, types(7)), by_id(2, {"id": 2, "v": 2}, {"v": INT}),
               by_id(4, {"id": 4, "c": 6, "v": 4}, types(9))]
    pieces("new", changes, [(1, 7, 1), (2, 7, 2), (3, 5, 3), (4, 6, 4)], rounds=0)
    # Its rows of the first run were behind one that came in the second: that it was added since is known too.
    behind = [by_id(5, {"id": 5, "v": 5}, {"v": INT}), by_id(1, {"id": 1, "c": 1, "v": 1}, {"c": INT, "v": INT}), by_id(9, {"id": 9, "c": 9, "v": 9}, {"c": INT, "v": INT})]
    pieces("behind", behind, [(1, None, 1), (5, None, 5), (9, 9, 9)])


def test_nothing_is_known_of_it_when_the_job_begins_anew():
    with weir.Home() as home:
        lines = [c.line(i) + "\n" for i, c in enumerate(BEFORE + WITHOUT, 1)]
        feed = home.write("feed", "".join(lines))
        home.replicate(feed, **MERGE)
        home.replicate(home.write("feed", "".join(lines[:3])), args=("--from-start",), **MERGE)
        home.replicate(home.write("feed", "".join(lines)), **MERGE)
        assert home.sql(ROWS) == [(1, 10, 1), (2, 20, 2), (3, None, 33), (4, None, 4)]
        home.verify()
