"""Terminals as they are: unknown names, few colours, no Unicode, sizes of all kinds, keys that come in pieces and late."""
import json
import os
import re
import subprocess
import time

import console
import screen

COLOUR = re.compile(rb"\033\[(?:[0-9;]*;)?((?:3|4)[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")
BRIGHT = re.compile(rb"\033\[(?:[0-9;]*;)?(9[0-7]|10[0-7])(?:;[0-9;]*)?m")
COLOUR_256 = re.compile(rb"\033\[(?:[0-9;]*;)?[34]8;5;\d+")
TYPED = "p a u s e Space s h o"


def test_an_unknown_name_is_taken_for_a_near_one_and_said():
    with console.broken_shop() as home:
        for term, taken in (("kitty-next", "xterm-256color"), ("foot-2", "xterm-256color"), ("nobody-knows", "xterm")):
            with console.console(home, theme=None, term=term) as t:
                t.sync()
                assert "TERM '%s' is not known here; taken for %s" % (term, taken) in t.picture().lines[-1], t.picture().lines
                t.press("j k")
                assert "TERM" not in t.picture().lines[-1]
                assert t.row("NEEDS YOU") > 0


def test_a_terminal_that_cannot_move_its_cursor_is_refused_before_an_engine_is_started():
    with console.broken_shop() as home:
        for term in ("dumb", "", "ansi-but-no-such"):
            with console.console(home, term=term or "''") if term else empty_term(home) as t:
                if term == "ansi-but-no-such":
                    t.sync()  # no kin, but something that all terminals of today understand
                    continue
                assert t.wait() == 2
                text = " ".join(" ".join(t.picture().lines).split())
                assert text.startswith("weir: no_terminal: the console needs a terminal that can move its cursor (TERM is '%s')" % term), text
                assert "next: Run it on a terminal, or use the commands: weir status, weir tables --failing" in text, text


def empty_term(home):
    return screen.Terminal(["env", "TERM=", os.path.join(home.build, "weir")], env=home.env, cwd=home.path)


def test_a_pipe_is_no_terminal_and_starts_no_engine():
    with console.broken_shop() as home:
        for words in ((), ("--readonly",), ("--ascii", "--no-color")):
            r = home.run(*words)
            assert r.code == 2 and r.out == b"", r
            assert b"no_terminal: the console needs a terminal; standard input is none" in r.err, r
            assert b"next: Run it on a terminal, or use the commands: weir status" in r.err, r
        assert home.run("engine", "status", "--json").code == 69


def bright_terms(home):
    """Where terminfo has a terminal of sixteen colours; Debian's ncurses-base has none, so the test makes its own of xterm."""
    source = home.write("xterm-16.ti", "weir-xterm-16|xterm with sixteen colours,\n\tcolors#16, pairs#256,\n"
                        "\tsetab=\\E[%?%p1%{8}%<%t%p1%{40}%+%e%p1%{92}%+%;%dm,\n\tsetaf=\\E[%?%p1%{8}%<%t%p1%{30}%+%e%p1%{82}%+%;%dm,\n\tuse=xterm,\n")
    folder = home.file("terminfo")
    subprocess.run(["tic", "-x", "-o", folder, source], check=True, capture_output=True)
    return "weir-xterm-16", {"TERMINFO_DIRS": folder + ":/lib/terminfo:/usr/share/terminfo:/etc/terminfo"}


def test_levels_of_colour():
    """What is sent is what the terminal has: nothing at all for a vt100 and NO_COLOR, eight, sixteen, 256. Where there are eight
    nothing is said of brighter ones, where there are sixteen they are named as themselves and not as bold."""
    with console.broken_shop() as home:
        sixteen, bright = bright_terms(home)
        for term, env, has_colour, has_bright, has_256 in (
                ("xterm", {}, True, False, False), ("linux", {}, True, False, False), ("screen", {}, True, False, False),
                (sixteen, bright, True, True, False), (sixteen, dict(bright, NO_COLOR="1"), False, False, False),
                ("xterm-256color", {}, True, False, True), ("tmux-256color", {}, True, False, True), ("vt100", {}, False, False, False),
                ("xterm-256color", {"NO_COLOR": "1"}, False, False, False), ("xterm-256color", {"NO_COLOR": ""}, True, False, True)):
            with console.console(home, term=term, env=env) as t:
                t.sync()
                assert t.row("NEEDS YOU") > 0 and t.row("unknown_column phone") > 0
                raw = t.raw()
                assert bool(COLOUR.search(raw)) == has_colour, (term, env)
                assert bool(BRIGHT.search(raw)) == has_bright or has_256, (term, env)
                assert bool(COLOUR_256.search(raw)) == has_256, (term, env)
                assert t.picture().lines[0].startswith("weir  test  1 job  RED: 1 table needs you"), t.picture().lines[0]


