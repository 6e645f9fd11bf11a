/* The decision table: each row decides what is its own, and what users meet is decided as the specs say. */
#include "google/answer.h"

#include "base/reason.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* An answer of which nothing is known but what the row asks for is that row's. */
static void every_row_decides_its_own_answer(void **state)
{
	(void)state;
	for (size_t i = 0; i < answer_row_count; i++) {
		const struct answer_row *row = &answer_rows[i];
		struct answer_facts facts = {
			.http_status = row->http < 10 ? row->http * 100 + 98 * (row->http > 0) : row->http,
			.code = row->code,
			.reason = span_of(row->reason),
		};

		if (answer_judge(&facts) != row)
			fail_msg("row %zu (%d, %s, '%s') is never reached", i, row->http, grpc_code_name(row->code), row->reason);
	}
}

static void every_row_is_whole(void **state)
{
	static const bool fits[][ERROR_KINDS] = {
		[ANSWER_FINE] = { [ERROR_NONE] = true },
		[ANSWER_RETRY] = { [ERROR_TRANSIENT] = true, [ERROR_UNREACHABLE] = true },
		[ANSWER_WAIT] = { [ERROR_TRANSIENT] = true },
		[ANSWER_DEAD_LETTER] = { [ERROR_RECORD] = true },
		[ANSWER_NEEDS_YOU] = { [ERROR_CONFIG] = true, [ERROR_ACCESS] = true },
	};

	(void)state;
	for (size_t i = 0; i < answer_row_count; i++) {
		const struct answer_row *row = &answer_rows[i];

		if (!fits[row->fate][row->kind])
			fail_msg("row %zu ('%s'): fate and kind differ", i, row->reason);
		if (row->fate == ANSWER_FINE)
			continue;
		if (!reason_find(row->error_code))
			fail_msg("row %zu: '%s' has no page", i, row->error_code);
		assert_true(row->sentence[0] != '\0');
		assert_true(!row->may_renew_token || strcmp(row->error_code, "auth_failed") == 0);
	}
}

