/*
 * Statuses as bytes, as a header and as the JSON of REST: whatever comes, texts end
 * inside their room, a code is one of gRPC's, and what is broken leaves the output alone.
 */
#include "google/status.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition) do { if (!(condition)) abort(); } while (0)
#define UNTOUCHED 0x5a
#define ENDS(field) MUST(memchr((field), '\0', sizeof(field)))

static void check(bool is_fine, const struct google_status *status)
{
	if (!is_fine) {
		for (size_t i = 0; i < sizeof(*status); i++)
			MUST(((const unsigned char *)status)[i] == UNTOUCHED);
		return;
	}
	MUST((int)status->code >= GRPC_ANY && status->code < GRPC_CODES && status->violation_count <= STATUS_VIOLATIONS);
	MUST(status->retry_delay_ms >= -1 && status->retry_delay_ms <= INT64_C(90000000));
	ENDS(status->message);
	ENDS(status->reason);
	ENDS(status->domain);
	ENDS(status->resource);
	ENDS(status->request_id);
	ENDS(status->help_url);
	ENDS(status->storage_entity);
	ENDS(status->storage_message);
	for (size_t i = 0; i < status->violation_count; i++) {
		ENDS(status->violations[i].subject);
		ENDS(status->violations[i].text);
	}
}

static void count_pair(void *context, struct span key, struct span value)
{
	*(size_t *)context += 1 + key.len + value.len;
}

/* Judging and saying it must work for whatever a server says. */
static void judge(const struct google_status *status, int http)
{
	struct answer_facts facts = { http, status->code, span_of(status->reason) };
	struct error err = { 0 };

	MUST(!answer_fail(&err, answer_judge(&facts), "call", span_of(status->message), status->retry_delay_ms));
	for (const char *at = err.message; *at; at++)
		MUST((unsigned char)*at >= ' ');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span bytes = { (const char *)data, size };
	struct google_status status;
	size_t pairs = 0;
	bool is_fine;

	memset(&status, UNTOUCHED, sizeof(status));
	is_fine = status_read(bytes, &status);
	check(is_fine, &status);
	status_metadata(bytes, count_pair, &pairs);
	if (is_fine)
		judge(&status, 200);
	memset(&status, UNTOUCHED, sizeof(status));
	check(status_read_header(bytes, &status), &status);
	memset(&status, UNTOUCHED, sizeof(status));
	is_fine = status_read_json(bytes, &status);
	check(is_fine, &status);
	if (is_fine)
		judge(&status, 100 + (int)(size * 7 % 500));
	return 0;
}
