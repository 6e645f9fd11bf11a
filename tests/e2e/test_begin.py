"""How jobs begin: not while they are deleted, not without a thread, and whoever watches is told that they began anew."""
import os
import subprocess
import threading
import time

import test_jobs
import test_replay
import test_socket
import weir

# The n-th thread is the last that can be made, n being what the file holds; without the file all can.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
	FILE *f = fopen(getenv("THREADS_LEFT"), "r+");
	int left = 1;

	if (f && fscanf(f, "%d", &left) == 1 && left > 0) {
		rewind(f);
		fprintf(f, "%d\n", left - 1);
	}
	if (f)
		fclose(f);
	return left > 0 ? real(thread, attributes, run, context) : EAGAIN;
}
"""


class Threads:
    """An engine in which threads can be forbidden."""

    def __init__(self, home):
        self.path = home.file("threads-left")
        so = home.file("shim.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", so, home.write("shim.c", SHIM), "-ldl"], check=True)
        sanitizer = ":".join(filter(None, [home.env.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]))
        r = home.run("job", "list", env={"LD_PRELOAD": so, "THREADS_LEFT": self.path, "ASAN_OPTIONS": sanitizer})
        assert r.code == 0, r

    def leave(self, count):
        with open(self.path, "w") as f:
            f.write("%d\n" % count)

    def allow(self):
        os.unlink(self.path)


def state_file(home, name):
    return os.path.join(home.state, "jobs", name)


def test_a_job_without_a_thread_has_not_begun():
    with weir.Home() as home:
        threads = Threads(home)
        test_jobs.create(home, test_jobs.feed_lines(0, 10))
        threads.leave(1)
        r = home.run("start", "shop", "--json")
        assert r.code != 0 and r.error["code"] == "no_threads", r
        threads.allow()
        assert home.run("engine", "status", "--json").last["running_jobs"] == 0
        assert home.run("job", "show", "shop", "--json").last["state"] == "stopped"
        test_jobs.act(home, "start", "shop", state="ok")
        test_jobs.settle(home, "shop", 10)
        test_jobs.act(home, "drain", "shop", state="stopped")
        threads.leave(1)
        assert home.run("start", "shop", "--json").error["code"] == "no_threads"
        threads.allow()
        line = home.run("job", "show", "shop", "--json").last
        assert line["state"] == "stopped" and line["received"] == 10, line
        test_jobs.act(home, "job", "delete", "shop", state="deleted")


def test_a_job_without_its_other_threads_has_not_begun():
    with weir.Home() as home:
        threads = Threads(home)
        test_jobs.create(home, test_jobs.feed_lines(0, 10))
        # The call's, the job's own; then the reader is missing, or the merger.
        journal = os.path.join(home.state, "journal.jsonl")
        for ended, left in enumerate((2, 3), 1):
            threads.leave(left)
            assert home.run("start", "shop", "--json").code in (0, 1)
            # Whoever asks needs a thread too: the journal tells when it is over.
            test_jobs.weir_until(lambda: open(journal).read().count('"job_needs_you"') == ended)
            threads.allow()
            test_jobs.weir_until(lambda: home.run("job", "show", "shop", "--json").last["state"] == "needs you")
            line = home.run("job", "show", "shop", "--json").last
            assert line["code"] == "no_threads" and line["received"] == 0 and line["running"] is False, line
            assert os.listdir(os.path.join(home.state, "warehouse")) == []
        test_jobs.act(home, "start", "shop", state="ok")
        test_jobs.settle(home, "shop", 10)


def test_a_job_that_cannot_wake_for_want_of_threads_waits():
    with weir.Home() as home:
        threads = Threads(home)
        feed = test_jobs.create(home, test_jobs.feed_lines(0, 10))
        test_jobs.act(home, "start", "shop", state="ok")
        at_rest = lambda: any(a["doing"] == "waiting for new messages" for a in home.run("status", "--json").last["activity"])
        test_jobs.weir_until(at_rest)
        threads.leave(0)
        with open(feed, "a") as f:
            f.write(test_jobs.feed_lines(10, 20))
        # Calls need a thread too: the journal tells what nobody can ask.
        journal = os.path.join(home.state, "journal.jsonl")
        test_jobs.weir_until(lambda: '"job_waiting"' in open(journal).read())
        threads.allow()
        test_jobs.settle(home, "shop", 20)
        lines = open(journal).read()
        assert "no_threads" in lines
        test_jobs.weir_until(lambda: '"job_goes_on"' in open(journal).read())
        home.verify()


def test_a_call_without_a_thread_is_told():
    with weir.Home() as home:
        threads = Threads(home)
        threads.leave(0)
        r = home.run("tables", "--json")
        assert r.code != 0 and r.error["code"] == "no_threads", r
        threads.allow()
        assert home.run("tables", "--json").code == 0


def test_a_replay_without_a_thread_leaves_the_desk():
    with weir.Home() as home:
        threads = Threads(home)
        _, group, events = test_replay.rejected(home)
        threads.leave(1)
        r = home.run("dlq", "replay", "--group", group, "--yes", "--json")
        assert r.code != 0 and r.error["code"] == "no_threads", r
        threads.allow()
        assert test_replay.counts(test_replay.replay(home, group)) == [20, 0, 0, 0]
        assert test_replay.replica(home) == test_replay.from_the_start(events)


def test_a_job_that_is_being_deleted_does_not_begin():
    with weir.Home() as home:
        test_jobs.create(home, test_jobs.feed_lines(0, 10))
        test_jobs.act(home, "start", "shop")
        test_jobs.settle(home, "shop", 10)
        test_jobs.act(home, "drain", "shop")
        # So many files that a start falls into the middle.
        store = state_file(home, "shop.db")
        big = store[:-3] + ".big"
        os.makedirs(big, exist_ok=True)
        for i in range(60000):
            os.close(os.open(os.path.join(big, str(i)), os.O_CREAT | os.O_WRONLY))
        deleter = home.start("job", "delete", "shop", "--json")
        test_replay.wait_for(lambda: not os.path.exists(store))
        acts = (("start", "shop"), ("run", "shop"), ("job", "delete", "shop"))
        refused = [home.run(*act, "--json").error["code"] for act in acts]
        out, err = deleter.communicate(timeout=120)
        assert deleter.returncode == 0, err
        # On a slow machine it is deleted before the last of them asks.
        assert refused[0] == "wrong_state" and set(refused) <= {"wrong_state", "job_unknown"}, refused
        assert not os.path.exists(store), "a start that is refused leaves no store behind"
        assert home.run("start", "shop", "--json").error["code"] == "job_unknown"
        assert home.run("engine", "status", "--json").last["running_jobs"] == 0
        result = home.replicate(home.file("feed"))
        assert result["received"] == 10 and result["balanced"], result


def test_starts_and_deletes_at_once_leave_a_job_or_none():
    with weir.Home() as home:
        for _ in range(12):
            test_jobs.create(home, test_jobs.feed_lines(0, 10))
            threads = [threading.Thread(target=home.run, args=args) for args in [("start", "shop"), ("job", "delete", "shop")] * 3]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            exists = os.path.exists(state_file(home, "shop.db"))
            jobs = home.run("job", "list", "--json").lines
            running = home.run("engine", "status", "--json").last["running_jobs"]
            assert len(jobs) == running and (exists or not running), (jobs, running, exists)
            assert not (exists and not jobs), "a store without a job"
            if jobs:
                test_jobs.settle(home, "shop", 10)
                test_jobs.act(home, "drain", "shop")
                test_jobs.act(home, "job", "delete", "shop")


def test_a_thousand_replays_in_a_row_leave_no_job_behind():
    """One has ended but nobody has looked yet when the next one asks: that one must not open the job for nothing."""
    with weir.Home() as home:
        test_replay.with_schema(home)
        args = {"replicationMode": "changelog", "replicaDataset": None, "schemaChanges": "reject", **test_replay.PLAIN}
        events = test_replay.inserts(0, 40, test_replay.phone_of)
        home.replicate(home.write("feed", weir.feed(events, weir.id_key)), expect=1, **args)
        group = home.letters()[0]["group"]
        answers = []

        def replays():
            client = test_socket.Client(home)
            for _ in range(250):
                _, end = client.call("dlq.replay", group=group, yes=True)
                answers.append(end["error"]["code"] if "error" in end else end["ok"]["exit"])
            client.close()

        clients = [threading.Thread(target=replays) for _ in range(4)]
        for t in clients:
            t.start()
        for t in clients:
            t.join()
        assert len(answers) == 1000, "a replay waits for ever"
        assert set(answers) <= {0, 1, "replay_running"} and 1 in answers, set(answers)
        test_replay.wait_for(lambda: home.run("engine", "status", "--json").last["running_jobs"] == 0)
        # What the letters' attempts say is what the answers say.
        assert {a for _, _, a in test_replay.states(home)} == {1 + answers.count(1)}


def test_a_job_begun_anew_sends_all_its_tables():
    with weir.Home() as home:
        test_jobs.create(home, test_jobs.feed_lines(0, 10))
        test_jobs.act(home, "start", "shop")
        test_jobs.settle(home, "shop", 10)
        client = test_socket.Client(home)
        client.send({"id": 1, "call": "subscribe", "args": {"topics": ["tables:shop"]}})
        assert next_whole(client), "the first is whole"
        for _ in range(6):
            test_jobs.act(home, "drain", "shop")
            test_jobs.act(home, "start", "shop")
            assert next_whole(client), "a new run has new tables"
        client.close()


def next_whole(client, seconds=5):
    until = time.monotonic() + seconds
    client.s.settimeout(seconds)
    while time.monotonic() < until:
        try:
            frame = client.read()
        except TimeoutError:
            return False
        if frame.get("event") == "tables:shop" and frame["whole"]:
            return True
    return False
