"""Conversations with the engine that use nothing but socat: what core/control/PROTOCOL.md promises."""
import json
import os
import re
import shutil
import signal
import subprocess
import time

import weir

EVENTS = [weir.event({"id": i, "n": i}, lsn=100 + i) for i in range(10)]
BAD = {"id": "99", "data": {"payload": "neither"}}


class Socat:
    """Lines in, lines out."""

    def __init__(self, home, hello=True):
        if not shutil.which("socat"):
            raise weir.Skip("socat is not installed")
        self.p = subprocess.Popen(["socat", "-t", "0.2", "-", "UNIX-CONNECT:" + os.path.join(home.state, "weird.sock")],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.rest = b""
        self.events = []
        home.children.append(self.p)
        if hello:
            self.send({"hello": {"protocol": 1}})
            assert self.read()["hello"]["protocol"] == 1

    def send(self, frame):
        self.p.stdin.write((frame if isinstance(frame, bytes) else json.dumps(frame).encode()) + b"\n")

    def read(self):
        while b"\n" not in self.rest:
            chunk = os.read(self.p.stdout.fileno(), 65536)
            if not chunk:
                return None
            self.rest += chunk
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def call(self, name, /, number=1, **args):
        """Lines and the end of one call; events between are kept."""
        self.send({"id": number, "call": name, "args": args})
        lines = []
        while True:
            frame = self.read()
            assert frame is not None, "closed during " + name
            if "event" in frame:
                self.events.append(frame)
            elif "line" in frame:
                assert frame["id"] == number, frame
                lines.append(frame["line"])
            elif "note" not in frame:
                assert frame["id"] == number, frame
                return lines, frame

    def fine(self, name, **args):
        lines, end = self.call(name, **args)
        assert "ok" in end, (name, end)
        return lines

    def event(self, topic, until=lambda event: True, wait=20):
        """The next event of that topic that is as wanted."""
        by = time.monotonic() + wait
        seen = 0
        while time.monotonic() < by:
            for event in self.events[seen:]:
                if event["event"] == topic and until(event):
                    return event
            seen = len(self.events)
            self.call("sync")
            time.sleep(0.05)
        raise AssertionError("no such event of %s in %s" % (topic, [e for e in self.events if e["event"] == topic][-3:]))

    def close(self):
        self.p.kill()
        self.p.wait(30)


def followed(home, name="shop", **parameters):
    """A started job on a feed that may grow; gives the feed's path."""
    feed = home.write("feed", weir.feed(EVENTS, weir.id_key))
    for args in (("job", "create", home.job(feed, name, **parameters)), ("start", name)):
        r = home.run(*args)
        assert r.code == 0, r
    return feed


def append(feed, *events):
    with open(feed, "a") as f:
        for e in events:
            f.write(json.dumps(e if "data" in e else {"data": e, "key": json.dumps({"id": e["after"]["id"]})}) + "\n")


def test_hello_call_subscribe_events_sync_unsubscribe():
    with weir.Home() as home:
        feed = followed(home)
        s = Socat(home)
        assert s.fine("status")[0]["job"] == "shop"
        _, end = s.call("subscribe", topics=["jobs", "job:shop", "tables:shop", "dlq:shop", "journal", "logs:info"])
        assert sorted(end["ok"]["topics"]) == sorted(["jobs", "job:shop", "tables:shop", "dlq:shop", "journal", "logs:info"]), end
        s.event("jobs", lambda e: e["jobs"][0]["job"] == "shop" and e["jobs"][0]["written"] == 10)
        s.event("tables:shop", lambda e: e["whole"])
        append(feed, weir.event({"id": 100, "n": 1}, lsn=1000), BAD)
        s.event("job:shop", lambda e: e["job"]["received"] == 12 and e["job"]["activity"])
        s.event("tables:shop", lambda e: any(t["table"] == "shop.t" and t["written"] == 11 for t in e["tables"]))
        s.event("dlq:shop", lambda e: e["dead_lettered"] == 1)
        s.fine("note", text="a note of the test")
        s.event("journal", lambda e: "a note of the test" in json.dumps(e["lines"]))
        assert [e["seq"] for e in s.events] == list(range(1, len(s.events) + 1))
        _, end = s.call("unsubscribe", topics=["jobs", "job:shop", "tables:shop", "dlq:shop", "journal", "logs:info"])
        assert end["ok"]["topics"] == [], end
        seq = end["ok"]["seq"]
        append(feed, weir.event({"id": 101, "n": 1}, lsn=1001))
        time.sleep(2.5)
        _, end = s.call("sync")
        assert end["ok"]["seq"] == seq and s.events[-1]["seq"] == seq, end
        s.close()


def test_topics_show_the_state_that_status_shows():
    """The worst of the job's own and its tables', also when a table comes to need somebody, is paused, or is well again."""
    with weir.Home() as home:
        feed = followed(home)
        s = Socat(home)
        s.fine("subscribe", topics=["jobs", "job:shop"])

        def both(state, own):
            s.events.clear()
            for topic, job in (("jobs", lambda e: e["jobs"][0]), ("job:shop", lambda e: e["job"])):
                s.event(topic, lambda e: (job(e)["state"], job(e)["own_state"]) == (state, own))
            shown = s.fine("status")[0]
            assert (shown["state"], shown["own_state"]) == (state, own), shown

        s.event("jobs", lambda e: e["jobs"][0]["state"] == "ok" and e["jobs"][0]["written"] == 10)
        append(feed, BAD)
        both("needs you", "ok")
        assert home.run("dlq", "discard", "--group", "1", "--confirm", "1", "--why", "of the test").code == 0
        both("ok", "ok")
        assert home.run("pause", "shop", "t").code == 0
        both("paused", "ok")
        assert home.run("resume", "shop", "t").code == 0
        both("ok", "ok")
        append(feed, BAD)
        both("needs you", "ok")
        assert home.run("drain", "shop").code == 0
        both("needs you", "stopped")
        s.close()


def test_nothing_new_no_event():
    with weir.Home() as home:
        followed(home)
        s = Socat(home)
        s.fine("subscribe", topics=["jobs", "tables:shop", "dlq:shop"])
        # The rates fall back to nothing within the seconds that they are a mean of.
        at = s.event("jobs", lambda e: e["jobs"][0]["rates"]["received"] > 0)["seq"]
        s.event("jobs", lambda e: e["jobs"][0]["rates"]["received"] == 0 and e["seq"] > at, wait=30)
        before = len(s.events)
        time.sleep(2.2)
        s.call("sync")
        assert len(s.events) == before, s.events[before:]
        s.close()


def test_a_topic_comes_at_most_once_a_second():
    with weir.Home() as home:
        feed = followed(home)
        s = Socat(home)
        s.fine("subscribe", topics=["job:shop"])
        began = time.monotonic()
        while time.monotonic() - began < 4:
            append(feed, weir.event({"id": 200, "n": int(time.time() * 1000)}, lsn=int(time.time() * 1000)))
            time.sleep(0.05)
        s.fine("unsubscribe", topics=["job:shop"])
        assert 2 <= len(s.events) <= 6, len(s.events)
        s.close()


def minimal(args, home):
    """The least that a usage text of the command table asks for."""
    words = re.sub(r"--\S+ [A-Z]+(\|--\S+ [A-Z]+)*", "", re.sub(r"\[[^]]*\]", "", args)).split()
    values = {"JOB": ("job", "shop"), "FILE|JOB": ("job", "shop"), "FILE": ("file", home.file("shop.json")), "TABLE": ("table", "t"),
              "ID": ("id", 1), "TEXT": ("text", "a note"), "CODE": ("code", "bad_frame"), "NAME": ("name", "prod-key"),
              "NAME=VALUE": ("name=values", ["updateFrequencySecs=1"])}
    return dict(values[w] for w in words if w != "...")


# The options that are needed.
MORE = {"secret_put": {"sealed_secret": "AAAA"}, "secret_unlock": {"sealed_secret": "AAAA"}, "dlq_replay": {"group": 1, "yes": True}, "dlq_discard": {"group": 1, "confirm": 1, "why": "of the test"}}


def table():
    """Rows of commands.def that the engine answers, as (call, usage)."""
    with open(os.path.join(weir.ROOT, "core", "control", "commands.def")) as f:
        text = f.read()
    rows = re.findall(r'^COMMAND\((\w+), "[^"]*",\s*((?:"[^"]*"\s*)+),\s*\w+,\s*(\w+)', text, re.M)
    assert len(rows) > 15, rows
    return [(id, "".join(re.findall(r'"([^"]*)"', usage))) for id, usage, place in rows if place == "ENGINE"]


def test_every_command_of_the_table_answers():
    """With the least arguments: an answer in the protocol's form, and the session lives on."""
    with weir.Home() as home:
        feed = followed(home)
        append(feed, BAD)
        s = Socat(home)
        s.fine("subscribe", topics=["jobs"])
        s.event("jobs", lambda e: e["jobs"][0]["dead_lettered"] == 1)
        last = ("run", "job_delete", "engine_stop")
        calls = [row for row in table() if row[0] not in last] + [row for row in table() if row[0] in last[1:]]
        for id, usage in calls:
            lines, end = s.call(id, number=77, **minimal(usage, home), **MORE.get(id, {}))
            if "error" in end:
                error = end["error"]
                assert error["code"] and error["message"] and error["kind"] not in ("bug", "usage") or id.startswith(("dlq_", "secret_", "seek")), (id, end)
                assert error["code"] not in ("bad_argument", "unknown_command"), (id, end)
            else:
                assert end["ok"]["exit"] in (0, 1), (id, end)
            if id != "engine_stop":
                assert s.call("sync")[1].get("ok"), id
        # The engine ends when it was asked to, and closes what is left.
        while s.read() is not None:
            pass
        s.close()


def test_every_command_tells_its_usage():
    for id, usage in table():
        words = {"dlq": 2, "job": 2, "engine": 2, "debug": 2, "secret": 2}
        name = id.split("_")
        argv = [name[0], "_".join(name[1:])] if name[0] in words and len(name) > 1 else [id]
        r = subprocess.run([os.path.join(weir.BUILD, "weir"), *argv, "--help"], stdout=subprocess.PIPE)
        assert r.returncode == 0 and b"usage: weir " + " ".join(argv).encode() in r.stdout and b"--json" in r.stdout, (argv, r)


def test_half_a_conversation_is_still_answered():
    """printf ... | socat: the sending half is closed at once."""
    if not shutil.which("socat"):
        raise weir.Skip("socat is not installed")
    with weir.Home() as home:
        followed(home)
        r = subprocess.run(["socat", "-t", "10", "-", "UNIX-CONNECT:" + os.path.join(home.state, "weird.sock")], timeout=30, stdout=subprocess.PIPE,
                           input=b'{"hello":{"protocol":1}}\n{"id":1,"call":"job.list"}\n{"id":2,"call":"tables"}\n{"id":3,"call":"sync"}\n')
        frames = [json.loads(line) for line in r.stdout.splitlines()]
        assert "hello" in frames[0] and [f["id"] for f in frames if "ok" in f] == [1, 2, 3], frames


def test_wrong_topics_are_told():
    with weir.Home() as home:
        followed(home)
        s = Socat(home)
        for topics in (["nothing"], ["job"], ["job:"], ["logs:loud"], ["jobs:x"]):
            assert s.call("subscribe", topics=topics)[1]["error"]["code"] == "unknown_topic"
        for args in ({}, {"topics": "jobs"}, {"topics": [1]}):
            assert s.call("subscribe", **args)[1]["error"]["code"] == "bad_argument"
        _, end = s.call("subscribe", topics=["job:n%d" % i for i in range(65)])
        assert end["error"]["code"] == "too_many_topics", end
        s.close()


def resident(pid):
    with open("/proc/%d/statm" % pid) as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_a_session_that_never_reads_slows_nobody():
    """It subscribes to everything and asks for much; jobs and other sessions go on, memory stays, and it is closed."""
    with weir.Home() as home:
        feed = followed(home)
        deaf = Socat(home)
        os.kill(deaf.p.pid, signal.SIGSTOP)
        r = home.run("engine", "status", "--json")
        pid = r.last["pid"]
        import socket
        raw = socket.socket(socket.AF_UNIX)
        raw.connect(os.path.join(home.state, "weird.sock"))
        raw.sendall(b'{"hello":{"protocol":1}}\n{"id":1,"call":"subscribe","args":{"topics":["jobs","job:shop","tables:shop","logs:debug","journal"]}}\n')
        before = resident(pid)
        raw.settimeout(1)
        try:
            for i in range(20000):
                raw.sendall(b'{"id":%d,"call":"tables","args":{"schema":true}}\n' % i)
        except socket.timeout:
            pass
        for i in range(20):  # two seconds and more
            append(feed, weir.event({"id": 300 + i, "n": 1}, lsn=3000 + i))
            began = time.monotonic()
            assert home.run("status", "--json").code == 0
            assert time.monotonic() - began < 3, "another session had to wait"
            time.sleep(0.1)
        until = time.monotonic() + 20
        while home.run("tables", "--json").last["written"] != 30:
            assert time.monotonic() < until, "the job does not go on"
            time.sleep(0.1)
        if "asan" not in weir.BUILD and "tsan" not in weir.BUILD:
            assert resident(pid) - before < 16 << 20, resident(pid) - before
        # Closed ten seconds after it took its last byte, with a margin for a busy machine: what is read then ends.
        time.sleep(14)
        raw.settimeout(20)
        try:
            while raw.recv(1 << 20):
                pass
        except ConnectionResetError:
            pass
        os.kill(deaf.p.pid, signal.SIGCONT)


def test_an_object_over_a_mebibyte_is_said_to_be_missing():
    with weir.Home() as home:
        keys = {"t\u202e%05d" % i + "\u202e" * 60: ["id"] for i in range(4000)}
        with open(home.job(home.write("feed", ""), primaryKey=keys)) as f:
            job = json.load(f)
        # Three bytes each in the file, six on the wire.
        r = home.run("job", "create", home.write("shop.json", json.dumps(job, ensure_ascii=False)))
        assert r.code == 0, r
        r = home.run("job", "show", "shop", "--json")
        assert r.code == 1 and r.out == b"" and b"left out" in r.err, r
        assert home.run("status", "--json").code == 0


def test_the_65th_session_is_told():
    with weir.Home() as home:
        followed(home)
        import socket
        held = []
        for _ in range(64):
            c = socket.socket(socket.AF_UNIX)
            c.connect(os.path.join(home.state, "weird.sock"))
            c.sendall(b'{"hello":{"protocol":1}}\n')
            assert b"hello" in c.recv(1000)
            held.append(c)
        r = home.run("status", "--json")
        assert r.code == 69 and r.error["code"] == "too_many_sessions", r
        held.pop().close()
        for _ in range(50):
            r = home.run("status", "--json")
            if r.code == 0:
                break
            time.sleep(0.1)
        assert r.code == 0, r
