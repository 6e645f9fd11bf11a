/* Metrics as a scraper reads them: names, labels, escapes, buckets. */
#include "control/control.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char *expose(const char *json, const char *previous)
{
	json_t *metric = json_loads(json, 0, NULL);
	OWNED(text) out = text_new(65536);

	assert_non_null(metric);
	assert_true(exposition_text(metric, previous, out));
	json_decref(metric);
	return text_take(out);
}

static void expect(const char *json, const char *previous, const char *text)
{
	char *made = expose(json, previous);

	assert_string_equal(made, text);
	free(made);
}

static void test_a_counter(void **state)
{
	(void)state;
	expect("{\"metric\":\"weir_rows_total\",\"kind\":\"counter\",\"help\":\"Rows.\",\"samples\":[{\"labels\":{\"job\":\"a\","
	       "\"table\":\"d.t\"},\"value\":12345678901234}]}",
	       "",
	       "# HELP weir_rows_total Rows.\n# TYPE weir_rows_total counter\n"
	       "weir_rows_total{job=\"a\",table=\"d.t\"} 12345678901234\n");
}

static void test_help_stands_once_for_all_jobs(void **state)
{
	(void)state;
	expect("{\"metric\":\"m\",\"kind\":\"gauge\",\"help\":\"H\",\"samples\":[{\"labels\":{},\"value\":0.25}]}", "m", "m 0.25\n");
}

static void test_names_of_strangers_break_no_line(void **state)
{
	(void)state;
	expect("{\"metric\":\"m\",\"kind\":\"gauge\",\"help\":\"a\\\\b\\nc\",\"samples\":[{\"labels\":{\"table\":"
	       "\"x\\\"} 1\\nevil\\\\\"},\"value\":1}]}",
	       "", "# HELP m a\\\\b\\nc\n# TYPE m gauge\nm{table=\"x\\\"} 1\\nevil\\\\\"} 1\n");
}

static void test_a_histogram_ends_with_all_of_it(void **state)
{
	(void)state;
	expect("{\"metric\":\"m\",\"kind\":\"histogram\",\"help\":\"H\",\"samples\":[{\"labels\":{\"job\":\"a\"},\"count\":9,"
	       "\"sum\":1.5,\"buckets\":[[0.001,2],[3600.0,8]]}]}",
	       "",
	       "# HELP m H\n# TYPE m histogram\nm_bucket{job=\"a\",le=\"0.001\"} 2\nm_bucket{job=\"a\",le=\"3600\"} 8\n"
	       "m_bucket{job=\"a\",le=\"+Inf\"} 9\nm_sum{job=\"a\"} 1.5\nm_count{job=\"a\"} 9\n");
}

static void test_a_job_without_tables_has_no_samples(void **state)
{
	(void)state;
	expect("{\"metric\":\"m\",\"kind\":\"gauge\",\"help\":\"H\",\"samples\":[]}", "", "# HELP m H\n# TYPE m gauge\n");
}

static void test_a_misspelled_topic_is_told(void **state)
{
	static const char *const wrong[] = { "", "job", "job:", "jobs:x", "logs:loud", "logs", "jobsx", ":", "tables" };
	enum topic_id topic = TOPICS;
	const char *argument = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct error err = { 0 };

		assert_false(topic_find(wrong[i], &topic, &argument, &err));
		assert_string_equal(err.code, "unknown_topic");
		assert_int_equal(topic, TOPICS);
	}
}

static void test_topics_and_their_arguments(void **state)
{
	enum topic_id topic;
	const char *argument;
	struct error err = { 0 };

	(void)state;
	assert_true(topic_find("jobs", &topic, &argument, &err));
	assert_int_equal(topic, TOPIC_jobs);
	assert_string_equal(argument, "");
	assert_true(topic_find("job:orders", &topic, &argument, &err));
	assert_int_equal(topic, TOPIC_job);
	assert_string_equal(argument, "orders");
	assert_true(topic_find("logs:warn", &topic, &argument, &err));
	assert_int_equal(topic, TOPIC_logs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_counter),
		cmocka_unit_test(test_help_stands_once_for_all_jobs),
		cmocka_unit_test(test_names_of_strangers_break_no_line),
		cmocka_unit_test(test_a_histogram_ends_with_all_of_it),
		cmocka_unit_test(test_a_job_without_tables_has_no_samples),
		cmocka_unit_test(test_a_misspelled_topic_is_told),
		cmocka_unit_test(test_topics_and_their_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
