"""What somebody who has never seen weir stumbles over: pages that hide a part, names that do not exist, words that are cut."""
import json

import console
import weir
from lists import columns, line, many


def last(t):
    return t.picture().lines[-1]


def said(t):
    """A message has two rows where one is too short."""
    return " ".join(row.strip() for row in t.picture().lines[-2:])


def shown(t, text):
    return any(text in row for row in t.picture().lines)


def make_faulty(home, faults=9):
    """One table that fails in `faults` ways, the worst one last."""
    columns = {"id": {"bigquery": "INT64"}}
    columns.update({"c%d" % i: {"bigquery": "INT64"} for i in range(faults)})
    home.write("schema.json", json.dumps({"orders": {"primary_key": ["id"], "columns": columns}}))
    rows = [{"c%d" % i: "x"} for i in range(faults) for _ in range(i + 1)]
    events = [weir.event({"id": n, **row}, table="orders", lsn=200 + n) for n, row in enumerate(rows)]
    home.write("feed", weir.feed(events, weir.id_key))
    return console.ran(home, 1, sourceSchema=home.file("schema.json"))


def faulty():
    return console.copy_of(make_faulty)


def test_why_shows_every_group_worst_first():
    """One group of several looked like all of them: eight others waited unseen."""
    with faulty() as home, console.console(home) as t:
        finding = home.run("why", "orders", "--json").last
        assert [group["open"] for group in finding["groups"]] == list(range(9, 0, -1)), finding["groups"]
        t.press("Enter")
        t.sync()
        lines = t.picture().lines
        at = t.row("all that fails here, worst first")
        assert "d opens these groups" in lines[at]
        for i, group in enumerate(finding["groups"][:6]):
            words = lines[at + 1 + i].split()
            assert words[:3] == ["group", str(group["group"]), str(group["open"])], (i, lines[at + 1 + i])
            assert words[-1] == group["column"], lines[at + 1 + i]
        assert "and 3 more: d shows them all" in lines[at + 7]
        assert shown(t, "of group %d" % finding["first"]["group"])
        words = home.run("why", "orders").out.decode()
        assert "All that fails here, worst first" in words
        t.press("d")
        t.sync()
        assert len(columns(t.picture().lines, "COUNT", "REASON")) == 9, t.picture().lines


def test_a_table_or_job_that_does_not_exist_opens_no_page():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        before = t.picture().lines[:-1]
        for typed, says in (
            ("why shop.ordrs", "no job has a table 'shop.ordrs'; did you mean 'shop.orders'?"),
            ("why nosuch", "no job has a table 'nosuch'; g t shows the tables"),
            ("why orders --job shpo", "there is no job 'shpo'; did you mean 'shop'?"),
            ("job show shpo", "there is no job 'shpo'; did you mean 'shop'?"),
            ("dlq groups --job zzz", "there is no job 'zzz'; g o shows the jobs"),
            ("dlq list --job shpo --group 1", "did you mean 'shop'?"),
            ("dlq show 1 --job shpo", "did you mean 'shop'?"),
            ("balance shpo", "did you mean 'shop'?"),
        ):
            line(t, typed)
            t.sync()
            assert says in said(t), (typed, t.picture().lines[-2:])
            assert t.picture().lines[: len(before) - 1][4:] == before[:-1][4:], t.picture().lines
        line(t, "why orders")  # without its dataset it is meant all the same
        t.sync()
        assert "why orders" in t.picture().lines[0]


def test_a_long_message_takes_two_rows_and_messages_has_all_of_it():
    with console.broken_shop() as home, console.console(home, cols=60, rows=16) as t:
        t.sync()
        line(t, "frobnicate " + "with a very long word of no use " * 2)
        t.sync()
        assert "'frobnicate' is no command" in last(t)
        line(t, "job set shop schemaChanges=perhaps")
        t.sync()
        assert "add" in said(t) and "reject" in said(t) and ".." not in said(t), said(t)
        line(t, "job set shop updateFrequencySecs=" + "9" * 150)
        t.sync()
        assert last(t).endswith(":messages has all of it"), t.picture().lines[-2:]
        line(t, "messages")
        t.sync()
        at = t.row("the whole of it")
        whole = " ".join(row.strip() for row in t.picture().lines[at + 1 : -2])
        assert whole.startswith("bad_parameter: updateFrequencySecs") and whole.endswith("is allowed"), whole


