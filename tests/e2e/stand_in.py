"""A stand-in of one of Google's services as a process of its own: it says its ports in one line and ends with its standard input."""
import json
import os
import subprocess
import urllib.request

import weir

PROGRAM = os.path.join(weir.ROOT, "build", "emulators")
# Past any proxy of this machine.
HERE = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class StandIn:
    """`with` one of the duties of build/emulators, whose ports are `ports`."""

    def __init__(self, duty):
        if not os.path.exists(PROGRAM):
            raise weir.Skip("%s is not built: make google" % os.path.relpath(PROGRAM, weir.ROOT))
        self.process = subprocess.Popen([PROGRAM, duty], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ports = json.loads(self.process.stdout.readline())["ports"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
