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
            t.type("tries:1")
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


def more_letters(home, job, count, tables):
    """Letters of these tables in turn, every third of another column: two groups a table."""
    events = [weir.event({"id": i, "n": "text" if i % 3 else 1, "m": 1 if i % 3 else "text"}, table=tables[i % len(tables)], lsn=i + 1)
              for i in range(count)]
    columns = {name: {"debezium": {"type": "int64"}} for name in ("id", "n", "m")}
    schema = home.write("schema.json", json.dumps({t: {"columns": columns, "primary_key": ["id"]} for t in tables}))
    home.replicate(home.write(job + ".jsonl", weir.feed(events, weir.id_key)), name=job, expect=1, sourceSchema=schema,
                   changeLogDataset=job + "_log", replicaDataset=job)


def filtered(t, text):
    t.press("/")
    t.press("C-u")
    t.type(text)
    t.press("Enter")


def test_a_list_of_all_jobs_reaches_both_ends_and_its_filter_holds_over_all():
    with weir.Home() as home:
        more_letters(home, "alpha", 1500, ["orders", "items"])
        more_letters(home, "beta", 1500, ["orders", "carts"])
        with console.console(home, cols=120, rows=30) as t:
            t.press(":")
            t.type("dlq list")
            t.press("Enter")
            assert selected(t) == (1, "1 of 3,000"), t.picture().lines
            t.press("G")
            assert selected(t) == (1500, "3,000 of 3,000"), t.picture().lines
            pages(t, "C-b")
            pages(t, "C-b")
            up, place = selected(t)
            at = int(place.split()[0].replace(",", ""))
            assert at < 1500 and up == at and place.endswith("of 3,000"), (up, place)
            t.press("g g")
            assert selected(t) == (1, "1 of 3,000")
            # beta's letters lie behind all that the window has; a filter by table, code, group or job finds them.
            filtered(t, "table:carts")
            assert selected(t) == (2, "1 of 750, filtered of 750"), t.picture().lines
            t.press("G")
            assert selected(t) == (1500, "750 of 750, filtered of 750"), t.picture().lines
            filtered(t, "job:beta !table:carts code:mismatch")
            t.press("g g")
            assert selected(t) == (1, "1 of 750, filtered of 750"), t.picture().lines
            filtered(t, "state:discarded")
            t.row("the filter leaves none")
            filtered(t, "job:alpha code:mismatch key:7")
            t.row("group, table, code and state hold over all, the rest over")


def test_all_that_match_are_marked_and_named_by_their_groups():
    with weir.Home() as home:
        more_letters(home, "shop", 3000, ["orders", "items"])
        one = home.letters("--table", "orders")[0]["id"]
        assert home.run("dlq", "discard", "--id", one, "--confirm", "1", "--why", "test").code == 0
        with console.console(home, cols=100, rows=30) as t:
            t.press(":")
            t.type("dlq list --job shop --table orders --state 'new,failed again'")
            t.press("Enter")
            t.press("*")
            t.row("1,499 marked: all that the filter leaves")
            t.press("j")
            t.row("1,499 marked  2 of 1,499")
            t.press("Space")
            t.row("all are marked; U takes the marks away")
            t.press("a")
            t.row("acts on 1,499 marked letters in 2 groups")
            t.press("X")
            t.row("discard 1499 dead letters")
            t.row("Type the count (1499)")
            t.row("weir dlq discard --group 1,3 --job shop --state 'new,failed")
            t.row("again' --confirm 1499 --why")
            t.type("1499")
            t.press("Tab")
            t.type("all of it")
            t.press("Enter")
            t.row("the filter leaves none")
        assert len(home.letters("--state", "discarded")) == 1500 and len(home.letters("--state", "new")) == 1500
