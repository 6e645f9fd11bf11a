"""What breaks a job that runs, and goes away again: the job says it in words, keeps its promise, and goes on by itself.

Nobody starts, restarts or asks for anything here once the harm is done: the cause is taken away, and the job must finish."""
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import time

import weir

PATIENCE_S = 40
FIRST, LAST = 40, 80


def lines(first, last):
    return weir.feed([weir.event({"id": i, "n": i}, lsn=100 + i) for i in range(first, last)], weir.id_key)


def until(home, is_so, what, patience_s=PATIENCE_S):
    end = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < end, (what, home.run("job", "show", "shop", "--json"), home.run("journal").out.decode()[-3000:])
        time.sleep(0.05)


def standing(home):
    r = home.run("job", "show", "shop", "--json")
    return r.last if r.out else r.error


def says(home, *codes):
    """The job itself says why it does not go on, with a code that has a page. (Where its own files cannot be read, `job
    show` fails with that.)"""
    until(home, lambda: standing(home).get("code") in codes, codes)
    assert home.run("explain", standing(home)["code"]).code == 0


def count(home, path="shop", table="t"):
    try:
        return home.sql("select count(*) from " + table, path)[0][0]
    except sqlite3.Error:
        return -1


def started(home, **parameters):
    home.env["HOME"] = home.path
    feed = home.write("feed", lines(0, FIRST))
    assert home.run("job", "create", home.job(feed, updateFrequencySecs=1, **parameters)).code == 0
    assert home.run("start", "shop").code == 0
    until(home, lambda: count(home) == FIRST, "beginning")
    return feed


def append(home, first=FIRST, last=LAST):
    with open(home.file("feed"), "a") as f:
        f.write(lines(first, last))


def finishes(home, rows=LAST):
    """All is there, once, and the engine is the one that met the harm."""
    until(home, lambda: count(home) == rows, "end")
    until(home, lambda: standing(home).get("received") == rows, "ledger")
    line = standing(home)
    assert line["written"] == rows and line["balanced"] is True and line["dead_lettered"] == line["repeated"] == 0, line
    assert count(home, "shop_log", "t_changelog") == rows
    until(home, lambda: standing(home)["state"] in ("ok", "catching up"), "state")
    assert home.run("drain", "shop").code == 0
    home.verify()


def stores(home):
    """The files whose harm a job must survive: its own store, and both datasets."""
    return [os.path.join(home.state, "jobs", "shop.db"), home.warehouse("shop_log"), home.warehouse("shop")]


def companions(path):
    return [path + tail for tail in ("", "-wal", "-shm") if os.path.lexists(path + tail)]


class Kept:
    """A file set aside with its log, and something else in its place until it is put back."""

    def __init__(self, home, path, below=None):
        """`below`: on the file system of the file where somebody writes it, or moving it would be a copy of one moment."""
        self.path, self.folder = path, os.path.join(below or home.path, "kept-" + os.path.basename(path))
        os.mkdir(self.folder)

    def take(self):
        for path in companions(self.path):
            shutil.move(path, self.folder)

    def put_back(self):
        for path in companions(self.path):
            (shutil.rmtree if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)
        # The file last: without its log it would be an older one.
        for name in sorted(os.listdir(self.folder), reverse=True):
            shutil.move(os.path.join(self.folder, name), os.path.dirname(self.path))


def nothing(path):
    pass


def folder(path):
    os.mkdir(path)


def link(path):
    os.symlink("/etc/passwd", path)


def empty(path):
    open(path, "w").close()


def text(path):
    with open(path, "w") as f:
        f.write("not a database " * 1000)


def cut(path):
    with open(path, "wb") as f:
        f.write(whole(path)[: len(whole(path)) // 2])


def flipped(path):
    """One bit, in the head: what SQLite itself looks at."""
    content = bytearray(whole(path))
    content[18] ^= 1 << 5
    with open(path, "wb") as f:
        f.write(content)


def whole(path):
    with open(os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(path))), "kept-" + os.path.basename(path), os.path.basename(path)), "rb") as f:
        return f.read()


