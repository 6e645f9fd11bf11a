"""A disk that is full at any moment: said, waited for, killed in it, and afterwards nothing shows."""
import json
import os
import random
import signal
import subprocess
import time

import weir
from test_errors import full_disk

COUNT = 3000
TRIES = int(os.environ.get("WEIR_TRIES", "6"))
SCHEMA = {"t": {"primary_key": ["id"], "columns": {"id": {"bigquery": "INT64"}, "text": {"bigquery": "STRING"}}}}


def resize(folder, kib):
    subprocess.run(["mount", "-o", "remount,size=%dk" % kib, folder], check=True)


def waits_or_ends(home, p):
    """It has met the full disk, or it was large enough."""
    until = time.monotonic() + 30
    while p.poll() is None and time.monotonic() < until:
        with open(os.path.join(home.path, "stderr"), "rb") as f:
            said = f.read()
        if b"waiting" in said:
            assert b"disk_full" in said, said
            return True
        time.sleep(0.01)
    assert p.poll() is not None, "it neither waits nor ends"
    return False


def start(home):
    with open(os.path.join(home.path, "stderr"), "wb") as err:
        p = subprocess.Popen([os.path.join(home.build, "weird"), "--run", "shop.json", "--until-idle", "--json"], env=home.env, cwd=home.path,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err)
    home.children.append(p)
    return p


def one(seed):
    rand = random.Random(seed)
    with weir.Home() as home:
        folder = full_disk(home)
        try:
            home.env["WEIR_HOME"] = home.state = os.path.join(folder, "home")
            home.write("schema.json", json.dumps(SCHEMA))
            events = [weir.event({"id": i, "text": "t" * 300} if i % 7 else {"id": i, "more": "x" * 200}, lsn=100 + i) for i in range(COUNT)]
            home.job(home.write("feed", weir.feed(events, weir.id_key)), sourceSchema="schema.json", schemaChanges="reject")
            resize(folder, rand.randrange(100, 6000))
            p = start(home)
            waits = waits_or_ends(home, p)
            if waits and rand.random() < 0.5:
                p.send_signal(signal.SIGKILL)
                p.wait()
            if not waits:
                # Too little for a store, said and nothing begun; or enough.
                with open(os.path.join(home.path, "stderr"), "rb") as f:
                    said = f.read()
                assert p.returncode == 1 or b"disk_full" in said, (p.returncode, said)
            resize(folder, 60000)
            out = p.communicate(timeout=60)[0]
            if p.returncode != 1:
                r = home.run("run", "shop.json", "--until-idle", "--json")
                assert r.code == 1, r
                out = r.out
            last = json.loads(out)
            letters = len(range(0, COUNT, 7))
            assert (last["received"], last["written"], last["dead_lettered"], last["balanced"]) == (COUNT, COUNT - letters, letters, True), last
            assert len(home.letters()) == letters
            assert home.sql("select count(*) from t") == [(COUNT - letters,)]
            home.verify()
        finally:
            home.end_engine()
            subprocess.run(["umount", "-l", folder])


def test_a_disk_of_any_size():
    base = weir.first_seed()
    for seed in range(base, base + TRIES):
        try:
            one(seed)
        except weir.Skip:
            raise
        except Exception as e:
            raise AssertionError("WEIR_SEED=%d WEIR_TRIES=1 python3 tests/e2e/run.py -k a_disk_of_any_size" % seed) from e


def test_a_disk_too_small_for_a_new_file_leaves_none_that_is_damaged():
    for kib in range(48, 480, 16):
        with weir.Home() as home:
            folder = full_disk(home)
            try:
                home.env["WEIR_HOME"] = home.state = os.path.join(folder, "home")
                home.job(home.write("feed", weir.feed([weir.event({"id": 1}, lsn=1)], weir.id_key)))
                resize(folder, kib)
                p = start(home)
                waits_or_ends(home, p)
                resize(folder, 60000)
                p.communicate(timeout=60)
                r = home.run("run", "shop.json", "--until-idle", "--json")
                assert r.code == 0 and r.last["received"] == 1, (kib, r)
                assert not [name for _, _, names in os.walk(home.state) for name in names if ".new-" in name], kib
            finally:
                home.end_engine()
                subprocess.run(["umount", "-l", folder])
