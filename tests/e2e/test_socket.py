"""The socket: hello, one call a command, bad clients; weir links no SQLite."""
import json
import os
import signal
import socket
import subprocess
import time

import weir

FEED = weir.feed([weir.event({"id": i, "n": i}, lsn=100 + i) for i in range(10)], weir.id_key)


class Client:
    def __init__(self, home, hello=True):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.settimeout(20)
        self.s.connect(os.path.join(home.state, "weird.sock"))
        self.f = self.s.makefile("rwb")
        if hello:
            self.send({"hello": {"protocol": 1, "program": "test"}})
            assert "hello" in self.read()

    def send(self, frame):
        self.f.write(json.dumps(frame).encode() + b"\n")
        self.f.flush()

    def read(self):
        line = self.f.readline()
        return json.loads(line) if line else None

    def call(self, name, **args):
        self.send({"id": 7, "call": name, "args": args})
        lines = []
        while True:
            frame = self.read()
            assert frame["id"] == 7, frame
            if "line" not in frame:
                return lines, frame
            lines.append(frame["line"])

    def close(self):
        self.f.close()
        self.s.close()


def engine(home):
    home.replicate(home.write("feed", FEED))
    home.letters()


def test_hello_and_a_call():
    with weir.Home() as home:
        engine(home)
        c = Client(home)
        lines, last = c.call("tables")
        assert lines[0]["table"] == "shop.t" and last["ok"] == {"exit": 0}, (lines, last)
        lines, last = c.call("no.such")
        assert last["error"]["code"] == "unknown_command" and last["error"]["next"], last
        lines, last = c.call("why")
        assert last["error"]["code"] == "bad_argument", last
        c.close()


def test_calls_in_a_row_without_waiting():
    with weir.Home() as home:
        engine(home)
        c = Client(home)
        for i in range(50):
            c.send({"id": i, "call": "tables", "args": {}})
        seen = []
        while len(seen) < 50:
            frame = c.read()
            if "ok" in frame:
                seen.append(frame["id"])
        assert seen == list(range(50))
        c.close()


def ask(c, number, call, **args):
    """The last frame of the answer."""
    c.send({"id": number, "call": call, "args": args})
    while True:
        frame = c.read()
        if frame is None or "ok" in frame or "error" in frame:
            return frame


def test_another_version_looks_and_ends_the_engine_and_does_nothing_else():
    with weir.Home() as home:
        home.write("feed", weir.feed([weir.event({"id": 1})], weir.id_key))
        engine(home)
        for protocol in (2, 99):
            c = Client(home, hello=False)
            c.send({"hello": {"protocol": protocol}})
            hello = c.read()["hello"]
            assert hello["protocol"] == 1 and hello["version"] and hello["access"] == "admin", hello
            assert ask(c, 1, "status") == {"id": 1, "ok": {"exit": 0}}
            assert ask(c, 2, "subscribe", topics=["jobs"])["ok"]["topics"] == ["jobs"]
            for call in ("note", "pause", "run", "job.create"):
                answer = ask(c, 3, call, job="shop", text="x")
                assert answer["error"]["code"] == "protocol_differs" and "acts are off" in answer["error"]["message"], answer
            c.close()
        tries = [line for line in home.run("journal", "--json").lines if line.get("phase") == "refused"]
        assert {line["what"] for line in tries} == {"note", "pause", "run", "job create"}, tries
        assert all(line["code"] == "protocol_differs" for line in tries if not line.get("more")), tries
        c = Client(home, hello=False)
        c.send({"hello": {"protocol": 99}})
        c.read()
        assert ask(c, 1, "engine.stop") == {"id": 1, "ok": {"exit": 0}}
        c.close()


def test_a_hello_without_a_number_is_told_plainly():
    with weir.Home() as home:
        engine(home)
        for hello in ({}, {"protocol": 0}, {"protocol": -1}, {"protocol": "1"}):
            c = Client(home, hello=False)
            c.send({"hello": hello})
            answer = c.read()
            assert answer["error"]["code"] == "protocol_differs" and "protocol 1" in answer["error"]["message"], answer
            assert c.read() is None
            c.close()


