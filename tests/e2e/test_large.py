"""Letters and clients beyond all measure: what does not fit is said, and nobody else is kept out by it."""
import base64
import json
import os
import resource
import signal
import time

import test_socket
import weir

CONTROL = "\u0001"
GOOD = weir.feed([weir.event({"id": i, "n": i}, lsn=100 + i) for i in range(3)], weir.id_key)


def engine_pid(home):
    with open(os.path.join(home.state, "weird.lock")) as f:
        return int(f.read())


def sockets(home):
    folder = "/proc/%d/fd" % engine_pid(home)
    count = 0
    for fd in os.listdir(folder):
        try:
            count += os.readlink(os.path.join(folder, fd)).startswith("socket:")
        except FileNotFoundError:
            pass  # closed since it was listed
    return count


def line(**members):
    return json.dumps(members) + "\n"


def monsters():
    """An ordinary letter before and behind those that fill a line of the socket many times."""
    attrs = {"a%03d" % i: CONTROL * 1024 for i in range(100)}
    return ('{"bad1":\n' +
            line(id="m1", attrs=attrs, data_b64="e30x") +
            line(data_b64=base64.b64encode(b"\x01" * 300000).decode()) +
            line(id=CONTROL * 65000, key=CONTROL * 65000, attrs=attrs, data_b64="e30x") +
            line(id="n\0l", key="\0", data_b64="e30x") +
            '{"bad2":\n')


def test_a_monstrous_letter_hides_no_other():
    with weir.Home() as home:
        home.run("run", home.job(home.write("feed", monsters())), "--until-idle")
        letters = home.letters()
        assert [l["id"] for l in letters] == [1, 2, 3, 4, 5, 6], [l["id"] for l in letters]
        assert letters[1]["shortened"] == ["attrs"] and 0 < len(letters[1]["attrs"]) < 100
        assert sorted(letters[3]["shortened"]) == ["attrs", "key", "message_id", "ordering_key"], letters[3]["shortened"]
        assert "shortened" not in letters[0] and letters[4]["ordering_key"] == "\0", letters[4]
        for letter in letters:
            r = home.run("dlq", "show", letter["id"], "--json")
            assert r.code == 0 and r.last["id"] == letter["id"], r
            assert home.run("dlq", "show", letter["id"]).code == 0
        shown = home.run("dlq", "show", 3, "--json").last
        assert shown["cut"] is True and set(shown["payload"]) == {CONTROL} and len(shown["payload"]) > 60000
        assert home.run("dlq", "show", 3, "--bytes").out == b"\x01" * 300000
        # The export is what came, to the last byte; a line that was no envelope comes back as one.
        exported = [json.loads(l) for l in home.run("dlq", "export").out.splitlines()]
        for came, back in zip(monsters().splitlines(), exported):
            came = json.loads(came) if came.startswith('{"id"') else {}
            for name in ("id", "key", "attrs", "data_b64"):
                assert came.get(name) in (None, back.get(name)), name
        assert home.run("dlq", "show", 4, "--envelope").out == home.run("dlq", "export").out.splitlines(True)[3]


def test_attributes_that_come_twice_are_exported_twice():
    came = '{"id":"m1","attrs":{"a":"1","b":"x","a":"2"},"data_b64":"e30x"}\n'
    with weir.Home() as home:
        home.run("run", home.job(home.write("feed", came)), "--until-idle")
        letter = home.letters()[0]
        assert letter["attrs"] == {"a": "2", "b": "x"} and letter["attr_list"] == [["a", "1"], ["b", "x"], ["a", "2"]], letter
        assert home.run("dlq", "export").out.decode() == came


def test_csv_is_harmless_for_terminals_and_spreadsheets():
    keys = ["=1+1", "  =1+1", "\n=1+1", "\t-1", "\u001b]0;pwned\u0007\u202eABC", 'say "hi"', "plain"]
    with weir.Home() as home:
        home.run("run", home.job(home.write("feed", "".join(line(id="m", key=k, data_b64="e30x") for k in keys))), "--until-idle")
        out = home.run("dlq", "export", "--csv").out
        assert out.replace(b"\r\n", b"").isascii() and not any(c < 32 for c in out.replace(b"\r\n", b"")), out
        cells = [row.split('","')[9] for row in out.decode().split("\r\n")[1:-1]]
        assert cells == ["'=1+1", "'  =1+1", "'\\x0a=1+1", "'\\x09-1", "\\x1b]0;pwned\\x07\\u202eABC", 'say ""hi""', "plain"], cells


def wide(version):
    """A row of 900 columns with long names, which are other ones in each version."""
    return weir.event(dict({"id": version}, **{"v%d_%s_%d" % (version, "c" * 150, i): 1 for i in range(900)}), lsn=100 + version)


def test_the_schema_of_a_very_wide_table_says_what_it_leaves_out():
    with weir.Home() as home:
        home.run("run", home.job(home.write("feed", weir.feed([wide(v) for v in range(4)], weir.id_key)), replicationMode="changelog", replicaDataset=None), "--until-idle")
        r = home.run("tables", "--schema", "--json")
        assert r.code == 0, r
        (row,) = [t for t in r.lines if t["table"].endswith(".t")]
        assert row["columns"] and row["columns_left_out"] > 0, row.keys()
        assert row["timeline_left_out"] > 0, row.keys()


