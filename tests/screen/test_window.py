"""A list of letters that is longer than what the console keeps of it: both ends, the way between, the letter's neighbours."""
import json

import console
import weir

LETTERS = 2600


def many_letters(home):
    events = [weir.event({"id": i, "n": "text"}, table="orders", lsn=i + 1) for i in range(LETTERS)]
    columns = {name: {"debezium": {"type": "int64"}} for name in ("id", "n")}
    schema = home.write("schema.json", json.dumps({"orders": {"columns": columns, "primary_key": ["id"]}}))
    home.replicate(home.write("feed.jsonl", weir.feed(events, weir.id_key)), expect=1, sourceSchema=schema)


def selected(t):
    """Id in the selected row, and the place that the status row says."""
    lines = t.picture().lines
    row = next(line for line in lines if line.startswith(">"))
    return int(row.split()[1]), lines[-1].split("  ")[-1].strip()


def pages(t, key):
    """Sixty of them, as a hand would: the screen is seen now and then."""
    for _ in range(6):
        t.press(" ".join([key] * 10))


def test_a_long_list_is_gone_through_in_parts():
    with weir.Home() as home:
        many_letters(home)
        with console.console(home, cols=100, rows=30) as t:
            t.press("g d")
            t.press("Enter")
            assert selected(t) == (1, "1 of 2,600"), t.picture().lines
            t.press("G")
            assert selected(t) == (2600, "2,600 of 2,600")
            pages(t, "C-b")
            up, place = selected(t)
            assert up < 1600 and place == "{:,} of 2,600".format(up), (up, place)
            t.press("k j j")
            assert selected(t) == (up + 1, "{:,} of 2,600".format(up + 1))
            # A filter that the engine is not asked for says over what it holds.
            t.press("/")
            t.type("code:type")
            t.press("Enter")
            t.row("filtered among the 1000 letters here")
            t.press("/")
            t.press("C-u Enter")
            t.press("g g")
            assert selected(t) == (1, "1 of 2,600"), t.picture().lines
            pages(t, "C-f")
            down, place = selected(t)
            assert down > 1000 and place == "{:,} of 2,600".format(down), (down, place)
            # The letter's neighbours are those of the whole group, also where the part of it ends.
            t.press("G")
            t.press("Enter")
            t.row("letter 2600 of group 1")
            t.press("n")
            t.row("this is the last letter of its group")
            t.press("N")
            t.press("N")
            assert t.row("letter 2598 of group 1") == 0


def test_a_state_is_asked_of_the_engine_and_holds_over_all_letters():
    with weir.Home() as home:
        many_letters(home)
        assert home.run("dlq", "discard", "--job", "shop", "--id", "2550", "--confirm", "1", "--why", "test").code == 0
        with console.console(home, cols=100, rows=30) as t:
            t.press("g d")
            t.press("Enter")
            t.press("/")
            t.type("state:discarded")
            t.press("Enter")
            assert selected(t)[0] == 2550, t.picture().lines
