"""An engine that goes away, comes back, is another's version, is another console's too, or may only be looked at."""
import json
import os
import re
import signal
import socket
import threading

import between
import console
import screen
import test_access
import weir


def kill_engine(home):
    os.kill(home.run("engine", "status", "--json").last["pid"], signal.SIGKILL)


def test_killed_under_the_console_it_says_since_when_and_when_it_tries_again():
    with console.broken_shop() as home, console.console(home) as t:
        t.press("j")
        rows = t.picture().masked[4:8]
        kill_engine(home)
        t.wait_for("ENGINE NOT REACHABLE since ")
        picture = t.picture()
        assert picture.lines[0].startswith("weir  test  1 job  NOT KNOWN: engine not reachable"), picture.lines[0]
        assert re.match(r" ENGINE NOT REACHABLE since \d\d:\d\d:\d\dZ: [\w ]+\. Try \d+ in \d+ s\.$", picture.lines[1]), picture.lines[1]
        assert re.match(r" all below is \d+s old\. Replication may go on; only this look is blind\.$", picture.lines[2]), picture.lines[2]
        assert [line[1:] for line in picture.masked[6:10]] == [line[1:] for line in rows], picture.masked
        # Looks go on with what is there; acts say why they do not.
        t.press("g j")
        t.press("q")
        t.press("p")
        t.row("pause needs the engine: not reachable since ")
        t.press(": n o t e Space x Enter")
        t.row("note needs the engine: not reachable since ")
        assert home.run("engine", "start").code == 0
        t.wait_for("engine back after ")
        assert t.row("RED: 1 table needs you") == 0
        assert [line[1:] for line in t.picture().masked[4:8]] == [line[1:] for line in rows]
        assert not [line for line in home.run("journal", "--json").lines if line.get("what") == "pause"]


class Translator(between.Between):
    """Makes the real engine one of another protocol and version, as far as anybody can see."""

    def __init__(self, home, protocol, version):
        self.protocol, self.version = protocol, version
        self.calls = []
        super().__init__(home)

    def call(self, line):
        self.calls.append(json.loads(line).get("call"))
        return line

    def answer(self, line):
        frame = json.loads(line)
        if "hello" in frame:
            frame["hello"].update(protocol=self.protocol, version=self.version)
        return json.dumps(frame).encode() + b"\n"


class OtherEngine:
    """A socket server that greets as an engine of the version to come."""

    def __init__(self, path, answer):
        self.answer = answer
        if os.path.exists(path):
            os.unlink(path)
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(path)
        self.server.listen(16)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                session, _ = self.server.accept()
                session.recv(65536)
                session.sendall(json.dumps(self.answer).encode() + b"\n")
                session.close()
            except OSError:
                return

    def end(self):
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()


def test_an_engine_of_another_version_is_looked_at_and_not_acted_on():
    """Older and newer; each screen shows what its command says, each act is refused with a sentence and nothing is sent."""
    for protocol, version in ((0, "0.0.9"), (2, "9.1")):
        with console.broken_shop() as home:
            assert home.run("engine", "start").code == 0
            other = Translator(home, protocol, version)
            with console.console(home) as t:
                t.sync()
                lines = t.picture().lines
                assert lines[0].startswith("weir  test  1 job  RED: 1 table needs you"), lines[0]
                assert lines[1] == " ENGINE OF ANOTHER VERSION: looking works, acts are off.", lines[1]
                assert lines[2].startswith(" engine %s (protocol %d), console " % (version, protocol)), lines[2]
                assert lines[2].endswith(" (1). 'weir engine stop', then 'weir'"), lines[2]
                assert "p pause" not in lines[-2] and "acts" not in lines[-2], lines
                for keys, shown in (("g t", "shop.orders"), ("g d", "unknown_column"), ("g j", "engine"), ("g b", "received"), ("g h", "disk")):
                    t.press(keys)
                    t.row(shown)
                t.press("g o")
                for keys in ("p", ": n o t e Space x Enter", ": d r a i n Space s h o p Enter"):
                    t.press(keys)
                    assert " is off: the engine is of another version" in t.picture().lines[-1], (keys, t.picture().lines)
                assert not {"pause", "note", "drain"} & set(other.calls), other.calls
            # The command line does the same: looks with a note, acts are refused before they are sent.
            r = home.run("status", "--json")
            assert r.code == 1 and r.lines[0]["job"] == "shop", r
            assert b"looking works, acts are off" in r.err, r
            r = home.run("pause", "shop")
            assert r.code == 69 and b"protocol_differs: the engine speaks protocol %d, this program 1" % protocol in r.err, r
            assert "pause" not in other.calls
            # The remedy that both name is one that works.
            assert home.run("engine", "stop").code == 0
            other.server.close()


def test_an_engine_that_refuses_other_versions_takes_its_place():
    refusal = {"kind": "unreachable", "code": "protocol_differs", "next": "",
               "message": "this engine speaks protocol 2, the client 1; let both come from one version"}
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        kill_engine(home)
        other = OtherEngine(os.path.join(home.state, "weird.sock"), {"error": refusal})
        t.wait_for("ENGINE OF ANOTHER VERSION since ")
        assert " 2, " in t.picture().lines[2] and "one version" in t.picture().lines[2], t.picture().lines
        t.press("p")
        assert any(l.startswith(" pause is off: ") for l in t.picture().lines[-2:]), t.picture().lines
        assert t.row("shop.orders") > 0
        other.end()


