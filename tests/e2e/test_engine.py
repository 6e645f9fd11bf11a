"""Starting the engine: it answers, or says at once why it cannot; errors have the form that was asked for."""
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import weir


def pid_of(home):
    with open(os.path.join(home.state, "weird.lock")) as f:
        return int(f.read())


def test_engine_start_starts_it_once():
    with weir.Home() as home:
        r = home.run("engine", "start", "--json")
        assert r.code == 0 and r.last["started"] is True and r.last["state"] == "ok" and r.last["pid"] == pid_of(home), r
        again = home.run("engine", "start", "--json")
        assert again.code == 0 and again.last["started"] is False and again.last["pid"] == r.last["pid"], again
        words = home.run("engine", "start")
        assert words.code == 0 and b"runs already" in words.out, words
        assert home.run("engine", "status", "--json").last["pid"] == r.last["pid"]


def test_many_starts_at_once_give_one_engine():
    with weir.Home() as home:
        starts = [home.start("engine", "start", "--json") for _ in range(12)]
        answers = []
        for p in starts:
            out, err = p.communicate(timeout=60)
            assert p.returncode == 0, (out, err)
            answers.append(weir.Result(0, out, err).last)
        assert {a["pid"] for a in answers} == {pid_of(home)}, answers
        assert sum(a["started"] for a in answers) == 1, answers


def test_a_start_waits_for_the_engine_that_ends():
    with weir.Home() as home:
        first = home.run("engine", "start", "--json").last["pid"]
        for _ in range(10):
            assert home.run("engine", "stop").code == 0
            r = home.run("engine", "start", "--json")
            assert r.code == 0 and r.last["pid"] != first and r.last["started"] is True, r
            first = r.last["pid"]


def test_the_engine_inherits_nothing_from_who_starts_it():
    with weir.Home() as home:
        read, write = os.pipe()
        os.set_inheritable(write, True)
        p = home.start("engine", "start", close_fds=False)
        p.communicate(timeout=30)
        os.close(write)
        assert p.returncode == 0
        # The end of the pipe comes only when nobody has its other end any more.
        assert os.read(read, 1) == b""
        os.close(read)


def refused(home, code, status, *args, env=None, user=None):
    before = time.monotonic()
    r = home.run(*args, "--json", env=env) if user is None else weir.as_user(home, user, *args, "--json", env=env)
    took = time.monotonic() - before
    assert r.code == status and r.error["code"] == code, (args, r)
    assert r.error["message"] and r.error["next"], r
    assert took < 5, (took, args, r)
    return r.error


ASKING = (("tables",), ("status",), ("engine", "start"), ("dlq", "list"), ("job", "list"), ("journal",), ("start", "x"), ("dlq", "export"),
          ("debug", "bundle", "--out", "x.tar"))


def test_an_impossible_home_is_said_at_once():
    with weir.Home() as home:
        wall = home.write("wall", "")
        for args in ASKING:
            assert "there is a file of that name" in refused(home, "not_a_folder", 78, *args, env={"WEIR_HOME": wall})["message"]
        refused(home, "not_a_folder", 78, "tables", env={"WEIR_HOME": wall + "/below"})
        long = home.file("x" * 120)
        for args in ASKING:
            assert long in refused(home, "socket_path_too_long", 78, *args, env={"WEIR_HOME": long})["message"]
        nobody = dict.fromkeys(("WEIR_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"), "")
        refused(home, "not_a_folder", 78, "tables", env=dict(nobody, HOME=wall, XDG_RUNTIME_DIR="", TMPDIR=home.path))


def test_a_home_without_permission_is_said_at_once():
    with weir.Home() as home:
        if os.getuid() != 0:
            raise weir.Skip("only root can play another user")
        os.chmod(home.path, 0o755)
        os.mkdir(home.file("closed"), 0o755)
        for args in ASKING:
            error = refused(home, "no_permission", 77, *args, env={"WEIR_HOME": home.file("closed/home")}, user=65534)
            assert home.file("closed/home") in error["message"], error
        # Somebody else's home: only its owner can start an engine there.
        home.run("engine", "start")
        home.run("engine", "stop")
        os.chmod(home.state, 0o755)
        assert "whose home this is" in refused(home, "engine_not_running", 69, "tables", user=65534)["message"]


