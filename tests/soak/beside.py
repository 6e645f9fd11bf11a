"""beside.py [--rounds N] [--rows N] [--tables N] [--fault WORD] [--committed]: how fast a job's other tables go while one has a fault at BigQuery.

One engine, one job, one run. In each round every table gets the same rows twice: once while all is well, once while table
t0 has the fault and its trouble stands; which comes first changes from round to round. Timed is until all other tables'
rows are at the stand-in, by the wall's clock and by the engine's CPU. What is said is the median over the rounds of the
rate with the fault divided by that without it in the same round. Nothing else should run on the machine."""
import argparse
import json
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import emulators
import test_bigquery as base
import weir
from test_bigquery import LOG, until

GUILTY = LOG + ".t0_changelog"


def quota(bq):
    bq.clock(scale=20)
    bq.fault("quota", GUILTY, "AppendRows")


def drop(bq):
    drop.fields = bq.resource(GUILTY)["schema"]["fields"]
    bq.drop(GUILTY)


def mend_drop(bq):
    bq.table(GUILTY, drop.fields)


# A dataset is all tables' of a job: its fault is a table that is not found there, as the table's own answers say it.
FAULTS = {
    "right": (lambda bq: bq.withhold(**{GUILTY: ["bigquery.tables.updateData"]}), lambda bq: bq.withhold()),
    "drop": (drop, mend_drop),
    "quota": (quota, lambda bq: bq.lift()),
    "dataset": (lambda bq: (bq.fault("missing", GUILTY, "*"), bq.fault("missing", GUILTY, "AppendRows")), lambda bq: bq.lift()),
}


def cpu_s(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Beside:
    def __init__(self, home, bq, options):
        self.home, self.bq, self.options, self.next = home, bq, options, 0
        self.tables = ["t%d" % i for i in range(options.tables)]
        more = {"parkBytes": "8G"}
        if options.committed:
            more.update(base.ONCE)
        self.job = base.Followed(home, bq, self.lines(10), **more)
        until(lambda: all(self.rows(t) >= 10 for t in self.tables))
        self.pid = home.run("engine", "status", "--json").last["pid"]

    def lines(self, count):
        first, self.next = self.next, self.next + count
        return weir.feed([weir.event({"id": i, "v": "x" * 150}, table=t, lsn=1000 + i) for i in range(first, first + count) for t in self.tables],
                         weir.id_key)

    def rows(self, table):
        return self.bq.counts("%s.%s_changelog" % (LOG, table)).get("rows", 0)

    def timed(self):
        """(wall s, CPU s) until the other tables have as many rows more."""
        lines, others = self.lines(self.options.rows), self.tables[1:]
        wanted = {t: self.rows(t) + self.options.rows for t in others}
        began, cpu = time.monotonic(), cpu_s(self.pid)
        self.job.add(lines)
        while any(self.rows(t) < wanted[t] for t in others):
            time.sleep(0.005)
        return time.monotonic() - began, cpu_s(self.pid) - cpu

    def row(self, table):
        return base.table_row(self.home, table)

    def with_fault(self, fault):
        FAULTS[fault][0](self.bq)
        self.job.add(self.lines(50))
        until(lambda: self.row("t0")["state"] in ("needs you", "waiting"), 30)
        taken = self.timed()
        for table in self.tables[1:]:
            row = self.row(table)
            assert row["state"] in ("ok", "catching up") and not row["parked"], row
        FAULTS[fault][1](self.bq)
        until(lambda: self.row("t0")["state"] == "ok", 120)
        self.settle()
        return taken

    def settle(self):
        until(lambda: not self.home.run("status", "--json").lines[0]["parked"], 120)

    def round(self, fault, is_fault_first):
        order = [lambda: self.with_fault(fault), self.timed]
        if is_fault_first:
            bad = order[0]()
            return bad, order[1]()
        good = order[1]()
        return order[0](), good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--fault", choices=FAULTS)
    parser.add_argument("--committed", action="store_true")
    options = parser.parse_args()
    for fault in [options.fault] if options.fault else FAULTS:
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            beside = Beside(home, bq, options)
            beside.timed()
            found = [beside.round(fault, i % 2) for i in range(options.rounds)]
            walls = sorted(good[0] / bad[0] for bad, good in found)
            cpus = sorted(good[1] / bad[1] for bad, good in found if bad[1])
            rate = (options.tables - 1) * options.rows / statistics.median(good[0] for _, good in found)
            print(json.dumps({"fault": fault, "rounds": options.rounds, "rows_per_s_without": round(rate), "rate_with_by_without":
                              round(statistics.median(walls), 2), "worst": round(walls[0], 2), "best": round(walls[-1], 2),
                              "by_cpu": round(statistics.median(cpus), 2)}), flush=True)
            beside.job.drain()


if __name__ == "__main__":
    main()
