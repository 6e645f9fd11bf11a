"""The end-to-end tests' hands: a home of its own a test, the real programs, recorded streams."""
import contextlib
import fcntl
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import tarfile
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("WEIR_BUILD", "build"))
STREAMS = os.path.join(ROOT, "build", "streams")


def first_seed():
    """Where a random test begins: WEIR_SEED repeats one of its runs, WEIR_SEEDS is `make test`'s, else anywhere."""
    return int(os.environ.get("WEIR_SEED") or os.environ.get("WEIR_SEEDS") or random.SystemRandom().randrange(1 << 30))


class Skip(Exception):
    """The test cannot say anything here; the reason is printed."""


@contextlib.contextmanager
def one_at_a_time(what):
    """Held while something is done to this tree's `build` that no two tests may do at once."""
    os.makedirs(os.path.join(ROOT, "build"), exist_ok=True)
    with open(os.path.join(ROOT, "build", what + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def stream(name):
    """Folder of a recorded stream, unpacked once."""
    folder = os.path.join(STREAMS, name)
    packed = os.path.join(ROOT, "tests", "streams", name + ".tar.xz")
    with one_at_a_time("streams"):
        if not os.path.isdir(folder) or os.path.getmtime(folder) < os.path.getmtime(packed):
            unpack(packed, name, folder)
    return folder


def unpack(packed, name, folder):
    os.makedirs(STREAMS, exist_ok=True)
    scratch = tempfile.mkdtemp(dir=STREAMS)
    with tarfile.open(packed) as tar:
        tar.extractall(scratch)
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(os.path.join(scratch, name), folder)
    os.utime(folder)
    os.rmdir(scratch)


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.decode().splitlines()]

    @property
    def last(self):
        lines = self.lines
        assert lines, self
        return lines[-1]

    @property
    def error(self):
        """The error object that --json puts on stderr."""
        for line in reversed(self.err.decode(errors="replace").splitlines()):
            if line.startswith('{"error"'):
                return json.loads(line)["error"]
        raise AssertionError("no error object on stderr: %r" % self.err[-500:])

    def __repr__(self):
        return "exit %d\nstdout: %s\nstderr: %s" % (self.code, self.out[-1500:], self.err[-1500:])


class Home:
    """A WEIR_HOME of its own, gone at the end, with the engine that may run in it."""

    def __init__(self, build=None):
        self.build = build or BUILD
        self.path = tempfile.mkdtemp(prefix="weir-")
        self.state = os.path.join(self.path, "home")
        self.env = dict(os.environ, WEIR_HOME=self.state, LC_ALL="C.UTF-8")
        self.env.pop("WEIR_CRASH", None)
        # An engine in the background has no standard error: what a sanitizer says of it is read at the end.
        for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
            self.env[name] = (self.env.get(name, "") + ":log_path=" + self.file("sanitizer")).lstrip(":")
        self.children = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end_engine()
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.wait()
        subprocess.run(["chmod", "-R", "u+rwX", self.path], check=False)
        reports = ""
        for name in sorted(os.listdir(self.path) if os.path.isdir(self.path) else []):
            if name.startswith("sanitizer."):
                with open(self.file(name), errors="replace") as f:
                    reports += f.read()
        shutil.rmtree(self.path, ignore_errors=True)
        assert not reports, reports[-6000:]

    def end_engine(self):
        try:
            with open(os.path.join(self.state, "weird.lock")) as f:
                pid = int(f.read())
            # An engine that has ended leaves its number there, and it may be another process's by now.
            with open("/proc/%d/environ" % pid, "rb") as f:
                if ("WEIR_HOME=" + self.state).encode() not in f.read().split(b"\0"):
                    return
            os.kill(pid, signal.SIGKILL)
            # Until it has let go of its lock; one that is our own child stays a zombie until somebody waits for it.
            for _ in range(500):
                with open("/proc/%d/stat" % pid) as f:
                    if f.read().rpartition(")")[2].split()[0] in "ZX":
                        return
                time.sleep(0.01)
        except (OSError, ValueError):
            pass

    def file(self, name):
        return os.path.join(self.path, name)

    def write(self, name, content):
        with open(self.file(name), "wb" if isinstance(content, bytes) else "w") as f:
            f.write(content)
        return self.file(name)

    def run(self, *args, env=None, stdin=subprocess.DEVNULL, input=None, timeout=300, program="weir"):
        kw = {"input": input} if input is not None else {"stdin": stdin}
        p = subprocess.run([os.path.join(self.build, program), *map(str, args)], env=dict(self.env, **(env or {})), cwd=self.path,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, **kw)
        for mark in (b"AddressSanitizer", b"ThreadSanitizer", b"runtime error:", b"LeakSanitizer"):
            assert mark not in p.stderr, p.stderr.decode(errors="replace")[-6000:]
        return Result(p.returncode, p.stdout, p.stderr)

    def start(self, *args, env=None, program="weir", **kw):
        p = subprocess.Popen([os.path.join(self.build, program), *map(str, args)], env=dict(self.env, **(env or {})), cwd=self.path,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **kw)
        self.children.append(p)
        return p

    def job(self, feed, name="shop", project=None, **parameters):
        """Writes a job file; the datasets are `shop` and `shop_log` unless given."""
        p = {"warehouse": "local", "inputFile": feed, "changeLogDataset": "shop_log", "replicaDataset": "shop"}
        p.update(parameters)
        p = {k: v for k, v in p.items() if v is not None}
        top = {"project": project} if project else {}
        return self.write(name + ".json", json.dumps({"name": name, "template": "Cdc_To_BigQuery_Template", **top, "parameters": p}))

    def replicate(self, feed, name="shop", args=(), env=None, expect=0, **parameters):
        """Runs a job until idle and gives the result's last line."""
        r = self.run("run", self.job(feed, name, **parameters), "--until-idle", "--json", *args, env=env)
        assert r.code == expect, r
        return r.last if r.out else r

    def warehouse(self, dataset="shop"):
        return os.path.join(self.state, "warehouse", dataset + ".db")

    def sql(self, query, dataset="shop", *values):
        db = sqlite3.connect("file:%s?mode=ro" % self.warehouse(dataset), uri=True)
        try:
            return db.execute(query, values).fetchall()
        finally:
            db.close()

    def letters(self, *args):
        r = self.run("dlq", "list", "--json", *args)
        assert r.code == 0, r
        return r.lines

    def verify(self, name="shop"):
        r = self.run("verify", name, "--json")
        assert r.code == 0 and r.last["equal"] is True, r


def as_user(home, uid, *args, gid=None, groups=(), env=None):
    """The program as another user; only root can."""
    p = subprocess.run([os.path.join(home.build, "weir"), *map(str, args)], env=dict(home.env, **(env or {})), cwd="/", user=uid,
                       group=gid if gid is not None else uid, extra_groups=list(groups), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=60)
    return Result(p.returncode, p.stdout, p.stderr)


def event(after, before=None, op=None, table="t", lsn=None, schema="public", db="shop", **more):
    """A PostgreSQL envelope without schema block."""
    if op is None:
        op = "c" if before is None else "u" if after is not None else "d"
    source = {"connector": "postgresql", "db": db, "schema": schema, "table": table, "ts_ms": 1700000000000}
    if lsn is not None:
        source["lsn"] = lsn
    source.update(more.pop("source", {}))
    e = {"before": before, "after": after, "source": source, "op": op, "ts_ms": 1700000000000}
    e.update(more)
    return e


def feed(events, keys=None, ids=True):
    """Lines of a feed; `keys` gives each event's key object, or None."""
    lines = []
    for i, e in enumerate(events):
        line = {"id": str(i + 1)} if ids else {}
        k = keys(e) if keys else None
        if k is not None:
            line["key"] = json.dumps(k)
        line["data"] = e
        lines.append(json.dumps(line, ensure_ascii=False))
    return "\n".join(lines) + "\n"


def id_key(e):
    row = e.get("after") or e.get("before")
    return {"id": row["id"]} if row else None
