"""What a person does through the console, checked by the command line and by the journal: what was done, and nothing else."""
import base64
import re

import console
from lists import line, steps


def job(home, name="shop"):
    return home.run("job", "show", name, "--json").last


def table(home, name="shop.orders"):
    return next(t for t in home.run("tables", "--json").lines if t["table"] == name)


def group(home, number=1):
    return next(g for g in home.run("dlq", "groups", "--json").lines if g["group"] == number)


def acts(home):
    """Of each act of the journal that has ended: (what, arguments, exit or the code of its refusal), oldest first."""
    lines = [line for line in home.run("journal", "--limit", "0", "--json").lines if line["kind"] == "act"]
    return [(line["what"], line["args"], line.get("exit", line.get("code"))) for line in lines if line["phase"] != "before"]


def last(home):
    return acts(home)[-1]


def assert_done(home, what, **args):
    """The newest act of the journal is this one with these arguments, and it went well."""
    assert last(home) == (what, args, 0), last(home)


def running_shop(home):
    r = home.run("start", "shop", "--json")
    assert r.code == 0, r
    return home


def status(picture):
    return picture.lines[-1]


def test_a_table_is_paused_and_goes_on_by_the_same_key():
    with console.broken_shop() as home, console.console(running_shop(home)) as t:
        t.wait_for("> NEEDS YOU    shop.orders")
        steps(t, "p")
        t.wait_for("paused")
        assert table(home).get("paused"), table(home)
        assert_done(home, "pause", job="shop", table="shop.orders")
        steps(t, "p")
        t.wait_for(lambda picture: last(home)[0] == "resume")
        assert_done(home, "resume", job="shop", table="shop.orders")
        assert not table(home).get("paused"), table(home)


def test_a_job_is_paused_and_goes_on_by_its_line():
    with console.broken_shop() as home, console.console(running_shop(home)) as t:
        line(t, "job shop")
        line(t, "pause shop")
        t.wait_for(lambda picture: job(home)["own_state"] == "paused")
        assert_done(home, "pause", job="shop")
        line(t, "resume shop")
        t.wait_for(lambda picture: job(home)["own_state"] not in ("paused", "stopped"))
        assert_done(home, "resume", job="shop")


def test_a_job_is_stopped_started_and_drained():
    with console.broken_shop() as home, console.console(running_shop(home)) as t:
        steps(t, "k")
        t.row("acts")
        for letter, act, is_running in (("t", "stop", False), ("s", "start", True), ("d", "drain", False)):
            steps(t, "a " + letter)
            t.wait_for(lambda picture: job(home)["running"] == is_running and last(home)[0] == act)
            assert_done(home, act, job="shop")
        assert job(home)["own_state"] == "stopped"


def test_the_line_does_what_the_menu_does():
    lines = [("start shop", "start", {"job": "shop"}), ("merge shop", "merge", {"job": "shop"}), ("stop shop", "stop", {"job": "shop"}),
             ("merge shop shop.orders --rebuild", "merge", {"job": "shop", "table": "shop.orders", "rebuild": True}),
             ("start shop", "start", {"job": "shop"}), ("drain shop", "drain", {"job": "shop"}),
             ("dlq replay --group 1 --job shop --yes", "dlq replay", {"group": 1, "job": "shop", "yes": True})]
    with console.broken_shop() as home, console.console(home) as t:
        for text, what, args in lines:
            count = len(acts(home))
            line(t, text)
            t.wait_for(lambda picture: len(acts(home)) == count + 1)
            assert last(home)[:2] == (what, args), (text, last(home))
        steps(t, "@")
        for text, _, _ in lines:
            t.row(text)


def test_merge_now_and_rebuild():
    with console.broken_shop() as home, console.console(home) as t:
        for letter, more in (("m", {}), ("v", {"rebuild": True})):
            steps(t, "a " + letter)
            t.wait_for(lambda picture: last(home)[1] == {"job": "shop", "table": "shop.orders", **more})
            assert_done(home, "merge", job="shop", table="shop.orders", **more)
        home.verify()