def test_the_first_frame_says_that_it_asks_and_not_that_nothing_is_known():
    """All that was ever sent to the terminal is looked at, not only the last frame."""
    with console.broken_shop() as home:
        assert home.run("engine", "start").code == 0
        for _ in range(5):
            with console.console(home) as t:
                t.sync()
                assert t.row("RED: 1 table needs you") == 0
                assert b"NOT KNOWN" not in t.raw() and b"NOT REACHABLE" not in t.raw()


def test_restarted_in_good_order_it_is_back_and_acts_reach_the_new_one():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        assert home.run("engine", "stop").code == 0
        t.wait_for("ENGINE NOT REACHABLE since ")
        assert home.run("engine", "start").code == 0
        t.wait_for("engine back after ")
        t.press(": n o t e Space a f t e r Enter")
        t.wait_for("after")
        assert [line for line in home.run("journal", "--json").lines if line.get("text") == "after"]


def test_an_engine_of_production_is_marked_on_every_screen():
    with console.broken_shop() as home:
        home.write("home/config.json", json.dumps({"name": "prod-eu", "productionMark": True}))
        with console.console(home) as t:
            t.sync()
            for keys in ("g o", "g t", "g d", "g j", "?"):
                t.press(keys)
                assert re.match(r"weir  prod-eu .* PROD  \d\d:\d\d", t.picture().lines[0]), (keys, t.picture().lines[0])
        home.run("engine", "stop")
        with console.console(home, "--readonly") as t:
            t.sync()
            assert " PROD  READ-ONLY  " in t.picture().lines[0], t.picture().lines[0]


def test_two_consoles_see_each_others_acts():
    with console.broken_shop() as home, console.console(home) as one, console.console(home) as two:
        one.sync()
        two.sync()
        one.press(": n o t e Space f r o m - o n e Enter")
        two.wait_for("from-one")
        two.press(": n o t e Space f r o m - t w o Enter")
        one.wait_for("from-two")
        two.wait_for("from-two")


def test_a_console_that_only_looks_does_nothing():
    with console.broken_shop() as home, console.console(home, "--readonly") as t:
        t.sync()
        before = home.run("journal", "--json").lines
        assert "READ-ONLY" in t.picture().lines[0]
        assert "p pause" not in t.picture().lines[-2] and "acts" not in t.picture().lines[-2]
        for keys in ("p", ": n o t e Space x Enter", ": d r a i n Space s h o p Enter", ": m e r g e Space s h o p Enter",
                     ": j o b Space d e l e t e Space s h o p Enter", ": d l q Space r e p l a y Space - - g r o u p Space 1 Space - - y e s Enter",
                     ": d l q Space d i s c a r d Space - - g r o u p Space 1 Enter", ": d l q Space d i s c a r d Space - - g r o u p Space 1 Space - - c o n f i r m Space 8 Space - - w h y Space x Enter"):
            t.press(keys)
            assert "not done: this console was started with --readonly" in t.picture().lines[-1], (keys, t.picture().lines)
        # Operator's check 15: nothing has changed, and the tries are in the journal.
        after = home.run("journal", "--json").lines
        tries = [line for line in after if line.get("phase") == "refused"]
        names = ["pause", "note", "drain", "merge", "job delete", "dlq replay", "dlq discard", "dlq discard"]
        assert [line["what"] for line in tries] == names, tries  # the second of a minute is counted
        assert all(line["code"] == "not_allowed" for line in tries), tries
        assert all("--readonly" in line["message"] for line in tries if not line.get("more")), tries
        assert [line for line in after if line.get("phase") != "refused"] == before


def test_who_may_only_look_is_told_so_and_his_try_is_in_the_journal():
    with test_access.Shared() as home:
        home.replicated()
        viewer = home.viewer
        command = ["setpriv", "--reuid", str(viewer.pw_uid), "--regid", str(viewer.pw_gid), "--groups", str(home.group.gr_gid),
                   os.path.join(home.build, "weir"), "--theme", screen.THEME]
        with screen.Terminal(command, env=home.env, cwd="/") as t:
            t.wait_for("READ-ONLY")
            for keys, name in (("p", "pause"), (": n o t e Space x Enter", "note"), (": d r a i n Space s h o p Enter", "drain"),
                               (": d l q Space d i s c a r d Space - - g r o u p Space 1 Space - - c o n f i r m Space 8 Space - - w h y Space x Enter", "dlq discard")):
                t.press(keys)
                said = "not done: you only look (%s, uid %d); %s needs operate" % (viewer.pw_name, viewer.pw_uid, name)
                assert said in t.picture().lines[-1], (keys, t.picture().lines)
                tries = [a for a in test_access.journal(home) if a.get("phase") == "refused" and a["what"] == name]
                assert len(tries) == 1 and tries[0]["uid"] == viewer.pw_uid, (name, tries)
