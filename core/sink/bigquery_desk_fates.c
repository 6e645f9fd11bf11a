/*
 * A table's step that failed: what it means, in words with the table's name, and
 * when to look again. Whatever needs somebody is looked at again all the same, from
 * the beginning, so that a repair needs no word.
 */
#include "sink/bigquery_desk_private.h"

#include "base/clock.h"
#include "sink/bigquery.h"

#define TROUBLE_SHOWN_MS 1500 /* shorter ones are nobody's news */
#define LOOKS_AT_ONCE 5       /* of a table that others change all the time */

static const enum bigquery_call step_calls[DESK_STEPS] = {
	[STEP_GET] = CALL_TABLE_GET, [STEP_CREATE] = CALL_TABLE_CREATE, [STEP_PATCH] = CALL_TABLE_PATCH, [STEP_SETTLE] = CALL_STREAM,
};

/* autoMapTables=false: tables are others' to make. */
static bool makes_tables(const struct table_desk *desk)
{
	return !json_is_false(json_object_get(desk->options->parameters, "autoMapTables"));
}

/* The command that mends it stands in the sentence, where everybody sees it. */
void bigquery_fix_add(struct google *google, const struct bigquery_names *of, struct error *error)
{
	struct credentials_view view;
	char member[MEMBER_BYTES];
	struct bigquery_names names = *of;
	OWNED(text) fix = text_new(400);
	size_t len = strlen(error->message);

	if (google_look(google, &view) && credentials_member(&view, member))
		names.member = member;
	if (bigquery_fix(error->code, &names, fix) && len + fix->len + 8 < sizeof(error->message))
		snprintf(error->message + len, sizeof(error->message) - len, "; try: %s", fix->at);
}

static void needs_you(struct table_desk *desk, struct desk_table *table, const struct error *why)
{
	struct error with_fix = *why, *error = &with_fix;
	struct bigquery_names names = { .project = desk->project, .dataset = table->dataset, .table = table->name,
	                                .location = desk->options->location };

	bigquery_fix_add(desk->google, &names, error);
	int64_t next_ms = clock_mono_ms() + backoff_next(&table->backoff, error->retry_after_ms);

	desk_state(desk, table, TABLE_NEEDS_YOU, error, next_ms);
	desk_step(table, STEP_GET, next_ms);
}

/* The same step again. A trouble that is over in a moment is not shown as one. */
static void waits(struct table_desk *desk, struct desk_table *table, const struct error *error)
{
	int64_t now_ms = clock_mono_ms(), next_ms = now_ms + backoff_next(&table->backoff, error->retry_after_ms);

	if (!table->trouble_ms)
		table->trouble_ms = now_ms;
	if (next_ms - table->trouble_ms > TROUBLE_SHOWN_MS || table->view.state != TABLE_ASKING)
		desk_state(desk, table, TABLE_WAITING, error, next_ms);
	else
		table->view.error = *error;
	desk_step(table, table->step, next_ms);
}

static void is_gone(struct table_desk *desk, struct desk_table *table)
{
	struct error error;

	if (table->is_expected || table->view.incarnation > 0) {
		fail(&error, ERROR_CONFIG, "table_dropped", "table '%s.%s' is gone, and rows of this job were in it", table->dataset, table->name);
		needs_you(desk, table, &error);
	} else if (!makes_tables(desk)) {
		fail(&error, ERROR_CONFIG, "table_missing", "table '%s.%s' does not exist, and autoMapTables=false makes none", table->dataset,
		     table->name);
		needs_you(desk, table, &error);
	} else {
		desk_step(table, STEP_CREATE, 0);
	}
}

/* Somebody else was faster; when it happens again and again it gets slower. */
static void look_again(struct table_desk *desk, struct desk_table *table)
{
	int64_t wait_ms = ++table->looks > LOOKS_AT_ONCE ? backoff_next(&table->backoff, 0) : 0;

	(void)desk;
	desk_step(table, STEP_GET, clock_mono_ms() + wait_ms);
}

static void say(struct error *out, const struct desk_table *table, const struct fate *fate, const struct google_status *status,
                int64_t retry_after_ms)
{
	fail(out, fate->kind, fate->error_code, "table '%s.%s': %s%s%s", table->dataset, table->name, fate->sentence,
	     *status->message ? ": " : "", status->message);
	out->retry_after_ms = retry_after_ms;
}

static void answer_failed(struct table_desk *desk, struct desk_table *table, const struct rest_answer *answer,
                          const struct error *error)
{
	struct google_status status = { .code = GRPC_ANY };
	struct fate fate;
	struct error said;

	status_read_json(answer->body, &status);
	fate = bigquery_judge(step_calls[table->step], answer->status, &status);
	say(&said, table, &fate, &status, error->retry_after_ms);
	table->view.is_everybodys = strcmp(said.code, "auth_failed") == 0;
	if (fate.fate == FATE_LOOK && table->step == STEP_GET)
		is_gone(desk, table);
	else if (fate.fate == FATE_LOOK)
		look_again(desk, table);
	else if (fate.fate == FATE_WAIT)
		waits(desk, table, &said);
	else
		needs_you(desk, table, &said);
}

/* Without an answer it is the network's or the credentials' trouble, and the error says so already. */
void desk_failed(struct table_desk *desk, struct desk_table *table, const struct rest_answer *answer, const struct error *error)
{
	table->view.is_everybodys = answer && !answer->status;
	if (answer && answer->status)
		answer_failed(desk, table, answer, error);
	else if (error->kind == ERROR_TRANSIENT || error->kind == ERROR_UNREACHABLE)
		waits(desk, table, error);
	else
		needs_you(desk, table, error);
}
