"""Every view of the console: it opens by its keys and by its name, it fits, it is quiet, and each number on it is the one that
the same command prints with --json."""
import re

import console
from lists import columns, is_cut_of, json_lines, line, many, steps, whole

SIZES = [(80, 24), (100, 30), (60, 16)]


# Name, keys from the first screen, line, what the title says behind the engine's name.
VIEWS = [
    ("overview", "g t g o", "overview", r"(3 jobs +)?RED: 4 tables need you"),
    ("job", "k Enter", "job poison", r"job poison +NEEDS YOU"),
    ("tables", "g t", "tables", r"tables +RED 4"),
    ("why", "Enter", "why poison.members", r"why poison\.members +NEEDS YOU"),
    ("groups", "g d", "dlq groups", r"dead letters +\d+ in \d+ groups"),
    ("entries", "g d Enter", "dlq list --job poison --group 1", r"dead letters of poison > group 1 +\d"),
    ("payload", "g d Enter Enter", "dlq show 1 --job poison", r"letter 1 of group 1 +type_mismatch"),
    ("raw", "g d Enter Enter Tab", None, r"letter 1 of group 1 +type_mismatch"),
    ("why of a letter", "g d Enter Enter Tab Tab", None, r"letter 1 of group 1 +type_mismatch"),
    ("balance", "g b", "balance poison", r"balance"),
    ("activity", "g a", "activity", r"activity +0 requests in flight"),
    ("source", "g s", "source", r"source +0 subscriptions"),
    ("schema", "g c", "schema", r"schema"),
    ("health", "g h", "engine status", r"health +\d+ ok, \d+ not"),
    ("journal", "g j", "journal", r"journal"),
    ("logs", "g L", "logs", r"logs"),
    ("help", "?", "help", r"help of overview"),
    ("explain", "g t e", "explain type_mismatch", r"explain type_mismatch"),
    ("messages", None, "messages", r"messages"),
    ("acts", "@", None, r"what was done here"),
    ("menu", "a", None, r"(3 jobs +)?RED"),
    ("confirm box", "g d a X", None, r"dead letters"),
]


def assert_fits(t, name, title):
    """The frame of a screen: title with verdict, hints whole, nothing beyond the edge."""
    lines = t.picture().lines
    assert re.match(r"weir +test +" + title, lines[0]), (name, lines[0])
    assert ".." not in lines[0], (name, lines[0])
    assert ".." not in lines[-2] and lines[-2].strip(), (name, lines[-2])
    assert len(lines) == t.rows and max(map(len, lines)) <= t.cols, (name, t.cols)


def test_each_view_opens_by_its_keys_and_fits():
    with many() as home:
        for cols, rows in SIZES:
            for name, keys, _, title in VIEWS:
                if keys:
                    with console.console(home, cols=cols, rows=rows) as t:
                        steps(t, keys)
                        assert_fits(t, "%s at %dx%d" % (name, cols, rows), title)


def test_each_view_opens_by_its_name_and_is_the_same_place():
    with many() as home:
        for name, keys, command, title in VIEWS:
            if not command:
                continue
            with console.console(home) as t:
                line(t, command)
                by_name = t.picture()
                assert_fits(t, name, title)
                # From the overview some places open at what is selected there: the same place all the same.
                if keys and name not in ("overview", "help"):
                    steps(t, "g o " + keys)
                    assert t.picture().lines[0].split()[2] == by_name.lines[0].split()[2], (name, t.picture().lines[0])


def test_sentences_over_lists_are_whole():
    with many() as home:
        for cols, rows in SIZES:
            with console.console(home, cols=cols, rows=rows) as t:
                steps(t, "g h")
                assert t.picture().lines[1].endswith("nothing is lost")
                steps(t, "g b")
                assert re.search(r"in flight(, in messages)?$", t.picture().lines[1]), t.picture().lines[1]