def test_a_cut_sentence_says_which_key_shows_it_whole():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        assert "..   Enter: all" in last(t), last(t)


def test_what_no_act_looks_at_cannot_be_marked():
    with console.broken_shop() as home, console.console(home) as t:
        for place in ("?", "g h", "g L", "g j"):
            t.press(place + " Space")
            t.sync()
            assert "'mark' means nothing here" in last(t), (place, last(t))
            assert not any(row.startswith((" *", ">*", "*")) for row in t.picture().lines), t.picture().lines


def test_json_is_typed_as_it_is_and_the_hint_and_the_error_have_an_example():
    """The `:` line took the quotes out of JSON, and nothing said how else to type it."""
    example = 'columnTypes={"orders.quantity":"STRING"}'
    with console.broken_shop() as home, console.console(home) as t:
        t.press(":")
        t.type("job set shop columnTypes=")
        t.sync()
        assert example in " ".join(row.strip() for row in t.picture().lines), t.picture().lines
        t.type('{"orders.name": "STRING", ')
        t.sync()
        assert example in " ".join(row.strip() for row in t.picture().lines), t.picture().lines
        t.type('"customers.name":"STRING"}')
        t.press("Enter")
        t.sync()
        assert home.run("job", "show", "shop", "--json").last["parameters"]["columnTypes"] == {
            "orders.name": "STRING", "customers.name": "STRING"}, t.picture().lines[-2:]
        line(t, 'job set shop "columnTypes={orders.name:STRING}"')
        t.sync()
        assert "no JSON" in said(t), said(t)
        line(t, 'job set shop columnTypes={"orders.name"')
        t.sync()
        assert "a quote or a bracket is not closed" in said(t), said(t)
    with weir.Home() as home:
        file = home.job(home.write("feed", ""))
        for parameter, example in (("columnTypes={orders.qty:STRING}", "'%s'" % example), ("primaryKey={orders:[id]}", "'primaryKey={\"orders\":[\"id\"]}'"),
                                ("onUnrepresentable={number:text}", "'onUnrepresentable={\"number\":\"text\"}'"),
                                ("additionalUserLabels={team:shop}", "'additionalUserLabels={\"team\":\"shop\"}'")):
            message = home.run("job", "create", file, "--param", parameter, "--json").error["message"]
            assert example in message and "single quotes" in message, message


def press_each(t, *names):
    """Keys by somebody who looks before the next one."""
    for name in names:
        t.press(name)
        t.sync()


def test_a_narrowed_list_says_so_and_its_own_key_widens_it():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        for key, place, wide in (("g j", "journal of shop.orders", "journal  "), ("g c", "schema of shop.orders", "schema  "), ("g b", "balance  job shop", "balance  all jobs"), ("d", "dead letters of shop.orders", "dead letters  ")):
            press_each(t, key)
            assert place in t.picture().lines[0], t.picture().lines[0]
            again = "g d" if key == "d" else key
            assert "only shop" in last(t) and again + " shows all" in last(t), last(t)
            press_each(t, again)
            assert wide in t.picture().lines[0] and "shows all" not in last(t), (t.picture().lines[0], last(t))
            press_each(t, "g o")


def test_tables_takes_a_table_on_the_line_as_in_the_shell():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        for typed, title in (("tables shop", "tables of shop"), ("tables orders --schema", "schema of orders"), ("tables --schema shop.orders --job shop", "schema of shop.orders"),
                             ("tables orders", "why orders")):
            line(t, typed)
            t.sync()
            assert title in t.picture().lines[0], (typed, t.picture().lines[0])
            if "schema" in title:
                assert {cells.text("TABLE") for cells, _ in columns(t.picture().lines, "WHEN", "TABLE")} == {"shop.orders"}, t.picture().lines
        for typed in ("tables ordres", "tables --schema ordres"):
            line(t, typed)
            t.sync()
            assert "no job has a table 'ordres'; did you mean 'orders'?" in said(t), said(t)