def test_a_group_is_replayed_when_its_cause_is_gone():
    with console.broken_shop() as home, console.console(home) as t:
        assert group(home)["open"] == 8
        line(t, "job set shop schemaChanges=add")
        t.wait_for(lambda picture: last(home)[0] == "job set")
        steps(t, "g d a w")
        t.wait_for(lambda picture: group(home)["open"] == 0)
        t.wait_for("8 done")
        assert_done(home, "dlq replay", group=1, job="shop", yes=True)
        assert table(home)["open_letters"] == 0 and home.sql("select count(*), count(phone) from orders") == [(40, 8)], table(home)
        steps(t, "g o")
        t.wait_for("ok: nothing needs you")
        home.verify()


def test_a_replay_that_is_typed_asks_with_its_count_and_says_what_came_of_it():
    with console.broken_shop() as home, console.console(home) as t:
        steps(t, "Enter")
        steps(t, "2 Enter")
        t.wait_for("8 letters of group 1 of job 'shop' would be replayed?")
        steps(t, "Esc")
        assert group(home)["open"] == 8 and "dlq replay" not in [what for what, _, code in acts(home) if code in (0, 1)]
        asked = "dlq replay --group 1 --job shop: asked, not done: 8 letters of group 1 of job 'shop' would be replayed"
        assert asked.encode() in home.run("journal").out, home.run("journal").out
        steps(t, "g j")
        t.row("dlq replay --group 1 --job shop: asked, not done: ")
        steps(t, "q 2 Enter")
        t.wait_for("would be replayed?")
        t.row("Same as")
        steps(t, "Enter")
        t.wait_for("group 1: 0 done, 0 no effect, 8 failed again, 0 left")
        assert last(home) == ("dlq replay", {"group": 1, "job": "shop", "yes": True}, 1), last(home)


def test_a_wrong_count_discards_nothing_and_the_right_one_with_a_reason_does():
    with console.broken_shop() as home, console.console(home) as t:
        steps(t, "g d a X")
        t.wait_for("discard 8 dead letters")
        before = len(acts(home))
        steps(t, "7 Tab")
        t.type("test data")
        steps(t, "Enter")
        t.row("that is not it: nothing has been done")
        assert group(home)["open"] == 8 and len(acts(home)) == before
        steps(t, "Backspace 8 Enter")
        t.wait_for(lambda picture: group(home)["open"] == 0)
        assert_done(home, "dlq discard", group=1, job="shop", confirm=8, why="test data")


def test_a_right_count_without_a_reason_discards_nothing():
    with console.broken_shop() as home, console.console(home) as t:
        steps(t, "g d a X")
        t.wait_for("discard 8 dead letters")
        before = len(acts(home))
        steps(t, "8 Enter Enter")
        t.row("a reason is needed: nothing has been done")
        steps(t, "Esc")
        t.row("nothing done")
        assert group(home)["open"] == 8 and len(acts(home)) == before


def test_a_letter_is_discarded_and_its_group_stays():
    """In the menu of a letter x is the letter; the group has an act of its own there, and not that one."""
    with console.broken_shop() as home, console.console(home) as t:
        steps(t, "g d Enter j Enter a x")
        t.wait_for("discard 1 dead letter")
        steps(t, "1 Tab")
        t.type("checked by hand")
        steps(t, "Enter")
        t.wait_for(lambda picture: group(home)["open"] == 7)
        assert [letter["id"] for letter in home.letters() if letter["state"] == "discarded"] == [2]
        assert_done(home, "dlq discard", id=2, job="shop", confirm=1, why="checked by hand")


def test_a_discard_on_the_line_asks_the_same():
    with console.broken_shop() as home, console.console(home) as t:
        line(t, "dlq discard --group 1 --why 'no need'")
        t.wait_for("discard 8 dead letters")
        t.row("no need")
        steps(t, "8 Enter Enter")
        t.wait_for(lambda picture: group(home)["open"] == 0)
        assert_done(home, "dlq discard", group=1, job="shop", confirm=8, why="no need")