def test_boxes_open_and_nothing_is_done_by_leaving_them():
    with many() as home:
        for cols, rows in SIZES:
            with console.console(home, cols=cols, rows=rows) as t:
                before = home.run("journal", "--limit", "0", "--json").out
                steps(t, "a")
                t.row("acts on table poison.members")
                t.row("Same as:  weir pause poison poison.members")
                steps(t, "Esc g d a X")
                t.row("Type the count (2)")
                steps(t, "Esc")
                assert "nothing done" in t.picture().lines[-1]
                assert home.run("journal", "--limit", "0", "--json").out == before


# Those on which nothing runs on by itself, and no box cuts a time; others stand in test_console.py.
DRAWN = [
    ("entries", "g d Enter"), ("payload", "g d Enter Enter"), ("raw", "g d Enter Enter Tab"), ("letter-why", "g d Enter Enter Tab Tab"),
    ("explain", "g t e"), ("activity", "g a"), ("acts", "@"), ("job", "k Enter"), ("journal", "g j"), ("balance", "g b"),
    ("schema", "g c"), ("why", "Enter"), ("tables", "g t"), ("menu", "g b a"),
]


def test_views_are_as_they_shall_be():
    with console.broken_shop() as home:
        for cols, rows in SIZES:
            for name, keys in DRAWN:
                with console.console(home, cols=cols, rows=rows) as t:
                    steps(t, keys)
                    t.expect("view-" + name)


def test_the_confirmation_is_as_it_shall_be():
    """Where it covers what differs from run to run."""
    with console.broken_shop() as home, console.console(home, cols=60, rows=16) as t:
        steps(t, "g d Enter Enter a X")
        t.expect("view-confirm")


def test_a_quiet_view_sends_nothing():
    with many() as home, console.console(home) as t:
        for name, keys, _, _ in VIEWS:
            if keys:
                steps(t, "Esc Esc Esc Esc g o g g j " + keys)
                t.assert_quiet(5)


#
# Numbers.
#
def is_shown(number, value, row):
    """The number on the screen is the value, or the value to two digits where it is in thousands."""
    if number is None:
        return 0
    assert number == value or (value >= 1000 and abs(number - value) <= value * 0.05), (number, value, row)
    return 1


def compare(rows, expected, members):
    """Each row's numbers with the members of the object beside it; at least one of each member must have been seen."""
    seen = dict.fromkeys(members, 0)
    for (cells, row), thing in zip(rows, expected):
        for head, member in members.items():
            seen[head] += is_shown(cells.number(head), thing[member], row)
    return seen


def test_numbers_of_the_overview():
    with many() as home:
        jobs = {job["job"]: job for job in json_lines(home, "job", "list")}
        for cols, rows in ((100, 30), (160, 50)):
            with console.console(home, cols=cols, rows=rows) as t:
                steps(t, "z")
                lines = t.picture().lines
                head = "\n".join(lines[:4])
                letters = sum(job["open_letters"] for job in jobs.values())
                groups = sum(job["open_groups"] for job in jobs.values())
                assert "dlq %d in %d groups" % (letters, groups) in head, head
                assert "parked %d" % sum(job["parked"] for job in jobs.values()) in head, head
                seen, job = 0, None
                for cells, row in columns(lines, "STATE", "DLQ"):
                    name = row[14:].split()[0]
                    job = jobs[name] if row[14] != " " else job
                    tables = [table for table in job["tables"] if is_cut_of(name, table["table"])]
                    thing = job if row[14] != " " else tables[0]
                    seen += is_shown(cells.number("DLQ"), thing["open_letters"], row)
                    is_shown(cells.number("PARKED"), thing["parked"], row)
                    state = "stopped" if row[14] != " " and thing["state"] == "ok" else thing["state"]
                    assert row[2:].lower().startswith(state), (row, state)
                assert seen == len(jobs) + sum(len(job["tables"]) for job in jobs.values()), seen


