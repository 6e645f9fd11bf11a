"""Makes a failing case small: leaves out what the failure does not need, as long as a database could have lived the rest."""
import os

import histories
import weir
from cases import play

TRIES = 150


def tried(case, budget):
    """Still wrong? A change that could not have happened without another is not tried."""
    budget[0] -= 1
    return budget[0] > 0 and histories.is_valid(case.history, case.changes) and play(case) is not None


def shrink(case):
    """Kills, cuts, changes in ever smaller groups, repeats, disorder."""
    budget = [TRIES]
    for simpler in (dict(kills=[]), dict(cuts=[]), dict(batch=5000)):
        if tried(case.smaller(**simpler), budget):
            case = case.smaller(**simpler)
    case = fewer_changes(case, budget)
    for i in range(len(case.order) - 1, -1, -1):
        order = case.order[:i] + case.order[i + 1 :]
        if case.order[i] in order and tried(case.smaller(order=order), budget):
            case = case.smaller(order=order)
    in_order = case.smaller(order=sorted(case.order))
    return in_order if tried(in_order, budget) else case


def fewer_changes(case, budget):
    size = max(1, len(case.changes) // 2)
    while size and budget[0] > 0:
        at = 0
        while at < len(case.changes):
            other = case.smaller(changes=case.changes[:at] + case.changes[at + size :])
            if other.order and tried(other, budget):
                case = other
            else:
                at += size
        size //= 2
    return case


def report(case, name, seed):
    small = shrink(case)
    feed = "".join(line + "\n" for line, _ in small.lines())
    only = "WEIR_CONNECTOR=%s " % os.environ["WEIR_CONNECTOR"] if "WEIR_CONNECTOR" in os.environ else ""
    schema = "\nthe schema file:\n" + histories.file_of_types(small.history) if small.history.form == "file" else ""
    command = "%sWEIR_SEED=%d WEIR_HISTORIES=1 WEIR_BUILD=%s python3 tests/e2e/run.py -k %s" % (only, seed, os.path.relpath(weir.BUILD, weir.ROOT), name)
    # What counts stands last: a long feed is cut at its beginning.
    return "history %s, %s, the smallest feed:\n%s%s%s\nat first: %s\nagain: %s" % (seed, small, feed, play(small), schema, play(case), command)
