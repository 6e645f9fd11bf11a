/* google.rpc.Status with its details, as bytes, as header and as JSON. */
#include "google/status.h"

#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static size_t begin_detail(struct text *t, const char *type)
{
	size_t any = proto_begin(t, 3);

	proto_put_text(t, 1, type);
	return any;
}

static void add_detail(struct text *t, const char *type, struct span value)
{
	size_t any = begin_detail(t, type);

	proto_put_bytes(t, 2, value);
	proto_end(t, any);
}

static void details_are_read(void **state)
{
	OWNED(text) t = text_new(4000);
	struct google_status status;

	(void)state;
	proto_put_int(t, 1, 8);
	proto_put_text(t, 2, "too much");
	add_detail(t, "type.googleapis.com/google.rpc.ErrorInfo", SPAN("\x0a\x04WHY!\x12\x03" "dom"));
	add_detail(t, "type.googleapis.com/google.rpc.RetryInfo", SPAN("\x0a\x07\x08\x02\x10\x80\xe1\xeb\x17"));
	add_detail(t, "type.googleapis.com/google.rpc.BadRequest", SPAN("\x0a\x0a\x0a\x04name\x12\x02no"));
	add_detail(t, "type.googleapis.com/google.rpc.PreconditionFailure", SPAN("\x0a\x09\x0a\x01T\x12\x01S\x1a\x01" "D"));
	add_detail(t, "type.googleapis.com/google.rpc.ResourceInfo", SPAN("\x0a\x05topic\x12\x03t-1"));
	add_detail(t, "type.googleapis.com/google.rpc.RequestInfo", SPAN("\x0a\x03r-7"));
	add_detail(t, "type.googleapis.com/google.rpc.Help", SPAN("\x0a\x0b\x0a\x01h\x12\x06http:x"));
	add_detail(t, "type.googleapis.com/google.cloud.bigquery.storage.v1.StorageError", SPAN("\x08\x06\x12\x01" "e\x1a\x01m"));
	add_detail(t, "type.googleapis.com/something.New", SPAN("\xff"));
	assert_true(status_read(text_span(t), &status));
	assert_int_equal(status.code, GRPC_RESOURCE_EXHAUSTED);
	assert_string_equal(status.message, "too much");
	assert_string_equal(status.reason, "WHY!");
	assert_string_equal(status.domain, "dom");
	assert_int_equal(status.retry_delay_ms, 2050);
	assert_int_equal(status.violation_count, 2);
	assert_string_equal(status.violations[0].subject, "name");
	assert_string_equal(status.violations[0].text, "no");
	assert_string_equal(status.violations[1].subject, "T");
	assert_string_equal(status.violations[1].text, "D");
	assert_string_equal(status.resource, "topic t-1");
	assert_string_equal(status.request_id, "r-7");
	assert_string_equal(status.help_url, "http:x");
	assert_int_equal(status.storage_code, 6);
	assert_string_equal(status.storage_entity, "e");
	assert_string_equal(status.storage_message, "m");
}

static void a_broken_detail_leaves_the_rest_standing(void **state)
{
	OWNED(text) t = text_new(4000);
	struct google_status status = { .storage_code = 77 };

	(void)state;
	proto_put_int(t, 1, 5);
	add_detail(t, "x/google.rpc.ErrorInfo", SPAN("\x0a\x04WHY!\x12\x33" "dom"));
	add_detail(t, "google.rpc.RequestInfo", SPAN("\x0a\x03r-7"));
	assert_true(status_read(text_span(t), &status));
	assert_int_equal(status.code, GRPC_NOT_FOUND);
	assert_string_equal(status.reason, "");
	assert_string_equal(status.request_id, "r-7");
	assert_int_equal(status.retry_delay_ms, -1);

	status.storage_code = 77;
	assert_false(status_read(SPAN("\x08\x05\x12\x05x"), &status));
	assert_int_equal(status.storage_code, 77);
}

