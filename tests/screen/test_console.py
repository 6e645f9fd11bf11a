"""The console as it is seen: sizes, terminals, colours, and what it leaves behind."""
import json
import os
import re

import console
import screen
import weir

SIZES = [(80, 24), (100, 30), (60, 16)]
# Under 60x16 there is one plain text; under 20x2 only the verdict.
SMALL_SIZES = [(44, 8), (19, 1)]
TERMINALS = ["xterm", "vt100", "linux", "screen"]


def is_ascii(picture):
    return all(ord(c) < 127 for line in picture.lines for c in line)


def same(before, after, when):
    difference = screen.difference(before.golden(), after.golden(), "before", "after " + when)
    assert not difference, difference


def assert_selected(picture):
    """The selected row looks other than its neighbours also where there are no colours."""
    row = next(number for number, line in enumerate(picture.lines) if line.startswith("> "))
    assert picture.rows[row][5].look not in {picture.rows[row + 2][5].look, (-1, -1, "")}, picture.rows[row][5].look


def ends_well(t, status):
    """The program has ended so, and the terminal is as it was: modes, screen, paste, mouse, cursor."""
    assert t.wait() == status
    lines, same, on = t.modes()
    assert lines and same, (lines, same)
    assert not on & {47, 1047, 1049, 2004, 1000, 1002, 1003, 1006, 2026}, on
    assert t.picture().cursor is not None, "the cursor is hidden"


def test_overview_of_a_finished_job_in_all_sizes():
    for cols, rows in SIZES + SMALL_SIZES:
        with console.finished_shop() as home, console.console(home, cols=cols, rows=rows) as t:
            t.sync()
            t.record_bytes("overview")
            t.expect("overview")


def test_the_engine_is_called_what_its_settings_say():
    with console.finished_shop() as home, console.console(home) as t:
        t.wait_for("weir  test  ")
        r = home.run("logs", "--json")
        assert r.lines, r
        assert not [l for l in r.lines if "config.json" in json.dumps(l)], r


def test_overview_of_a_job_in_trouble_in_all_sizes():
    for cols, rows in SIZES + SMALL_SIZES:
        with console.broken_shop() as home, console.console(home, cols=cols, rows=rows) as t:
            t.sync()
            t.expect("overview-trouble")


def test_terminals_with_fewer_colours_show_the_same_words():
    with console.broken_shop() as home:
        with console.console(home, theme=None) as t:
            t.sync()
            words = t.picture().masked
        for term in TERMINALS:
            with console.console(home, theme=None, term=term) as t:
                t.sync()
                t.expect("overview-" + term)
                got = t.picture()
                # A terminal without Unicode lines draws its rules in another way; no word differs.
                assert re.findall(r"\w+", "\n".join(got.masked)) == re.findall(r"\w+", "\n".join(words)), term
                assert_selected(got)
                t.send(b"q")
                ends_well(t, 0)


def test_without_colour_no_colour_is_sent_and_the_state_is_still_seen():
    with console.broken_shop() as home:
        for words, env in (((), {"NO_COLOR": "1"}), (("--no-color",), {})):
            with console.console(home, *words, theme=None, env=env) as t:
                t.sync()
                t.expect("overview-no-color")
                assert_selected(t.picture())
                assert not re.search(rb"\033\[([0-9;]*;)?(3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]", t.raw())
                assert t.row("NEEDS YOU") >= 0


def test_a_locale_without_unicode_gets_ascii():
    with console.broken_shop() as home:
        for words, env in (((), {"LC_ALL": "C"}), (("--ascii",), {})):
            with console.console(home, *words, env=env) as t:
                t.sync()
                if words:
                    t.expect("overview-ascii")
                assert is_ascii(t.picture())
                assert max(t.raw()) < 128, "a byte that is no ASCII was sent"