def test_an_object_that_fits_into_no_line_fails_the_call_and_hides_no_other():
    with weir.Home() as home:
        feed = home.write("feed", GOOD)
        for name in ("a", "c"):
            home.replicate(feed, name, changeLogDataset=name + "_log", replicaDataset=name)
        job = home.job(feed, "b", changeLogDataset="b_log", replicaDataset="b", columnTypes={"t.c%d%s" % (i, "\x7f" * 250): "STRING" for i in range(1000)})
        with open(job) as f:
            short = f.read().replace("\\u007f", "\x7f")  # the socket escapes it again
        with open(job, "w") as f:
            f.write(short)
        assert home.run("job", "create", job).code == 0
        r = home.run("job", "show", "b", "--json")
        assert r.code == 1 and r.error["code"] == "answer_too_large" and "job b" in r.error["message"], r
        c = test_socket.Client(home)
        assert c.call("job.show", job="b")[1]["error"]["code"] == "answer_too_large"
        assert c.call("job.show", job="a")[1]["ok"]["exit"] == 0
        c.close()


def test_sessions_that_misbehave_in_a_call_give_their_place_back():
    with weir.Home() as home:
        home.replicate(home.write("feed", GOOD))
        home.letters()
        before = sockets(home)
        for _ in range(64):
            c = test_socket.Client(home)
            c.send({"id": 1, "call": "logs", "args": {"follow": True, "job": "nosuch"}})
            time.sleep(0.01)
            try:
                c.s.sendall(b"x" * ((1 << 20) + 70000))
            except OSError:
                pass
            c.s.close()
        time.sleep(5)
        assert sockets(home) <= before


def test_a_session_that_does_not_read_its_refusal_is_closed():
    with weir.Home() as home:
        home.replicate(home.write("feed", GOOD))
        home.letters()
        before = sockets(home)
        stuck = [test_socket.Client(home) for _ in range(3)]
        for c in stuck:
            c.send({"id": 1, "call": "logs", "args": {"follow": True, "job": "nosuch"}})
            time.sleep(0.05)
            c.s.settimeout(5)
            try:
                c.s.sendall(b"x" * ((1 << 20) + 70000))
            except OSError:
                pass
        time.sleep(5)
        assert sockets(home) <= before


def test_a_cancel_behind_waiting_calls_is_seen():
    with weir.Home() as home:
        home.replicate(home.write("feed", GOOD))
        home.letters()
        c = test_socket.Client(home)
        c.send({"id": 1, "call": "logs", "args": {"follow": True, "job": "nosuch"}})
        c.send({"id": 2, "call": "status", "args": {"x": "y" * 500000}})
        c.send({"id": 3, "call": "logs", "args": {"follow": True, "job": "nosuch"}})
        c.send({"id": 4, "call": "status"})
        c.send({"cancel": 3})
        time.sleep(0.3)
        c.send({"cancel": 1})
        ended = []
        while len(ended) < 4:
            frame = c.read()
            if "ok" in frame or "error" in frame:
                ended.append(frame["id"])
        assert ended == [1, 2, 3, 4], ended
        c.close()


def processor_seconds(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_lines_that_wait_cost_nothing():
    with weir.Home() as home:
        home.replicate(home.write("feed", GOOD))
        home.letters()
        c = test_socket.Client(home)
        c.send({"id": 1, "call": "logs", "args": {"follow": True, "job": "nosuch"}})
        c.send({"id": 2, "call": "status", "args": {"x": [[]] * 200000}})
        before = processor_seconds(engine_pid(home))
        for i in range(300):
            c.send({"id": 3 + i, "call": "status"})
            time.sleep(0.003)
        assert processor_seconds(engine_pid(home)) - before < 1
        c.close()


def test_without_descriptors_the_engine_rests():
    with weir.Home() as home:
        home.replicate(home.write("feed", GOOD))
        home.letters()
        pid = engine_pid(home)
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (len(os.listdir("/proc/%d/fd" % pid)), limits[1]))
        waiting = [test_socket.Client(home, hello=False) for _ in range(3)]
        time.sleep(0.3)
        before = processor_seconds(pid)
        time.sleep(2)
        assert processor_seconds(pid) - before < 0.5
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        waiting[0].send({"hello": {"protocol": 1}})
        assert "hello" in waiting[0].read()
        assert home.run("status", "--json").code == 0


def test_a_fifo_is_no_job_file_and_holds_nothing_up():
    with weir.Home() as home:
        home.replicate(home.write("feed", GOOD))
        home.letters()
        os.mkfifo(home.file("fifo.json"))
        for words in (("check", "fifo.json"), ("run", "fifo.json", "--until-idle"), ("job", "create", "fifo.json")):
            r = home.run(*words, "--json", timeout=20)
            assert r.code != 0 and b"not_a_file" in r.out + r.err, (words, r)
        r = home.run("run", home.job(home.file("feed"), name="second", sourceSchema=home.file("fifo.json"), changeLogDataset="b_log", replicaDataset="b"),
                     "--until-idle", "--json", timeout=20)
        assert r.code != 0 and b"not_a_file" in r.out + r.err, r


def test_the_engine_ends_though_nobody_reads_it():
    with weir.Home() as home:
        home.run("run", home.job(home.write("feed", monsters())), "--until-idle")
        home.letters()
        deaf = test_socket.Client(home)
        for i in range(50):
            deaf.send({"id": i, "call": "dlq.list"})
        pid = engine_pid(home)
        os.kill(pid, signal.SIGTERM)
        began = time.time()
        while os.path.exists("/proc/%d" % pid) and open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[0] not in "ZX":
            assert time.time() - began < 15
            time.sleep(0.05)
        assert home.run("engine", "status", "--json").error["code"] == "engine_not_running"
