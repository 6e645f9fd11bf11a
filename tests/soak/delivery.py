"""One way in which a stream reaches a job, written as words with slashes between them:

  STREAM/merge|upsert/typed|untyped/file|stdin/in-order|shuffled/HARM/SEED

HARM is `none`, `kill=POINT:N` (core/base/crash_points.def) or `disk=HOW:N:TIMES` (core/store/store_disk.c)."""
import json
import os
import signal
import subprocess
import time

import stream as streams_of
import weir

REASONS = ("io_error", "disk_full")
STARTS = 12


class Delivery:
    def __init__(self, stream, mode, is_typed, channel, is_shuffled, harm="none", seed=1):
        self.stream, self.mode, self.is_typed, self.channel = stream, mode, is_typed, channel
        self.is_shuffled, self.harm, self.seed = is_shuffled, harm, seed

    def __str__(self):
        return "/".join((self.stream.name, self.mode, "typed" if self.is_typed else "untyped", self.channel,
                         "shuffled" if self.is_shuffled else "in-order", self.harm, str(self.seed)))

    @property
    def env(self):
        """Small batches where something is to happen between two of them, but never thousands."""
        kind, _, what = self.harm.partition("=")
        if kind == "none":
            return {}
        small = {"WEIR_BATCH_RECORDS": str(max(7, len(self.stream.lines) // 40))}
        return dict(small, **({"WEIR_CRASH": what} if kind == "kill" else {"WEIR_DISK": what}))

    def lines(self):
        rng = streams_of.random_of(self.stream.name, self.seed)
        return self.stream.ordered(rng, self.is_shuffled)

    def prepare(self, home, lines):
        parameters = self.stream.parameters(self.is_typed)
        home.write("feed.jsonl", b"".join(lines))
        home.job("feed.jsonl" if self.channel == "file" else "-", replicationMode=self.mode,
                 changeLogDataset="shop_log" if self.mode == "merge" else None, **parameters)

    def start(self, home, env):
        """One start of the engine, until it ends or, on a disk that stays broken, waits; then it is killed."""
        with open(home.file("feed.jsonl"), "rb") as feed, open(home.file("out"), "wb") as out, open(home.file("err"), "wb") as err:
            p = subprocess.Popen([os.path.join(home.build, "weird"), "--run", "shop.json", "--until-idle", "--json"], cwd=home.path,
                                 env=dict(home.env, **env), stdin=feed if self.channel == "stdin" else subprocess.DEVNULL, stdout=out, stderr=err)
        home.children.append(p)
        if env.get("WEIR_DISK", "").endswith(":0"):
            kill_when_it_waits(p, home.file("err"))
        p.wait(timeout=600)
        return result_of(home, p.returncode)

    def play(self, judge):
        """What is wrong, in words; empty: nothing."""
        lines = self.lines()
        with weir.Home() as home:
            self.prepare(home, lines)
            result = self.start(home, self.env)
            is_harmed = result.code != 0
            wrong = self.wrong_end(result)
            for _ in range(STARTS):
                if wrong or result.code == 0:
                    break
                result = self.start(home, {})
            if not wrong and result.code != 0:
                wrong = "does not end well afterwards: %r" % result
            wrong = wrong or self.wrong_ledger(result.last, len(lines), is_harmed) or judge.differences(home.warehouse(), self.stream, self.is_typed)
            if not wrong and self.mode == "merge":
                verified = home.run("verify", "shop", "--json")
                wrong = "" if verified.code == 0 and verified.last["equal"] is True else "verify: %r" % verified
            return wrong

    def wrong_end(self, result):
        """A start ends well, or as the harm says: killed, or with a reason and its exit status."""
        if result.code == 0 or (result.code == -signal.SIGKILL and self.harm != "none"):
            return ""
        if self.harm.startswith("disk=") and result.code == 69 and result.error["code"] in REASONS:
            return ""
        return "a run ends with %r" % result

    def wrong_ledger(self, last, count, is_harmed):
        want = {"dead_lettered": 0, "parked": 0, "in_flight": 0, "balanced": True}
        # Standard input begins anew with each start, and what was read before counts again.
        if self.channel == "file" or not is_harmed:
            want["received"] = count
        found = {k: last[k] for k in want}
        if found != want or last["written"] + last["filtered"] != last["received"]:
            return "ledger: expected %r, found %s" % (want, json.dumps({k: last[k] for k in list(want) + ["received", "written", "filtered"]}))
        return ""


def kill_when_it_waits(p, path, reasons=REASONS):
    """The engine has its fault and says that it waits, or ends by itself; looked at until either is seen."""
    until = time.monotonic() + 120
    while p.poll() is None:
        with open(path, "rb") as f:
            said = f.read()
        if b"waiting" in said or time.monotonic() > until:
            assert any(reason.encode() in said for reason in reasons), said
            p.kill()
            return
        time.sleep(0.01)


def result_of(home, code):
    found = []
    for name in ("out", "err"):
        with open(home.file(name), "rb") as f:
            found.append(f.read())
    for mark in (b"AddressSanitizer", b"ThreadSanitizer", b"runtime error:", b"LeakSanitizer"):
        assert mark not in found[1], found[1].decode(errors="replace")[-6000:]
    return weir.Result(code, *found)
