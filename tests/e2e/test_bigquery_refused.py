"""Requests that BigQuery refuses as a whole: is it a row, or the table? And what passes is tried again, by all three ways of writing."""
import emulators
import test_bigquery as base
import weir
from test_bigquery import LOG, ONCE, Followed, count, ids, table_events, table_row, two_tables, until

INSERT_ALL = {"useStorageWriteApi": False, "useStorageWriteApiAtLeastOnce": False}
WAYS = (({}, "AppendRows"), (ONCE, "AppendRows"), (INSERT_ALL, "insertAll"))


def followed(home, bq, more, rows=50):
    job = Followed(home, bq, two_tables(rows), **more)
    until(lambda: count(bq, "a") == count(bq, "b") == rows)
    return job


def ended(home, bq, job, rows):
    job.drain()
    line = home.run("status", "--json").lines[0]
    assert line["dead_lettered"] == line["parked"] == 0 and line["balanced"], line
    for table in ("a", "b"):
        assert sorted(set(ids(bq, table))) == list(range(rows)), (table, ids(bq, table))


def test_a_table_that_takes_nothing_any_more_is_in_trouble_and_none_of_its_rows_is_a_letter():
    for more, method in WAYS:
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            job = followed(home, bq, more)
            bq.fault("invalid", LOG + ".a_changelog", method)
            job.add(two_tables(50, 50))
            row = until(lambda: table_row(home, "a")["state"] == "needs you" and table_row(home, "a"))
            assert row["code"] == "google_invalid" and "rows into 'shop_log.a_changelog'" in row["sentence"], (more, row)
            job.add(two_tables(50, 100))
            until(lambda: count(bq, "b") == 150, 10)
            assert not home.letters(), (more, home.letters()[0])
            bq.lift()
            until(lambda: table_row(home, "a")["state"] == "ok", 15)
            ended(home, bq, job, 150)


def test_a_row_whose_request_is_refused_is_a_letter_when_the_table_takes_others():
    def rows(first, end):
        return weir.feed([weir.event({"id": i, "v": "a %d" % i}, table="a", lsn=1000 + i) for i in range(first, end)], weir.id_key)

    for more, method in WAYS:
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            job = Followed(home, bq, rows(0, 50), **more)
            until(lambda: count(bq, "a") == 50)
            if method == "insertAll":  # both together, then one of them
                bq.fault("invalid", LOG + ".a_changelog", method, times=2)
            else:  # both together, once more with their schema, then one of them
                bq.fault("in_band", LOG + ".a_changelog", method, times=3, code=3, message="no word about rows")
            job.add(rows(50, 52))
            (letter,) = until(home.letters)
            assert letter["code"] == "row_refused" and letter["key"] in ('{"id":50}', '{"id":51}'), (more, letter)
            until(lambda: count(bq, "a") == 51)
            job.drain()
            line = home.run("status", "--json").lines[0]
            assert line["dead_lettered"] == 1 and line["parked"] == 0 and line["balanced"], line


def test_rows_that_fail_again_and_again_are_their_tables_trouble_and_keep_no_other_waiting():
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        job = followed(home, bq, INSERT_ALL)
        bq.fault("row", LOG + ".a_changelog", "insertAll", reason="backendError", message="try it later")
        job.add(two_tables(50, 50))
        row = until(lambda: table_row(home, "a")["state"] == "waiting" and table_row(home, "a"))
        assert row["code"] == "google_unavailable" and "try it later" in row["sentence"], row
        job.add(two_tables(50, 100))
        until(lambda: count(bq, "b") == 150, 10)
        asked = bq.counts(LOG + ".a_changelog")["insertAll"]
        assert asked < 30, asked
        bq.lift()
        until(lambda: table_row(home, "a")["state"] == "ok", 15)
        ended(home, bq, job, 150)


