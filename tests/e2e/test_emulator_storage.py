"""The stand-in of Cloud Storage, judged by Google's own client, and what only its control says."""
import subprocess
import urllib.error
import urllib.request

import emulators
import storage_emulator


def judge(*names):
    with emulators.storage("judged") as gs:
        said = subprocess.run([emulators.PROGRAM, "storage-judge", "-rest", str(gs.ports["rest"])] + list(names), capture_output=True, text=True, timeout=300)
        assert said.returncode == 0, said.stdout + said.stderr
        assert said.stdout.split() == list(names), said.stdout


def test_googles_client_writes_and_reads_objects_and_parts_of_them():
    judge("contents")


def test_googles_client_is_held_to_the_generation_it_names():
    judge("generations")


def test_googles_client_lists_pages_folders_and_ranges():
    judge("lists")


def test_googles_client_sends_parts_of_a_session():
    judge("sessions")


def test_googles_client_goes_on_where_a_part_was_cut():
    with emulators.storage("judged") as gs:
        gs.fault("uploads.send", cutAfter=300000, skip=2, count=1)
        gs.fault("uploads.send", status=503, reason="backendError", skip=4, count=1)
        gs.fault("uploads.send", late=True, skip=6, count=1)
        said = subprocess.run([emulators.PROGRAM, "storage-judge", "-rest", str(gs.ports["rest"]), "sessions"], capture_output=True, text=True, timeout=300)
        assert said.returncode == 0 and gs.counts()["fault uploads.send"] == 3, said.stdout + said.stderr


def status(gs, method, path, body=None):
    request = urllib.request.Request("http://127.0.0.1:%d/%s" % (gs.ports["rest"], path), method=method, data=body)
    try:
        with storage_emulator.HERE.open(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code
    except OSError:
        return 0


def test_faults_are_those_of_the_control():
    with emulators.storage("b") as gs:
        insert = "upload/storage/v1/b/b/o?uploadType=media&ifGenerationMatch=0&name="
        gs.fault("objects.insert", late=True, count=1)
        assert [status(gs, "POST", insert + "x", b"1") for _ in range(2)] == [0, 412], "done, and only its answer lost"
        gs.fault("objects.*", status=503, count=2)
        assert [status(gs, "GET", "storage/v1/b/b/o/x") for _ in range(3)] == [503, 503, 200]
        gs.fault("objects.get", name="x")
        assert [status(gs, "GET", "storage/v1/b/b/o/" + name) for name in "xy"] == [0, 404]
        gs.lift()
        assert status(gs, "GET", "storage/v1/b/none/o") == 404 and gs.objects("b") == {"x": b"1"}
        assert gs.counts()["fault objects.get"] == 3, gs.counts()
