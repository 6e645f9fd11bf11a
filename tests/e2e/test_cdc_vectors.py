"""The vectors of PubSub_CDC_to_BigQuery: the table says which test shows each, and where we differ from the original on purpose. Those that
had no test are tested here."""
import json
import os
import re

import weir
from test_cdc_letters import b64, entries
from test_cdc_rows import job, rows

MAPPED, WORDS = "tests/unit/test_mapped.c", "tests/unit/test_option_words.c"
ROWS, LETTERS, HERE = "tests/e2e/test_cdc_rows.py", "tests/e2e/test_cdc_letters.py", "tests/e2e/test_cdc_vectors.py"

# vector: (file, test), ...; then what is different here, "" nothing.
VECTORS = {
    "P1": [(HERE, "test_user_functions_are_refused_by_name"), "not available yet: refused at start, never ignored"],
    "P2": [(HERE, "test_user_functions_are_refused_by_name"), "not available yet"],
    "P3": [(MAPPED, "roots_that_are_no_object_are_letters"), (LETTERS, "test_table_and_folder_have_the_exact_bytes_and_attributes"), "the letter has a reason code beside the text"],
    "P4": [(HERE, "test_user_functions_are_refused_by_name"), "not available yet"],
    "P5": [(ROWS, "test_the_original_vectors_in_the_warehouse"), "the file is refused for an unknown type unless schemaFileReading=original"],
    "P6": [(MAPPED, "everything_has_its_text"), (ROWS, "test_the_original_vectors_in_the_warehouse"), ""],
    "P7": [(MAPPED, "the_schema_file_names_types_and_modes"), (HERE, "test_types_of_the_schema_file_in_both_readings"),
           ("tests/e2e/test_cdc_bigquery.py", "test_required_columns_are_made_with_the_table_and_later_ones_are_nullable"), "INT64 and REQUIRED mean what they say unless schemaFileReading=original"],
    "P8": [(MAPPED, "dates_lose_their_midnight"), (HERE, "test_dates_with_the_faults_of_the_original_and_without"), "any midnight is taken off whole unless valueCleaning=original"],
    "P9": [(HERE, "test_without_a_dead_letter_target_letters_wait_in_the_jobs_own_store"), "no dead-letter table is made up from the templates; letters are in the job's store"],
    "P10": [(MAPPED, "tables_are_chosen_by_templates"), (ROWS, "test_the_original_vectors_in_the_warehouse"), ""],
    "P11": [(MAPPED, "tables_are_chosen_by_templates"), "a letter template_unfilled, where the original waits for ever"],
    "P12": [(LETTERS, "test_table_and_folder_have_the_exact_bytes_and_attributes"), ""],
    "P13": [(MAPPED, "tables_are_chosen_by_templates"), "a letter template_unfilled"],
    "P14": [(MAPPED, "names_are_filled_as_the_original_fills_them"), (HERE, "test_defaults_values_in_values_and_escapes_name_tables"), ""],
    "P15": [(MAPPED, "names_are_filled_as_the_original_fills_them"), (HERE, "test_defaults_values_in_values_and_escapes_name_tables"), "a loop is a letter template_loop"],
    "P16": [(MAPPED, "names_are_filled_as_the_original_fills_them"), (HERE, "test_defaults_values_in_values_and_escapes_name_tables"), "braces are no name: a letter bad_destination, and `weir check` says never_a_name"],
    "P17": [(MAPPED, "a_dollar_sign_is_a_partition_or_a_line"),
            ("tests/e2e/test_cdc_bigquery.py", "test_insertall_writes_into_the_partition_that_a_name_says"), "what stands behind the sign must be a day; with the Storage Write API, which writes into tables, a letter"],
    "P18": [(MAPPED, "everything_has_its_text"), ""],
    "P19": [(HERE, "test_a_line_of_the_folder_keeps_text_as_text"), "error_message is text, never a number that it begins with"],
    "P20": [(LETTERS, "test_entries_of_the_original_template_are_taken"), "the two members are columns only with deadLetterMetadata"],
    "P21": [(LETTERS, "test_table_and_folder_have_the_exact_bytes_and_attributes"), "payloadBytes are the message's own bytes"],
    "P22": [(MAPPED, "the_schema_file_names_types_and_modes"), (LETTERS, "test_table_and_folder_have_the_exact_bytes_and_attributes"), "refused before it is sent, by a reason code"],
    "P23": [(WORDS, "each_kind_of_word_takes_what_its_help_says"), (HERE, "test_window_durations_are_read_whole_or_not_at_all"), "what the original ignores is refused; an empty text is as if it were not given"],
    "P24": [(MAPPED, "the_last_of_two_values_counts_and_the_rest_is_passed_over"), "the rest is noted"],
    "P25": [(HERE, "test_user_functions_are_refused_by_name"), "not available yet"],
    "P26": [(WORDS, "the_launch_checks_of_the_pubsub_template_hold"), "both dead-letter targets at once are allowed"],
}