# What stands in the file's place, and each of the three files: all of it with WEIR_AGAIN=all, else some.
HARMS = [(harm, number) for harm in (nothing, folder, link, empty, text, cut, flipped) for number in range(3)]
SAID = ("state_gone", "state_damaged", "not_a_file", "no_permission", "ledger_mismatch")


def chosen(cases, count):
    if os.environ.get("WEIR_AGAIN") == "all":
        return list(cases)
    return random.Random(weir.first_seed()).sample(list(cases), count)


def test_a_state_file_that_is_exchanged_and_comes_back():
    for harm, number in chosen(HARMS, 2):
        with weir.Home() as home:
            started(home)
            path = stores(home)[number]
            kept = Kept(home, path)
            kept.take()
            harm(path)
            append(home)
            says(home, *SAID)
            kept.put_back()
            finishes(home)


def test_what_breaks_while_the_engine_ends_goes_on_with_the_next():
    """Nobody has stopped the job: its replica is away when what was gathered for it is merged at the end."""
    with weir.Home() as home:
        started(home)
        assert home.run("job", "set", "shop", "updateFrequencySecs=600").code == 0
        append(home)
        until(home, lambda: standing(home).get("written") == LAST, "written")
        kept = Kept(home, home.warehouse("shop"))
        kept.take()
        home.run("engine", "stop")
        assert b"state_gone" in home.run("logs", "--job", "shop").out
        kept.put_back()
        home.run("engine", "start")
        until(home, lambda: standing(home)["state"] in ("ok", "catching up"), "state")
        assert home.run("job", "set", "shop", "updateFrequencySecs=1").code == 0
        finishes(home)


def test_a_replay_meanwhile_takes_no_hope_away():
    """A job that is broken runs for a replay, longer than until it is looked at again: it is broken behind it, and goes on when it may."""
    with weir.Home() as home:
        home.write("schema.json", '{"t": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}}}}')
        started(home, sourceSchema="schema.json", schemaChanges="reject")
        with open(home.file("feed"), "a") as f:
            f.write(weir.feed([weir.event({"id": 1000, "n": "x"}, lsn=1)], weir.id_key))
        until(home, lambda: standing(home).get("dead_lettered") == 1, "letter")
        os.rename(home.file("feed"), home.file("away"))
        says(home, "feed_changed", "no_such_file")
        with sqlite3.connect(home.warehouse("shop_log"), isolation_level=None) as lock:
            lock.execute("begin immediate")
            replay = home.start("dlq", "replay", "--group", "1", "--yes")
            began = time.monotonic()
            until(home, lambda: time.monotonic() > began + 4, "twice the first wait")
            assert replay.poll() is None
            lock.execute("rollback")
        assert replay.wait(60) in (0, 1)
        os.rename(home.file("away"), home.file("feed"))
        append(home)
        until(home, lambda: standing(home).get("received") == LAST + 1, "ledger")
        until(home, lambda: count(home) == LAST, "end")
        assert home.run("drain", "shop").code in (0, 1)
        home.verify()


def test_a_file_without_its_log_is_not_made_anew():
    """A new file would be filled with the pages of the old one's log."""
    for number in range(3):
        with weir.Home() as home:
            home.replicate(home.write("feed", lines(0, FIRST)))
            home.run("engine", "stop")
            path = stores(home)[number]
            shutil.copy(path, path + "-wal")
            os.rename(path, home.file("kept"))
            append(home)
            r = home.run("run", "shop.json", "--until-idle", "--json")
            assert r.code == 70 and r.error["code"] in ("state_damaged", "ledger_mismatch"), r
            assert not os.path.exists(path)
            os.unlink(path + "-wal")
            os.rename(home.file("kept"), path)
            assert home.run("run", "shop.json", "--until-idle", "--json").last["received"] == LAST
            home.verify()


def test_folders_and_files_that_may_not_be_used():
    """Root may everything: the engine is somebody else's."""
    if os.getuid() == 0:
        return denied_as(65534)
    return denied_as(None)


