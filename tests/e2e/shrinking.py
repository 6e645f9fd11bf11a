"""Makes a failing case small: leaves out what the failure does not need, as long as a database could have lived the rest."""
import os
import re

import histories
import rendering
import weir
from cases import play

TRIES = 150
# Failures of one sort begin so; what else there is are wrong values.
SORTS = ("a run ends with", "ledger", "changelog expected", "a query of the changelog", "keys expected", "no table", "documents expected", "verify")


def sort_of(wrong):
    """Which kind of failure it is, so that a case does not become another one while it is made small."""
    sort = next((s for s in SORTS if s in wrong), "a value")
    return (sort, re.findall(r"\[\('(\w+)'", wrong)) if sort == SORTS[0] else sort


class Budget:
    def __init__(self, wrong):
        self.left, self.sort = TRIES, sort_of(wrong)


def tried(case, budget):
    """Still wrong in the same way? A change that could not have happened without another is not tried."""
    if budget.left <= 0 or not histories.is_valid(case.history, case.changes):
        return False
    budget.left -= 1
    wrong = play(case)
    return wrong is not None and sort_of(wrong) == budget.sort


def shrink(case, wrong):
    """What stands around the rows, kills, cuts, changes in ever smaller groups, repeats, disorder."""
    budget = Budget(wrong)
    alone = case.smaller(order=[o for o in case.order if o in own_lines(case)])
    case = alone if tried(alone, budget) else case
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


def own_lines(case):
    """The changes themselves, without messages of transactions and signals."""
    return {(c["order"], i) for c in case.changes for i in range(len(rendering.lines_of(case.history, c)))}


def fewer_changes(case, budget):
    size = max(1, len(case.changes) // 2)
    while size and budget.left > 0:
        at, before = 0, len(case.changes)
        while at < len(case.changes):
            other = case.smaller(changes=case.changes[:at] + case.changes[at + size :])
            if other.order and tried(other, budget):
                case = other
            else:
                at += size
        # One that could not go before may go now.
        size = size if size == 1 and len(case.changes) < before else size // 2
    return case


def report(case, name, seed, wrong):
    small = shrink(case, wrong)
    feed = "".join(line + "\n" for line, _ in small.lines())
    only = "WEIR_CONNECTOR=%s " % os.environ["WEIR_CONNECTOR"] if "WEIR_CONNECTOR" in os.environ else ""
    schema = "\nthe schema file:\n" + histories.file_of_types(small.history) if small.history.form == "file" else ""
    command = "%sWEIR_SEED=%d WEIR_HISTORIES=1 WEIR_BUILD=%s python3 tests/e2e/run.py -k %s" % (only, seed, os.path.relpath(weir.BUILD, weir.ROOT), name)
    # What counts stands last: a long feed is cut at its beginning.
    return "history %s, %s, the smallest feed:\n%s%s%s\nat first: %s\nagain: %s" % (seed, small, feed, play(small), schema, wrong, command)