def test_who_asks_only_to_look_only_looks_and_the_try_is_in_the_journal():
    with weir.Home() as home:
        engine(home)
        c = Client(home, hello=False)
        c.send({"hello": {"protocol": 1, "access": "view"}})
        assert c.read()["hello"]["access"] == "view"
        assert ask(c, 1, "status") == {"id": 1, "ok": {"exit": 0}}
        answer = ask(c, 2, "note", text="x")
        assert answer["error"]["code"] == "not_allowed" and "--readonly" in answer["error"]["message"], answer
        assert ask(c, 3, "engine.stop")["error"]["code"] == "not_allowed"
        c.close()
        tries = [line for line in home.run("journal", "--json").lines if line.get("phase") == "refused"]
        assert [line["what"] for line in tries] == ["note", "engine stop"], tries


def test_bad_clients_do_no_harm():
    with weir.Home() as home:
        engine(home)
        garbage = Client(home, hello=False)
        try:
            for _ in range(200):
                garbage.s.sendall(os.urandom(50000).replace(b"\n", b" "))
        except OSError:
            pass
        half = Client(home, hello=False)
        half.s.sendall(b'{"hello":')
        silent = [Client(home, hello=False) for _ in range(40)]
        nested = Client(home)
        nested.s.sendall(b'{"id":1,"call":"tables","args":' + b"[" * 100000 + b"\n")
        deaf = Client(home)
        for i in range(2000):
            deaf.send({"id": i, "call": "tables", "args": {"schema": True}})
        assert home.run("tables", "--json").code == 0
        time.sleep(6)
        assert half.s.recv(100) == b""
        assert all(c.s.recv(100) == b"" for c in silent)
        assert home.run("tables", "--json").code == 0
        assert home.run("engine", "status", "--json").last["running_jobs"] == 0


def test_strangers_are_sent_away():
    with weir.Home() as home:
        engine(home)
        if os.getuid() != 0:
            raise weir.Skip("only root can play another user")
        subprocess.run(["chmod", "-R", "a+rwX", home.path], check=True)
        code = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(repr(s.recv(1000)), repr(s.recv(1000)))"
        r = subprocess.run(["python3", "-c", code, os.path.join(home.state, "weird.sock")], user=65534, group=65534, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert b"not_a_member" in r.stdout and b"hello" not in r.stdout, r


def test_files_are_the_owners_alone():
    with weir.Home() as home:
        engine(home)
        for folder, _, files in os.walk(home.state):
            assert os.stat(folder).st_mode & 0o077 == 0, folder
            for f in files:
                assert os.lstat(os.path.join(folder, f)).st_mode & 0o077 == 0, (folder, f)


def test_run_joins_the_engine_that_answers():
    with weir.Home() as home:
        engine(home)
        other = home.write("other", FEED.replace('"id"', '"id"'))
        r = home.run("run", home.job("other", name="second", changeLogDataset="b_log", replicaDataset="b"), "--until-idle", "--json")
        assert r.code == 0 and r.last["written"] == 10, r
        assert home.run("engine", "status", "--json").last["running_jobs"] == 0


def test_the_first_interrupt_drains():
    with weir.Home() as home:
        feed = home.write("feed", FEED)
        home.job(feed)
        p = home.start("run", "shop.json", "--json")
        while not os.path.exists(home.warehouse("shop_log")) or home.run("tables", "--json").out.count(b"shop.t") == 0:
            assert p.poll() is None
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=30)
        assert p.returncode == 0 and json.loads(out)["state"] == "stopped", (out, err)


def test_an_engine_whose_home_is_gone_ends():
    import shutil
    with weir.Home() as home:
        engine(home)
        with open(os.path.join(home.state, "weird.lock")) as f:
            pid = int(f.read())
        shutil.rmtree(home.state)
        for _ in range(100):
            if not os.path.exists("/proc/%d" % pid) or open("/proc/%d/stat" % pid).read().split()[2] == "Z":
                return
            time.sleep(0.1)
        raise AssertionError("engine %d still runs" % pid)


def test_weir_links_neither_sqlite_nor_curl_and_release_has_no_switches():
    symbols = subprocess.run(["ldd", os.path.join(weir.BUILD, "weir")], stdout=subprocess.PIPE, check=True).stdout
    assert b"sqlite" not in symbols and b"curl" not in symbols, symbols
    if weir.BUILD.endswith("build"):
        with open(os.path.join(weir.BUILD, "weird"), "rb") as f:
            content = f.read()
        assert b"WEIR_CRASH" not in content and b"WEIR_BATCH_RECORDS" not in content