def test_a_locale_without_unicode_is_said_once_and_shows_escapes():
    with console.broken_shop() as home:
        assert home.run("note", "na\u00efve \u4e2d").code == 0
        with console.console(home, env={"LC_ALL": "C"}) as t:
            t.sync()
            assert t.picture().lines[-1].startswith(" locale without UTF-8: other letters are escapes; try LC_ALL=C.UTF-8"), t.picture().lines
            assert t.row("na\\u00efve \\u4e2d") > 0
            t.press("j k")
            assert "locale" not in t.picture().lines[-1]
            assert max(t.raw()) < 128
        with console.console(home) as t:
            t.sync()
            assert t.row("na\u00efve \u4e2d") > 0 and "locale" not in t.picture().lines[-1]


def test_sizes_in_the_environment_are_not_believed():
    """The driver takes LINES and COLUMNS away, as terminals do: env puts them back."""
    with console.broken_shop() as home:
        words = ["env", "LINES=10", "COLUMNS=40", os.path.join(home.build, "weir")]
        with screen.Terminal(words, env=home.env, cwd=home.path) as t:
            t.sync()
            assert "80" not in t.picture().lines[0] and len(t.picture().lines[3]) == 80, t.picture().lines
            t.resize(100, 30)
            assert len(t.picture().lines[3]) == 100


def sizes_round(t):
    for cols, rows in ((1, 1), (500, 200), (19, 1), (44, 8), (20, 2), (59, 16), (60, 15), (60, 16), (200, 1), (1, 200), (80, 24)):
        t.resize(cols, rows)
        yield cols, rows, t.picture()


def test_every_size_says_what_it_can():
    with console.broken_shop() as home, console.console(home) as t:
        t.press("k")
        before = t.picture().golden()
        for cols, rows, picture in sizes_round(t):
            text = " ".join(" ".join(picture.lines).split())
            if cols < 20 or rows < 2:
                assert text == "RED 1"[:cols], (cols, rows, text)
            elif cols < 60 or rows < 16:
                assert text.replace(" ", "").startswith("weirtestRED:1tablene"), (cols, rows, text)
            else:
                assert picture.lines[0].startswith("weir  test") and any("shop.orders" in line for line in picture.lines), (cols, rows)
        assert t.picture().golden() == before


def test_what_is_typed_outlives_every_size():
    with console.broken_shop() as home:
        for keys, shown in ((": " + TYPED, ":pause sho"), ("/ o r d", "/ord")):
            with console.console(home) as t:
                t.press(keys)
                for cols, rows, picture in sizes_round(t):
                    if cols >= 20 and rows >= 2:
                        assert picture.lines[-1].startswith(shown), (cols, rows, picture.lines)
                        assert picture.cursor == (rows - 1, len(shown)), (cols, rows, picture.cursor)
                t.press("x")
                assert t.picture().lines[-1].startswith(shown + "x"), t.picture().lines


def test_a_menu_outlives_every_size_and_nobody_answers_it_unseen():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        t.press("a")
        before = t.picture().golden()
        for cols, rows, picture in sizes_round(t):
            if 20 <= cols < 40 and rows >= 2:
                assert "a question is open"[:cols] in picture.lines[-1], (cols, rows, picture.lines)
        assert t.picture().golden() == before
        t.resize(19, 1)
        t.press("p Enter")
        t.resize(80, 24)
        assert t.picture().golden() == before, "a key has answered a menu that nobody saw"
        t.resize(19, 1)
        t.press("Esc")
        t.resize(80, 24)
        assert "Enter why" in t.picture().lines[-2], t.picture().lines


def test_a_small_window_shows_the_line_what_was_said_and_help():
    with console.broken_shop() as home, console.console(home, cols=44, rows=8) as t:
        t.sync()
        t.press(": n o n s e n s e Enter")
        assert "'nonsense'" in t.picture().lines[-1], t.picture().lines
        t.press("?")
        assert "open the job or table" in t.picture().lines[1], t.picture().lines
        t.send(b"qq")
        assert t.wait() == 0


def test_escape_alone_is_one_after_25_ms_and_a_split_arrow_is_an_arrow():
    with console.broken_shop() as home, console.console(home) as t:
        t.press("g t")
        at = t.row("> ")
        # Parts of an arrow key that come as a slow link gives them: never a leave, never text.
        for parts in ((b"\033[", b"B"), (b"\033", b"[B"), (b"\033O", b"B"), (b"\033[", b"1;", b"5B")):
            for part in parts:
                t.send(part)
                time.sleep(0.005)  # less than the wait for Esc: this is the test's subject, nothing is awaited by it
            t.sync()
            assert "tables" in t.picture().lines[0], (parts, t.picture().lines)
        began = time.monotonic()
        t.send(b"\033")
        t.wait_for(lambda picture: "1 job" in picture.lines[0])
        assert time.monotonic() - began < 5
        assert at >= 0


