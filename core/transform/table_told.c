/* What is told of a table that changes: in the batch before the record that needs it, in notes, and step by step for the timeline. */
#include "transform/debezium_private.h"

#include "base/clean.h"

#define STEP_BYTES_MAX 4096

/* The view that is copied into batches follows the lists, which may have moved. */
void table_sync(struct table *table)
{
	table->schema.columns = table->columns;
	table->schema.keys = table->keys;
}

void table_change(struct table *table, const char *what, struct span name)
{
	if (table->why->len)
		text_add(table->why, ", ");
	text_add(table->why, what);
	if (name.len) {
		text_add_char(table->why, ' ');
		text_add_span(table->why, name);
	}
}

static void step_place(const struct table *table, struct text *step)
{
	unsigned char packed[POSITION_BYTES];

	if (!table->step_at)
		return;
	position_pack(table->step_at, packed);
	text_add(step, ",\"at\":\"");
	for (size_t i = 0; i < POSITION_BYTES; i++)
		text_add_format(step, "%02x", packed[i]);
	text_add_char(step, '"');
}

/* What does not fit any more is left out whole. */
void table_step(struct table *table, struct span column, const char *change, const char *did)
{
	OWNED(text) step = text_new(STEP_BYTES_MAX);

	const char *begin = table->steps->len ? ",{\"column\":" : "{\"column\":";

	if (!text_add(step, begin) || !json_quote(step, column) || !text_add(step, ",\"change\":") ||
	    !json_quote(step, span_of(change)) || !text_add(step, ",\"did\":") || !json_quote(step, span_of(did)))
		return;
	step_place(table, step);
	if (text_add_char(step, '}'))
		text_add_span(table->steps, text_span(step));
}

void table_note(struct event *e, unsigned note, const char *code, const char *text)
{
	struct table *table = e->table;

	if (table->schema.notes & note)
		return;
	table->schema.notes |= note;
	batch_add_note(e->batch, table->number, NOTHING, code, 1, "%s", text);
	table_change(table, code, NOTHING);
}

/* A rule that cannot be sure says so once: of all columns of the first row, then of each that is settled later. */
static void table_tell_guesses(struct event *e, struct table *table)
{
	if (!table->guess_count)
		return;
	batch_add_note(e->batch, table->number, table->guessed, "types_inferred", 1, "guessed from values: %s%s",
	               table->guesses->at, table->guesses->is_full ? " ..." : "");
	text_clear(table->guesses);
	table->guess_count = 0;
}

/* The epochs that the log has now, and what the first row's columns have as defaults. */
static void table_keep_history(struct debezium *d, struct event *e, struct table *table)
{
	bool has_changed = table->is_first_changed;

	if (table->history_version != d->history.version && e->position_kind == POSITION_LOG && e->is_in_history) {
		table->history_version = d->history.version;
		struct span text = history_text(&d->history, HISTORY_EPOCHS, e->batch->arena);

		if (!span_equal(text, table->epochs)) {
			table->epochs = arena_copy(table->arena, text);
			has_changed = true;
		}
	}
	if (!has_changed)
		return;
	table->is_first_changed = false;
	table->schema.history = first_defaults_text(table, table->epochs);
	table->is_quietly_changed = true;
}

void table_flush(struct debezium *d, struct event *e)
{
	struct table *table = e->table;

	if (!table)
		return;
	table_tell_guesses(e, table);
	table_keep_history(d, e, table);
	if (!table->why->len && !table->is_quietly_changed)
		return;
	table->is_quietly_changed = false;
	table->schema.version++;
	table->told_count = table->schema.count;
	table_sync(table);
	struct schema_change *change = batch_add_change(e->batch, table->number, &table->schema, table->why->at);

	change->message = (uint32_t)(e->message - e->batch->messages);
	if (table->steps->len)
		change->steps = arena_printf(e->batch->arena, "[%s]", table->steps->at);
	text_clear(table->why);
	text_clear(table->steps);
}
