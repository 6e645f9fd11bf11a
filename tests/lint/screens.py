#!/usr/bin/env python3
"""The screens in README.md are the golden files of the screen tests: `<!-- screen NAME -->` and a block of text.

Without an argument compares them, with --write puts the golden texts in. What differs between two runs (times, the
machine) is `#` there as in the golden files.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"(<!-- screen (\S+) -->\n```text\n)(.*?)(```\n)", re.S)


def golden(name):
    with open(os.path.join(ROOT, "tests", "screen", "golden", name), encoding="utf-8") as f:
        text = f.read().split("-- text\n", 1)[1].split("\n-- roles\n", 1)[0]
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def main():
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as f:
        page = f.read()
    made = BLOCK.sub(lambda m: m.group(1) + golden(m.group(2)) + m.group(4), page)
    if "--write" in sys.argv:
        with open(path, "w", encoding="utf-8") as f:
            f.write(made)
        return 0
    blocks = BLOCK.findall(page)
    failed = 0
    for _, name, text, _ in blocks:
        if text != golden(name):
            print("FAIL README.md: the screen %s is not the golden file; make docs puts it in" % name)
            failed += 1
    print("%d passed, %d failed" % (len(blocks) - failed, failed))
    return 1 if failed or not blocks else 0


sys.exit(main())