/* Row by row what the specs ask for (apis-rest 3.1, apis-grpc 2.3, 3 and 7). */
static const struct expectation {
	int http;
	enum grpc_code code;
	const char *reason;
	enum answer_fate fate;
	const char *error_code;
} expectations[] = {
	{ 200, GRPC_ANY, "", ANSWER_FINE, "" },
	{ 204, GRPC_ANY, "", ANSWER_FINE, "" },
	{ 200, GRPC_OK, "", ANSWER_FINE, "" },
	{ 200, GRPC_UNAVAILABLE, "", ANSWER_RETRY, "google_unavailable" },
	{ 200, GRPC_UNKNOWN, "", ANSWER_RETRY, "google_internal" },
	{ 200, GRPC_INTERNAL, "", ANSWER_RETRY, "google_internal" },
	{ 200, GRPC_CANCELLED, "", ANSWER_RETRY, "google_unavailable" },
	{ 200, GRPC_DEADLINE_EXCEEDED, "", ANSWER_RETRY, "google_timeout" },
	{ 200, GRPC_ABORTED, "", ANSWER_RETRY, "google_conflict" },
	{ 200, GRPC_RESOURCE_EXHAUSTED, "", ANSWER_WAIT, "google_quota" },
	{ 200, GRPC_RESOURCE_EXHAUSTED, "RATE_LIMIT_EXCEEDED", ANSWER_WAIT, "google_rate_limited" },
	{ 200, GRPC_INVALID_ARGUMENT, "", ANSWER_DEAD_LETTER, "google_invalid" },
	{ 200, GRPC_NOT_FOUND, "", ANSWER_NEEDS_YOU, "google_not_found" },
	{ 200, GRPC_ALREADY_EXISTS, "", ANSWER_NEEDS_YOU, "google_exists" },
	{ 200, GRPC_PERMISSION_DENIED, "", ANSWER_NEEDS_YOU, "google_denied" },
	{ 200, GRPC_PERMISSION_DENIED, "SERVICE_DISABLED", ANSWER_NEEDS_YOU, "google_api_disabled" },
	{ 200, GRPC_PERMISSION_DENIED, "a reason of next year", ANSWER_NEEDS_YOU, "google_denied" },
	{ 200, GRPC_FAILED_PRECONDITION, "", ANSWER_NEEDS_YOU, "google_precondition" },
	{ 200, GRPC_OUT_OF_RANGE, "", ANSWER_NEEDS_YOU, "google_out_of_range" },
	{ 200, GRPC_UNIMPLEMENTED, "", ANSWER_NEEDS_YOU, "google_not_supported" },
	{ 200, GRPC_DATA_LOSS, "", ANSWER_NEEDS_YOU, "google_data_loss" },
	{ 200, GRPC_UNAUTHENTICATED, "", ANSWER_NEEDS_YOU, "auth_failed" },
	{ 200, GRPC_UNAUTHENTICATED, "ACCESS_TOKEN_EXPIRED", ANSWER_NEEDS_YOU, "auth_failed" },
	{ 403, GRPC_ANY, "accessDenied", ANSWER_NEEDS_YOU, "google_denied" },
	{ 500, GRPC_ANY, "backendError", ANSWER_RETRY, "google_unavailable" },
	{ 503, GRPC_ANY, "backendError", ANSWER_RETRY, "google_unavailable" },
	{ 400, GRPC_ANY, "badRequest", ANSWER_DEAD_LETTER, "google_invalid" },
	{ 403, GRPC_ANY, "billingNotEnabled", ANSWER_NEEDS_YOU, "google_billing" },
	{ 403, GRPC_ANY, "blocked", ANSWER_NEEDS_YOU, "google_denied" },
	{ 409, GRPC_ANY, "duplicate", ANSWER_NEEDS_YOU, "google_exists" },
	{ 500, GRPC_ANY, "internalError", ANSWER_RETRY, "google_internal" },
	{ 400, GRPC_ANY, "invalid", ANSWER_DEAD_LETTER, "google_invalid" },
	{ 400, GRPC_INVALID_ARGUMENT, "invalidQuery", ANSWER_NEEDS_YOU, "google_precondition" },
	{ 400, GRPC_ANY, "invalidUser", ANSWER_NEEDS_YOU, "google_denied" },
	{ 400, GRPC_ANY, "jobBackendError", ANSWER_RETRY, "google_unavailable" },
	{ 400, GRPC_ANY, "jobInternalError", ANSWER_RETRY, "google_internal" },
	{ 400, GRPC_ANY, "jobRateLimitExceeded", ANSWER_WAIT, "google_rate_limited" },
	{ 404, GRPC_NOT_FOUND, "notFound", ANSWER_NEEDS_YOU, "google_not_found" },
	{ 501, GRPC_ANY, "notImplemented", ANSWER_NEEDS_YOU, "google_not_supported" },
	{ 407, GRPC_ANY, "proxyAuthenticationRequired", ANSWER_NEEDS_YOU, "proxy_refused" },
	{ 403, GRPC_ANY, "quotaExceeded", ANSWER_WAIT, "google_quota" },
	{ 403, GRPC_PERMISSION_DENIED, "rateLimitExceeded", ANSWER_WAIT, "google_rate_limited" },
	{ 400, GRPC_ANY, "resourceInUse", ANSWER_NEEDS_YOU, "google_precondition" },
	{ 400, GRPC_ANY, "resourcesExceeded", ANSWER_NEEDS_YOU, "google_precondition" },
	{ 403, GRPC_ANY, "responseTooLarge", ANSWER_NEEDS_YOU, "google_precondition" },
	{ 200, GRPC_ANY, "stopped", ANSWER_RETRY, "google_conflict" },
	{ 400, GRPC_ANY, "tableUnavailable", ANSWER_RETRY, "google_unavailable" },
	{ 400, GRPC_ANY, "timeout", ANSWER_RETRY, "google_timeout" },
	{ 401, GRPC_ANY, "", ANSWER_NEEDS_YOU, "auth_failed" },
	{ 403, GRPC_ANY, "", ANSWER_NEEDS_YOU, "google_denied" },
	{ 404, GRPC_ANY, "", ANSWER_NEEDS_YOU, "google_not_found" },
	{ 405, GRPC_ANY, "", ANSWER_NEEDS_YOU, "google_bad_answer" },
	{ 302, GRPC_ANY, "", ANSWER_NEEDS_YOU, "google_bad_answer" },
	{ 407, GRPC_ANY, "", ANSWER_NEEDS_YOU, "proxy_refused" },
	{ 408, GRPC_ANY, "", ANSWER_RETRY, "google_timeout" },
	{ 409, GRPC_ANY, "", ANSWER_RETRY, "google_conflict" },
	{ 413, GRPC_ANY, "", ANSWER_DEAD_LETTER, "google_too_large" },
	{ 429, GRPC_ANY, "", ANSWER_WAIT, "google_rate_limited" },
	{ 500, GRPC_ANY, "", ANSWER_RETRY, "google_internal" },
	{ 502, GRPC_ANY, "", ANSWER_RETRY, "google_unavailable" },
	{ 503, GRPC_ANY, "", ANSWER_RETRY, "google_unavailable" },
	{ 504, GRPC_ANY, "", ANSWER_RETRY, "google_timeout" },
	{ 599, GRPC_ANY, "", ANSWER_RETRY, "google_unavailable" },
	{ 0, GRPC_ANY, "", ANSWER_RETRY, "google_bad_answer" },
	{ 0, GRPC_ANY, "lost", ANSWER_RETRY, "google_unreachable" },
	{ 0, GRPC_ANY, "deadline", ANSWER_RETRY, "google_timeout" },
	{ 0, GRPC_ANY, "tls_untrusted", ANSWER_NEEDS_YOU, "tls_untrusted" },
};

