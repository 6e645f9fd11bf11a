"""Dead letters that also go to a table of BigQuery: the job's screen says where, and what keeps them from getting there."""
import base64
import json

import console
import emulators
import screen
import weir
from test_bigquery_tables import wait_for
from test_cdc_bigquery import DEFAULT, PROJECT, write_job

SIZES = ((60, 16), (80, 24), (100, 30))


def letters_of(home):
    return home.run("status", "rows", "--json").lines[0].get("letters_to", [{}])[0]


def part(picture):
    """What the screen says of them: from their line to the next rule."""
    first = next(i for i, line in enumerate(picture.lines) if line.strip().startswith("dead-letter table"))
    last = next((i for i in range(first + 1, len(picture.lines)) if "\u2500\u2500" in picture.lines[i] or not picture.lines[i].strip()),
                len(picture.lines))
    return screen.Picture(picture.rows[first:last], None)


def look(home, name, wanted):
    for cols, rows in SIZES:
        with console.console(home, cols=cols, rows=rows) as at:
            at.press(": j o b Space r o w s Enter")
            at.wait_for(wanted)
            screen.compare("%s.%dx%d" % (name, cols, rows), part(at.picture()).golden())


def test_what_keeps_dead_letters_from_their_table_stands_on_the_jobs_screen():
    with console.named_home() as home, emulators.bigquery("d", "dl", project=PROJECT) as bq:
        home.env.update(bq.env)
        bq.withhold(**{"dl.errors": ["bigquery.tables.updateData"]})
        bad = {"publish": "2022-02-22T22:22:22.222Z", "data_b64": base64.b64encode(b"broken").decode()}
        home.run("job", "create", write_job(home, [{"ds": "d", "tbl": "t", "id": "1"}, bad], outputDeadletterTable=PROJECT + ":dl.errors", **DEFAULT))
        home.run("start", "rows")
        wait_for(lambda: letters_of(home).get("code"), 30, "the trouble")
        found = letters_of(home)
        assert found["state"] == "needs you" and found["kind"] == "table" and found["target"] == PROJECT + ":dl.errors", found
        assert found["since"] and found["until"] and found["sentence"], found
        look(home, "letters-need", "dead-letter table NEEDS YOU")
        bq.withhold()
        bq.fault("quota", "dl.errors", "insertAll")
        wait_for(lambda: letters_of(home).get("state") == "waiting", 30, "the quota")
        look(home, "letters-wait", "dead-letter table waiting")
        bq.lift()
        wait_for(lambda: letters_of(home).get("state") == "ok" and bq.counts("dl.errors").get("rows") == 1, 30, "the end of it")
        assert not letters_of(home)["code"] and letters_of(home)["since"] is None, letters_of(home)
        look(home, "letters-go", "dead-letter table ok")
        home.run("engine", "stop")