def test_a_read_only_home_is_said_at_once():
    with weir.Home() as home:
        if os.getuid() != 0:
            raise weir.Skip("only root can mount")
        os.mkdir(home.state)
        script = 'mount -t tmpfs -o ro none "$WEIR_HOME" && exec "$@"'
        before = time.monotonic()
        p = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", os.path.join(home.build, "weir"), "tables", "--json"],
                           env=home.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        if b"unshare" in p.stderr or b"mount" in p.stderr:
            raise weir.Skip("mounting is not allowed here")
        r = weir.Result(p.returncode, p.stdout, p.stderr)
        assert r.code == 77 and r.error["code"] == "no_permission", r
        assert time.monotonic() - before < 5, r


def test_a_full_home_is_said_at_once():
    with weir.Home() as home:
        if os.getuid() != 0:
            raise weir.Skip("only root can mount")
        os.mkdir(home.state)
        # Room for the folders, none for what is written into a file.
        script = 'mount -t tmpfs -o size=4k,nr_inodes=64 none "$WEIR_HOME" && head -c 4096 /dev/zero >"$WEIR_HOME/full" && exec "$@"'
        p = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", os.path.join(home.build, "weir"), "engine", "start", "--json"],
                           env=home.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        if b"unshare" in p.stderr or b"mount" in p.stderr:
            raise weir.Skip("mounting is not allowed here")
        r = weir.Result(p.returncode, p.stdout, p.stderr)
        assert r.code != 0 and r.error["code"] == "disk_full", r


def test_who_asks_for_json_gets_mistakes_as_json():
    with weir.Home() as home:
        for args, code in ((("tabels",), "unknown_command"), (("engine", "strat"), "unknown_command"), (("--json",), "unknown_command"),
                           (("tables", "--nope"), "bad_argument"), (("dlq", "show"), "bad_argument"), (("dlq", "show", "one"), "bad_argument"),
                           (("dlq", "export", "--csv"), "bad_argument"), (("run",), "bad_argument"), (("explain", "nothing_such"), "unknown_code")):
            r = home.run(*args, "--json")
            assert r.code == 2 and r.out == b"" and r.error["code"] == code and r.error["next"], (args, r)
            assert r.err.count(b"\n") == 1, r
        assert b"did you mean 'tables'" in home.run("tabels").err
        assert not os.path.exists(home.state)


def test_a_socket_that_was_swept_away_comes_back():
    """A folder of the session goes when its user leaves; the engine goes on, holds its lock, and must be found again."""
    with weir.Home() as home:
        os.makedirs(home.file("run"), 0o700)
        outside = {"WEIR_HOME": "", "HOME": home.path, "XDG_RUNTIME_DIR": home.file("run"), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""}
        home.env.update(outside)
        assert home.run("engine", "start").code == 0
        pid = home.run("engine", "status", "--json").last["pid"]
        try:
            for harm in (lambda: shutil.rmtree(home.file("run/weir")), lambda: os.unlink(home.file("run/weir/weird.sock")),
                         lambda: (os.unlink(home.file("run/weir/weird.sock")), home.write("run/weir/weird.sock", "no socket"))):
                harm()
                began = time.monotonic()
                while home.run("engine", "status").code != 0:
                    assert time.monotonic() - began < 60, harm
                    time.sleep(0.05)
                assert home.run("engine", "status", "--json").last["pid"] == pid
            log = home.run("logs", "--json").lines
            assert any("was made again" in json.dumps(line) for line in log), log
        finally:
            home.run("engine", "stop")
            if os.path.exists("/proc/%d" % pid):
                os.kill(pid, 9)


def test_a_lock_that_was_removed_comes_back():
    """An engine that ended for that would leave its jobs alone; one that went on without it would not be the only one."""
    with weir.Home() as home:
        assert home.run("engine", "start").code == 0
        pid = home.run("engine", "status", "--json").last["pid"]
        lock = os.path.join(home.state, "weird.lock")
        os.unlink(lock)
        end = time.monotonic() + 30
        while not os.path.exists(lock) or os.path.getsize(lock) == 0:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert home.run("engine", "status", "--json").last["pid"] == pid
        with open(lock) as f:
            try:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                raise AssertionError("nobody holds the lock")
            except BlockingIOError:
                pass


