/* Dates, times, instants, intervals: both ends of each range, one beyond, and every day of the calendar. */
#include "type_help.h"

#define TIME_ROW(name) "io.debezium.time." name
#define KAFKA(name) "org.apache.kafka.connect.data." name

static void dates_and_times_of_day(void **state)
{
	static const struct type_case cases[] = {
		{ TIME_ROW("Date"), NULL, "0", "1970-01-01", NULL },
		{ TIME_ROW("Date"), NULL, "-719162", "0001-01-01", NULL },
		{ TIME_ROW("Date"), NULL, "-719163", "0001-01-01", "date_out_of_range" },
		{ TIME_ROW("Date"), NULL, "2932896", "9999-12-31", NULL },
		{ TIME_ROW("Date"), NULL, "2932897", "9999-12-31", "date_out_of_range" },
		{ TIME_ROW("Date"), NULL, "-2147472691", "0001-01-01", "date_out_of_range" },
		{ TIME_ROW("Date"), NULL, "\"0000-00-00\"", NULL, "type_mismatch" },
		{ KAFKA("Date"), NULL, "59", "1970-03-01", NULL },
		{ TIME_ROW("Time"), NULL, "86399999", "23:59:59.999000", NULL },
		{ TIME_ROW("Time"), NULL, "86400000", "23:59:59.999999", "time_out_of_range" },
		{ KAFKA("Time"), NULL, "0", "00:00:00", NULL },
		{ TIME_ROW("MicroTime"), NULL, "86399999999", "23:59:59.999999", NULL },
		{ TIME_ROW("MicroTime"), NULL, "86400000000", "23:59:59.999999", "time_out_of_range" },
		{ TIME_ROW("MicroTime"), NULL, "-1", "00:00:00", "time_out_of_range" },
		{ TIME_ROW("MicroTime"), "INTERVAL", "-3020399000000", "0-0 0 -838:59:59", NULL },
		{ TIME_ROW("MicroTime"), "STRING", "359999500000", "99:59:59.500000", NULL },
		{ TIME_ROW("MicroTime"), "STRING", "360000000000", "100:00:00", NULL },
		{ TIME_ROW("MicroTime"), "STRING", "-3020399000001", "-838:59:59.000001", NULL },
		{ TIME_ROW("NanoTime"), NULL, "86399999999999", "23:59:59.999999", NULL },
		{ TIME_ROW("NanoTime"), NULL, "-1", "00:00:00", "time_out_of_range" },
		{ TIME_ROW("IsoDate"), NULL, "\"2017-09-15Z\"", "2017-09-15", NULL },
		{ TIME_ROW("IsoDate"), NULL, "\"+292278994-08-16Z\"", "9999-12-31", "date_out_of_range" },
		{ TIME_ROW("IsoDate"), NULL, "\"-5877611-06-22Z\"", "0001-01-01", "date_out_of_range" },
		{ TIME_ROW("IsoDate"), NULL, "\"2017-02-29Z\"", NULL, "type_mismatch" },
		{ TIME_ROW("IsoDate"), NULL, "\"2017-09-15Zx\"", NULL, "type_mismatch" },
		{ TIME_ROW("IsoTime"), NULL, "\"04:05:11.789Z\"", "04:05:11.789000", NULL },
		{ TIME_ROW("IsoTime"), NULL, "\"24:00:00Z\"", "23:59:59.999999", "time_out_of_range" },
		{ TIME_ROW("IsoTime"), NULL, "\"24:00:01Z\"", NULL, "type_mismatch" },
		{ TIME_ROW("ZonedTime"), NULL, "\"10:15:30.5Z\"", "10:15:30.5Z", NULL },
		{ TIME_ROW("ZonedTime"), "TIME", "\"10:15:30.5+01:00\"", "09:15:30.500000", NULL },
		{ TIME_ROW("ZonedTime"), "TIME", "\"00:15:00+01:00\"", "23:15:00", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void instants_without_a_zone(void **state)
{
	static const struct type_case cases[] = {
		{ TIME_ROW("Timestamp"), NULL, "-62135596800000", "0001-01-01T00:00:00", NULL },
		{ TIME_ROW("Timestamp"), NULL, "-62135596800001", "0001-01-01T00:00:00", "timestamp_out_of_range" },
		{ TIME_ROW("Timestamp"), NULL, "253402300799999", "9999-12-31T23:59:59.999000", NULL },
		{ TIME_ROW("Timestamp"), NULL, "253402300800000", "9999-12-31T23:59:59.999999", "timestamp_out_of_range" },
		{ TIME_ROW("Timestamp"), NULL, "9223372036854775807", "9999-12-31T23:59:59.999999", "timestamp_out_of_range" },
		{ KAFKA("Timestamp"), NULL, "-1", "1969-12-31T23:59:59.999000", NULL },
		{ TIME_ROW("MicroTimestamp"), NULL, "253402300799999999", "9999-12-31T23:59:59.999999", NULL },
		{ TIME_ROW("MicroTimestamp"), NULL, "253402300800000000", "9999-12-31T23:59:59.999999", "timestamp_out_of_range" },
		{ TIME_ROW("MicroTimestamp"), NULL, "-62135596800000000", "0001-01-01T00:00:00", NULL },
		{ TIME_ROW("MicroTimestamp"), NULL, "9223372036825200000", "9999-12-31T23:59:59.999999", "timestamp_out_of_range" },
		{ TIME_ROW("MicroTimestamp"), NULL, "-9223372036832400000", "0001-01-01T00:00:00", "timestamp_out_of_range" },
		{ TIME_ROW("MicroTimestamp"), NULL, "-9223372036853775810", "0001-01-01T00:00:00", "timestamp_out_of_range" },
		{ TIME_ROW("MicroTimestamp"), "TIMESTAMP", "1", "1970-01-01 00:00:00.000001+00", NULL },
		{ TIME_ROW("MicroTimestamp"), "STRING", "1", "1970-01-01T00:00:00.000001", NULL },
		{ TIME_ROW("MicroTimestamp"), "DATE", "86400000000", "1970-01-02", NULL },
		{ TIME_ROW("MicroTimestamp"), "DATE", "1", NULL, "type_mismatch" },
		{ TIME_ROW("Date"), "DATETIME", "1", "1970-01-02T00:00:00", NULL },
		{ TIME_ROW("NanoTimestamp"), NULL, "1999", "1970-01-01T00:00:00.000001", NULL },
		{ TIME_ROW("NanoTimestamp"), NULL, "-1", "1969-12-31T23:59:59.999999", NULL },
		{ TIME_ROW("IsoTimestamp"), NULL, "\"2019-07-09T02:28:57.123456Z\"", "2019-07-09T02:28:57.123456", NULL },
		{ TIME_ROW("Timestamp"), NULL, "1.5", NULL, "type_mismatch" },
		{ TIME_ROW("Timestamp"), NULL, "\"2020-01-01\"", NULL, "type_mismatch" },
		{ "weir.Any", "DATE", "1", "1970-01-02", NULL },
		{ "weir.Any", "TIMESTAMP", "\"2020-01-01T00:00:00Z\"", "2020-01-01 00:00:00+00", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void instants_with_a_zone(void **state)
{
#define ZONED TIME_ROW("ZonedTimestamp")
	static const struct type_case cases[] = {
		{ ZONED, NULL, "\"2018-06-20T13:37:03Z\"", "2018-06-20 13:37:03+00", NULL },
		{ ZONED, NULL, "\"2018-06-20T13:37:03.5+05:30\"", "2018-06-20 08:07:03.500000+00", NULL },
		{ ZONED, NULL, "\"2018-06-20T13:37:03.123456789-01\"", "2018-06-20 14:37:03.123456+00", NULL },
		{ ZONED, NULL, "\"0001-01-01T00:00:00Z\"", "0001-01-01 00:00:00+00", NULL },
		{ ZONED, NULL, "\"0001-01-01T00:00:00+00:01\"", "0001-01-01 00:00:00+00", "timestamp_out_of_range" },
		{ ZONED, NULL, "\"0000-12-31T23:00:00-01:00\"", "0001-01-01 00:00:00+00", NULL },
		{ ZONED, NULL, "\"9999-12-31T23:59:59.999999Z\"", "9999-12-31 23:59:59.999999+00", NULL },
		{ ZONED, NULL, "\"+10000-01-01T00:00:00Z\"", "9999-12-31 23:59:59.999999+00", "timestamp_out_of_range" },
		{ ZONED, NULL, "\"-4712-01-01T00:00:00.000000Z\"", "0001-01-01 00:00:00+00", "timestamp_out_of_range" },
		{ ZONED, NULL, "\"infinity\"", "9999-12-31 23:59:59.999999+00", "timestamp_out_of_range" },
		{ ZONED, NULL, "\"-infinity\"", "0001-01-01 00:00:00+00", "timestamp_out_of_range" },
		{ ZONED, NULL, "\"2016-12-31T23:59:60.5Z\"", "2017-01-01 00:00:00+00", NULL },
		{ ZONED, NULL, "\"2026-02-28T24:00:00Z\"", "2026-03-01 00:00:00+00", NULL },
		{ ZONED, NULL, "\"yesterday\"", NULL, "type_mismatch" },
		{ ZONED, NULL, "\"2026-13-45T00:00:00Z\"", NULL, "type_mismatch" },
		{ ZONED, NULL, "\"2026-02-30T00:00:00Z\"", NULL, "type_mismatch" },
		{ ZONED, NULL, "\"2026-01-01T25:00:00Z\"", NULL, "type_mismatch" },
		{ ZONED, NULL, "\"2026-01-01T00:00:00.Z\"", NULL, "type_mismatch" },
		{ ZONED, NULL, "\"2026-01-01T00:00:00Zjunk\"", NULL, "type_mismatch" },
		{ ZONED, NULL, "\"\"", NULL, "type_mismatch" },
		{ ZONED, NULL, "1", NULL, "type_mismatch" },
		{ ZONED, "DATETIME", "\"2018-06-20T13:37:03+01:00\"", "2018-06-20T12:37:03", NULL },
		{ "string", "TIMESTAMP", "\"2018-06-20 13:37:03.5+00\"", "2018-06-20 13:37:03.500000+00", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void intervals_have_a_sign_on_each_part(void **state)
{
#define PERIOD TIME_ROW("Interval")
	static const struct type_case cases[] = {
		{ PERIOD, NULL, "\"P1Y2M3DT4H5M6.78S\"", "1-2 3 4:5:6.78", NULL },
		{ PERIOD, NULL, "\"P-1Y-2M3DT-4H-5M-6.78S\"", "-1-2 3 -4:5:6.78", NULL },
		{ PERIOD, NULL, "\"P0Y0M0DT0H0M-0.000001S\"", "0-0 0 -0:0:0.000001", NULL },
		{ PERIOD, NULL, "\"P0Y0M0DT0H0M0.0000009S\"", "0-0 0 0:0:0", NULL },
		{ PERIOD, NULL, "\"P1Y-13M0DT1H-61M0S\"", "-0-1 0 -0:1:0", NULL },
		{ PERIOD, NULL, "\"P10000Y0M0DT0H0M0S\"", "10000-0 0 0:0:0", NULL },
		{ PERIOD, NULL, "\"P10000Y1M0DT0H0M0S\"", "10000-0 0 0:0:0", "interval_out_of_range" },
		{ PERIOD, NULL, "\"P0Y0M-3660001DT0H0M0S\"", "0-0 -3660000 0:0:0", "interval_out_of_range" },
		{ PERIOD, NULL, "\"P0Y0M0DT87840000H0M0S\"", "0-0 0 87840000:0:0", NULL },
		{ PERIOD, NULL, "\"P0Y0M0DT99999999999999999999H0M0S\"", "0-0 0 87840000:0:0", "interval_out_of_range" },
		{ PERIOD, NULL, "\"P\"", NULL, "type_mismatch" },
		{ PERIOD, NULL, "\"P1.5Y\"", NULL, "type_mismatch" },
		{ PERIOD, NULL, "\"1 day\"", NULL, "type_mismatch" },
		{ "string", "INTERVAL", "\"-1-2 3 -4:5:6.78\"", "-1-2 3 -4:5:6.78", NULL },
		{ "string", "INTERVAL", "\"1-2 3\"", NULL, "type_mismatch" },
		{ TIME_ROW("MicroDuration"), NULL, "-1", "-1", NULL },
		{ TIME_ROW("MicroDuration"), "INTERVAL", "90061000001", "0-0 0 25:1:1.000001", NULL },
		{ TIME_ROW("NanoDuration"), "INTERVAL", "1000", "0-0 0 0:0:0.000001", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void times_as_structs(void **state)
{
	static const struct type_case cases[] = {
		{ TIME_ROW("StructuredDate"), NULL, "{\"year\":2026,\"month\":2,\"day\":28,\"specialValue\":null}", "2026-02-28", NULL },
		{ TIME_ROW("StructuredDate"), NULL, "{\"year\":2026,\"month\":2,\"day\":29}", NULL, "type_mismatch" },
		{ TIME_ROW("StructuredDate"), NULL, "{\"year\":10000,\"month\":1,\"day\":1}", "9999-12-31", "date_out_of_range" },
		{ TIME_ROW("StructuredDate"), NULL, "{\"specialValue\":\"-infinity\"}", "0001-01-01", "date_out_of_range" },
		{ TIME_ROW("StructuredDate"), NULL, "{\"year\":2026,\"month\":null}", NULL, "type_mismatch" },
		{ TIME_ROW("StructuredDate"), "STRING", "{\"year\":2026}", "{\"year\":2026}", NULL },
		{ TIME_ROW("StructuredTime"), NULL, "{\"hour\":23,\"minute\":59,\"second\":59,\"nanos\":999999999}", "23:59:59.999999",
		  NULL },
		{ TIME_ROW("StructuredTimestamp"), NULL, "{\"year\":1,\"month\":1,\"day\":1,\"hour\":1}", "0001-01-01T01:00:00", NULL },
		{ TIME_ROW("StructuredZonedTimestamp"), NULL,
		  "{\"year\":2020,\"month\":1,\"day\":1,\"hour\":0,\"offsetSeconds\":3600}", "2019-12-31 23:00:00+00", NULL },
		{ TIME_ROW("StructuredZonedTime"), NULL, "{\"hour\":1,\"minute\":2,\"second\":3,\"nanos\":0,\"offsetSeconds\":-19800}",
		  "01:02:03-05:30", NULL },
		{ TIME_ROW("StructuredDuration"), NULL, "{\"years\":-1,\"hours\":-838,\"minutes\":-59,\"seconds\":-59}",
		  "-1-0 0 -838:59:59", NULL },
	};

	(void)state;
	CHECK_CASES(cases);
}

/* Counts the calendar by hand, day by day, against the text and back. */
static void every_day_of_the_calendar(void **state)
{
	static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	struct bq_type date = { .kind = BQ_DATE };
	int year = 1, month = 1, day = 1;
	char json[64], want[13];

	(void)state;
	for (int64_t days = -719162; days <= 2932896; days++) {
		struct cell cell = { .kind = CELL_INT, .number = days };
		char *end = cell_json(&cell, &date, json);

		want[0] = want[11] = '"';
		want[1] = (char)('0' + year / 1000);
		want[2] = (char)('0' + year / 100 % 10);
		want[3] = (char)('0' + year / 10 % 10);
		want[4] = (char)('0' + year % 10);
		want[5] = want[8] = '-';
		want[6] = (char)('0' + month / 10);
		want[7] = (char)('0' + month % 10);
		want[9] = (char)('0' + day / 10);
		want[10] = (char)('0' + day % 10);
		if (end - json != 12 || memcmp(json, want, 12) != 0)
			fail_msg("day %ld is %.12s, not %.12s", (long)days, json, want);
		day++;
		if (day > lengths[month - 1] + (month == 2 && ((year % 4 == 0 && year % 100 != 0) || year % 400 == 0))) {
			day = 1;
			month++;
		}
		if (month > 12) {
			month = 1;
			year++;
		}
	}
	assert_int_equal(year, 10000);
}

/* And the way back: every day's text is that day. */
static void every_day_is_read_back(void **state)
{
	struct arena *arena = arena_new(4096);
	struct json_doc doc = { .tokens = NULL };
	struct source_type from;
	struct bq_type date = { .kind = BQ_DATE };
	char json[64];
	size_t at;

	(void)state;
	assert_true(source_type_named("io.debezium.time.IsoDate", &from));
	for (int64_t days = -719162; days <= 2932896; days++) {
		struct cell cell = { .kind = CELL_INT, .number = days }, back;
		struct convert_fault fault;
		char *end = cell_json(&cell, &date, json);

		if (json_parse(&doc, span_make(json, (size_t)(end - json)), &at) != JSON_FINE)
			fail_msg("day %ld is no JSON", (long)days);
		if (type_convert(&from, &date, &doc, 0, SPAN(""), arena, &back, &fault) != CONVERT_OK || back.number != days)
			fail_msg("day %ld is read as %ld", (long)days, (long)back.number);
		arena_reset(arena);
	}
	json_doc_free(&doc);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dates_and_times_of_day),
		cmocka_unit_test(instants_without_a_zone),
		cmocka_unit_test(instants_with_a_zone),
		cmocka_unit_test(intervals_have_a_sign_on_each_part),
		cmocka_unit_test(times_as_structs),
		cmocka_unit_test(every_day_of_the_calendar),
		cmocka_unit_test(every_day_is_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
