#!/usr/bin/env python3
"""run.py [-k WORD] [FILE ...]: runs the functions test_* of tests/e2e/test_*.py against the programs in $WEIR_BUILD
(default build), WEIR_WORKERS at a time. A test is a function; its docstring or name says what a user would see. Last line:
N passed, ..."""
import glob
import importlib
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import workers


def collect(folder, files, word):
    names = [os.path.basename(f)[:-3] for f in files] or sorted(os.path.basename(f)[:-3] for f in glob.glob(folder + "/test_*.py"))
    for name in names:
        module = importlib.import_module(name)
        for attribute, function in list(vars(module).items()):
            if attribute.startswith("test_") and callable(function) and (word is None or word in name + "." + attribute):
                yield name + "." + attribute, function


def worker_count():
    """Twice as many as there are processors, for tests mostly wait. What a person watches or accepts is done one by one."""
    if "WEIR_WATCH" in os.environ or "WEIR_ACCEPT" in os.environ:
        return 1
    return max(1, int(os.environ.get("WEIR_WORKERS") or min(8, 2 * len(os.sched_getaffinity(0)))))


def main(folder):
    # In the background of a shell C-c is ignored, and so it would be by the programs under test until they ask for it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    args = sys.argv[1:]
    word = None
    if "-k" in args:
        at = args.index("-k")
        word = args[at + 1]
        del args[at : at + 2]
    count = {"ok": 0, "FAIL": 0, "skip": 0}
    for name, outcome in workers.run(list(collect(folder, args, word)), worker_count()):
        count[outcome.word] += 1
        sys.stdout.write(outcome.printed)
        if outcome.word == "ok":
            print("ok   %s (%.1f s)" % (name, outcome.seconds), flush=True)
        else:
            print("%s %s%s%s" % (outcome.word, name, ": " if outcome.word == "skip" else "\n", outcome.text), flush=True)
    if count["skip"] and os.environ.get("CI") == "true":
        count["FAIL"] += count["skip"]
        print("with CI=true a skip is a failure")
    print("%d passed, %d failed, %d skipped" % (count["ok"], count["FAIL"], count["skip"]))
    return 1 if count["FAIL"] or not count["ok"] else 0


if __name__ == "__main__":
    sys.exit(main(os.path.dirname(os.path.abspath(__file__))))
