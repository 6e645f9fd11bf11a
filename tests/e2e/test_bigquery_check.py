"""`weir check` of jobs that write into BigQuery: what it finds, in what words, with which command, and that it leaves nothing behind."""
import json
import time

import emulators
import weir

PROJECT = "acme-data"


def job(home, name="orders", **parameters):
    p = {"inputFile": home.write("feed.jsonl", ""), "changeLogDataset": "log", "replicationMode": "changelog", "useStorageWriteApi": True,
         "useStorageWriteApiAtLeastOnce": True}
    p.update(parameters)
    p = {k: v for k, v in p.items() if v is not None}
    return home.write(name + ".json", json.dumps({"name": name, "template": "Cdc_To_BigQuery_Template", "project": PROJECT,
                                                  "parameters": p}))


def check(home, server, path, env=None):
    """Exit status and the findings, those of what weir cannot do yet left out (they make it 78)."""
    r = home.run("check", path, "--json", env=dict(server.env, **(env or {})))
    assert all(line["file"] == path for line in r.lines), r
    lines = [line for line in r.lines if line["code"] != "not_available_yet"]
    return r.code if len(lines) == len(r.lines) else max(r.code, 78), lines


def of(lines, words):
    found = [line for line in lines if words in line["message"]]
    assert len(found) == 1, (words, lines)
    return found[0]


def bad(lines):
    return {line["code"]: line for line in lines if line["level"] != "ok"}


def tables(server):
    return server.rest("GET", "datasets/log/tables").get("tables", [])


def test_a_dataset_as_it_should_be_has_no_warning_and_keeps_no_table():
    with emulators.bigquery("log", project=PROJECT, location="EU") as bq, weir.Home() as home:
        for parameters in ({}, {"useStorageWriteApi": False, "useStorageWriteApiAtLeastOnce": None},
                           {"useStorageWriteApiAtLeastOnce": None, "storageWriteApiTriggeringFrequencySec": 1}):
            _, lines = check(home, bq, job(home, location="EU", **parameters))
            assert not bad(lines), lines
            assert "EMULATOR " + bq.env["BIGQUERY_EMULATOR_HOST"] in of(lines, "EMULATOR")["message"]
            of(lines, "dataset 'acme-data:log' is there, in EU")
            of(lines, "tables can be made")
            of(lines, "columns can be added")
            for permission in ("tables.get:", "tables.update:", "tables.updateData", "tables.getData"):
                assert of(lines, "bigquery." + permission)["tried"] == "tables.testIamPermissions", lines
            tried = {line["tried"] for line in lines if "tried" in line}
            assert ("tabledata.insertAll" in tried) == (parameters.get("useStorageWriteApi") is False), tried
            assert ("CreateWriteStream" in tried) == ("storageWriteApiTriggeringFrequencySec" in parameters), tried
            assert not tables(bq)


def test_a_missing_dataset_comes_with_the_line_that_makes_it():
    with emulators.bigquery(project=PROJECT) as bq, weir.Home() as home:
        code, lines = check(home, bq, job(home, location="EU"))
        found = bad(lines)["dataset_missing"]
        assert code == 78 and found["level"] == "fails" and found["parameter"] == "changeLogDataset", (code, lines)
        assert found["fix"] == "bq --location=EU mk --dataset acme-data:log", found
        assert not any("tables" in line["message"] for line in lines), lines


def test_where_the_dataset_is_and_what_it_deletes_is_said():
    with emulators.bigquery(project=PROJECT) as bq, weir.Home() as home:
        bq.dataset("log", location="US", defaultTableExpirationMs="5184000000")
        code, lines = check(home, bq, job(home, location="EU"))
        found = bad(lines)
        assert code == 78 and found["location_differs"]["level"] == "fails", lines
        assert "is in US" in found["location_differs"]["message"]
        assert "after 60.0 days" in found["dataset_expires"]["message"], lines
        assert found["dataset_expires"]["fix"] == "bq update --default_table_expiration 0 acme-data:log"


def test_each_right_that_is_missing_is_named_with_its_grant():
    grant = "GRANT `roles/bigquery.dataEditor` ON SCHEMA `acme-data`.`log` TO"
    with emulators.bigquery("log", project=PROJECT) as bq, weir.Home() as home:
        bq.withhold(**{"log": ["bigquery.tables.create"]})
        code, lines = check(home, bq, job(home))
        found = bad(lines)["bigquery_denied"]
        assert code == 77 and "bigquery.tables.create" in found["message"] and grant in found["fix"], (code, lines)
        bq.withhold(**{"log": ["bigquery.tables.updateData"]})
        code, lines = check(home, bq, job(home))
        denied = [line for line in lines if line["code"] == "bigquery_denied"]
        assert code == 77 and any("bigquery.tables.updateData is missing" in line["message"] for line in denied), (code, lines)
        assert all(grant in line["fix"] for line in denied), denied
        assert not tables(bq)
        bq.withhold(**{"log": ["bigquery.tables.delete"]})
        code, lines = check(home, bq, job(home))
        assert [line["level"] for line in lines if line["level"] != "ok"] == ["warning"], lines
        assert "expires in an hour" in bad(lines)["bigquery_denied"]["message"], lines
        (left,) = tables(bq)
        name = left["tableReference"]["tableId"]
        assert int(bq.resource("log." + name)["expirationTime"]) / 1000 < time.time() + 3700, left


def test_a_job_whose_messages_name_the_dataset_is_not_asked_for_one():
    with emulators.bigquery("log", project=PROJECT) as bq, weir.Home() as home:
        path = home.write("cdc.json", json.dumps({"name": "cdc", "template": "PubSub_CDC_to_BigQuery", "project": PROJECT, "parameters": {
            "inputFile": home.write("feed.jsonl", ""), "outputTableNameTemplate": "{t}"}}))
        _, lines = check(home, bq, path)
        assert not [line for line in lines if line.get("parameter") == "changeLogDataset"], lines


def test_nobody_there_is_said_and_does_not_hang():
    with emulators.bigquery("log", project=PROJECT) as bq, weir.Home() as home:
        begun = time.monotonic()
        code, lines = check(home, bq, job(home), env={"BIGQUERY_EMULATOR_HOST": "127.0.0.1:1"})
        assert code == 69 and bad(lines)["google_unreachable"]["level"] == "fails", (code, lines)
        assert time.monotonic() - begun < 60


def test_the_project_that_pays_is_asked_and_named():
    with emulators.bigquery("log", project=PROJECT) as bq, weir.Home() as home:
        _, lines = check(home, bq, job(home))
        assert not [line for line in lines if "quota project" in line["message"]], lines
        _, lines = check(home, bq, job(home, quotaProject="acme-bills"))
        assert not bad(lines) and of(lines, "charged to quota project acme-bills")["parameter"] == "quotaProject", lines
        bq.control("POST", "permissions", {"acme-bills": ["serviceusage.services.use"]})
        code, lines = check(home, bq, job(home, quotaProject="acme-bills"))
        found = [line for line in lines if line["code"] == "quota_project_denied" and line.get("parameter") == "quotaProject"]
        assert code == 77 and len(found) == 1, (code, lines)
        assert found[0]["fix"].startswith("gcloud projects add-iam-policy-binding acme-bills --member="), found
        assert found[0]["fix"].endswith("--role=roles/serviceusage.serviceUsageConsumer"), found
        r = home.run("check", job(home, quotaProject="No Project"), "--json", env=bq.env)
        assert {line["parameter"]: line["code"] for line in r.lines}["quotaProject"] == "bad_parameter", r