def denied_as(uid):
    for name in chosen(("jobs/shop.db", "warehouse/shop.db", "warehouse/shop_log.db", "jobs", "warehouse"), 1):
        with weir.Home() as home:
            if uid is not None:
                os.chmod(home.path, 0o777)
                home.demote = uid
            job = home.job(home.write("feed", lines(0, FIRST)), updateFrequencySecs=1)
            os.chmod(home.file("feed"), 0o644)
            os.chmod(job, 0o644)
            run = lambda *args: weir.as_user(home, uid, *args) if uid is not None else home.run(*args)
            home.run = lambda *args, **kw: run(*args)
            assert home.run("job", "create", job).code == 0, home.run("job", "create", job)
            assert home.run("start", "shop").code == 0
            until(home, lambda: count(home) == FIRST, "beginning")
            path = os.path.join(home.state, name)
            mode = os.stat(path).st_mode
            os.chmod(path, 0)
            append(home)
            says(home, "no_permission", "io_error", "state_gone", "job_unknown", "no_such_file")
            os.chmod(path, mode)
            finishes(home)


def feed_copy(home):
    with open(home.file("feed"), "rb") as f:
        return f.read()


def replace(home, content):
    with open(home.file("feed.new"), "wb") as f:
        f.write(content)
    os.rename(home.file("feed.new"), home.file("feed"))


