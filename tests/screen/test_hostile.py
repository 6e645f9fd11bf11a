"""Names, keys, values, notes and messages of strangers: what they hold is shown, and none of it reaches the terminal."""
import json
import re

import console
import weir

OSC = "\x1b]0;owned\x07"
CLEAR = "\x1b[2J\x1b[99;1Hgone"
C1 = "\x9b2Jgone\x9d0;owned\x9c"
BIDI = "\u202egnp.exe\u202c\u2066x\u2069"
UNSEEN = "a\u200bb\ufeffc\u00add\u2028"
WIDE = "\u4e2d\u6587\u5b57"
COMBINED = "e\u0301a\u0308\u0323" + "\u0301" * 40
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
DEVICE = "\x1bP+q544e\x1b\\\x1b[c\x1b[6n\x1bc\x05\x0e\x0f\x08\x08\r\n"
ALL = [OSC, CLEAR, C1, BIDI, UNSEEN, WIDE, COMBINED, FAMILY, DEVICE]

# What the console itself sends: places, erasing, looks, modes, repeats; the token of sync; nothing else.
ITS_OWN = re.compile(rb"\033\[[?]?[0-9;]*[@A-HJKLMPSTXbdfhlmrn]|\033\[2[23];0;0t|\033\[\?2026\$p|\033[()][0-9A-B]|\033[=>78M]|\033\]7717;t\d+\a|[\r\n\b]")
NEVER = re.compile("[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]")


def assert_clean(t, where):
    """All that was sent since the start is text and sequences of the console's own."""
    assert b"\033[99;1H" not in t.raw(), where
    left = ITS_OWN.sub(b"", t.raw())
    text = left.decode("utf-8")  # and whole characters
    bad = NEVER.search(text)
    assert not bad, (where, bad.group(), text[max(0, bad.start() - 60) : bad.start() + 60])


def hostile_home():
    home = console.named_home()
    events = []
    for number, text in enumerate(ALL):
        row = {"id": number, "name": text, "k" + text: text}
        events.append(weir.event(row, table="t%d%s" % (number, text), lsn=100 + number))
        events.append(weir.event({"id": text, "n": number}, table="keys", lsn=300 + number))
    lines = weir.feed(events, weir.id_key)
    for number, text in enumerate(ALL):
        lines += json.dumps({"id": "x%d" % number, "data": {"payload": "no event" + text, text: text}}) + "\n"
    lines += "no JSON at all " + "".join(text.replace("\n", "") for text in ALL) + "\n"
    home.write("feed", lines)
    console.ran(home, 1)
    for text in ALL:
        home.run("note", "note " + text)
    return home


PLACES = ("g o", "z", "j Enter", "q", "g t", "w", "j Enter", "q", "g d", "j", "Enter", "Enter", "q q", "g j", "w", "g L", "g b", "g c", "g a", "g h",
          "?", "q", "@", "q", ": m e s s a g e s Enter", "q")


def test_no_screen_hands_on_what_strangers_wrote():
    with hostile_home() as home:
        for cols, rows in ((100, 30), (80, 24), (60, 16), (44, 8)):
            with console.console(home, cols=cols, rows=rows) as t:
                t.sync()
                for keys in PLACES:
                    t.press(keys)
                    picture = t.picture()
                    assert not any("owned" == line.strip() for line in picture.lines)
                    assert_clean(t, (cols, keys))
                    for _ in range(3):
                        t.press("j")
                        assert_clean(t, (cols, keys, "j"))


def test_letters_are_shown_in_all_their_forms_and_stay_text():
    with hostile_home() as home, console.console(home, cols=100, rows=30) as t:
        t.sync()
        t.press("g d Enter Enter")
        for keys in ("Tab", "w", "x", "Tab", "z", "G", "n", "n", "n", "N", "C-d", "C-u"):
            t.press(keys)
            assert_clean(t, keys)


