#!/usr/bin/env python3
"""soak.py [--list] [--sample N] [DELIVERY ...]: every stream in every way that a source may deliver it, also with harm on the
way, must give the source's own final rows.

WEIR_DATA=FOLDER names the streams (default: tests/streams and tests/fixtures); compare.py there is the judge. WEIR_BUILD must be a
build with test switches (default build/crash). WEIR_SEED or WEIR_SEEDS begins the random choices. WEIR_FAULTS=N: broken disks
tried for each stream, mode and typing (default 12). WEIR_SOAK=WORD: only deliveries with that word in them. A DELIVERY (delivery.py) repeats one; --sample N takes N of all."""
import os
import re
import sys
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(ROOT, "tests", "e2e")]
os.environ.setdefault("WEIR_BUILD", "build/crash")

import judge
import stream
import weir
from delivery import Delivery

FAULTS = int(os.environ.get("WEIR_FAULTS", "12"))
DISKS = ("io", "full", "half", "half_full", "torn")
# A disk that fails again has its job wait twice as long each time: more than a few are long and say no more.
TIMES = (1, 1, 2, 4, 0)


def data_folders():
    """The folders of the streams; our own are unpacked first, and the connectors of which none was recorded stand beside."""
    given = os.environ.get("WEIR_DATA")
    if given:
        return [os.path.abspath(given)]
    for name in sorted(os.listdir(os.path.join(weir.ROOT, "tests", "streams"))):
        if name.endswith(".tar.xz"):
            weir.stream(name[: -len(".tar.xz")])
    return [weir.STREAMS, os.path.join(weir.ROOT, "tests", "fixtures")]


def crash_points():
    with open(os.path.join(weir.ROOT, "core", "base", "crash_points.def")) as f:
        return re.findall(r"^CRASH_POINT\((\w+),", f.read(), re.M)


def harms(rng):
    """Each crash point early and late, and disks that break anywhere: small numbers are the making of the files."""
    for point in crash_points():
        yield "kill=%s:1" % point
        yield "kill=%s:%d" % (point, rng.randrange(2, 9))
    for _ in range(FAULTS):
        yield "disk=%s:%d:%d" % (rng.choice(DISKS), int(2 ** rng.uniform(3, 11)), rng.choice(TIMES))


def deliveries(of, seed):
    """All ways of one stream. Where placeholders are and no changelog, order is part of what the source promises."""
    for mode in ("merge", "upsert"):
        orders = [False] if mode == "upsert" and of.has_placeholders else [False, True]
        for is_typed in of.typings:
            for channel in ("file", "stdin"):
                for is_shuffled in orders:
                    yield Delivery(of, mode, is_typed, channel, is_shuffled, "none", seed)
            rng = stream.random_of(of.name, mode, is_typed, seed)
            for harm in harms(rng):
                yield Delivery(of, mode, is_typed, rng.choice(("file", "stdin")), rng.choice(orders), harm, seed)


def delivery_of(words, all_streams):
    name, mode, typing, channel, order, harm, seed = words.split("/")
    of = next(s for s in all_streams if s.name == name)
    return Delivery(of, mode, typing == "typed", channel, order == "shuffled", harm, int(seed))


def command(delivery):
    data = "WEIR_DATA=%s " % os.environ["WEIR_DATA"] if "WEIR_DATA" in os.environ else ""
    return "%sWEIR_BUILD=%s python3 tests/soak/soak.py '%s'" % (data, os.path.relpath(weir.BUILD, weir.ROOT), delivery)


def sample_of(chosen, count, rng):
    """Some of all: one with no harm of every stream and mode first, the rest anywhere."""
    plain = {}
    for d in chosen:
        if d.harm == "none" and d.is_shuffled and d.channel == "stdin":
            plain.setdefault((d.stream.name, d.mode), d)
    found = list(plain.values())
    return found + rng.sample(chosen, max(0, min(count - len(found), len(chosen))))


def play(chosen, by):
    passed = failed = 0
    for delivery in chosen:
        began = time.monotonic()
        try:
            wrong = delivery.play(by)
        except Exception:
            wrong = traceback.format_exc()[-3000:]
        passed, failed = passed + (not wrong), failed + bool(wrong)
        took = time.monotonic() - began
        print("FAIL %s\n%s\nagain: %s" % (delivery, wrong[:4000], command(delivery)) if wrong else "ok   %s (%.1f s)" % (delivery, took), flush=True)
    return passed, failed


def main():
    args = sys.argv[1:]
    count = int(args.pop(args.index("--sample") + 1)) if "--sample" in args else 0
    words = [a for a in args if not a.startswith("--")]
    folders, seed = data_folders(), weir.first_seed()
    all_streams = [s for folder in folders for s in stream.streams(folder)]
    chosen = [delivery_of(w, all_streams) for w in words] or [d for s in all_streams for d in deliveries(s, seed)]
    chosen = [d for d in chosen if os.environ.get("WEIR_SOAK", "") in str(d)]
    if count:
        chosen = sample_of(chosen, count, stream.random_of("sample", seed))
    if "--list" in args:
        print("\n".join(map(str, chosen)))
        return 0
    by = judge.Judge(folders[0])
    print("seed %d, %d deliveries, judged by %s" % (seed, len(chosen), by.name), flush=True)
    passed, failed = play(chosen, by)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
