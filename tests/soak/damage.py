#!/usr/bin/env python3
"""damage.py [--count N] [FILE:BYTE:BIT ...]: a state file with one bit turned, anywhere, and more to read.

It must do no harm, or be said: by the run, with a reason code, or by `weir verify`. Nothing may crash."""
import os
import random
import shutil
import sqlite3
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(ROOT, "tests", "e2e")]

import weir

FILES = ("jobs/shop.db", "warehouse/shop.db", "warehouse/shop_log.db")
FIRST, LAST, BAD = 200, 260, 3
SAID = ("state_damaged", "ledger_mismatch", "feed_changed", "name_collision", "replica_lost", "replica_ahead", "state_too_new", "key_changed")


def lines(first, last):
    return weir.feed([weir.event({"id": i, "n": i, "s": "abc%d" % i}, lsn=100 + i) for i in range(first, last)], weir.id_key)


class Damage:
    def __init__(self, home):
        self.home = home
        self.kept = home.file("kept")
        feed = home.write("feed", lines(0, FIRST) + '{"data":{"op":"c"}}\n' * BAD)
        home.replicate(feed, expect=1)
        assert home.run("engine", "stop").code in (0, 69)
        shutil.copytree(home.state, self.kept, ignore=shutil.ignore_patterns("*.sock"))
        with open(feed, "a") as f:
            f.write(lines(FIRST, LAST))

    def choose(self, rng):
        """Mostly bytes that hold something."""
        name = rng.choice(FILES)
        with open(os.path.join(self.kept, name), "rb") as f:
            content = f.read()
        at = rng.randrange(len(content))
        while not content[at] and rng.random() > 0.02:
            at = rng.randrange(len(content))
        return name, at, rng.randrange(8)

    def turn(self, name, at, bit):
        self.home.end_engine()
        shutil.rmtree(self.home.state, ignore_errors=True)
        shutil.copytree(self.kept, self.home.state, dirs_exist_ok=True)
        with open(os.path.join(self.home.state, name), "r+b") as f:
            f.seek(at)
            byte = f.read(1)[0]
            f.seek(at)
            f.write(bytes([byte ^ 1 << bit]))

    def is_whole(self, last):
        try:
            rows = self.home.sql("select id, n, s from t order by id")
            log = self.home.sql("select count(*) from t_changelog", "shop_log")
        except sqlite3.Error:
            return False
        return rows == [(i, i, "abc%d" % i) for i in range(LAST)] and log == [(LAST,)] and last["written"] == LAST and \
            last["dead_lettered"] == BAD and last["balanced"]

    def play(self, name, at, bit):
        """What came of it, in a word; a word of what is wrong begins with WRONG."""
        self.turn(name, at, bit)
        run = self.home.run("run", "shop.json", "--until-idle", "--json")
        if run.code not in (0, 1):
            code = run.error["code"]
            return code if code in SAID else "WRONG: the run says %r" % run
        verified = self.home.run("verify", "shop", "--json")
        if verified.code == 0 and self.is_whole(run.last):
            return "harmless"
        if verified.code == 1 or (verified.code == 70 and verified.error["code"] in SAID):
            return "told by verify"
        return "WRONG: nobody says anything: %r %r" % (run, verified)


def main():
    args = sys.argv[1:]
    count = int(args[args.index("--count") + 1]) if "--count" in args else 500
    words = [a for a in args if a.count(":") == 2]
    rng = random.Random(weir.first_seed())
    found, failed = {}, 0
    with weir.Home() as home:
        damage = Damage(home)
        turns = [(n, int(a), int(b)) for n, a, b in (w.split(":") for w in words)] or [damage.choose(rng) for _ in range(count)]
        for turn in turns:
            word = damage.play(*turn)
            if word.startswith("WRONG"):
                print("%s\nagain: WEIR_BUILD=%s python3 tests/soak/damage.py %s:%d:%d" % (word, os.path.relpath(weir.BUILD, weir.ROOT), *turn), flush=True)
            failed += word.startswith("WRONG")
            word = word.partition(":")[0]
            found[word] = found.get(word, 0) + 1
    print(found)
    print("%d passed, %d failed" % (len(turns) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