def test_columns_stand_under_their_heads_whatever_the_names_are_made_of():
    with hostile_home() as home, console.console(home, cols=100, rows=30) as t:
        t.press("g t")
        t.sync()
        picture = t.picture()
        head = next(row for row in picture.rows if "LAG" in "".join(cell.text for cell in row))
        # A wide character has its text in the first of its two cells: cells are counted, not characters.
        at = "".join(cell.text or " " for cell in head).index("LAG") + 2
        seen = 0
        for row in picture.rows:
            text = "".join(cell.text for cell in row)
            if re.search(r"shop\.", text):
                assert row[at].text in "-0123456789s" and row[at + 1].text == " ", (text, row[at].text)
                seen += 1
        assert seen >= 5, picture.lines


def test_the_hint_of_what_was_replaced_is_readable():
    with hostile_home() as home, console.console(home, cols=100, rows=30) as t:
        t.press(": j o u r n a l Enter")
        t.wait_for("note ")
        text = "\n".join(t.picture().lines)
        for shown in ("note \\x1b]0;owned\\x07", "note \\x1b[2J", "\\u202egnp.exe", "a\\u200bb\\ufeffc", WIDE):
            assert shown in text, (shown, text)


def test_messages_quote_what_was_typed_as_text():
    with console.broken_shop() as home, console.console(home) as t:
        for text in ALL:
            t.press(":")
            t.paste("nonsense" + text.replace("\r", "").replace("\n", ""))
            assert_clean(t, ("typed", text))
            t.press("Enter")
            assert_clean(t, ("said", text))
            t.press("Esc")
        t.press(": m e s s a g e s Enter")
        assert_clean(t, "messages")


def test_copied_text_cannot_end_its_sequence():
    with hostile_home() as home, console.console(home, cols=100, rows=30) as t:
        t.press("g d Enter Enter")
        t.press("y")
        t.press("Y")
        raw = t.raw()
        copies = re.findall(rb"\033\]52;c;([^\a\033]*)(\a|\033)", raw)
        assert copies and all(re.fullmatch(rb"[A-Za-z0-9+/]*=*", body) and end == b"\a" for body, end in copies), copies


def test_a_paste_never_runs_as_keys():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        before = home.run("journal", "--json").out
        for text in ("p", "q\rq\r", ":quit\r", "\x1a", "a\rp", "\033[B\033[A", "x" * 70000):
            t.paste(text)
            assert "paste dropped" in t.picture().lines[-1], (text[:10], t.picture().lines)
        assert home.run("journal", "--json").out == before


def test_a_paste_into_a_line_is_typed_and_not_run():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        before = home.run("journal", "--json").out
        t.press(":")
        t.paste("pause shop\rquit\r\nq")
        assert t.picture().lines[-1].startswith(":pause shop"), t.picture().lines
        assert home.run("journal", "--json").out == before
        t.press("Esc")
        t.press("/")
        t.paste("ord\ners\033[2J")
        assert t.picture().lines[-1].startswith("/ord"), t.picture().lines
        assert_clean(t, "filter")
        t.press("Esc")
        assert t.row("shop.orders") > 0


def test_a_paste_into_a_question_is_typed_and_does_not_answer_it():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        t.press("g d")
        t.press("a")
        t.press("X")
        t.wait_for("Type the count")
        t.paste("8\r\rwhy\r")
        assert "[8 " in t.picture().lines[t.row("Type the count")], t.picture().lines
        before = t.picture().golden()
        for cols, rows in ((44, 8), (44, 14), (19, 1), (500, 200), (80, 24)):
            t.resize(cols, rows)
            if rows > 10:
                assert "8" in t.picture().lines[t.row("Type the count")], (cols, t.picture().lines)
            elif cols > 19:
                assert t.picture().lines[-1].startswith("a question is open: a larger window shows")
                t.press("Enter 9 x")  # who cannot see it does not answer it
        assert t.picture().golden() == before
        assert len(home.letters("--group", "1")) == 8
        t.press("Esc")
        assert "nothing done" in t.picture().lines[-1]
        assert all(letter["state"] != "discarded" for letter in home.letters("--group", "1"))
