"""What `weir check` finds of PubSub_CDC_to_BigQuery's files: schema file and dead-letter folder, on a disk and on Cloud Storage."""
import json
import os

import emulators
import weir


def check(home, env=None, code=0, **parameters):
    """{parameter: findings} of the files."""
    home.write("feed.jsonl", "")
    p = dict({"warehouse": "local", "inputFile": "feed.jsonl", "outputDatasetTemplate": "d"}, **parameters)
    home.write("job.json", json.dumps({"name": "job", "template": "PubSub_CDC_to_BigQuery", "parameters": p}))
    r = home.run("check", "job.json", "--json", env=env)
    assert r.code == code, r
    found = {}
    for line in r.lines:
        found.setdefault(line.get("parameter"), []).append((line["level"], line["code"], line["message"], line.get("fix", "")))
    return found


def test_files_on_cloud_storage_are_read_and_written_once_each():
    with weir.Home() as home, emulators.storage("letters-of-weir") as gs:
        home.env.update(gs.env)
        gs.put("letters-of-weir", "schema.json", '[{"name":"a","type":"DATE"}]')
        files = {"schemaFilePath": "gs://letters-of-weir/schema.json", "deadLetterQueueDirectory": "gs://letters-of-weir/dlq"}
        found = check(home, **files)
        assert [x[0] for x in found["schemaFilePath"] + found["deadLetterQueueDirectory"]] == ["ok", "ok"], found
        assert any("EMULATOR" in x[2] and "STORAGE_EMULATOR_HOST" in x[2] for x in found[None]), found
        # Nothing of the trial is left.
        assert list(gs.objects("letters-of-weir")) == ["schema.json"] and gs.counts()["objects.delete"] == 1
        # A mistake in the file is said with its place.
        gs.put("letters-of-weir", "schema.json", '[{"name":"a","type":"DATES"}]')
        (said,) = check(home, code=78, **files)["schemaFilePath"]
        assert said[:2] == ("fails", "bad_schema_file") and "gs://letters-of-weir/schema.json' line 1, column 21" in said[2], said


def test_what_is_missing_or_forbidden_there_is_said_with_the_command_that_helps():
    with weir.Home() as home, emulators.storage("letters-of-weir") as gs:
        home.env.update(gs.env)
        found = check(home, code=78, schemaFilePath="gs://letters-of-weir/none.json", deadLetterQueueDirectory="gs://no-such-bucket/x")
        assert [x[1] for x in found["schemaFilePath"]] == ["no_such_file"], found
        ((level, code, _, fix),) = found["deadLetterQueueDirectory"]
        assert (level, code, fix) == ("fails", "bucket_missing", "gcloud storage buckets create gs://no-such-bucket"), found
        # Each right by itself, and the trial goes away where it can.
        for method in ("insert", "list", "get", "delete"):
            gs.fault("objects." + method, status=403, reason="forbidden")
            ((level, code, _, fix),) = check(home, code=77, deadLetterQueueDirectory="gs://letters-of-weir/dlq")["deadLetterQueueDirectory"]
            assert (level, code) == ("fails", "google_denied"), (method, level, code)
            assert fix == "gcloud storage buckets add-iam-policy-binding gs://letters-of-weir --member serviceAccount:ACCOUNT --role roles/storage.objectUser"
            gs.lift()
        found = check(home, code=78, deadLetterQueueDirectory="gs://Not_A_Bucket!/x")
        assert [x[1] for x in found["deadLetterQueueDirectory"]] == ["bad_parameter"], found


def test_a_folder_on_a_disk():
    with weir.Home() as home:
        (said,) = check(home, deadLetterQueueDirectory="some/letters")["deadLetterQueueDirectory"]
        assert said[0] == "ok" and "is not there yet" in said[2] and not os.path.exists(home.file("some")), said
        os.makedirs(home.file("some/letters"))
        (said,) = check(home, deadLetterQueueDirectory="some/letters")["deadLetterQueueDirectory"]
        assert said[0] == "ok" and "was written and removed" in said[2] and os.listdir(home.file("some/letters")) == [], said
        home.write("file", "")
        (said,) = check(home, code=78, deadLetterQueueDirectory="file/letters")["deadLetterQueueDirectory"]
        assert said[0] == "fails", said