def test_a_feed_that_goes_away_or_changes_and_comes_back():
    def removed(home, content):
        os.unlink(home.file("feed"))

    def truncated(home, content):
        os.truncate(home.file("feed"), len(content) // 2)

    def emptied(home, content):
        os.truncate(home.file("feed"), 0)

    def exchanged(home, content):
        replace(home, lines(500, 600).encode())

    def a_folder(home, content):
        os.unlink(home.file("feed"))
        os.mkdir(home.file("feed"))

    for harm in chosen((removed, truncated, emptied, exchanged, a_folder), 2):
        with weir.Home() as home:
            started(home)
            content = feed_copy(home)
            harm(home, content)
            says(home, "feed_changed", "no_such_file", "not_a_file")
            if os.path.isdir(home.file("feed")):
                os.rmdir(home.file("feed"))
            replace(home, content + lines(FIRST, LAST).encode())
            finishes(home)


def test_a_feed_that_is_not_there_when_the_engine_starts():
    """As when its disk is mounted late."""
    with weir.Home() as home:
        started(home)
        content = feed_copy(home)
        home.end_engine()
        os.unlink(home.file("feed"))
        assert home.run("engine", "start").code == 0
        says(home, "no_such_file")
        replace(home, content + lines(FIRST, LAST).encode())
        finishes(home)


def test_the_next_engine_goes_on_looking():
    with weir.Home() as home:
        started(home)
        content = feed_copy(home)
        os.unlink(home.file("feed"))
        says(home, "feed_changed", "no_such_file")
        home.end_engine()
        assert home.run("engine", "start").code == 0
        says(home, "feed_changed", "no_such_file")
        replace(home, content + lines(FIRST, LAST).encode())
        finishes(home)


def test_a_store_that_cannot_be_read_when_the_engine_starts():
    """Nobody can tell whether the job ran, until the file is whole: it did."""
    with weir.Home() as home:
        started(home)
        home.end_engine()
        kept = Kept(home, stores(home)[0])
        kept.take()
        cut(kept.path)
        append(home)
        assert home.run("engine", "start").code == 0
        says(home, "state_damaged")
        kept.put_back()
        finishes(home)


def open_files(home, below):
    pid = home.run("engine", "status", "--json").last["pid"]
    found = 0
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            found += os.readlink("/proc/%d/fd/%s" % (pid, fd)).startswith(below)
        except OSError:
            pass
    return found


def rests(home):
    until(home, lambda: not open_files(home, os.path.join(home.state, "warehouse")), "rest")


def test_a_job_that_was_stopped_is_left_alone():
    """Stopped while it needs somebody, it stays stopped; deleted, nothing of it comes back."""
    with weir.Home() as home:
        started(home)
        content = feed_copy(home)
        os.unlink(home.file("feed"))
        says(home, "feed_changed", "no_such_file")
        assert home.run("stop", "shop").code == 0
        replace(home, content + lines(FIRST, LAST).encode())
        other = home.write("other-feed", lines(0, 10))
        assert home.run("job", "create", home.job(other, "other", changeLogDataset="other_log", replicaDataset="other")).code == 0
        assert home.run("start", "other").code == 0
        until(home, lambda: count(home, "other") == 10, "other")
        os.unlink(other)
        until(home, lambda: home.run("job", "show", "other", "--json").last["state"] == "needs you", "other needs you")
        assert home.run("job", "delete", "other", "--yes").code == 0
        home.write("other-feed", lines(0, 10))
        # Longer than the first looks at a job that broke.
        time.sleep(4)
        assert standing(home)["state"] == "stopped" and count(home) == FIRST, standing(home)
        assert not os.path.exists(os.path.join(home.state, "jobs", "other.db"))
        assert home.run("engine", "status", "--json").last["running_jobs"] == 0


def test_another_process_locks_the_files():
    for number in chosen(range(3), 1):
        with weir.Home() as home:
            started(home)
            db = sqlite3.connect(stores(home)[number], isolation_level=None)
            db.execute("begin immediate")
            append(home, FIRST, LAST)
            with open(home.file("feed"), "a") as f:
                f.write('{"data":{"op":"c"}}\n')
            says(home, "database_locked")
            db.execute("rollback")
            db.close()
            until(home, lambda: count(home) == LAST, "end")
            until(home, lambda: standing(home)["dead_lettered"] == 1, "letter")
            assert home.run("drain", "shop").code in (0, 1)
            home.verify()


def test_the_engine_of_a_locked_file_starts_late():
    """The lock is there before the job: what it waits for is said, and passes."""
    with weir.Home() as home:
        started(home)
        home.end_engine()
        append(home)
        db = sqlite3.connect(home.warehouse("shop_log"), isolation_level=None)
        db.execute("begin exclusive")
        assert home.run("engine", "start").code == 0
        says(home, "database_locked")
        db.execute("rollback")
        db.close()
        finishes(home)


def limit(home, what, most):
    pid = home.run("engine", "status", "--json").last["pid"]
    before = resource.prlimit(pid, what)
    resource.prlimit(pid, what, (most(pid), before[1]))
    return lambda: resource.prlimit(pid, what, before)


def test_without_descriptors():
    """None is left for what a job opens when it wakes."""
    with weir.Home() as home:
        started(home)
        rests(home)
        give_back = limit(home, resource.RLIMIT_NOFILE, lambda pid: len(os.listdir("/proc/%d/fd" % pid)) - 2)
        append(home)
        until(home, lambda: b"no_descriptors" in written(home), "words")
        # Whoever asks is answered all the same.
        r = home.run("status", "--json", timeout=60)
        assert r.code in (0, 1) or r.error["code"] == "no_descriptors", r
        give_back()
        finishes(home)


def test_a_file_size_limit():
    """A quota of the process itself: SIGXFSZ must not kill it."""
    with weir.Home() as home:
        started(home)
        give_back = limit(home, resource.RLIMIT_FSIZE, lambda pid: 4096)
        append(home)
        says(home, "io_error", "disk_full")
        give_back()
        finishes(home)


def test_without_memory_the_engine_begins_again():
    """Big messages and no room for them: the engine says so, begins again in its own place, and ends well when there is room."""
    with weir.Home() as home:
        if "san" in home.build:  # a sanitizer needs more than any limit allows: the plain build it is
            home.build = os.path.join(weir.ROOT, "build")
        started(home)
        rests(home)

        # What the allocator has only reserved is no data: in that there would be room for many messages.
        def most(pid):
            with open("/proc/%d/status" % pid) as f:
                return next(int(line.split()[1]) for line in f if line.startswith("VmData:")) * 1024 + (8 << 20)

        give_back = limit(home, resource.RLIMIT_DATA, most)
        with open(home.file("feed"), "a") as f:
            for i in range(FIRST, LAST):
                f.write(weir.feed([weir.event({"id": i, "n": i, "text": "x" * (9000000 if i < FIRST + 3 else 1)}, lsn=100 + i)], weir.id_key))
        until(home, lambda: b"out_of_memory" in written(home), "words")
        give_back()
        finishes(home)


def written(home):
    """What the engine wrote down; asking it takes what it may not have."""
    words = b""
    for name in ("logs/weird.log", "journal.jsonl"):
        with open(os.path.join(home.state, name), "rb") as f:
            words += f.read()
    return words


def test_the_log_and_the_run_folder_go_away():
    """Neither holds a job up; the log is made again, and so is what a client needs."""
    with weir.Home() as home:
        started(home)
        shutil.rmtree(os.path.join(home.state, "logs"))
        os.unlink(os.path.join(home.state, "journal.jsonl"))
        append(home)
        finishes(home)
        until(home, lambda: os.path.exists(os.path.join(home.state, "logs", "weird.log")), "log")
        assert b"job_stopped" in home.run("journal", "--json").out


def test_a_read_only_file_system():
    with weir.Home() as home:
        folder = home.file("disk")
        os.mkdir(folder)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=60m", "tmpfs", folder]).returncode:
            raise weir.Skip("no right to mount")
        try:
            home.env["WEIR_HOME"] = home.state = os.path.join(folder, "home")
            started(home)
            rests(home)
            warehouse = os.path.join(home.state, "warehouse")
            # As when a disk fails: the whole of it, under the files that are open.
            subprocess.run("mount --bind %s %s" % (warehouse, warehouse), shell=True, check=True)
            subprocess.run(["mount", "-o", "remount,bind,ro", warehouse], check=True)
            append(home)
            says(home, "no_permission", "io_error", "state_gone")
            subprocess.run(["mount", "-o", "remount,bind,rw", warehouse], check=True)
            finishes(home)
        finally:
            home.end_engine()
            subprocess.run(["umount", "-l", os.path.join(folder, "home", "warehouse")])
            subprocess.run(["umount", "-l", folder])


def test_streams_that_are_closed():
    """Without standard input, output and errors a file must not get their numbers, or words would be written into it."""
    with weir.Home() as home:
        home.replicate(home.write("feed", lines(0, FIRST)))
        append(home)
        p = subprocess.Popen([os.path.join(home.build, "weird"), "--run", "shop.json", "--until-idle", "--json"], env=home.env, cwd=home.path,
                             preexec_fn=lambda: [os.close(fd) for fd in range(3)])
        home.children.append(p)
        assert p.wait(timeout=60) == 0
        assert standing(home)["received"] == LAST and count(home) == LAST
        home.verify()
        assert home.run("engine", "stop").code == 0
        home.job("-", "piped", changeLogDataset="p_log", replicaDataset="p")
        r = subprocess.run([os.path.join(home.build, "weird"), "--run", "piped.json", "--until-idle", "--json"], env=home.env, cwd=home.path,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=lambda: os.close(0), timeout=60)
        assert r.returncode == 78 and b"not_a_file" in r.stderr, r


def test_a_release_has_no_switch_for_faults():
    """What breaks a program on purpose is built in where tests are, and nowhere else."""
    import re
    names = set()
    for folder, _, files in os.walk(os.path.join(weir.ROOT, "core")):
        for name in (n for n in files if n.endswith((".c", ".h"))):
            with open(os.path.join(folder, name)) as f:
                source = f.read()
            for part in re.findall(r"#ifdef WEIR_TEST_SWITCHES(.*?)#(?:else|endif)", source, re.S):
                names |= set(re.findall(r'getenv\("(\w+)"\)', part))
    assert {"WEIR_DISK", "WEIR_CRASH"} <= names, names
    for program in ("weir", "weird"):
        with open(os.path.join(weir.ROOT, "build", program), "rb") as f:
            content = f.read()
        assert b"WEIR_HOME" in content
        for name in names | {"WEIR_FD", "WEIR_CLOCK"}:
            assert name.encode() + b"\0" not in content, (program, name)


# Under a sanitizer the ways through the engine's code count, not the kinds of harm: some are enough there.
if "san" in weir.BUILD and os.environ.get("WEIR_AGAIN") != "all":
    for name in [n for n in globals() if n.startswith("test_")]:
        if name not in ("test_a_state_file_that_is_exchanged_and_comes_back", "test_the_next_engine_goes_on_looking", "test_without_descriptors",
                        "test_a_job_that_was_stopped_is_left_alone"):
            del globals()[name]
