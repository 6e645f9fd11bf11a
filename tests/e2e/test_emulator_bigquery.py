"""The stand-in of BigQuery, judged by Google's own clients, and what only its control says."""
import subprocess

import emulators


def judge(*names):
    with emulators.bigquery() as bq:
        words = [emulators.PROGRAM, "bigquery-judge"] + ["-%s=%d" % (name, bq.ports[name]) for name in ("rest", "storage", "control")]
        said = subprocess.run(words + list(names), capture_output=True, text=True, timeout=120)
        assert said.returncode == 0, said.stdout + said.stderr
        assert [line.split()[0] for line in said.stdout.splitlines()] == list(names), said.stdout


def test_googles_client_makes_and_changes_tables():
    judge("tables", "etags")


def test_googles_client_inserts_rows_and_is_told_which_are_bad():
    judge("insert_all")


def test_managedwriter_appends_with_offsets_and_without():
    judge("default", "committed", "bad_rows")
