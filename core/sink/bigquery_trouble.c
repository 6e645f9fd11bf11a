/*
 * One table's trouble is that table's alone: its rows are parked, all others go on.
 * What passes is tried again with the very rows that were parked first, in their
 * order; what the desk has (tables that are missing, or lack columns) is over when the
 * desk says so. See sink.h for the writer's half.
 */
#include "sink/bigquery_private.h"

#include "base/clock.h"
#include "sink/bigquery.h"

#include <stdarg.h>
#include <stdlib.h>

#define FINE_LATELY_MS 10000
#define REFUSALS_MOST 16 /* one guilty row of 10,000 is found by fourteen halves, and others are taken meanwhile */

void bigquery_refuse(struct batch *batch, struct record *record, const char *code, struct span column, const char *format,
                     ...)
{
	struct refusal *refusal = arena_zalloc(batch->arena, sizeof(*refusal));
	OWNED(text) words = text_new(2048);
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	text_add(words, line);
	*refusal = (struct refusal){ .stage = "write", .code = code, .message = arena_string(batch->arena, text_span(words)),
	                             .column = arena_copy(batch->arena, column) };
	record->verdict = VERDICT_REFUSED;
	record->refusal = refusal;
	if (!batch->messages[record->message].refusal)
		batch->messages[record->message].refusal = refusal;
}

/*
 * Trouble begins and ends
 */

/* The command that mends it, with the account that the job has. */
static void fix_add(const struct bigquery_table *table, struct error *error)
{
	const struct bigquery *sink = table->sink;
	OWNED(text) dataset = text_new(2048);
	const char *in = strstr(table->path, "/datasets/"), *name = strstr(table->path, "/tables/");
	struct bigquery_names names = { .project = sink->project, .location = sink->options->location };

	if (!in || !name)
		return;
	text_add_span(dataset, span_make(in + 10, (size_t)(name - in - 10)));
	names.dataset = dataset->at;
	names.table = name + 8;
	bigquery_fix_add(sink->google, &names, error);
}

void bigquery_trouble(struct bigquery_table *table, bool needs_you, bool is_desk, const struct error *why)
{
	struct table_trouble *trouble = &table->trouble;

	if (!trouble->is_there && !trouble->was_tried) {
		trouble->since_us = clock_utc_us();
		trouble->backoff = (struct backoff)BACKOFF(PROBE_FIRST_MS, PROBE_MOST_MS, 2);
	}
	trouble->is_there = true;
	trouble->is_over = trouble->was_tried = false;
	trouble->needs_you = needs_you;
	trouble->is_desk = is_desk;
	trouble->error = *why;
	if (needs_you && !strstr(why->message, "; try: "))
		fix_add(table, &trouble->error);
	trouble->next_ms = clock_mono_ms() + backoff_next(&trouble->backoff, why->retry_after_ms < PROBE_MOST_MS
	                                                                             ? why->retry_after_ms : PROBE_MOST_MS);
}

void bigquery_table_fine(struct bigquery_table *table, uint64_t sent, uint64_t shape_version)
{
	table->fine_ms = clock_mono_ms();
	table->fine_version = shape_version;
	if (table->doubt.is_there && sent >= table->doubt.since) {
		table->doubt.was_taken = true;
		table->doubt.refusals = 0;
	}
	if (table->trouble.was_tried)
		table->trouble = (struct table_trouble){ 0 };
}

bool bigquery_doubt(struct bigquery_table *table)
{
	struct table_doubt *doubt = &table->doubt;

	if (!doubt->is_there)
		*doubt = (struct table_doubt){ .is_there = true, .since = doubt->sends, .sends = doubt->sends };
	return ++doubt->refusals < REFUSALS_MOST;
}

bool bigquery_others_are_fine(const struct bigquery *sink, const struct bigquery_table *but)
{
	int64_t since_ms = clock_mono_ms() - FINE_LATELY_MS;

	for (size_t i = 0; i < sink->table_room; i++) {
		if (sink->tables[i] && sink->tables[i] != but && sink->tables[i]->fine_ms > since_ms)
			return true;
	}
	return false;
}

bool bigquery_is_everybodys(const struct bigquery *sink, const struct bigquery_table *table, const struct table_view *view)
{
	return view->is_everybodys && view->error.kind && !bigquery_others_are_fine(sink, table);
}