static void what_is_too_long_is_cut_between_characters(void **state)
{
	OWNED(text) t = text_new(20000);
	struct google_status status;
	char reason[100];

	(void)state;
	memset(reason, 'r', sizeof(reason));
	memcpy(reason + 62, "\xe2\x82\xac", 3);
	proto_put_int(t, 1, 3000000000);
	size_t any = begin_detail(t, "google.rpc.ErrorInfo"), value = proto_begin(t, 2);

	proto_put_bytes(t, 1, span_make(reason, sizeof(reason)));
	proto_end(t, value);
	proto_end(t, any);
	for (int i = 0; i < STATUS_VIOLATIONS + 3; i++)
		add_detail(t, "google.rpc.BadRequest", SPAN("\x0a\x03\x0a\x01" "f"));
	assert_true(status_read(text_span(t), &status));
	assert_int_equal(strlen(status.reason), 62);
	assert_int_equal(status.violation_count, STATUS_VIOLATIONS);
	assert_int_equal(status.code, GRPC_UNKNOWN);
}

static void headers_are_base64_with_and_without_padding(void **state)
{
	struct google_status status;

	(void)state;
	assert_true(status_read_header(SPAN("CAUSBGdvbmU="), &status));
	assert_string_equal(status.message, "gone");
	assert_true(status_read_header(SPAN("CAUSBGdvbmU"), &status));
	assert_int_equal(status.code, GRPC_NOT_FOUND);
	assert_true(status_read_header(SPAN("CAUSBGdvbmU,CAY"), &status));
	assert_int_equal(status.code, GRPC_NOT_FOUND);
	assert_true(status_read_header(SPAN(""), &status));
	assert_int_equal(status.code, GRPC_OK);
	assert_false(status_read_header(SPAN("CAU*"), &status));
	assert_false(status_read_header(SPAN("C"), &status));
}

static void rest_errors_are_read(void **state)
{
	struct google_status status;

	(void)state;
	assert_true(status_read_json(SPAN("{\"error\":{\"code\":404,\"message\":\"Not found: Dataset p:d\",\"status\":\"NOT_FOUND\","
	                                  "\"errors\":[{\"domain\":\"global\",\"reason\":\"notFound\",\"message\":\"x\"}]}}"), &status));
	assert_int_equal(status.code, GRPC_NOT_FOUND);
	assert_string_equal(status.reason, "notFound");
	assert_string_equal(status.message, "Not found: Dataset p:d");
	assert_true(status_read_json(SPAN("[{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"details\":["
	                                  "{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\",\"reason\":\"RATE_LIMIT_EXCEEDED\",\"domain\":\"d\"},"
	                                  "{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"3.5s\"},"
	                                  "{\"@type\":\"type.googleapis.com/google.rpc.QuotaFailure\",\"violations\":[{\"subject\":\"s\",\"description\":\"q\"}]}"
	                                  "]}}]"), &status));
	assert_string_equal(status.reason, "RATE_LIMIT_EXCEEDED");
	assert_int_equal(status.retry_delay_ms, 3500);
	assert_int_equal(status.violation_count, 1);
	assert_true(status_read_json(SPAN("{\"error\":\"invalid_grant\",\"error_description\":\"Token has been revoked.\"}"), &status));
	assert_string_equal(status.reason, "invalid_grant");
	assert_string_equal(status.message, "Token has been revoked.");
	assert_false(status_read_json(SPAN("<html>502</html>"), &status));
	assert_false(status_read_json(SPAN(""), &status));
	assert_false(status_read_json(SPAN("{\"kind\":\"bigquery#table\"}"), &status));
	assert_false(status_read_json(SPAN("{\"error\":7}"), &status));
	assert_false(status_read_json(SPAN("[]"), &status));
}

static void note_pair(void *context, struct span key, struct span value)
{
	text_add_format(context, "%.*s=%.*s;", SPAN_ARG(key), SPAN_ARG(value));
}

static void metadata_comes_pair_by_pair(void **state)
{
	OWNED(text) t = text_new(1000);
	OWNED(text) seen = text_new(1000);

	(void)state;
	proto_put_int(t, 1, 3);
	add_detail(t, "t/google.rpc.ErrorInfo", SPAN("\x0a\x01r\x1a\x06\x0a\x01" "a\x12\x01" "1\x1a\x03\x0a\x01" "b"));
	assert_true(status_metadata(text_span(t), note_pair, seen));
	assert_string_equal(seen->at, "a=1;b=;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(details_are_read),
		cmocka_unit_test(a_broken_detail_leaves_the_rest_standing),
		cmocka_unit_test(what_is_too_long_is_cut_between_characters),
		cmocka_unit_test(headers_are_base64_with_and_without_padding),
		cmocka_unit_test(rest_errors_are_read),
		cmocka_unit_test(metadata_comes_pair_by_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
