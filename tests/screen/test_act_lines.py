"""What keys do to a real engine: the count of what is lost, one act on many, and lines of the console's own."""
import json

import console
import lists


def shown(t, text):
    return any(text in line for line in t.picture().lines)


def press_each(t, *keys):
    """Each is seen before the next: what was not drawn yet cannot be answered."""
    for key in keys:
        t.press(key)


def line(t, text):
    t.press(":")
    t.type(text)
    t.press("Enter")


def groups(home):
    return [json.loads(row) for row in home.run("dlq", "groups", "--json").out.splitlines()]


def test_a_group_is_discarded_only_with_its_count():
    with console.broken_shop() as home, console.console(home, cols=100, rows=30) as t:
        press_each(t, "g d", "a", "X")
        assert shown(t, "discard 8 dead letters"), t.picture().lines
        press_each(t, "9", "Enter")
        assert shown(t, "that is not it: nothing has been done")
        press_each(t, "C-u", "8", "Enter")
        t.type("a test")
        t.press("Enter")
        assert [group["open"] for group in groups(home)] == [0], groups(home)


def test_tables_that_are_marked_are_paused_by_one_question():
    with console.broken_shop() as home, console.console(home, cols=100, rows=30) as t:
        press_each(t, "g t", "*", "a", "p")
        assert shown(t, "pause 2 tables?"), t.picture().lines
        t.press("Enter")
        tables = [json.loads(row) for row in home.run("tables", "--json").out.splitlines()]
        assert len(tables) == 2 and all(table.get("paused") or table["state"] == "paused" for table in tables), tables


def test_p_on_marked_tables_asks_once_and_what_is_no_table_is_left_out():
    with lists.many() as home, console.console(home, cols=60, rows=16) as t:
        press_each(t, "g t", "/")
        t.type("poison state:needs")
        press_each(t, "Enter", "*", "p")
        assert shown(t, "pause 2 filtered tables?") or shown(t, "pause 2 tables?"), t.picture().lines
        assert shown(t, "1 more is left out") and not shown(t, "weir pause poison  "), t.picture().lines
        t.press("Enter")
        tables = [json.loads(row) for row in home.run("tables", "--json").out.splitlines()]
        paused = {table["table"] for table in tables if table.get("paused")}
        assert paused == {"poison.members", "poison.books"}, tables


def test_a_narrow_menu_shows_the_whole_effect_of_what_is_chosen():
    with console.broken_shop() as home, console.console(home, cols=60, rows=16) as t:
        press_each(t, "k", "a")
        assert shown(t, " runs in the background, also after a restart "), t.picture().lines
        press_each(t, "j", "j")
        assert shown(t, " compares each replica with its changelog "), t.picture().lines


def test_half_a_sort_says_the_columns_letters():
    with console.broken_shop() as home, console.console(home) as t:
        press_each(t, "g t", "o")
        assert shown(t, " s (STATE) t (TABLE) l (LAG)"), t.picture().lines
        t.press("t")
        assert shown(t, "sorted by TABLE"), t.picture().lines


def test_p_pauses_says_the_way_back_and_a_note_says_why():
    with console.broken_shop() as home, console.console(home, cols=100, rows=30) as t:
        press_each(t, "g t", "p")
        assert shown(t, "paused shop.orders; p resumes, :note says why"), t.picture().lines
        t.press("j")
        line(t, "note the source is moved")
        assert shown(t, "noted on shop.orders: the source is moved"), t.picture().lines
        notes = [json.loads(row) for row in home.run("journal", "--json", "--limit", "5").out.splitlines()]
        assert any("the source is moved" in json.dumps(row) and "shop.orders" in json.dumps(row) for row in notes), notes
        press_each(t, "k", "p")
        assert shown(t, "shop.orders goes on; p pauses it again"), t.picture().lines


def test_the_mouse_is_the_consoles_only_while_it_is_asked_for():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        assert not t.modes()[2] & {1000, 1006}
        line(t, "mouse on")
        assert t.modes()[2] >= {1000, 1006}
        line(t, "mouse off")
        assert not t.modes()[2] & {1000, 1006}
        line(t, "mouse on")
        t.signal("TERM")
        t.wait()
        assert not t.modes()[2] & {1000, 1006, 1049, 2004}, t.modes()


def test_what_was_copied_is_shown_on_a_bare_screen():
    with console.broken_shop() as home, console.console(home) as t:
        press_each(t, "g d", "y")
        before = t.picture()
        line(t, "copy")
        lines = [row.strip() for row in t.picture().lines if row.strip()]
        assert len(lines) == 2 and lines[0] == "1" and lines[1] == "any key goes back", lines
        t.press("x")
        assert t.picture().lines[:20] == before.lines[:20]
