"""The runner itself: several tests at a time, told in order, each with what it printed; one that ends its process fails alone."""
import os
import signal
import subprocess
import sys
import tempfile

import weir

RUNNER = os.path.join(weir.ROOT, "tests", "e2e")
TESTS = """
import os, subprocess, time, weir, workers
def busy():
    return len(os.listdir("busy"))
def test_a_meets_b():
    open("busy/a", "w").close()
    while busy() < 2:
        time.sleep(0.01)
    print("said by a")
def test_b_meets_a():
    open("busy/b", "w").close()
    while busy() < 2:
        time.sleep(0.01)
    subprocess.run(["echo", "said by a child of b"])
@workers.alone
def test_c_is_alone():
    assert busy() == 0
def test_d_is_wrong():
    print("said before it failed")
    assert 1 == 2
def test_e_takes_its_process_with_it():
    os._exit(3)
def test_f_cannot_be_told():
    raise weir.Skip("no reason")
"""
TOLD = """ok   test_made.test_c_is_alone
said by a
ok   test_made.test_a_meets_b
said by a child of b
ok   test_made.test_b_meets_a
said before it failed
FAIL test_made.test_d_is_wrong
FAIL test_made.test_e_takes_its_process_with_it
the process of this test ended with 3
skip test_made.test_f_cannot_be_told: no reason
3 passed, 2 failed, 1 skipped"""


def run(tests, *words, **env):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "busy"))
        with open(os.path.join(folder, "test_made.py"), "w") as f:
            f.write(tests)
        program = "import sys; sys.path[:0] = [%r, %r]; import run; sys.exit(run.main(%r))" % (folder, RUNNER, folder)
        own = {name: value for name, value in os.environ.items() if name not in ("CI", "WEIR_WATCH", "WEIR_ACCEPT")}
        p = subprocess.run([sys.executable, "-c", program, *words], cwd=folder, env=dict(own, **env), capture_output=True, text=True, timeout=60)
    assert not p.stderr, p.stderr
    return p.returncode, p.stdout


def told(out):
    """Without times, and without where in a file an assertion stands."""
    lines = [line.partition(" (")[0] for line in out.splitlines()]
    return "\n".join(line for line in lines if line and line[0] != " " and not line.startswith(("Traceback", "AssertionError")))


def test_tests_run_at_once_and_are_told_in_order():
    code, out = run(TESTS, WEIR_WORKERS="3")
    assert code == 1 and told(out) == TOLD, out
    assert "assert 1 == 2" in out and out.endswith("3 passed, 2 failed, 1 skipped\n"), out


def test_a_skip_is_a_failure_where_nobody_reads_it():
    code, out = run(TESTS, "-k", "test_f", CI="true", WEIR_WORKERS="2")
    assert code == 1 and out.endswith("with CI=true a skip is a failure\n0 passed, 1 failed, 1 skipped\n"), out


def test_programs_under_test_do_not_ignore_what_the_runners_shell_ignores():
    tests = "import subprocess, signal\ndef test_c_c():\n    assert subprocess.run(['sh', '-c', 'kill -INT $$; echo lived']).returncode == -signal.SIGINT\n"
    ignoring = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for count in ("1", "2"):
            code, out = run(tests, WEIR_WORKERS=count)
            assert code == 0, out
    finally:
        signal.signal(signal.SIGINT, ignoring)


def test_one_worker_runs_them_one_by_one():
    code, out = run(TESTS, "-k", "test_c", WEIR_WORKERS="1")
    assert code == 0 and out.endswith("1 passed, 0 failed, 0 skipped\n"), out