def test_numbers_of_the_tables():
    with many() as home, console.console(home, cols=100, rows=30) as t:
        tables = {(table["job"], table["table"]): table for table in json_lines(home, "tables")}
        steps(t, "g t")
        rows = columns(t.picture().lines, "STATE", "TABLE", "DLQ", "JOB")
        found = [tables[cells.word("JOB"), cells.word("TABLE")] for cells, _ in rows]
        assert len(rows) == len(tables) and "1 of %d" % len(tables) in t.picture().lines[-1]
        assert compare(rows, found, {"DLQ": "open_letters", "PARKED": "parked"})["DLQ"] == len(tables)
        assert [table["state"] for table in found] == [row[2:14].strip().lower() for _, row in rows]


def test_numbers_of_a_job():
    with many() as home:
        for name in ("poison", "well"):
            with console.console(home, cols=100, rows=30) as t:
                line(t, "job " + name)
                job = home.run("job", "show", name, "--json").last
                rows = columns(t.picture().lines, "STATE", "TABLE", "DLQ")
                tables = {table["table"]: table for table in job["tables"]}
                found = [tables[whole(cells.word("TABLE"), tables)] for cells, _ in rows]
                assert compare(rows, found, {"DLQ": "open_letters", "PARKED": "parked"})["DLQ"] == len(tables)
                assert "parked %d" % job["parked"] in "\n".join(t.picture().lines)


def test_numbers_of_the_balance():
    members = {"RECEIVED": "received", "WRITTEN": "written", "FILTERED": "filtered", "LETTERS": "dead_lettered", "PARKED": "parked",
               "INFLT": "in_flight", "REPEATED": "repeated", "ROWS": "rows"}
    with many() as home:
        for name in ("poison", "shop", "well"):
            job = home.run("job", "show", name, "--json").last
            for cols, rows in SIZES:
                with console.console(home, cols=cols, rows=rows) as t:
                    line(t, "balance " + name)
                    lines = t.picture().lines
                    tables = {table["table"]: table for table in job["tables"]}
                    found = columns(lines, "NAME", "RECEIVED", "WRITTEN", "LETTERS")
                    compare(found, [tables[whole(row[2:].split()[0], tables)] for _, row in found], members)
                    assert found and all(cells.number("DIFF") in (None, 0) for cells, _ in found)
                    total = re.sub(r" +", " ", " ".join(lines)).replace(",", "")
                    wanted = "received %d = written %d + filtered %d + letters %d" % tuple(
                        job[m] for m in ("received", "written", "filtered", "dead_lettered"))
                    if len(found) == len(tables):
                        assert wanted in total, (wanted, lines)


def test_numbers_of_dead_letters():
    with many() as home:
        groups = json_lines(home, "dlq", "groups")
        for cols, rows in SIZES + [(120, 50)]:
            with console.console(home, cols=cols, rows=rows) as t:
                steps(t, "g d")
                title = t.picture().lines[0]
                assert "%d in %d groups" % (sum(g["open"] for g in groups), len(groups)) in title, title
                found = columns(t.picture().lines, "#", "COUNT", "REASON")
                expected = [next(g for g in groups if (g["group"], g["code"][:10]) == (cells.number("#"), cells.word("REASON")[:10]))
                            for cells, _ in found]
                seen = compare(found, expected, {"COUNT": "count", "KEYS": "keys"})
                assert seen["COUNT"] == len(found) and len(found) >= 5, seen
                steps(t, "Enter")
                first = expected[0]
                letters = [x for x in json_lines(home, "dlq", "list", "--job", first["job"], "--group", str(first["group"]))]
                # On the narrowest screen bytes and tries have left: their value stays longer.
                shown = {"ID": "id", "TRIES": "attempts", "BYTES": "bytes"} if cols >= 80 else {"ID": "id"}
                found = columns(t.picture().lines, *shown)
                seen = compare(found, letters, shown)
                assert seen == {head: len(letters) for head in shown}, seen