def test_a_token_that_is_over_amid_a_stream_is_nobodys_trouble():
    for more, method in WAYS:
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            job = followed(home, bq, more)
            bq.fault("unauthenticated", LOG + ".a_changelog", method, times=1)
            job.add(two_tables(50, 50))
            until(lambda: count(bq, "a") == count(bq, "b") == 100)
            ended(home, bq, job, 100)
            assert not table_events(home), (more, table_events(home))


def test_a_request_that_grpc_finds_too_large_is_halved_and_not_waited_for():
    for more in ({}, ONCE):
        for words in ("grpc: received message larger than max (5 vs. 4)", "gRPC message exceeds maximum size 4: 5"):
            with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
                job = followed(home, bq, more)
                bq.fault("in_band", LOG + ".a_changelog", "AppendRows", times=3, code=8, message=words)
                job.add(two_tables(50, 50))
                until(lambda: count(bq, "a") == count(bq, "b") == 100)
                ended(home, bq, job, 100)
                assert not table_events(home), (more, table_events(home))


def test_requests_of_two_shapes_behind_one_committed_stream_end_with_it():
    """The second request of a table waits for the stream of the first, which is given up."""
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        job = followed(home, bq, ONCE)
        bq.fault("backend", LOG + ".a_changelog", "AppendRows")
        events = [weir.event(dict({"id": i, "v": "a %d" % i}, **({"w": i} if i >= 75 else {})), table="a", lsn=1000 + i) for i in range(50, 100)]
        job.add(weir.feed(events, weir.id_key))
        until(lambda: table_row(home, "a")["state"] == "waiting")
        job.add(two_tables(10, 100))
        until(lambda: count(bq, "b") == 60, 10)
        bq.lift()
        until(lambda: table_row(home, "a")["state"] == "ok", 15)
        job.drain()
        assert sorted(ids(bq, "a")) == list(range(110)) and not home.letters(), ids(bq, "a")


def stream_hangs(home, bq, job, first, words):
    """`b` has its rows long before `a` has an answer."""
    row = until(lambda: table_row(home, "a")["state"] == "waiting" and table_row(home, "a"))
    assert row["code"] == "google_timeout" and words in row["sentence"], row
    job.add(two_tables(50, first))
    until(lambda: count(bq, "b") == first + 50, 3)
    assert count(bq, "a") <= 50
    bq.lift()
    until(lambda: count(bq, "a") == first + 50, 30)
    ended(home, bq, job, first + 50)
    assert len(ids(bq, "a")) == len(ids(bq, "b")) == first + 50


def test_a_stream_that_is_not_made_keeps_no_other_table_waiting():
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        bq.fault("hang", LOG + ".a_changelog", "CreateWriteStream")
        stream_hangs(home, bq, Followed(home, bq, two_tables(50), **ONCE), 50, "making a write stream")


def test_a_stream_that_does_not_tell_what_it_has_keeps_no_other_table_waiting():
    with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
        home.env.update(bq.env)
        base.run_bigquery(home, home.write("f.jsonl", two_tables(50)), **ONCE)
        bq.fault("hang", LOG + ".a_changelog", "FinalizeWriteStream")
        stream_hangs(home, bq, Followed(home, bq, two_tables(100), **ONCE), 100, "asking a write stream")


def test_a_right_that_streams_need_is_named_and_their_table_alone_waits():
    for method in ("CreateWriteStream", "FinalizeWriteStream"):
        with weir.Home() as home, emulators.bigquery(LOG, project="weir-test") as bq:
            home.env.update(bq.env)
            if method == "FinalizeWriteStream":
                base.run_bigquery(home, home.write("f.jsonl", two_tables(50)), **ONCE)
            bq.fault("denied", LOG + ".a_changelog", method)
            job = Followed(home, bq, two_tables(100), **ONCE)
            row = until(lambda: table_row(home, "a")["state"] == "needs you" and table_row(home, "a"))
            assert row["code"] == "bigquery_denied" and "bigquery.tables.updateData" in row["sentence"], row
            until(lambda: count(bq, "b") == 100, 5)
            bq.lift()
            until(lambda: table_row(home, "a")["state"] == "ok", 15)
            ended(home, bq, job, 100)
