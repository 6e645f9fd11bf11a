"""Keys that come before the view which they are meant for: they act on what comes, or say that they do not."""
import json
import threading

import between
import console


class SlowEngine(between.Between):
    """Answers to some calls are held back until they are let go."""

    def __init__(self, home, held):
        self.held, self.asked = held, []
        self.may_go = threading.Event()
        self.changed = threading.Condition()
        super().__init__(home)

    def call(self, line):
        call = json.loads(line).get("call")
        with self.changed:
            self.asked.append(call)
            self.changed.notify_all()
        if call in self.held:
            self.may_go.wait()
        return line

    def wait_asked(self, call):
        with self.changed:
            assert self.changed.wait_for(lambda: call in self.asked, 20), self.asked

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.may_go.set()
        self.end()


def behind(home, held):
    assert home.run("engine", "start").code == 0
    return SlowEngine(home, held)


def test_keys_right_behind_a_place_act_on_it_when_it_comes():
    with console.broken_shop() as home, behind(home, ("dlq.groups",)) as engine, console.console(home) as t:
        t.sync()
        t.send(b"gd\rj\r")
        engine.wait_asked("dlq.groups")
        t.wait_shown("3 keys for what comes; Esc forgets")
        engine.may_go.set()
        # Enter opened the group, j went to its second letter, Enter opened that.
        t.wait_for(lambda picture: picture.lines[0].startswith("weir  test  letter 2 "))


def test_all_at_once_is_the_same_as_one_after_the_other():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        t.send(b"gd\rj\r")
        t.sync()
        assert t.picture().lines[0].startswith("weir  test  letter 2 "), t.picture().lines[0]
        t.send(b"q")
        t.sync()
        t.send(b"go:tables shop\rj\r")
        t.sync()
        assert t.picture().lines[0].startswith("weir  test  why "), t.picture().lines[0]


def test_what_is_typed_onto_the_line_ahead_arrives_whole():
    with console.broken_shop() as home, behind(home, ("tables",)) as engine, console.console(home) as t:
        t.sync()
        t.send("gt:note na\u00efve, \u4e2d\r".encode())
        engine.wait_asked("tables")
        engine.may_go.set()
        t.wait_for("noted")
        notes = [line["text"] for line in home.run("journal", "--json").lines if line["kind"] == "note"]
        assert notes == ["na\u00efve, \u4e2d"], notes


def test_an_act_that_was_pressed_ahead_is_refused_in_words_and_so_is_what_follows():
    with console.broken_shop() as home, behind(home, ("tables",)) as engine, console.console(home) as t:
        t.sync()
        t.send(b"gtpj\r")
        engine.wait_asked("tables")
        engine.may_go.set()
        t.wait_for("p was pressed before the view was there; look, then press it again")
        assert t.picture().lines[0].startswith("weir  test  tables"), t.picture().lines[0]
        assert "pause" not in engine.asked
        t.press("p")
        t.wait_for("paused ")


def test_escape_forgets_what_was_typed_ahead_and_no_answer_does_too():
    with console.broken_shop() as home, behind(home, ("tables",)) as engine, console.console(home) as t:
        t.sync()
        t.send(b"gtjj")
        t.wait_shown("2 keys for what comes; Esc forgets")
        t.send(b"\033")
        t.wait_shown("what was typed ahead is forgotten")
        t.send(b"G")
        t.wait_shown("1 key for what comes; Esc forgets")
        t.wait_shown("no answer yet; what was typed ahead is forgotten")
        # A way out needs no answer.
        t.send(b"q")
        t.wait_shown("RED: 1 table needs you")
        engine.may_go.set()


def test_a_job_stands_behind_every_place_that_takes_one():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        for line, title in (("tables shop", "tables of shop"), ("journal shop", "journal of shop"), ("logs shop", "logs of shop"),
                            ("dlq shop", "dead letters"), ("dead-letters shop", "dead letters"), ("balance shop", "balance  job shop"),
                            ("schema shop", "schema of shop"), ("job shop", "job shop"), ("status shop", "job shop"),
                            ("why shop shop.orders", "why shop.orders"), ("tables --job shop", "tables of shop")):
            t.press("g o")
            t.type(":" + line + "\r")
            assert t.picture().lines[0].startswith("weir  test  " + title), (line, t.picture().lines[0], t.picture().lines[-1])
        for line, said in (("tables --job", "needs a value"), ("dlq groups shop x", "one argument too many"), ("pause", "needs JOB")):
            t.type(":" + line + "\r")
            assert said in t.picture().lines[-1], (line, t.picture().lines[-1])