def test_every_vector_has_a_test_that_is_there():
    assert list(VECTORS) == ["P%d" % i for i in range(1, 27)]
    for vector, (*tests, difference) in VECTORS.items():
        assert tests and isinstance(difference, str), vector
        for path, name in tests:
            with open(os.path.join(weir.ROOT, path)) as f:
                assert re.search(r"^(static void|def) %s\(" % name, f.read(), re.M), (vector, path, name)


def refused(home, **parameters):
    """What running such a job says."""
    home.write("feed.jsonl", "")
    p = dict({"warehouse": "local", "inputFile": "feed.jsonl", "outputDatasetTemplate": "d", "outputTableNameTemplate": "{tbl}"}, **parameters)
    home.write("job.json", json.dumps({"name": "job", "template": "PubSub_CDC_to_BigQuery", "parameters": p}))
    r = home.run("run", "job.json", "--until-idle", "--json")
    assert r.code == 78, r
    return r


def test_user_functions_are_refused_by_name():
    """P1, P2, P4, P25: nothing is done without the function that was asked for."""
    functions = [{"javascriptTextTransformGcsPath": "gs://bucket/f.js", "javascriptTextTransformFunctionName": "transform"},
                 {"pythonTextTransformGcsPath": "gs://bucket/f.py", "pythonTextTransformFunctionName": "transform"}]
    with weir.Home() as home:
        for parameters in functions:
            error = refused(home, **parameters).error
            assert error["code"] == "not_available_yet" and all(name in error["message"] for name in parameters), error
        # What asks for nothing but the default asks for nothing.
        job(home, [{"tbl": "t", "a": 1}], javascriptTextTransformReloadIntervalMinutes=0, runtimeRetries=5)
        assert rows(home, "t") == [{"tbl": "t", "a": "1"}]


def test_types_of_the_schema_file_in_both_readings():
    """P7: in the tables themselves."""
    file = [{"name": "n", "type": "INTEGER", "mode": "NULLABLE"}, {"name": "d", "type": "DATE", "mode": "NULLABLE"}, {"name": "k", "type": "INT64", "mode": "REQUIRED"}]
    row = {"tbl": "t", "n": 7, "d": "2020-01-02T00:00:00Z", "k": 3}
    for reading, kind, value in (("original", "STRING", "3"), ("full", "INT64", 3)):
        with weir.Home() as home:
            home.write("schema.json", json.dumps(file))
            job(home, [row], schemaFilePath="schema.json", schemaFileReading=reading)
            types = dict(home.sql("select name, type from _weir_columns where table_name = 't'", "d"))
            assert types == {"tbl": "STRING", "n": "INT64", "d": "DATE", "k": kind} and rows(home, "t") == [{"tbl": "t", "n": 7, "d": "2020-01-02", "k": value}]


def test_dates_with_the_faults_of_the_original_and_without():
    """P8: what is in a DATE and a DATETIME in the end (one Z is taken off, another is read as UTC); what a column does not take is a letter."""
    file = '[{"name":"d","type":"DATE"},{"name":"t","type":"DATETIME"}]'
    feed = [{"tbl": "x", "d": d} for d in ("2020-01-02T00:00:00Z", "2020-01-02T00:00:00.000", "2020-01-02T00:00:00.000Z", "2020-01-02T10:00:00Z", "2020-01-02T00:00:00.000000")]
    feed += [{"tbl": "x", "t": "2020-01-02T10:00:00Z"}, {"tbl": "x", "t": "2020-01-02T10:00:00ZZ"}]
    for cleaning, dates, letters in (("mended", 4, 1), ("original", 3, 2)):
        with weir.Home() as home:
            home.write("schema.json", file)
            result = job(home, feed, schemaFilePath="schema.json", valueCleaning=cleaning, expect=1)
            found = [r["d"] for r in rows(home, "x") if r["d"]]
            assert found == ["2020-01-02"] * dates and result["dead_lettered"] == letters, (cleaning, found, result)
            assert [r["t"] for r in rows(home, "x") if r["t"]] == ["2020-01-02T10:00:00"] * 2


def test_without_a_dead_letter_target_letters_wait_in_the_jobs_own_store():
    """P9: the original makes a table MY_TABLE_error_records up, and fails with templates."""
    with weir.Home() as home:
        result = job(home, [{"tbl": "my_table", "a": 1}, "nothing\n"], expect=1, outputDatasetTemplate="my_dataset")
        assert result["dead_lettered"] == 1 and [x["code"] for x in home.letters()] == ["not_json"], result
        names = [n for (n,) in home.sql("select name from sqlite_master where type = 'table' and name not like '%weir%' and name not like 'sqlite%'", "my_dataset")]
        assert names == ["my_table"], names


