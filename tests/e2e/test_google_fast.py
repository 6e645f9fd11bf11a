"""The server in C that speed is measured against: Google's own client and ours find in it what the Go server has."""
import json
import os
import subprocess

import emulators
import weir

FAST = os.path.join(weir.BUILD, "tests", "emulators", "fast_echo")


class Fast:
    def __init__(self, program=FAST):
        self.program = program

    def __enter__(self):
        if not os.path.exists(self.program):
            raise weir.Skip("%s is not built: make google" % self.program)
        self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.port = json.loads(self.process.stdout.readline())["port"]
        return self

    def __exit__(self, kind, *_):
        self.said, said = self.process.communicate(timeout=60)
        assert kind or (self.process.returncode == 0 and not said), (self.process.returncode, said[-4000:])


def test_googles_client_finds_an_echo():
    emulators.servers()
    with Fast() as fast:
        for size, streams in ((10, 1), (1024, 8), (3000000, 2)):
            count = 20000 if size < 5000 else 20
            said = subprocess.run([emulators.PROGRAM, "bench", "-target", "127.0.0.1:%d" % fast.port, "-count", str(count), "-size", str(size),
                                   "-streams", str(streams)], capture_output=True, timeout=120)
            assert said.returncode == 0, said
            assert json.loads(said.stdout)["messages"] == count, said


def test_our_client_finds_an_echo():
    emulators.servers()
    with Fast() as fast:
        said = emulators.run("bench", port=fast.port, count=20000, size=1024, streams=8)
        assert said["messages"] == 20000, said


def test_managedwriter_appends_to_the_fast_bigquery():
    emulators.servers()
    with Fast(FAST.replace("fast_echo", "fast_bigquery")) as fast:
        for more in ([], ["-committed"]):
            said = subprocess.run([emulators.PROGRAM, "bigquery-bench", "-storage", str(fast.port), "-count", "30500"] + more, capture_output=True, timeout=120)
            assert said.returncode == 0, said
            assert json.loads(said.stdout)["messages"] == 30500, said
    counted = json.loads(fast.said)
    assert (counted["rows"], counted["requests"]) == (61000, 62) and counted["bytes"] > 61000 * 1024, counted
