"""A job that writes into BigQuery: what is under way there, which table nothing enters, why, and the command that mends it."""
import console
import emulators
import screen
import weir
from test_bigquery_tables import Trouble

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
