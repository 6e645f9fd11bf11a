"""A run whose output nobody reads: it waits at its end, and neither it nor its engine is in the way of who wants them gone."""
import fcntl
import json
import os
import signal
import subprocess
import time

import weir

F_SETPIPE_SZ = 1031


def full_pipe():
    """(where it would be read, where nothing fits in)"""
    to_read, to_write = os.pipe()
    fcntl.fcntl(to_write, F_SETPIPE_SZ, 4096)
    os.set_blocking(to_write, False)
    try:
        while True:
            os.write(to_write, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(to_write, True)
    return to_read, to_write


def unread_run(home, *words):
    to_read, to_write = full_pipe()
    run = subprocess.Popen([os.path.join(home.build, "weir"), "run", "shop", "--until-idle", *words], env=home.env, cwd=home.path,
                           stdout=to_write, stderr=subprocess.PIPE)
    os.close(to_write)
    until = time.monotonic() + 30
    # Whoever asks before the run is its own engine starts another one, which the run would join.
    while home.run("engine", "status", "--json").code != 0:
        assert time.monotonic() < until and run.poll() is None
    while True:
        lines = home.run("job", "show", "shop", "--json").lines
        if lines and lines[0].get("received") == 3 and lines[0]["state"] == "stopped":
            return run, to_read
        assert time.monotonic() < until, lines


def registered():
    home = weir.Home()
    home.write("feed", weir.feed([weir.event({"id": i}, lsn=100 + i) for i in range(3)], weir.id_key))
    r = home.run("job", "create", home.job(home.file("feed")))
    assert r.code == 0, r
    home.end_engine()
    return home


def test_an_unread_run_ends_when_it_is_told_to_and_its_home_is_free():
    with registered() as home:
        for how in (signal.SIGTERM, signal.SIGINT, "engine stop"):
            run, to_read = unread_run(home, "--from-start")
            if how == "engine stop":
                assert home.run("engine", "stop").code == 0
            else:
                run.send_signal(how)
            _, said = run.communicate(timeout=30)
            assert b"nobody has read the result; weir job show has it" in said, (how, said)
            assert home.run("engine", "status", "--json").code == 69, how
            os.close(to_read)


def test_an_unread_run_goes_on_when_it_is_read():
    with registered() as home:
        for words in ((), ("--from-start", "--json")):
            run, to_read = unread_run(home, *words)
            assert run.poll() is None
            read = b""
            while piece := os.read(to_read, 65536):
                read += piece
            assert run.wait(30) == 0
            result = read.lstrip(b"x").decode()
            assert "ledger balanced: received 3" in result if not words else json.loads(result)["balanced"], result
            os.close(to_read)
