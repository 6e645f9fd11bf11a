"""Tests that run several at a time, for most of a test is waiting. A worker is a fork of the runner, so all have the same seeds
and modules; it runs one test after the other, and what a test prints goes with its outcome."""
import atexit
import multiprocessing.connection as connection
import os
import sys
import tempfile
import time
import traceback

import weir


def alone(function):
    """Mark of a test that needs the machine for itself: it measures time, or changes what others see."""
    function.runs_alone = True
    return function


class Outcome:
    def __init__(self, word, text, seconds, printed=""):
        self.word, self.text, self.seconds, self.printed = word, text, seconds, printed


def attempt(function):
    began = time.monotonic()
    try:
        function()
        return Outcome("ok", "", time.monotonic() - began)
    except weir.Skip as why:
        return Outcome("skip", str(why), time.monotonic() - began)
    except Exception:
        return Outcome("FAIL", traceback.format_exc()[-4000:], time.monotonic() - began)


class Paper:
    """What this process and its children print, in a file instead of where the other workers print, too."""

    def __init__(self):
        self.file = tempfile.TemporaryFile()
        os.dup2(self.file.fileno(), 1)
        os.dup2(self.file.fileno(), 2)

    def take(self):
        sys.stdout.flush()
        sys.stderr.flush()
        self.file.seek(0)
        text = self.file.read().decode(errors="replace")
        self.file.truncate(0)
        self.file.seek(0)
        return text


class Worker:
    """A process that runs tests by their number in `tests`. `others` are workers whose ends it must not keep open."""

    def __init__(self, tests, others):
        self.end, its_end = connection.Pipe()
        sys.stdout.flush()
        self.at = None
        self.pid = os.fork()
        if self.pid == 0:
            for worker in [self] + others:
                worker.end.close()
            self.work(tests, its_end)
        its_end.close()

    @staticmethod
    def work(tests, end):
        """Until there is nothing to do any more; what tests keep to the end of the process is ended as usual."""
        try:
            paper = Paper()
            while True:
                outcome = attempt(tests[end.recv()][1])
                outcome.printed = paper.take()
                end.send(outcome)
        except (EOFError, KeyboardInterrupt, BrokenPipeError):
            pass
        finally:
            atexit._run_exitfuncs()
            os._exit(0)

    def begin(self, at):
        self.at = at
        self.began = time.monotonic()
        self.end.send(at)

    def outcome(self):
        """Of the test that has ended; of a process that has ended with it, how."""
        try:
            return self.end.recv()
        except EOFError:
            how = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            self.pid = None
            return Outcome("FAIL", "the process of this test ended with %d\n" % how, time.monotonic() - self.began)

    def close(self):
        self.end.close()
        if self.pid:
            os.waitpid(self.pid, 0)


class Workers:
    def __init__(self, tests, count):
        self.tests = tests
        self.all = []
        self.alone = [i for i, (_, function) in enumerate(tests) if getattr(function, "runs_alone", False)]
        self.others = [i for i in range(len(tests)) if i not in self.alone]
        for _ in range(min(count, len(tests))):
            self.all.append(Worker(tests, self.all))

    def give(self):
        """Work to who has none. Those that run alone are first, so that they wait for nobody."""
        busy = [worker for worker in self.all if worker.at is not None]
        for worker in self.all:
            if worker.at is not None or (busy and self.alone_runs(busy)):
                continue
            if self.alone and not busy:
                worker.begin(self.alone.pop(0))
            elif self.others and not self.alone:
                worker.begin(self.others.pop(0))
            else:
                return
            busy.append(worker)

    def alone_runs(self, busy):
        return getattr(self.tests[busy[0].at][1], "runs_alone", False)

    def outcomes(self):
        """Number and outcome of each test, as they end."""
        self.give()
        while any(worker.at is not None for worker in self.all):
            ended = connection.wait([worker.end for worker in self.all if worker.at is not None])
            for worker in [worker for worker in self.all if worker.end in ended]:
                at, outcome = worker.at, worker.outcome()
                worker.at = None
                if worker.pid is None:
                    worker.close()
                    self.all.remove(worker)
                    self.all.append(Worker(self.tests, self.all))
                yield at, outcome
            self.give()

    def close(self):
        for worker in self.all:
            worker.close()


def run(tests, count):
    """Outcomes of all tests in their order: those that run alone, then the others. One worker is this process itself, whose
    tests print what they print at once."""
    if count == 1 or len(tests) == 1:
        for name, function in tests:
            yield name, attempt(function)
        return
    order = sorted(range(len(tests)), key=lambda i: not getattr(tests[i][1], "runs_alone", False))
    workers, waiting = Workers(tests, count), {}
    try:
        for at, outcome in workers.outcomes():
            waiting[at] = outcome
            while order and order[0] in waiting:
                at = order.pop(0)
                yield tests[at][0], waiting.pop(at)
    finally:
        workers.close()