def test_a_larger_screen_and_back_is_the_same_screen():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        before = t.picture().golden()
        for cols, rows in ((100, 30), (44, 8), (1, 1), (200, 60), (80, 24)):
            t.resize(cols, rows)
        assert t.picture().golden() == before


def test_a_quiet_screen_sends_nothing():
    with console.finished_shop() as home, console.console(home) as t:
        t.assert_quiet()


def test_the_places_of_a_job_in_trouble():
    with console.broken_shop(anew=True) as home, console.console(home) as t:
        for keys, name in PLACES:
            t.sync()
            t.bytes()
            t.press(keys)
            t.record_bytes(name)
            t.expect(name)
            t.assert_quiet(3)


PLACES = [("Enter", "why"), ("g t", "tables"), ("g d", "groups"), ("g b", "balance"), ("g c", "schema"), ("?", "help")]


def test_a_fresh_drawing_is_what_was_there():
    with console.broken_shop() as home, console.console(home) as t:
        for keys in ("j", "g t", "j", "Enter", "q", "g d", "Enter", "Enter", "q", "?", "q", ":", "Esc", "a", "Esc"):
            t.press(keys)
            before = t.picture()
            t.press("C-l")
            same(before, t.picture(), keys)


def test_leaving_gives_the_terminal_back():
    with console.finished_shop() as home, console.console(home) as t:
        t.sync()
        assert t.modes()[2] >= {1049, 2004}
        t.send(b"q")
        ends_well(t, 0)
        assert home.run("engine", "status", "--json").code == 0, "the engine goes on"


def test_a_signal_gives_the_terminal_back():
    with console.finished_shop() as home:
        for name, status in (("TERM", None), ("SEGV", -11), ("ABRT", -6)):
            with console.console(home) as t:
                t.sync()
                t.signal(name)
                got = t.wait()
                assert got == status if status else got in (0, 143, -15), (name, got)
                lines, same, on = t.modes()
                assert lines and same and not on & {1049, 2004}, (name, lines, same, on)


def test_a_hang_up_ends_the_console_and_not_the_engine():
    with console.finished_shop() as home, console.console(home) as t:
        t.sync()
        t.hang_up()
        t.wait()
        assert home.run("engine", "status", "--json").code == 0


def test_suspended_and_back_the_screen_is_the_same():
    """In a shell with job control: stopped, the terminal belongs to the shell; fg draws all of it again."""
    script = 'set -m; "$0" --theme "$1"; echo "the shell has it"; read line; fg; echo "it ended so: $?"'
    with console.broken_shop() as home:
        command = ["bash", "-c", script, os.path.join(home.build, "weir"), screen.THEME]
        with screen.Terminal(command, env=home.env, cwd=home.path) as t:
            t.sync()
            before = t.picture()
            t.send(b"\x1a")
            t.wait_shown("the shell has it")
            lines, _, on = t.modes()
            assert lines and not on & {1049, 2004}, (lines, on)
            t.send(b"\r")
            t.sync()
            same(before, t.picture(), "fg")
            t.send(b"q")
            t.wait_shown("it ended so: 0")


def test_a_stalled_terminal_does_not_stall_the_console_for_good():
    with console.finished_shop() as home, console.console(home) as t:
        t.sync()
        before = t.picture()
        t.stall(True)
        for _ in range(200):
            t.send(b"\x0c" + b"jk")
        r = home.run("status", "--json", timeout=30)
        assert r.code == 0, r
        t.stall(False)
        t.sync()
        same(before, t.picture(), "stall")


def test_keys_of_the_driver_are_the_keys_of_the_console():
    """The console's own names: a key that the driver knows by another is a key that nobody can press."""
    with open(os.path.join(weir.ROOT, "tui", "term", "input_names.c")) as f:
        known = set(re.findall(r'\{ [\w\' ]+, "(\w+)" \}', f.read()))
    mine = {name for name in screen.KEYS if not re.fullmatch(r"F\d+|S-Tab", name)}
    assert mine == known, mine ^ known
