"""How the console ends, stops and goes on: whatever ends it, the terminal is given back and the engine has not noticed."""
import os
import signal
import time

import console
import screen
import weir

SWITCHED_ON = {47, 1047, 1049, 2004, 1000, 1002, 1003, 1006, 2026}


def given_back(t):
    lines, same, on = t.modes()
    return lines and same and not on & SWITCHED_ON and t.picture().cursor is not None


def engine_pid(home):
    r = home.run("engine", "status", "--json")
    assert r.code == 0, r
    return r.last["pid"]


def in_a_shell(home, script):
    """bash with job control as the terminal's session: only who has a parent of his session can be stopped. The words of
    the console are in "$@"."""
    words = [os.path.join(home.build, "weir"), "--theme", screen.THEME]
    return screen.Terminal(["bash", "-c", "set -m; " + script, "sh", *words], env=home.env, cwd=home.path)


def console_pid(shell_pid):
    with open("/proc/%d/task/%d/children" % (shell_pid, shell_pid)) as f:
        return int(f.read().split()[0])


def is_stopped(pid):
    with open("/proc/%d/stat" % pid) as f:
        return f.read().rpartition(")")[2].split()[0] == "T"


def test_who_leaves_reads_that_the_engine_goes_on():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        t.send(b"q")
        assert t.wait() == 0 and given_back(t)
        text = [line for line in t.picture().lines if line]
        assert text == ["weir: the engine 'test' goes on without this console: RED: 1 table needs you",
                        "weir: 'weir' opens the console again, 'weir status' says how the jobs stand"], text
        engine_pid(home)


def test_who_leaves_a_console_without_engine_reads_that():
    with console.finished_shop() as home, console.console(home) as t:
        t.sync()
        home.end_engine()
        t.wait_for("NOT REACHABLE")
        t.send(b"q")
        assert t.wait() == 0 and given_back(t)
        assert t.row("weir: the engine 'test' was not reachable; its jobs may go on") >= 0


def test_every_signal_gives_the_terminal_back_and_leaves_the_engine_alone():
    with console.finished_shop() as home:
        engine = None
        for name, ends in (("TERM", 0), ("INT", 0), ("HUP", 0), ("QUIT", -3), ("SEGV", -11), ("BUS", -7), ("ABRT", -6)):
            with console.console(home) as t:
                t.press(": p a u s e")
                engine = engine or engine_pid(home)
                t.signal(name)
                assert t.wait() == ends, name
                assert given_back(t), (name, t.modes())
            assert engine_pid(home) == engine, name


def test_killed_outright_the_next_console_starts_as_ever():
    with console.finished_shop() as home:
        with console.console(home) as t:
            t.sync()
            engine = engine_pid(home)
            t.signal("KILL")
            assert t.wait() == -signal.SIGKILL
        with console.console(home) as t:
            t.sync()
            assert t.row("ok: nothing needs you") == 0
            assert engine_pid(home) == engine


def test_a_terminal_that_goes_away_takes_the_console_with_it_and_nothing_else():
    with console.finished_shop() as home, console.console(home) as t:
        t.press("g t")
        engine, pid = engine_pid(home), t.pid()
        t.hang_up()
        assert t.wait() == 0
        assert not os.path.exists("/proc/%d" % pid)
        assert engine_pid(home) == engine


def test_a_stalled_terminal_holds_up_no_end():
    """A frame larger than what the terminal takes without a reader; then the end is asked for."""
    for name in ("TERM", "HUP"):
        with console.broken_shop() as home, console.console(home, cols=500, rows=200) as t:
            t.sync()
            t.stall(True)
            wait_until(lambda: t.send(b"\x0c") or waits_in_write(t.pid()))
            t.signal(name)
            assert t.wait() == 0, name
            t.stall(False)


def wait_until(holds, deadline_s=screen.DEADLINE_S):
    until = time.monotonic() + deadline_s
    while not holds():
        assert time.monotonic() < until, "this never came"
        time.sleep(0.01)


def waits_in_write(pid):
    """The kernel says which call a process is in: 1 is write, on the architecture of the tests' machines."""
    try:
        with open("/proc/%d/syscall" % pid) as f:
            return f.read().split()[0] == str(WRITE)
    except OSError:
        raise weir.Skip("this kernel does not tell which call a process is in")


WRITE = {"x86_64": 1, "aarch64": 64}.get(os.uname().machine)


def test_a_reader_that_stalls_for_long_gets_the_newest_frame_and_nothing_has_grown():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        before = memory_kb(t.pid())
        t.stall(True)
        for _ in range(300):
            t.send(b"\x0cjkgtgogdgo")
        for number in range(20):
            assert home.run("note", "note %d" % number).code == 0
        t.stall(False)
        t.wait_for("note 19")
        assert t.row("1 job") == 0
        # A sanitizer keeps what was freed for a while.
        room_kb = 32768 if "san" in weir.BUILD else 2048
        assert memory_kb(t.pid()) < before + room_kb, (before, memory_kb(t.pid()))


def memory_kb(pid):
    with open("/proc/%d/status" % pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))


def test_stopped_and_back_in_another_size():
    """C-z, the stop signal from outside, and the one that nobody can catch: fg draws all of it in the size of then."""
    with console.broken_shop() as home:
        for stop in ("key", signal.SIGTSTP, signal.SIGSTOP):
            with in_a_shell(home, '"$@"; echo "the shell has it"; read line; fg; echo "it ended so: $?"') as t:
                t.sync()
                pid = console_pid(t.pid())
                if stop == "key":
                    t.send(b"\x1a")
                else:
                    os.kill(pid, stop)
                wait_until(lambda: is_stopped(pid))
                t.wait_shown("the shell has it")
                if stop != signal.SIGSTOP:
                    lines, _, on = t.modes()
                    assert lines and not on & SWITCHED_ON, (stop, on)
                t.resize_only(100, 30)
                t.send(b"\n")
                t.wait_shown("\u2500" * 100)  # before it has the terminal back, what is typed is the shell's
                t.sync()
                picture = t.picture()
                assert len(picture.lines) == 30 and "shell" not in "\n".join(picture.lines), (stop, picture.lines)
                assert picture.lines[0].startswith("weir  test") and picture.lines[3] == "\u2500" * 100, (stop, picture.lines)
                assert t.modes()[2] >= {1049, 2004}, (stop, t.modes())
                t.send(b"q")
                t.wait_shown("it ended so: 0")


def test_a_stop_while_a_line_is_typed_keeps_what_was_typed():
    with console.broken_shop() as home, in_a_shell(home, '"$@"; read line; fg') as t:
        t.sync()
        pid = console_pid(t.pid())
        t.press(": p a u s e Space s h")
        t.send(b"\x1a")
        wait_until(lambda: is_stopped(pid))
        t.send(b"\r")
        t.sync()
        assert t.picture().lines[-1].startswith(":pause sh"), t.picture().lines


def test_what_a_library_prints_is_not_on_the_screen_but_after_it():
    with console.broken_shop() as home, console.console(home) as t:
        t.sync()
        before = t.picture().masked
        with open("/proc/%d/fd/2" % t.pid(), "w") as f:
            f.write("libfoo: something is odd\n\033[2Jand this clears the screen\n")
        t.press("C-l")
        assert t.picture().masked == before
        t.send(b"q")
        assert t.wait() == 0
        lines = t.picture().lines
        assert lines[:2] == ["libfoo: something is odd", "\\x1b[2Jand this clears the screen"], lines
        assert lines[2].startswith("weir: the engine"), lines