def test_a_job_is_deleted_only_when_its_name_is_typed():
    with console.broken_shop() as home, console.console(home) as t:
        steps(t, "k a z")
        t.wait_for("delete job shop")
        t.type("shpo")
        steps(t, "Enter")
        t.row("that is not it: nothing has been done")
        steps(t, "C-u")
        t.type("shop")
        steps(t, "Tab")
        t.type("moved")
        steps(t, "Enter")
        t.wait_for(lambda picture: not home.run("job", "list", "--json").out)
        assert_done(home, "job delete", job="shop", yes=True, why="moved")
        t.wait_for("0 jobs")


def test_a_running_job_is_not_deleted():
    with console.broken_shop() as home, console.console(running_shop(home)) as t:
        steps(t, "k a z")
        assert "delete job: it is not stopped" in status(t.picture()), status(t.picture())
        steps(t, "Esc")
        line(t, "job delete shop")
        t.wait_for("delete job shop")
        t.type("shop")
        steps(t, "Tab")
        t.type("moved")
        steps(t, "Enter")
        t.wait_for(lambda picture: last(home)[0] == "job delete")
        assert home.run("job", "list", "--json").out
        assert last(home)[2] == "wrong_state", last(home)


def copied(t, keys):
    t.raw()
    steps(t, keys)
    found = re.findall(rb"\033\]52;c;([A-Za-z0-9+/=]*)\a", t.raw())
    assert found, "nothing was copied by " + keys
    return base64.b64decode(found[-1]).decode()


def test_what_is_copied_can_be_pasted_elsewhere():
    with console.broken_shop() as home, console.console(home) as t:
        steps(t, "Enter")
        t.row("first bad event")
        finding = copied(t, "Y")
        for fact in ("shop.orders", "unknown_column", "line 45", "message id 45", "no column phone", "schemaChanges is reject"):
            assert fact in finding, (fact, finding)
        steps(t, "g d Enter")
        assert copied(t, "y") == "1"
        assert "unknown_column" in copied(t, "Y")


def test_a_refused_act_says_why_and_changes_nothing():
    with console.broken_shop() as home, console.console(home) as t:
        line(t, "pause shop shop.nothing")
        t.wait_for("job 'shop' has no table 'shop.nothing'")
        assert last(home) == ("pause", {"job": "shop", "table": "shop.nothing"}, "table_unknown")
        line(t, "pause shop")
        t.wait_for(lambda picture: last(home) == ("pause", {"job": "shop"}, "wrong_state"))
        assert job(home)["own_state"] == "stopped"
        steps(t, "@")
        assert t.row("pause shop") < t.row("pause shop shop.nothing")


def test_history_and_completion_of_the_line():
    with console.broken_shop() as home, console.console(home) as t:
        line(t, "note 'first of all'")
        t.wait_for("noted")
        assert home.run("journal", "--json").last["text"] == "first of all"
        steps(t, ": Up")
        t.row(":note 'first of all'")
        steps(t, "Esc :")
        t.type("expl")
        steps(t, "Tab")
        t.row(":explain")
        steps(t, "C-u")
        t.type("explain unknown_col")
        steps(t, "Tab")
        t.row(":explain unknown_column")
        steps(t, "Enter")
        assert "explain unknown_column" in t.picture().lines[0]
        steps(t, ":")
        t.type("nonsense")
        steps(t, "Enter")
        assert "'nonsense' is no command" in status(t.picture())
        steps(t, ": Up")
        t.row(":nonsense")


def test_two_consoles_see_each_others_acts():
    with console.broken_shop() as home, console.console(running_shop(home)) as one, console.console(home) as two:
        one.wait_for("> NEEDS YOU    shop.orders")
        steps(two, "g j")
        steps(one, "p")
        two.wait_for("pause shop shop.orders")
        steps(two, "g t")
        two.wait_for(lambda picture: any("shop.orders" in row for row in picture.lines) and table(home).get("paused"))
        line(two, "resume shop shop.orders")
        steps(one, "g j")
        one.wait_for("resume shop shop.orders")
        assert not table(home).get("paused")
