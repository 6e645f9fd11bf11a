"""A clock that jumps back and forth: nothing waits for it, nothing is lost, every command still answers."""
import json
import os
import shutil
import subprocess
import time

import weir
from test_replay import wait_for

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>

/* An hour back, a day on, ten years back, and in between as it is. */
int clock_gettime(clockid_t clock, struct timespec *out)
{
	static const long jumps_s[] = { 0, -3600, 86400, 0, -315360000, 7 };
	static atomic_ulong calls;
	int result = (int)syscall(SYS_clock_gettime, clock, out);

	if (result == 0 && clock == CLOCK_REALTIME)
		out->tv_sec += jumps_s[atomic_fetch_add(&calls, 1) / 23 % 6];
	return result;
}
"""
SCHEMA = {"t": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "n": {"bigquery": "INT64"}}}}


def unsteady(home):
    """The home's programs live with a clock that jumps."""
    if "san" in home.build:  # a sanitizer must be loaded first: the plain build it is
        home.build = os.path.join(weir.ROOT, "build")
    if not shutil.which("cc") or not os.path.exists(os.path.join(home.build, "weird")):
        raise weir.Skip("needs a compiler and the plain build")
    shim = home.file("clock.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, home.write("clock.c", SHIM)], check=True)
    home.env["LD_PRELOAD"] = shim
    home.write("schema.json", json.dumps(SCHEMA))


def events(first, last):
    return [weir.event({"id": i, "n": i} if i % 10 else {"id": i, "n": 1, "more": "x"}, lsn=100 + i) for i in range(first, last)]


def timed(home, *words, code=0):
    began = time.monotonic()
    r = home.run(*words, "--json", timeout=60)
    assert r.code == code and time.monotonic() - began < 10, (words, time.monotonic() - began, r)
    return r


def count(home, name):
    return sum(t[name] for t in timed(home, "tables").lines)


def test_a_job_runs_as_if_the_clock_stood_still():
    with weir.Home() as home:
        unsteady(home)
        feed = home.write("feed", weir.feed(events(0, 2000), weir.id_key))
        result = home.replicate(feed, sourceSchema="schema.json", schemaChanges="reject", expect=1, env={"WEIR_BATCH_RECORDS": "50"})
        assert (result["received"], result["written"], result["dead_lettered"], result["balanced"]) == (2000, 1800, 200, True), result
        home.verify()
        assert len(home.letters()) == 200


def test_everything_answers_while_the_clock_jumps():
    with weir.Home() as home:
        unsteady(home)
        home.write("feed", weir.feed(events(0, 100), weir.id_key))
        timed(home, "job", "create", home.job("feed", sourceSchema="schema.json", schemaChanges="reject", updateFrequencySecs=1))
        timed(home, "start", "shop")
        wait_for(lambda: count(home, "received") == 100)
        timed(home, "pause", "shop", "t")
        with open(home.file("feed"), "a") as f:
            f.write(weir.feed(events(100, 200), weir.id_key))
        wait_for(lambda: count(home, "received") == 200)
        timed(home, "resume", "shop", "t")
        wait_for(lambda: count(home, "dead_lettered") == 20)
        timed(home, "job", "set", "shop", "schemaChanges=add")
        assert timed(home, "dlq", "replay", "--group", "1", "--yes").last["done"] == 20
        for words in (("journal",), ("journal", "--since", "1h"), ("logs",), ("dlq", "groups"), ("job", "show", "shop"), ("engine", "status")):
            timed(home, *words)
        for words in (("status",), ("status", "--history"), ("status", "--metrics")):
            began = time.monotonic()
            assert home.run(*words).code in (0, 1) and time.monotonic() - began < 10, words
        timed(home, "stop", "shop")
        timed(home, "merge", "shop")
        home.verify()
        assert home.sql("select count(*), sum(id) from t") == [(200, 19900)]
        timed(home, "engine", "stop")