static void answers_are_judged_as_the_specs_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++) {
		const struct expectation *e = &expectations[i];
		struct answer_facts facts = { e->http, e->code, span_of(e->reason) };
		const struct answer_row *row = answer_judge(&facts);

		if (row->fate != e->fate || strcmp(row->error_code, e->error_code) != 0)
			fail_msg("%d %s '%s': fate %d, %s", e->http, grpc_code_name(e->code), e->reason, (int)row->fate,
			         row->error_code);
	}
}

static void statuses_without_grpc_status_have_a_code(void **state)
{
	static const struct { int http; enum grpc_code code; } cases[] = {
		{ 400, GRPC_INTERNAL }, { 401, GRPC_UNAUTHENTICATED }, { 403, GRPC_PERMISSION_DENIED },
		{ 404, GRPC_UNIMPLEMENTED }, { 429, GRPC_UNAVAILABLE }, { 431, GRPC_INTERNAL }, { 502, GRPC_UNAVAILABLE },
		{ 503, GRPC_UNAVAILABLE }, { 504, GRPC_UNAVAILABLE }, { 200, GRPC_UNKNOWN }, { 500, GRPC_UNKNOWN }, { 0, GRPC_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(grpc_code_of_http(cases[i].http), cases[i].code);
	assert_string_equal(grpc_code_name(5), "NOT_FOUND");
	assert_string_equal(grpc_code_name(99), "UNKNOWN");
	assert_string_equal(grpc_code_name(-1), "UNKNOWN");
	assert_int_equal(grpc_code_find(SPAN("UNAUTHENTICATED")), GRPC_UNAUTHENTICATED);
	assert_int_equal(grpc_code_find(SPAN("")), GRPC_ANY);
}

/* What a stranger says is cleaned and cut, and cannot push our own words out. */
static void the_message_says_what_failed_and_why(void **state)
{
	struct answer_facts facts = { 200, GRPC_NOT_FOUND, SPAN("") };
	struct error err = { 0 };
	char endless[5000];

	(void)state;
	assert_false(answer_fail(&err, answer_judge(&facts), "Pull of orders", SPAN("no such\x1b[2J thing"), 1500));
	assert_string_equal(err.message, "Pull of orders: it does not exist: no such\\x1b[2J thing");
	assert_string_equal(err.code, "google_not_found");
	assert_int_equal(err.kind, ERROR_CONFIG);
	assert_int_equal(err.retry_after_ms, 1500);
	memset(endless, 'x', sizeof(endless));
	memcpy(endless + 298, "\xe2\x82\xac", 3);
	assert_false(answer_fail(&err, answer_judge(&facts), "Pull", span_make(endless, sizeof(endless)), 0));
	assert_true(strlen(err.message) == strlen("Pull: it does not exist: ") + 298);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_decides_its_own_answer),
		cmocka_unit_test(every_row_is_whole),
		cmocka_unit_test(answers_are_judged_as_the_specs_say),
		cmocka_unit_test(statuses_without_grpc_status_have_a_code),
		cmocka_unit_test(the_message_says_what_failed_and_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