def test_defaults_values_in_values_and_escapes_name_tables():
    """P14, P15, P16: where the rows are."""
    with weir.Home() as home:
        job(home, [{"id": "1"}, {"region": "us"}, {"region": "{b}", "b": "z"}], outputTableNameTemplate="{region:-eu}_x")
        assert len(rows(home, "eu_x")) == len(rows(home, "us_x")) == len(rows(home, "z_x")) == 1
        result = job(home, [{"a": "{a}"}], name="loop", feed="loop.jsonl", outputTableNameTemplate="{a}", expect=1)
        assert result["dead_lettered"] == 1 and [x["code"] for x in home.letters()] == ["template_loop"]
        result = job(home, [{"a": "x"}], name="escape", feed="escape.jsonl", outputTableNameTemplate="${a}", expect=1)
        assert [x["code"] for x in home.letters() if x["job"] == "escape"] == ["bad_destination"] and result["dead_lettered"] == 1, home.letters()


def test_a_line_of_the_folder_keeps_text_as_text():
    """P19: the original writes the number 400 for an error that begins with it."""
    with weir.Home() as home:
        job(home, [{"id": "m1", "data_b64": b64(b"bad id 1")}, {"id": "m2", "data": {"id": 1}}, {"id": "m3", "data_b64": b64(b"123 abc")}], expect=1,
            deadLetterQueueDirectory="letters")
        lines = {e["message_id"]: e for e in entries(home)}
        assert [lines[m]["message"] for m in ("m1", "m2", "m3")] == ["bad id 1", {"id": 1}, "123 abc"], lines
        assert all(isinstance(e["error_message"], str) and e["error_message"] for e in lines.values())


def test_window_durations_are_read_whole_or_not_at_all():
    """P23, the table of the grammar."""
    with weir.Home() as home:
        home.write("feed.jsonl", "")
        for text, is_fine in {"5s": 1, "5S": 1, "12m": 1, "2h": 1, "1s2m3h": 1, "30m1h": 1, "1h30m": 0, "5": 0, "5x": 0, " 5s": 0, "1.5s": 0, "0s": 0, "-5s": 0}.items():
            home.write("job.json", json.dumps({"name": "job", "template": "PubSub_CDC_to_BigQuery", "parameters": {
                "warehouse": "local", "inputFile": "feed.jsonl", "outputDatasetTemplate": "d", "windowDuration": text}}))
            r = home.run("check", "job.json", "--json")
            assert (r.code == 0) == bool(is_fine), (text, r)


def test_letters_wait_for_their_window():
    """Within a window nothing is written; the end of a run closes it, so that nothing is left behind."""
    with weir.Home() as home:
        job(home, [{"id": "m%d" % i, "data_b64": b64(b"bad")} for i in range(3)], expect=1, deadLetterQueueDirectory="letters", windowDuration="2h")
        assert len({e["letter"] for e in entries(home)}) == 3


def test_the_message_itself_names_tables_by_an_own_parameter():
    """{_attributes.x}, {_message_id}, {_publish_time}, {_ordering_key}: only where messageMetadata asks for them; members of the body
    cannot pass for them."""
    template = "{_attributes.store}_{_message_id}_{_ordering_key:-none}"
    feed = [{"id": "m1", "key": "k1", "attrs": {"store": "s12"}, "publish": "2026-01-05T03:10:00Z", "data": {"a": 1, "_message_id": "forged"}},
            {"id": "m2", "attrs": {"store": "s13"}, "data": {"a": 2}},
            {"id": "m3", "data": {"a": 3, "_attributes.store": "forged"}}]
    with weir.Home() as home:
        result = job(home, feed, outputTableNameTemplate=template, messageMetadata=True, expect=1)
        assert [r["a"] for r in rows(home, "s12_m1_k1")] == ["1"] and [r["a"] for r in rows(home, "s13_m2_none")] == ["2"], result
        (letter,) = home.letters()
        assert letter["code"] == "template_unfilled" and result["dead_lettered"] == 1
        # A time has signs that no name has: it says so, and serves inside defaults only.
        result = job(home, feed[:1], name="time", feed="time.jsonl", outputTableNameTemplate="at_{_publish_time}", messageMetadata=True, expect=1)
        assert result["dead_lettered"] == 1 and [x["code"] for x in home.letters() if x["job"] == "time"] == ["bad_destination"], home.letters()
        job(home, [{"id": "m9", "data": {"_message_id": "own"}}], name="plain", feed="plain.jsonl", outputTableNameTemplate="{_message_id}")
        assert rows(home, "own") == [{"_message_id": "own"}]
