/* What an answer of BigQuery means for a table or a row: bigquery_fates.def, else answers.def. */
#include "sink/bigquery.h"
#include "sink/bigquery_table_private.h"

#include <strings.h>

const struct fate_row fate_rows[] = {
#define FATE(calls, http, code, reason, text, fate, kind, error_code, sentence) \
	{ calls, http, code, reason, text, FATE_##fate, kind, error_code, sentence },
#include "sink/bigquery_fates.def"
#undef FATE
};
const size_t fate_row_count = sizeof(fate_rows) / sizeof(fate_rows[0]);

static bool row_fits(const struct fate_row *row, enum bigquery_call call, int http, enum grpc_code code, const char *reason,
                     const char *message)
{
	return row->calls & call && (!row->http || row->http == http) && (row->code == GRPC_ANY || row->code == code) &&
	       (!*row->reason || strcmp(row->reason, reason) == 0) && (!*row->text || strcasestr(message, row->text));
}

static const struct fate_row *find(enum bigquery_call call, int http, enum grpc_code code, const char *reason, const char *message)
{
	for (size_t i = 0; i < fate_row_count; i++) {
		if (row_fits(&fate_rows[i], call, http, code, reason, message))
			return &fate_rows[i];
	}
	return NULL;
}

static enum bigquery_fate fate_of_answer(enum answer_fate fate, enum bigquery_call call)
{
	if (fate == ANSWER_NEEDS_YOU)
		return FATE_NEEDS_YOU;
	if (fate == ANSWER_DEAD_LETTER)
		return call & (CALL_INSERT_ALL | CALL_APPEND | CALL_ROW) ? FATE_SPLIT : FATE_NEEDS_YOU;
	return FATE_WAIT;
}

/* REST's "status" says no more than its HTTP status and reason; rows with a code are gRPC's. */
struct fate bigquery_judge(enum bigquery_call call, int http, const struct google_status *status)
{
	const char *message = *status->storage_message ? status->storage_message : status->message;
	const struct fate_row *row = find(call, http, http ? GRPC_ANY : status->code, status->reason, message);
	struct answer_facts facts = { .http_status = http, .code = status->code, .reason = span_of(status->reason) };
	const struct answer_row *answer;

	if (row)
		return (struct fate){ row->fate, row->kind, row->error_code, row->sentence };
	answer = answer_judge(&facts);
	return (struct fate){ fate_of_answer(answer->fate, call), answer->kind, answer->error_code, answer->sentence };
}

struct fate bigquery_judge_row(const char *reason, const char *message)
{
	const struct fate_row *row = find(CALL_ROW, 0, GRPC_ANY, reason, message);

	return (struct fate){ row->fate, row->kind, row->error_code, row->sentence };
}

/* What no row of an answer says: of our own making. */
static const char *const own_waits[] = { "own_limit", "table_waits", "column_not_yet" };

static bool is_passing(enum error_kind kind)
{
	return kind == ERROR_TRANSIENT || kind == ERROR_UNREACHABLE;
}

bool bigquery_code_passes(const char *code)
{
	size_t passing = 0, others = 0;

	for (size_t i = 0; i < sizeof(own_waits) / sizeof(own_waits[0]); i++)
		passing += strcmp(own_waits[i], code) == 0;
	for (size_t i = 0; i < fate_row_count; i++) {
		if (strcmp(fate_rows[i].error_code, code) == 0)
			*(is_passing(fate_rows[i].kind) ? &passing : &others) += 1;
	}
	for (size_t i = 0; i < answer_row_count; i++) {
		if (strcmp(answer_rows[i].error_code, code) == 0)
			*(is_passing(answer_rows[i].kind) ? &passing : &others) += 1;
	}
	return passing > 0 && others == 0;
}