def test_a_late_rest_of_an_arrow_key_is_one_and_not_three_keys():
    """Esc was taken for "back" when the rest came 100 ms later; that rest is still the arrow, and neither `[` nor `B`."""
    with console.broken_shop() as home, console.console(home) as t:
        t.press("g t")
        t.send(b"\033")
        t.wait_shown("\u2500 journal")
        t.send(b"[B")
        t.sync()
        assert "means nothing here" not in t.picture().lines[-1] and "newest view" not in t.picture().lines[-1], t.picture().lines


def test_the_wait_for_an_escape_is_a_setting_and_a_flag():
    """With a wait of half a second an Esc and its rest 60 ms later are one key; `--escape-delay` wins over the setting."""
    with console.broken_shop() as home:
        home.write("home/config.json", json.dumps({"name": "test", "escapeDelayMs": 500}))
        for flags, is_one_key in (((), True), (("--escape-delay", "1"), False)):
            with console.console(home, *flags) as t:
                t.press("g t")
                t.send(b"\033")
                time.sleep(0.06)  # longer than 1 ms and than the 25 of no setting: the test's subject
                t.send(b"[B")
                t.sync()
                assert ("tables" in t.picture().lines[0]) == is_one_key, (flags, t.picture().lines)
        r = home.run("--escape-delay", "0")
        assert r.code == 2, r


def test_a_frame_is_shown_at_once_where_the_terminal_says_it_can():
    """It is asked once; nothing is sent around frames before it has said yes, and nothing after it has said no."""
    begin, end = b"\033[?2026h", b"\033[?2026l"
    with console.broken_shop() as home:
        for answer, holds in ((b"", False), (b"\033[?2026;0$y", False), (b"\033[?2026;4$y", False), (b"\033[?2026;2$y", True)):
            with console.console(home) as t:
                t.sync()
                assert t.raw().count(b"\033[?2026$p") == 1 and begin not in t.raw()
                t.send(answer)
                t.sync()
                already = len(t.raw())
                t.press("g t")
                frames = t.raw()[already:]
                assert (begin in frames) == holds and frames.count(begin) == frames.count(end), (answer, frames)
                assert not holds or frames.index(begin) < frames.index(b"shop.customers") < frames.rindex(end), frames
                t.send(b"q")
                t.sync()
                t.send(b"q")
                assert t.wait() == 0 and 2026 not in t.modes()[2]


def test_old_terminals_are_asked_nothing_that_they_would_print():
    with console.broken_shop() as home:
        for term in ("linux", "vt100"):
            with console.console(home, term=term) as t:
                t.sync()
                assert b"2026" not in t.raw().split(b"\033[?2004h")[-1], (term, t.raw())


ODD = "ab\U0001f600cd\U0001f468\U0001f469ef\u0915\u093fgh e\u0301x 123456789"


def test_what_follows_a_doubtful_character_stands_in_its_column():
    """A terminal whose tables say one column where ours say two, and the other way: texts behind it, the selection, what is
    redrawn and what changes later are where they would be on any other."""
    with console.broken_shop() as home:
        for number in range(4):
            assert home.run("note", "%s note %d" % (ODD, number)).code == 0
        with console.console(home) as plain, console.console(home) as odd:
            odd.sync()
            odd.other_widths()
            for keys in (": j o u r n a l Enter", "j", "j", "w", "w", "C-l", "/ n o t e Enter", "Esc", "k"):
                plain.press(keys)
                odd.press(keys)
                here, there = plain.picture(), odd.picture()
                for number, (row, other) in enumerate(zip(here.rows, there.rows)):
                    differ = [col for col, cell in enumerate(row) if cell.text.isascii() and cell.text.strip() and cell.text != other[col].text]
                    assert not differ, (keys, differ, here.masked[number], there.masked[number])
                assert sum("123456789" in line for line in here.lines) >= 3, (keys, here.lines)


def test_every_form_of_the_arrow_keys():
    with console.broken_shop() as home:
        for down, up in ((b"\033[B", b"\033[A"), (b"\033OB", b"\033OA")):
            with console.console(home) as t:
                t.sync()
                t.press("k k k")
                first = t.row("> ")
                t.send(down)
                t.sync()
                assert t.row("> ") == first + 1, down
                t.send(up)
                t.sync()
                assert t.row("> ") == first, up


def test_a_prefix_key_in_a_search_of_the_history_is_survived():
    """Readline falls over C-x and another key there; the search goes on as if it had not come."""
    with console.broken_shop() as home:
        for keys in ("C-s V C-x S", "C-r V C-x C-u", "C-x S", "C-r C-x C-x C-x a"):
            for opening in (":", "/"):
                with console.console(home) as t:
                    t.sync()
                    t.press(opening)
                    t.press(keys)
                    t.press("C-c")
                    assert t.row("shop.orders") > 0
