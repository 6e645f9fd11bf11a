"""A job that writes into BigQuery: what is under way there, which table nothing enters, why, and the command that mends it."""
import json

import console
import emulators
import screen
import weir
from test_bigquery_tables import Trouble, WRITE, event, feed, job, table_of, wait_for

SIZES = ((60, 16), (80, 24), (100, 30))


def test_a_table_that_nothing_enters_says_why_in_two_keys():
    with emulators.bigquery("shop_log", project="weir-test") as bq, weir.Home() as home:
        t = Trouble(bq, home)
        bq.withhold(**{"shop_log.bad_changelog": ["bigquery.tables.updateData"]})
        t.more()
        t.all_there("good")
        t.cause("bigquery_denied")
        for cols, rows in SIZES:
            with console.console(home, cols=cols, rows=rows) as at:
                # Overview: the table stands under its job, with the reason code.
                at.wait_for("bigquery_denied")
                picture = at.picture()
                row = next(line for line in picture.lines if "bigquery_denied" in line)
                assert "bad" in row and "NEEDS YOU" in row, row
                # Key one and two: down to the table, and open it.
                at.press("j")
                at.press("Enter")
                at.wait_for("bigquery.tables.updateData")
                said = " ".join(line.strip() for line in at.picture().lines)
                assert "parked" in said, said
                if rows == 30:
                    assert "until it is mended" in said and "Parks the messages" in said, said
                    assert "try: bq query --project_id=weir-test" in said and "GRANT `roles/bigquery.dataEditor` ON" in said, said
                at.press("q")
                at.press(": j o b Space b q Enter")
                at.wait_for("in flight")
                head = next(line for line in at.picture().lines if line.strip().startswith("BigQuery"))
                assert "EMULATOR" in head and "request" in head, head
                assert cols < 80 or "answered" in head, head
                assert cols < 100 or "rows/s" in head and "B/s" in head, head
        home.run("engine", "stop")


LONG = "lines_of_orders_of_the_eastern_warehouse"


def long_events(first, count):
    return [event(n * 2 + i, table) for n in range(first, first + count) for i, table in enumerate(("good", LONG))]


def test_a_long_name_in_trouble_shows_both_of_its_ends_and_the_golden_why():
    with emulators.bigquery("shop_log", project="weir-test") as bq, console.named_home() as home:
        home.env.update(bq.env)
        path = feed(home, long_events(0, 10))
        home.run("job", "create", job(home, path, **WRITE))
        home.run("start", "bq")
        wait_for(lambda: table_of(home, "bq", LONG).get("written") == 10, 20, "the first rows")
        bq.withhold(**{"shop_log.%s_changelog" % LONG: ["bigquery.tables.updateData"]})
        with open(path, "a") as out:
            out.write("".join(json.dumps(e) + "\n" for e in long_events(10, 10)))
        wait_for(lambda: table_of(home, "bq", LONG).get("code") == "bigquery_denied" and table_of(home, "bq", "good").get("written") == 20, 20, "the trouble")
        for cols, rows in SIZES:
            with console.console(home, cols=cols, rows=rows) as at:
                at.wait_for("bigquery_denied")
                for place in (None, ": t a b l e s Space b q Enter", ": j o b Space b q Enter"):
                    if place:
                        at.press(place)
                        at.wait_for("TABLE")
                    row = next((line for line in at.picture().lines if ".." in line and "house" in line), "")
                    assert "NEEDS YOU" in row and "sho" in row, (cols, place, at.picture().lines)
                at.press("Enter")
                at.wait_for("bigquery.tables.updateData")
                at.expect("why-bigquery")
        home.run("engine", "stop")
