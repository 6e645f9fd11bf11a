"""Dead letters on the screen: the row that is in a letter's place now, samples of a group, what is new since the last look."""
import json
import os

import console
import weir


def replicate(home, events, **parameters):
    columns = {"id": {"bigquery": "INT64"}, "name": {"bigquery": "STRING"}, "n": {"bigquery": "INT64"}}
    schema = home.write("schema.json", json.dumps({"orders": {"primary_key": ["id"], "columns": columns}}))
    feed = home.write("feed.jsonl", weir.feed(events, weir.id_key))
    return home.replicate(feed, expect=1, sourceSchema=schema, schemaChanges="reject", **parameters)


def test_a_letter_shows_the_row_that_is_in_its_place():
    well = [weir.event({"id": i, "name": "old", "n": 1}, table="orders", lsn=i) for i in (1, 2)]
    bad = [weir.event({"id": i, "name": "new", "n": 1, "phone": "555"}, table="orders", lsn=i + 10) for i in (1, 3)]
    later = [weir.event({"id": 1, "name": "newest", "n": 2}, table="orders", lsn=20)]
    with console.named_home() as home:
        replicate(home, well + bad + later)
        with console.console(home, cols=80, rows=24) as t:
            t.press("f")
            t.row("letter 1 of group 1")
            t.press("Tab Tab")
            shown = home.run("dlq", "show", "1", "--job", "shop", "--json").last
            assert shown["replica"]["row"] == {"id": 1, "name": "newest", "n": 2}
            t.press("G")
            rule = t.row("row now in the replica")
            lines = [" ".join(line.split()) for line in t.picture().lines[rule:rule + 4]]
            assert lines[0].startswith("── row now in the replica") and shown["replica"]["position"] in lines[0], lines
            assert lines[1:] == ["id 1", 'name "newest" -> "new"', "n 2 -> 1"], lines
            t.press("n")
            t.press("G")
            t.row("none with this key")


def test_groups_that_came_since_the_last_look_are_new():
    bad = [weir.event({"id": i, "name": "a", "n": 1, "phone": "5"}, table="orders", lsn=i) for i in (1, 2)]
    more = [weir.event({"id": 3, "name": "a", "n": "x"}, table="orders", lsn=3)]
    with console.named_home() as home:
        replicate(home, bad)
        with console.console(home, cols=80, rows=24) as t:
            t.press("g d")
            assert "new since" not in "\n".join(t.picture().lines), t.picture().lines  # never looked before
        with open(home.file("feed.jsonl"), "a") as f:
            f.write(weir.feed(more, weir.id_key))
        assert home.run("run", "shop", "--until-idle", "--json").code == 1
        with console.console(home, cols=80, rows=24) as t:
            t.press("g d")
            t.row("1 group is new since you last looked: group 2")
            assert {line[2:].split()[0] for line in t.picture().lines[2:4]} == {"1", "+2"}, t.picture().lines
            t.press("g o")
            t.press("g d")
            t.row("open groups first")
            assert "+2" not in "\n".join(t.picture().lines), t.picture().lines
        assert os.stat(home.file("home/console-looked-%d" % os.getuid())).st_mode & 0o77 == 0


def test_a_group_shows_its_first_and_its_newest_letter():
    bad = [weir.event({"id": i, "name": "a", "n": 1, "phone": "555-%03d" % i}, table="orders", lsn=i) for i in range(1, 21)]
    with console.named_home() as home:
        replicate(home, bad)
        with console.console(home, cols=100, rows=30) as t:
            t.press("g d")
            first, newest = t.row("letter 1 "), t.row("letter 20 ")
            assert newest == first + 4
            assert '"phone":"555-001"' in t.picture().lines[first + 2].replace(" ", "")
            assert '"phone":"555-020"' in t.picture().lines[newest + 2].replace(" ", "")
            assert "^^^^" in t.picture().lines[newest + 3]
            t.resize(80, 19)
            t.row("letter 20 ")
            t.resize(80, 18)
            t.row("letter 1 ")
            assert "letter 20 " not in "\n".join(t.picture().lines)