def test_letters_are_all_and_dlq_is_what_is_open():
    with console.broken_shop() as home, console.console(home) as t:
        assert home.run("dlq", "discard", "--group", "1", "--job", "shop", "--confirm", "8", "--why", "test").code == 0
        press_each(t, "g t")
        assert {cells.number("DLQ") for cells, _ in columns(t.picture().lines, "STATE", "DLQ")} == {0}, t.picture().lines
        press_each(t, "g b")
        rows = {cells.text("NAME"): cells.number("LETTERS") for cells, _ in columns(t.picture().lines, "NAME", "LETTERS")}
        assert sum(rows.values()) == 8, t.picture().lines
        assert shown(t, "+ letters 8 +") and shown(t, "DLQ, elsewhere, is how many"), t.picture().lines
        press_each(t, "?")
        assert shown(t, " dlq           dead letters that are open") and shown(t, " letters       all that ever were refused"), t.picture().lines


def test_an_enter_typed_too_early_is_an_enter():
    """Before the console has the terminal, the terminal makes a line feed of it: it arrived as C-j, which meant nothing."""
    with console.broken_shop() as home, console.console(home) as t:
        t.send(b"\n")
        t.sync()
        t.wait_for("why shop.orders")


def test_a_stopped_job_is_called_stopped_and_its_page_never_stays_silent():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        assert shown(t, "stopped; 1 not ok"), t.picture().lines
        press_each(t, "k")
        assert last(t).startswith(" shop is stopped: nothing is read; a, s starts it"), last(t)
        press_each(t, "Enter")
        assert "   stopped" in t.picture().lines[1], t.picture().lines[1]
        pictures = []
        for _ in range(2):
            press_each(t, "Tab")
            pictures.append(t.picture().lines[:-1])
            assert "parameters and threads" in last(t) or "tables; charts come when messages flow" in said(t), last(t)
        assert pictures[0] != pictures[1], "Tab went to a pane that looks the same"
        press_each(t, "w")
        assert "'wide' means nothing here" in last(t), last(t)


def test_a_finished_group_offers_nothing_to_discard():
    with console.broken_shop() as home, console.console(home) as t:
        assert home.run("dlq", "discard", "--group", "1", "--job", "shop", "--confirm", "8", "--why", "test").code == 0
        press_each(t, "g d")
        lines = t.picture().lines
        at = t.row("nothing is to be done: no letter of it is open")
        assert lines[at + 1].startswith(" 1 list its letters") and not lines[at + 2].strip(), lines[at:]
        press_each(t, "2")
        assert "no step 2 here" in last(t), last(t)
        press_each(t, "a", "X")
        assert "discard group: no open letter" in last(t), last(t)
        press_each(t, "Esc")
        for typed in ("dlq discard --group 1 --job shop", "dlq discard --all"):
            line(t, typed)
            t.sync()
            t.wait_for("nothing to discard: none of these")  # in the status row, or in the box if the count came after it
            assert not shown(t, "Type the count"), t.picture().lines
            press_each(t, *["Esc"] * shown(t, "discard 0"))
        press_each(t, "Enter")  # a letter of it
        press_each(t, "a", "x")
        assert "discard letter: it is not open" in last(t), last(t)
        press_each(t, "Esc")
        line(t, "dlq replay --group 1 --job shop --yes")
        t.wait_for("nothing was replayed")


