/* Judging answers by answers.def, and naming gRPC's codes. */
#include "google/answer.h"

#include "base/clean.h"

const struct answer_row answer_rows[] = {
#define ANSWER(http, code, reason, fate, renews, kind, error_code, sentence) \
	{ http, code, reason, ANSWER_##fate, renews, kind, error_code, sentence },
#include "google/answers.def"
#undef ANSWER
};
const size_t answer_row_count = sizeof(answer_rows) / sizeof(answer_rows[0]);

static const char *const code_names[GRPC_CODES] = {
#define GRPC_CODE(name, number, http) [number] = #name,
#include "google/grpc_codes.def"
#undef GRPC_CODE
};

/* What gRPC itself says of statuses without grpc-status; everything else, 200 too, is UNKNOWN. */
static const struct {
	int http;
	enum grpc_code code;
} http_codes[] = {
	{ 400, GRPC_INTERNAL },          { 401, GRPC_UNAUTHENTICATED }, { 403, GRPC_PERMISSION_DENIED },
	{ 404, GRPC_UNIMPLEMENTED },     { 429, GRPC_UNAVAILABLE },     { 431, GRPC_INTERNAL },
	{ 502, GRPC_UNAVAILABLE },       { 503, GRPC_UNAVAILABLE },     { 504, GRPC_UNAVAILABLE },
};

const char *grpc_code_name(int code)
{
	return code >= 0 && code < GRPC_CODES ? code_names[code] : "UNKNOWN";
}

enum grpc_code grpc_code_find(struct span name)
{
	for (int i = 0; i < GRPC_CODES; i++) {
		if (span_is(name, code_names[i]))
			return (enum grpc_code)i;
	}
	return GRPC_ANY;
}

enum grpc_code grpc_code_of_http(int http_status)
{
	for (size_t i = 0; i < sizeof(http_codes) / sizeof(http_codes[0]); i++) {
		if (http_codes[i].http == http_status)
			return http_codes[i].code;
	}
	return GRPC_UNKNOWN;
}

static bool row_fits(const struct answer_row *row, const struct answer_facts *facts)
{
	if (row->http && row->http != (row->http < 10 ? facts->http_status / 100 : facts->http_status))
		return false;
	if (row->code != GRPC_ANY && row->code != facts->code)
		return false;
	return !row->reason[0] || span_is(facts->reason, row->reason);
}

const struct answer_row *answer_judge(const struct answer_facts *facts)
{
	const struct answer_row *row = answer_rows;

	while (row < &answer_rows[answer_row_count - 1] && !row_fits(row, facts))
		row++;
	return row;
}

#define SAID_BYTES 300 /* of what the other side says: enough for a sentence and a name */

bool answer_fail(struct error *err, const struct answer_row *row, const char *what, struct span text,
                 int64_t retry_after_ms)
{
	OWNED(text) said = text_new(8 * SAID_BYTES);
	size_t len = text.len < SAID_BYTES ? text.len : SAID_BYTES;

	/* Never the middle of a character: what begins there is left out. */
	while (len > 0 && len < text.len && ((unsigned char)text.at[len] & 0xc0) == 0x80)
		len--;
	clean_text(said, span_make(text.at, len));
	fail(err, row->kind, row->error_code, "%s: %s%s%s", what, row->sentence, said->len ? ": " : "", said->at);
	if (err)
		err->retry_after_ms = retry_after_ms;
	return false;
}