/*
 * Parking
 */

static const struct table_trouble *trouble_at(const struct bigquery *sink, uint32_t number)
{
	const struct bigquery_table *table = number < sink->table_room ? sink->tables[number] : NULL;

	return table && table->trouble.is_there ? &table->trouble : NULL;
}

static const struct refusal *refusal_make(struct batch *batch, const struct table_trouble *trouble)
{
	struct refusal *refusal = arena_zalloc(batch->arena, sizeof(*refusal));

	*refusal = (struct refusal){ .stage = "write", .code = arena_string(batch->arena, span_of(trouble->error.code)),
	                             .message = arena_string(batch->arena, span_of(trouble->error.message)) };
	return refusal;
}

/* Whole, as a message comes back whole: what of it is written already is written once more then, what is refused is judged
 * anew. */
static void message_park(struct batch *batch, const struct message *message, const struct refusal *why)
{
	for (uint32_t k = 0; k < message->record_count; k++) {
		struct record *record = &batch->records[message->first_record + k];

		record->verdict = VERDICT_PARKED;
		record->refusal = why;
	}
}

void bigquery_park(struct bigquery *sink, struct batch *batch)
{
	const struct refusal **whys = NULL;

	for (size_t i = 0; i < batch->record_count; i++) {
		const struct record *record = &batch->records[i];
		const struct table_trouble *trouble = record->verdict == VERDICT_PENDING ? trouble_at(sink, record->table) : NULL;

		if (!trouble)
			continue;
		if (!whys)
			whys = arena_zalloc(batch->arena, sink->table_room * sizeof(*whys));
		if (!whys[record->table])
			whys[record->table] = refusal_make(batch, trouble);
		message_park(batch, &batch->messages[record->message], whys[record->table]);
	}
}

/*
 * The writer's half
 */

/* Has the desk what it takes to try again? */
static bool is_due(struct bigquery *sink, struct bigquery_table *table, int64_t now_ms)
{
	struct table_view view;

	if (!table->trouble.is_desk)
		return !table->unanswered && table->trouble.next_ms <= now_ms;
	table_desk_look(sink->desk, table->desk_number, &view);
	if (view.state == TABLE_WAITING || view.state == TABLE_NEEDS_YOU) {
		table->trouble.error = view.error;
		table->trouble.needs_you = view.state == TABLE_NEEDS_YOU;
		table->trouble.next_ms = view.next_ms;
	}
	return view.state == TABLE_READY;
}

int64_t bigquery_tend(struct sink *self, bool *out_freed)
{
	struct bigquery *sink = (struct bigquery *)self;
	int64_t now_ms = clock_mono_ms(), again_ms = -1;

	*out_freed = false;
	if (sink->append)
		append_tend(sink->append);
	for (size_t i = 0; i < sink->table_room; i++) {
		struct bigquery_table *table = sink->tables[i];

		if (!table || !table->trouble.is_there)
			continue;
		table->trouble.is_over = table->trouble.is_over || is_due(sink, table, now_ms);
		*out_freed = *out_freed || table->trouble.is_over;
		again_ms = 200;
	}
	return again_ms;
}

void bigquery_free_tables(struct sink *self)
{
	struct bigquery *sink = (struct bigquery *)self;

	for (size_t i = 0; i < sink->table_room; i++) {
		struct bigquery_table *table = sink->tables[i];

		if (!table || !table->trouble.is_over)
			continue;
		table->trouble.is_there = table->trouble.is_over = false;
		table->trouble.was_tried = true;
	}
}

const struct refusal *bigquery_holds(struct sink *self, uint32_t number)
{
	static const struct refusal is_in_trouble = { .stage = "write", .code = "table_waits", .message = "nothing enters the table" };

	return trouble_at((struct bigquery *)self, number) ? &is_in_trouble : NULL;
}

bool bigquery_trouble_of(struct sink *self, uint32_t number, struct sink_trouble *out)
{
	const struct table_trouble *trouble = trouble_at((struct bigquery *)self, number);

	if (!trouble)
		return false;
	*out = (struct sink_trouble){ .needs_you = trouble->needs_you, .error = &trouble->error, .since_us = trouble->since_us,
	                              .next_ms = trouble->next_ms };
	return true;
}
