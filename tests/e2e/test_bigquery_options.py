"""Where a dataset lies, how its tables are made, and what a column says of itself: by all ways of writing."""
import emulators
import test_bigquery as base
import weir
from test_bigquery import LOG
from test_bigquery_rows import WAYS
from test_cdc_bigquery import PROJECT, WAYS as CDC_WAYS, run


def test_a_dataset_elsewhere_is_reached_by_every_call():
    """Outside of US each call of the Storage Write API must say what it is about, or ends where nobody knows the dataset."""
    for way in WAYS:
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test", location="europe-west3") as bq:
            home.env.update(bq.env)
            bq.settings(wants_routing=True)
            result = base.run_bigquery(home, home.write("f.jsonl", base.two_tables(20)), location="europe-west3", **way)
            assert result["written"] == 40 and result["balanced"] and not result["parked"], (way, result)
            assert base.ids(bq, "a") == base.ids(bq, "b") == list(range(20)) and "unrouted" not in bq.counts(), (way, bq.counts())


def test_tables_are_made_as_the_job_says():
    lines = [{"ds": "d", "tbl": "t", "day": "2024-01-0%d" % i, "n": i} for i in range(1, 4)]
    with weir.Home() as home, emulators.bigquery("d", project=PROJECT) as bq:
        home.env.update(bq.env)
        home.write("schema.json", '[{"name":"day","type":"DATE"},{"name":"n","type":"INTEGER"}]')
        result = run(home, lines, schemaFilePath="schema.json", partition="MONTH", partitionColumn="day", expiration=400, clustering="n, tbl",
                     description="rows of the shop", labels={"team": "shop", "cost": "7"})
        made = bq.resource("d.t")
        assert result["written"] == 3 and len(bq.rows("d.t")) == 3, result
        assert made["timePartitioning"] == {"type": "MONTH", "field": "day", "expirationMs": str(400 * 86400 * 1000)}, made
        assert made["clustering"] == {"fields": ["n", "tbl"]} and made["description"] == "rows of the shop", made
        assert made["labels"] == {"team": "shop", "cost": "7"}, made
        # A table whose rows may come twice has no key: the optimiser would trust it.
        assert "tableConstraints" not in made, made


def test_a_changelog_says_whose_it_is_unless_the_job_does():
    for given, said in ((None, "Changelog Table for shop.public.a"), ("of the shop", "of the shop")):
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            home.env.update(bq.env)
            base.run_bigquery(home, home.write("f.jsonl", base.two_tables(1)), description=given)
            made = bq.resource(LOG + ".a_changelog")
            assert made["description"] == said, made


def test_columns_that_no_message_has_get_their_default():
    fields = [{"name": "tbl", "type": "STRING"}, {"name": "ds", "type": "STRING"}, {"name": "n", "type": "STRING"},
              {"name": "state", "type": "STRING", "defaultValueExpression": "'new'"}, {"name": "size", "type": "INT64", "defaultValueExpression": "7"}]
    for way in CDC_WAYS:
        with weir.Home() as home, emulators.bigquery("d", project=PROJECT) as bq:
            home.env.update(bq.env)
            bq.table("d.t", fields)
            result = run(home, [{"ds": "d", "tbl": "t", "n": str(i)} for i in range(5)], **way)
            assert result["written"] == 5, (way, result)
            assert [(row["n"], row["state"], row["size"]) for row in bq.rows("d.t")] == [(str(i), "new", "7") for i in range(5)], (way, bq.rows("d.t"))
