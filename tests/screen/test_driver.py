"""The screen tests' own driver, against a program of a hundred lines (toy.py): it must see what is wrong, and never pass
because nothing came."""
import os
import sys
import tempfile

import screen
import weir

TOY = [sys.executable, os.path.join(screen.HERE, "toy.py")]


def toy(**kw):
    return screen.Terminal(TOY, env=dict(os.environ, LC_ALL="C.UTF-8"), **kw)


def refused(act):
    try:
        act()
    except AssertionError as why:
        return str(why)
    raise AssertionError("this passed and must not have")


def test_keys_move_what_is_shown():
    with toy() as t:
        t.press("j j")
        assert t.row("third") == 2
        assert t.picture().role_at(2, 0) == "selection" and t.picture().role_at(0, 0) == "text"


def test_a_wrong_highlight_is_seen_though_the_text_is_right():
    with toy() as t:
        t.press("j")
        right = t.picture()
        t.press("h")
        wrong = t.picture()
        assert right.masked == wrong.masked
        assert right.golden() != wrong.golden()
        assert right.layers()[0][1] == "i" * 12 and wrong.layers()[0][1] == "a" * 6, (right.layers(), wrong.layers())


def test_a_golden_screen_that_differs_fails_with_both_rows():
    if screen.ACCEPT:
        raise weir.Skip("screens are being recorded")
    before = screen.GOLDEN
    with toy() as t, tempfile.TemporaryDirectory() as folder:
        screen.GOLDEN = folder
        try:
            t.sync()
            why = refused(lambda: t.expect("driver"))
            assert "+first" in why and "(WEIR_ACCEPT=1" in why
            with open(os.path.join(folder, "driver.80x24"), "w") as f:
                f.write(t.picture().golden())
            t.expect("driver")
            t.press("j")
            why = refused(lambda: t.expect("driver"))
            assert "\n-aaaaaa\n" in why and "\n+aaaaa\n" in why, why
        finally:
            screen.GOLDEN = before


def test_sync_comes_after_the_work_and_not_before():
    with toy() as t:
        t.send(b"s")
        t.sync()
        assert t.row("slow work done") == 22


def test_sync_on_a_program_that_answers_nothing_fails():
    with toy() as t:
        t.sync()
        t.send(b"n")
        why = refused(lambda: t.sync(deadline_s=1))
        assert "deadline" in why and "deaf" in why, why


def test_sync_on_a_program_that_has_ended_fails():
    with toy() as t:
        t.sync()
        t.send(b"q")
        assert t.wait() == 0
        assert "ended" in refused(t.sync)


def test_a_program_that_does_not_exist_is_said():
    with screen.Terminal(["no-such-program"]) as t:
        assert t.wait() == 127
        assert t.row("no-such-program") == 0


def test_an_echo_of_the_token_is_not_taken_for_its_answer():
    """A program that never takes the terminal gets whole lines, and the terminal's echo shows what was sent."""
    with screen.Terminal(["cat"]) as t:
        assert "deadline" in refused(lambda: t.sync(deadline_s=1))


def test_wide_characters_take_two_columns():
    with toy() as t:
        t.press("w")
        cells = t.picture().rows[0]
        assert [cell.text for cell in cells[:6]] == ["\u4e2d", "", "\u6587", "", "e\u0301", " "], [c.text for c in cells[:6]]
        assert t.picture().lines[0] == "\u4e2d\u6587e\u0301 first"


def test_a_stalled_reader_gets_all_when_it_reads_again():
    with toy() as t:
        t.sync()
        t.bytes()
        t.stall(True)
        t.send(b"f")
        assert "deadline" in refused(lambda: t.sync(deadline_s=1))
        assert t.bytes() == 0
        t.stall(False)
        t.sync()
        assert t.row("flood over") == 22
        assert t.bytes() > 500000


def test_sizes():
    with toy() as t:
        for cols, rows in ((100, 30), (1, 1), (200, 60), (80, 24)):
            t.resize(cols, rows)
            picture = t.picture()
            assert len(picture.rows) == rows and {len(row) for row in picture.rows} == {cols}
        assert t.row("80x24") == 22


def test_what_a_program_leaves_behind_is_seen():
    with toy() as t:
        t.sync()
        lines, same, on = t.modes()
        assert not lines and not same and 1049 in on
        t.send(b"q")
        t.wait()
        assert t.modes() == (True, True, t.modes()[2]) and 1049 not in t.modes()[2]
    with toy() as t:
        t.sync()
        t.send(b"x")
        assert t.wait() == 3
        lines, same, on = t.modes()
        assert not lines and not same and 1049 in on


def test_a_quiet_screen_sends_nothing_and_a_changed_one_little():
    with toy() as t:
        t.assert_quiet()
        t.press("j")
        assert 0 < t.bytes() < 400
        assert "bytes were sent" in refused(lambda: screen.Terminal.assert_quiet(Pressing(t), 1))


class Pressing:
    """A terminal whose every sync presses a key as well."""

    def __init__(self, t):
        self.t = t

    def sync(self):
        self.t.press("j")

    def __getattr__(self, name):
        return getattr(self.t, name)


def test_terminals_of_many_names():
    for term in ("xterm-256color", "xterm", "vt100", "linux", "screen", "tmux-256color"):
        with toy(term=term) as t:
            t.press("j")
            looks = [row[0].look for row in t.picture().rows[:3]]
            assert t.picture().lines[:3] == ["first", "second", "third"], (term, t.picture().lines)
            assert looks[0] == looks[2] != looks[1], (term, looks)
            t.send(b"q")
            assert t.wait() == 0


def test_a_hang_up_ends_the_program():
    with toy() as t:
        t.sync()
        t.hang_up()
        assert t.wait() != 0


def test_masks_keep_the_width_or_give_a_fixed_one():
    line = "03:08:14Z ~1s  on 2026-01-02 03:04:05Z, 12 Aug"
    masked = screen.mask(line)
    assert len(masked) == len(line) and not any(c.isdigit() for c in masked), masked
    assert screen.mask("shop.orders 4,187 rows") == "shop.orders 4,187 rows"
    letters = list("aaaaaaabbbbbbaaa")
    assert screen.mask("of pid 123456 ok", letters) == "of pid PID ok" and "".join(letters) == "aaaaaaabbbaaa"
