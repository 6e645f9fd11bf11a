#!/usr/bin/env python3
"""descriptors.py [--every K] [HOW:N:TIMES/MODE ...]: the small feed of disk.py with descriptors whose n-th call fails.

Every file of the home, the feed and the socket, whoever opened them (tests/fakes/descriptors.c): reads, writes, syncs,
truncations, renames, folders, locks, maps, opens. Short counts and interrupted calls must not show at all; what fails is said,
waited for, or ends the run with its reason, and the next run makes good what is left."""
import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import disk
import weir

# What may be said of each; nothing: it must not be noticed. SQLite opens a log that it cannot make once more to be read, and
# then says that there is none.
REASONS = {
    "io": ("io_error",), "full": ("disk_full", "io_error"), "half_full": ("disk_full",), "half": (), "none_left": ("no_descriptors", "io_error"),
    "interrupted": (), "denied": ("no_permission", "io_error"), "read_only": ("no_permission", "io_error"), "unlocked": ("database_locked", "io_error"),
}
WAYS = [(how, times) for how in REASONS for times in (1, 3)] + [("io", 0), ("full", 0), ("none_left", 0), ("half", 0)]


def library(name="descriptors"):
    """Built anew when its source is newer."""
    out = os.path.join(weir.ROOT, "build", "fakes", name + ".so")
    source = os.path.join(weir.ROOT, "tests", "fakes", name + ".c")
    if not os.path.exists(out) or os.path.getmtime(out) < os.path.getmtime(source):
        os.makedirs(os.path.dirname(out), exist_ok=True)
        made = "%s.%d" % (out, threading.get_native_id())
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-Wall", "-o", made, source], check=True)
        os.rename(made, out)
    return out


def switches(home, how, first, times=1):
    return {"LD_PRELOAD": library(), "WEIR_FD": "%s:%d:%d" % (how, first, times), "WEIR_FD_BELOW": home.path, "WEIR_FD_TRACE": home.file("trace")}


class Try(disk.Try):
    def fault(self, home):
        return switches(home, self.how, self.first, self.times)

    @property
    def reasons(self):
        return REASONS[self.how]


if __name__ == "__main__":
    sys.exit(disk.main(Try, WAYS))