def make_unread(home):
    """A row, then a change of it whose number is none, and a message without its key."""
    columns = {"id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}}
    home.write("schema.json", json.dumps({"orders": {"primary_key": ["id"], "columns": columns}}))
    events = [weir.event({"id": 1, "n": 5}, table="orders", lsn=1), weir.event({"id": 1, "n": "n/a"}, table="orders", lsn=2),
              weir.event({"n": 7}, table="orders", lsn=3)]
    home.write("feed", weir.feed(events, lambda e: weir.id_key(e) if "id" in e["after"] else None))
    return console.ran(home, 1, sourceSchema=home.file("schema.json"))


def test_the_refused_value_stands_beside_the_row_and_newer_may_be_unknown():
    with console.copy_of(make_unread) as home, console.console(home, cols=100, rows=30) as t:
        letters = home.letters()
        assert [l["newer"] for l in letters] == [None, None], letters
        assert b"newer         unknown" in home.run("dlq", "show", 2).out
        press_each(t, "f", "Tab", "Tab", "G")
        assert any(row.split()[:4] == ["n", "5", "->", '"n/a"'] and row.rstrip().endswith("refused") for row in t.picture().lines), t.picture().lines
        assert any(row.split() == ["message", "id", "2"] for row in t.picture().lines), t.picture().lines
        press_each(t, "Esc")
        line(t, "dlq show 2 --job shop")
        press_each(t, "Tab", "Tab")
        assert shown(t, "unknown: the letter was refused before its key was read"), t.picture().lines
        assert shown(t, "whether the replica has a newer row is unknown"), t.picture().lines


def test_no_line_of_health_is_cut():
    with console.broken_shop() as home, console.console(home) as t:
        press_each(t, "g h")
        rows = [row for row in t.picture().lines if row[2:].startswith(("ok ", "warning ", "fails "))]
        assert len(rows) > 8 and not [row for row in rows if ".." in row], rows


def test_the_palette_has_what_was_typed_last_and_finds_by_any_word():
    """C-p was a bare `:`; neither the last lines nor another word than the first led anywhere."""
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        for typed in ("explain not_json", "note the source is told"):
            line(t, typed)
        press_each(t, "C-p")
        lines = t.picture().lines
        at = t.row("palette: lines typed before")
        assert [row.split("  ")[0].strip() for row in lines[at + 1 : at + 3]] == ["note the source is told", "explain not_json"], lines
        press_each(t, "Down", "Enter")
        assert last(t).startswith(":explain not_json"), last(t)  # nothing has run: it is on the line
        press_each(t, "Esc", "C-p")
        t.type("ledger")
        t.sync()
        assert shown(t, " balance ") and shown(t, "job list"), t.picture().lines
        press_each(t, "Enter")
        assert "balance" in t.picture().lines[0], t.picture().lines[0]
        press_each(t, "C-p")
        t.type("letter discard")
        press_each(t, "Tab")
        assert last(t).startswith(":dlq discard"), last(t)
        t.type(" ")
        t.sync()
        assert shown(t, "dlq discard [--group"), t.picture().lines  # it goes on as a line
        press_each(t, "Esc")
        assert home.run("dlq", "list", "--state", "discarded", "--json").lines == []


def test_marked_groups_are_replayed_in_one_go():
    """Those of no table too; what has no open letter is left out."""
    with many() as home, console.console(home, cols=100, rows=30) as t:
        line(t, "dlq groups --job poison")
        t.sync()
        groups = home.run("dlq", "groups", "--job", "poison", "--json").lines
        assert any(g["table"] == "-" for g in groups)
        assert home.run("dlq", "discard", "--job", "poison", "--group", "1", "--confirm", groups[0]["open"], "--why", "x").code == 0
        t.sync()
        press_each(t, "*", "a", "w")
        assert shown(t, "replay %d groups?" % (len(groups) - 1)), t.picture().lines
        press_each(t, "Enter")
        t.wait_for("replay %d groups" % (len(groups) - 1))
        acts = [l for l in home.run("journal", "--json", "--what", "dlq replay").lines if l.get("phase") == "after"]
        assert len(acts) == len(groups) - 1, acts


def test_the_steps_of_why_are_on_the_first_page():
    with console.copy_of(make_unread) as home, console.console(home) as t:
        press_each(t, "Enter")
        finding = home.run("why", "orders", "--json").last
        for step in finding["steps"][:5]:
            assert shown(t, step["text"]), (step, t.picture().lines)


def test_rows_of_two_jobs_say_whose_they_are():
    """Two rows `-` or `orders` of two jobs looked alike at 80 columns."""
    with faulty() as home:
        home.replicate(home.file("feed"), name="later", changeLogDataset="later_log", replicaDataset="later", sourceSchema=home.file("schema.json"), expect=1)
        for size in ((80, 24), (60, 16)):
            with console.console(home, cols=size[0], rows=size[1]) as t:
                # At 60 columns a group's reason and place leave no room; its pane names the job.
                for place in ("tables", "dlq") if size[0] == 80 else ("tables",):
                    line(t, place)
                    t.sync()
                    rows = t.picture().lines
                    assert any(" JOB" in row for row in rows[:4]), rows
                    assert any("later" in row for row in rows[3:]) and any("shop" in row for row in rows[3:]), rows
                # Of one job there is nothing to tell apart.
                line(t, "tables shop")
                t.sync()
                assert not any(" JOB" in row for row in t.picture().lines[:4]), t.picture().lines
