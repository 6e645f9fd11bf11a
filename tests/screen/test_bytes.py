"""What a console at work sends: twenty jobs of which every number changes, once a second at most."""
import json
import random

import between
import console

JOBS = 20
ASKED_A_SECOND = 1  # ASK_AGAIN_MS in tui/model/model_private.h
TARGET_BYTES = 2000 # a second: decisions.md


class Busy(between.Between):
    """Makes twenty running jobs of the one that the engine has; with each sync all their numbers are others."""

    def __init__(self, home):
        self.random = random.Random(20)
        super().__init__(home)

    def changed(self, job, number):
        def some(most):
            return self.random.randint(1, most)

        rate = some(400000)
        more = {"job": "job-%02d" % number, "running": True, "state": "ok", "own_state": "ok", "worst": "ok", "lag_ms": some(9000), "age_ms": 500,
                "in_flight": some(5000), "rates": {**job["rates"], "received": rate, "written": rate - some(1000)}, "since": "2026-01-01T00:00:00Z"}
        return {**job, **more, "tables": []}

    def answer(self, line):
        frame = json.loads(line)
        if "topics" in frame.get("ok", {}):
            return b'{"event":"jobs","seq":1}\n' + line
        if frame.get("line", {}).get("tables") is None or "rates" not in frame["line"]:
            return line
        return b"".join(json.dumps({**frame, "line": self.changed(frame["line"], i)}).encode() + b"\n" for i in range(JOBS))


def bytes_of_a_round(home, cols, rows):
    with console.console(home, theme="dark", cols=cols, rows=rows) as t:
        t.sync()
        shown = sum("job-" in line for line in t.picture().lines)
        counts = []
        for _ in range(5):
            before = t.picture().lines
            t.bytes()
            t.sync()
            counts.append(t.bytes())
            after = t.picture().lines
            assert sum(a != b for a, b in zip(before, after)) >= shown * 2 // 3, (before, after)
            assert not any(".." in l[:60] for l in after if " job-" in l), after
        t.bytes()
        t.sync()
        t.record_bytes("twenty-busy-jobs")
    return shown, max(counts)


def test_twenty_jobs_of_which_every_number_changes_cost_less_than_2_kb_a_second():
    with console.finished_shop() as home:
        job = home.run("start", "shop")
        assert job.code == 0, job
        busy = Busy(home)
        for cols, rows in ((100, 30), (80, 24), (60, 16)):
            shown, count = bytes_of_a_round(home, cols, rows)
            assert shown >= min(rows - 10, JOBS) or cols == 60, (cols, rows, shown)
            assert 0 < count * ASKED_A_SECOND < TARGET_BYTES, (cols, rows, count)
        busy.end()