def ending_engine(home, is_killed=False):
    """One that has greeted whoever comes, and ends before it takes up what is wanted; one that is killed leaves its socket."""
    lock = open(os.path.join(home.state, "weird.lock"), "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    lock.write("%d\n" % os.getpid())
    lock.flush()
    path = os.path.join(home.state, "weird.sock")
    if os.path.exists(path):
        os.unlink(path)
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()

    def serve():
        peer = server.accept()[0]
        with peer.makefile("rw") as lines:
            lines.readline()
            lines.write(json.dumps(greeting) + "\n")
            lines.flush()
            lines.readline()
        server.close()
        if not is_killed:
            os.unlink(path)
        peer.close()
        time.sleep(0.2)
        lock.close()

    greeting = {"hello": {"protocol": protocol(), "program": "weird"}}
    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def protocol():
    with open(os.path.join(weir.ROOT, "core", "control", "control.h")) as f:
        return int(re.search(r"PROTOCOL_VERSION (\d+)", f.read()).group(1))


def test_who_comes_to_an_engine_that_is_ending_is_served_by_the_next():
    with weir.Home() as home:
        job = home.job(home.write("feed", weir.feed([weir.event({"id": 1}, lsn=1)], weir.id_key)))
        assert home.run("job", "create", job).code == 0
        assert home.run("engine", "stop").code == 0
        for words in (("run", "shop.json", "--until-idle"), ("job", "set", "shop", "updateFrequencySecs=2"), ("job", "list")):
            home.run("engine", "stop")
            ending = ending_engine(home)
            r = home.run(*words, "--json", timeout=60)
            ending.join(30)
            assert r.code == 0, (words, r)
        # Of one that was killed nobody knows what it has done of an act.
        home.run("engine", "stop")
        ending = ending_engine(home, is_killed=True)
        r = home.run("job", "set", "shop", "updateFrequencySecs=3", "--json", timeout=60)
        ending.join(30)
        assert r.code == 69 and r.error["code"] == "connection_lost", r


def test_an_engine_that_is_stopped_by_a_signal_is_said_to_be_silent():
    with weir.Home() as home:
        assert home.run("engine", "start").code == 0
        pid = home.run("engine", "status", "--json").last["pid"]
        os.kill(pid, signal.SIGSTOP)
        r = home.run("status", "--json")
        assert r.code == 69 and r.error["code"] == "engine_silent" and "process %d" % pid in r.error["message"], r
        os.kill(pid, signal.SIGCONT)
        assert home.run("engine", "status", "--json").last["pid"] == pid


def test_a_question_while_the_engine_ends_is_answered_whole():
    """An engine that is told to end while it answers leaves nobody with half an answer: who asks is answered by the next one."""
    with weir.Home() as home:
        home.run("run", home.job(home.write("feed.jsonl", weir.feed([weir.event({"id": 1})], weir.id_key))), "--until-idle")
        answers, has_ended = [], threading.Event()

        def ask():
            while not has_ended.is_set():
                answers.append(home.run("job", "show", "shop", "--json"))

        askers = [threading.Thread(target=ask) for _ in range(3)]
        for asker in askers:
            asker.start()
        for _ in range(12):
            home.run("engine", "start")
            home.run("engine", "stop")
        has_ended.set()
        for asker in askers:
            asker.join()
        wrong = [r for r in answers if r.code != 0 and r.error["code"] != "connection_lost" or r.code == 0 and len(r.lines) != 1]
        assert not wrong and len([r for r in answers if r.code == 0]) > 12, (wrong, len(answers))


def test_a_stop_that_ends_the_engine_too_is_answered():
    """The engine of 'weir run' ends with its job: whoever stopped that hears that it is done."""
    with weir.Home() as home:
        job = home.job(home.write("feed.jsonl", weir.feed([weir.event({"id": 1})], weir.id_key)))
        for _ in range(8):
            child = home.start("run", job, "--json")
            end = time.monotonic() + 20
            while not any(row.get("state") == "ok" for row in home.run("status", "--json").lines):
                assert time.monotonic() < end
            r = home.run("stop", "shop", "--json")
            assert r.code == 0 and len(r.lines) == 1 and r.last["job"] == "shop", r
            assert child.wait(20) == 0