def test_facts_of_a_letter():
    with many() as home, console.console(home, cols=100, rows=30) as t:
        letter = home.run("dlq", "show", "1", "--job", "poison", "--json").last
        line(t, "dlq show 1 --job poison")
        t.row("{:,} bytes".format(letter["bytes"]))
        steps(t, "Tab")
        shown = re.findall(r"^ *([0-9a-f]{6}) ((?:[0-9a-f]{2} +){1,16})", "\n".join(t.picture().lines), re.M)
        body = home.run("dlq", "show", "1", "--job", "poison", "--bytes").out
        got, offset = bytes.fromhex("".join(row for _, row in shown)), int(shown[0][0], 16)
        assert len(got) > 100 and body[offset : offset + len(got)] == got, (offset, got)
        assert b"QUI" in got, "it opens where the refused value is"
        steps(t, "Tab")
        words = re.sub(r"[ \n]+", " ", "\n".join(t.picture().lines))
        for fact in (letter["code"], "stage " + letter["stage"], "line %d" % letter["source"]["line"], letter["source"]["message_id"],
                     letter["table"], "column " + letter["column"], letter["sha256"], "key " + letter["key"]):
            assert fact in words, (fact, words)


def test_facts_of_why():
    with many() as home:
        for table in ("poison.members", "poison.books", "shop.orders"):
            finding = home.run("why", table, "--json").last
            for cols, rows in ((100, 30), (80, 24)):
                with console.console(home, cols=cols, rows=rows) as t:
                    line(t, "why " + table)
                    words = re.sub(r"[ \n]+", " ", "\n".join(t.picture().lines))
                    first = finding["first"]
                    for fact in (finding["code"], "line %d" % first["source"]["line"], "message id " + first["source"]["message_id"],
                                 first["key"], "NEEDS YOU"):
                        assert fact in words, (table, fact, words)


def test_lines_of_health_journal_logs_schema_and_explain():
    with many() as home, console.console(home, cols=160, rows=50) as t:
        steps(t, "g h")
        lines = t.picture().lines
        for thing in json_lines(home, "engine", "status")[:-1]:
            if thing["what"] not in ("engine", "memory and sessions", "descriptors", "disk below the state folder"):
                assert re.search(r"%s +%s +%s" % tuple(map(re.escape, (thing["level"], thing["what"], thing["now"]))), "\n".join(lines)), thing
        steps(t, "g j")
        journal = [x for x in json_lines(home, "journal", "--limit", "0") if not x.get("ended")]
        assert "of %d" % len(journal) in t.picture().lines[-1], (len(journal), t.picture().lines[-1])
        shown = columns(t.picture().lines, "TIME", "WHO", "WHAT")
        for (_, row), thing in zip(shown, reversed(journal)):
            assert thing["time"][11:19] in row and thing["text"][:60] in row and thing["who"] in row, (row, thing)
        steps(t, "g c")
        changes = sum(len(c["steps"]) or 1 for x in json_lines(home, "tables", "--schema") for c in x["timeline"])
        assert "of %d" % changes in t.picture().lines[-1], (changes, t.picture().lines[-1])
        line(t, "explain unknown_column")
        told = home.run("explain", "unknown_column").out.decode()
        words = re.sub(r"\W+", " ", "\n".join(t.picture().lines))
        for sentence in told.splitlines():
            # Heads are written in another way.
            text = re.sub(r"\W+", " ", sentence).strip() if sentence.startswith("  ") else ""
            assert text in words, (text, words)


#
# At three in the morning.
#
def test_few_keys_to_the_cause_the_first_bad_event_and_the_pause():
    with console.broken_shop() as home:
        home.run("start", "shop")
        with console.console(home) as t:
            t.wait_for("> NEEDS YOU    shop.orders")
            steps(t, "Enter")
            t.row("unknown_column")
            t.row("no column phone")
        with console.console(home) as t:
            t.wait_for("> NEEDS YOU    shop.orders")
            steps(t, "f")
            assert "letter 1 of group 1" in t.picture().lines[0]
            t.row("555-0004")
        with console.console(home) as t:
            t.wait_for("> NEEDS YOU    shop.orders")
            steps(t, "p")
            t.wait_for(lambda picture: next(x for x in json_lines(home, "tables") if x["table"] == "shop.orders").get("paused"))
            assert not next(x for x in json_lines(home, "tables") if x["table"] == "shop.customers").get("paused")
