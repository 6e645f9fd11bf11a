#!/usr/bin/env python3
"""run.py [-k WORD] [FILE ...]: runs the functions test_* of tests/e2e/test_*.py against the programs in $WEIR_BUILD
(default build). A test is a function; its docstring or name says what a user would see. Last line: N passed, ..."""
import glob
import importlib
import os
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import weir


def collect(folder, files, word):
    names = [os.path.basename(f)[:-3] for f in files] or sorted(os.path.basename(f)[:-3] for f in glob.glob(folder + "/test_*.py"))
    for name in names:
        module = importlib.import_module(name)
        for attribute, function in list(vars(module).items()):
            if attribute.startswith("test_") and callable(function) and (word is None or word in name + "." + attribute):
                yield name + "." + attribute, function


def main(folder):
    args = sys.argv[1:]
    word = None
    if "-k" in args:
        at = args.index("-k")
        word = args[at + 1]
        del args[at : at + 2]
    passed = failed = skipped = 0
    for name, function in collect(folder, args, word):
        began = time.monotonic()
        try:
            function()
            passed += 1
            print("ok   %s (%.1f s)" % (name, time.monotonic() - began), flush=True)
        except weir.Skip as why:
            skipped += 1
            print("skip %s: %s" % (name, why), flush=True)
        except Exception:
            failed += 1
            print("FAIL %s\n%s" % (name, traceback.format_exc()[-4000:]), flush=True)
    if skipped and os.environ.get("CI") == "true":
        failed += skipped
        print("with CI=true a skip is a failure")
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.dirname(os.path.abspath(__file__))))
