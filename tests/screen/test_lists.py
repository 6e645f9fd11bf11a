"""What is done to lists: filters, order, marks. What is left is counted against --json."""
import re

import console
from lists import columns, json_lines, line, many, steps


def filtered(t, text):
    """Rows of the list when the filter is taken."""
    steps(t, "/")
    t.press("C-u")
    t.type(text)
    t.press("Enter")
    return [row for _, row in columns(t.picture().lines, "#", "COUNT", "REASON")]


def test_filters_of_the_dead_letters():
    with many() as home, console.console(home, cols=120, rows=60) as t:
        groups = json_lines(home, "dlq", "groups")
        steps(t, "g d")
        cases = [
            ("not_json", lambda g: g["code"] == "not_json"),
            ("NOT_json", lambda g: g["code"] == "not_json"),
            ("code:type_mismatch", lambda g: g["code"] == "type_mismatch"),
            ("count:>2", lambda g: g["count"] > 2),
            ("count:>2 stage:map", lambda g: g["count"] > 2 and g["stage"] == "map"),
            ("/^bad_.*e$/", lambda g: re.search("^bad_.*e$", g["code"])),
            ("!job:poison", lambda g: g["job"] != "poison"),
        ]
        for text, holds in cases:
            wanted = sum(1 for g in groups if holds(g))
            assert 0 < wanted < len(groups), text
            rows = filtered(t, text)
            assert len(rows) == wanted, (text, wanted, rows)
            head = t.picture().lines[0]
            assert "/" + text in head, (text, head)
            assert "of %d, filtered of %d" % (wanted, len(groups)) in t.picture().lines[-1], (text, t.picture().lines[-1])


def test_a_wrong_filter_is_told_and_the_last_good_one_stays():
    with many() as home, console.console(home, cols=120, rows=60) as t:
        steps(t, "g d")
        good = [row[2:] for row in filtered(t, "code:type_mismatch")]
        steps(t, "/")
        t.press("C-u")
        t.type("nofield:1")
        t.press("Enter")
        said = "\n".join(t.picture().lines[-3:])
        assert "nofield" in said, said
        assert [row[2:] for _, row in columns(t.picture().lines, "#", "COUNT", "REASON")] == good
        assert "/code:type_mismatch" in t.picture().lines[0]


def test_the_list_is_sorted_by_each_letter_of_its_heads():
    with many() as home, console.console(home, cols=120, rows=60) as t:
        steps(t, "g d")
        for letter, head in (("#", "#"), ("c", "COUNT"), ("k", "KEYS")):
            steps(t, "o " + letter)
            up = [cells.number(head) for cells, _ in columns(t.picture().lines, "#", "COUNT", "REASON")]
            steps(t, "O")
            down = [cells.number(head) for cells, _ in columns(t.picture().lines, "#", "COUNT", "REASON")]
            assert {tuple(up), tuple(down)} == {tuple(sorted(up)), tuple(sorted(up, reverse=True))}, (head, up, down)


def test_marked_rows_stay_marked_and_are_counted():
    with many() as home, console.console(home, cols=100, rows=30) as t:
        line(t, "dlq list --job poison --group 11")
        steps(t, "Space j Space")
        assert "2 marked" in "\n".join(t.picture().lines), t.picture().lines
        steps(t, "*")
        assert "6 marked" in "\n".join(t.picture().lines), t.picture().lines
        steps(t, "U")
        assert not re.search(r"\d marked", t.picture().lines[-1]), t.picture().lines[-1]
