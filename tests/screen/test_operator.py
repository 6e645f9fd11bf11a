"""At three in the morning: from the first screen to the cause in one key, and no key that does nothing without saying so."""
import getpass

import console
import weir


def test_enter_on_the_first_screen_is_why_and_f_the_first_bad_event():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        assert t.picture().lines[t.row("> NEEDS YOU")].split()[3] == "shop.orders"
        t.press("Enter")
        t.sync()
        lines = t.picture().lines
        finding = home.run("why", "shop.orders", "--json").last
        said = " dlq %d   written %d" % (finding["open_letters"], finding["written"])
        assert any(line.startswith(said) for line in lines), (said, lines)
        row = t.row('"phone": "555-0004"')
        at = lines[row].index('"555-0004"')
        assert lines[row + 1].startswith(" " * at + "^" * len('"555-0004"')), lines[row:row + 2]
        for number, step in enumerate(finding["steps"], 1):
            assert any(":" + step["command"] in line for line in lines), (number, step, lines)
        t.press("1")
        t.sync()
        assert t.picture().lines[-1].startswith(":" + finding["steps"][0]["command"]), t.picture().lines[-1]
        t.press("Esc q f")
        t.sync()
        assert "letter %d of group" % finding["first"]["id"] in t.picture().lines[0], t.picture().lines[0]
        assert "phone" in t.picture().lines[t.row(">!")]


def test_what_means_nothing_says_so_and_is_not_in_the_help():
    with console.broken_shop() as home, console.console(home) as t:
        t.press("w")
        t.sync()
        assert "means nothing here" in t.picture().lines[-1]
        t.press("?")
        t.sync()
        assert not [line for line in t.picture().lines if line[2:].startswith(("w ", "g l", "F "))], t.picture().lines


def test_esc_never_leaves_and_a_wrong_line_is_kept():
    with console.broken_shop() as home, console.console(home) as t:
        t.press("Esc Esc Esc")
        t.sync()
        assert "q leaves" in t.picture().lines[-1]
        t.press(":")
        t.type("frobnicate it")
        t.press("Enter")
        t.sync()
        assert "frobnicate" in t.picture().lines[-1] and "no command" in t.picture().lines[-1]
        t.press(": Up")
        t.sync()
        assert t.picture().lines[-1].startswith(":frobnicate it")
        t.press("Esc")
        t.send(b"q")
        assert t.wait() == 0


def test_a_filter_that_leaves_nothing_says_so():
    with console.broken_shop() as home, console.console(home) as t:
        for place in ("g o", "g t", "g d", "g j", "g b"):
            t.press(place + " /")
            t.type("zzz")
            t.press("Enter")
            t.sync()
            line = t.picture().lines[t.row("the filter leaves none; Esc takes it away")]
            assert line.strip() == "the filter leaves none; Esc takes it away", line # and no rule runs through it
            t.press("Esc")


def test_tables_stand_worst_first_also_below_their_job():
    with console.broken_shop() as home:
        assert home.run("start", "shop").code == 0
        assert home.run("pause", "shop", "shop.customers").code == 0
        with console.console(home) as t:
            for place in (":overview", ":job shop", ":tables"):
                t.type(place)
                t.press("Enter")
                t.sync()
                assert t.row(" shop.orders ") < t.row("  paused  "), t.picture().lines
                assert place == ":tables" or t.picture().lines[t.row("  paused  ")].endswith(" by " + getpass.getuser()), t.picture().lines


def test_the_row_of_keys_says_what_w_does_to_the_log():
    with console.broken_shop() as home, console.console(home) as t:
        t.press("g L")
        t.row(" w show debug ")
        t.press("w")
        t.row(" w hide debug ")


def test_half_a_sequence_shows_how_it_may_go_on():
    """Places that are not there yet leave their room to those that are."""
    with console.broken_shop() as home, console.console(home, cols=120) as t:
        t.press("g")
        t.row("g first row  o overview  t tables  d dlq  b balance  a activity  s source  j journal  c schema  h health")
        t.press("b")
        t.row("balance  job shop")


def test_why_of_a_failing_table_that_is_paused_says_both():
    with console.broken_shop() as home, console.console(home) as t:
        assert home.run("start", "shop").code == 0
        assert home.run("pause", "shop", "shop.orders", "--why", "asked the owner").code == 0
        assert home.run("drain", "shop").code == 0
        t.press("Enter")
        t.wait_for("paused by")
        picture = t.picture()
        assert "NEEDS YOU" in picture.lines[0] and picture.lines[2].endswith(": asked the owner"), picture.lines
        t.row("Keeps the messages of this table, in order")
        assert "writes and merges all others" not in "\n".join(picture.lines)


def test_why_shows_what_stands_with_the_table_for_good():
    with weir.Home() as home:
        home.replicate(home.write("feed", weir.feed([weir.event({"id": i}, lsn=i) for i in (1, 2)])))
        note = home.run("tables", "--json").last["notes"][0]
        with console.console(home, cols=100) as t:
            console_line = "why " + home.run("tables", "--json").last["table"]
            t.press(":")
            t.type(console_line)
            t.press("Enter")
            t.wait_for("notes")
            t.row(note["code"] + ": " + note["text"][:40])
