/*
 * A destination in memory, and the promises that it checks at each commit: letters
 * and parked messages are in the store before, the counters add up, and nothing
 * before the position is missing.
 */
#ifndef WEIR_TESTS_FAKE_SINK_H
#define WEIR_TESTS_FAKE_SINK_H

#include "pipeline/world.h"

struct fake_sink {
	struct sink sink;
	struct world *world;
	char incarnation[40]; /* of the store that is there now; kept with the next commit */
};

static inline struct sink *fake_sink_open(const struct sink_setup *setup, struct error *err);

static inline void fake_sink_state(struct sink *sink, struct sink_state *out)
{
	const struct stored *stored = &((struct fake_sink *)sink)->world->stored;

	*out = (struct sink_state){
		.is_known = stored->is_known,
		.incarnation = stored->incarnation,
		.position = stored->position,
		.tables = stored->tables,
		.ledgers = stored->ledgers,
		.table_count = stored->table_count,
	};
}

static inline bool row_is_stored(const struct stored *stored, const char *name)
{
	for (size_t i = 0; i < stored->row_count; i++) {
		if (strcmp(stored->rows[i], name) == 0)
			return true;
	}
	return false;
}

static inline void row_name(const struct batch *batch, const struct record *record, char out[NAME_ROOM])
{
	const struct message *message = &batch->messages[record->message];

	if (message->record_count > 1)
		snprintf(out, NAME_ROOM, "%.*s#%d", SPAN_ARG(message->id), record->position[POSITION_BYTES - 1]);
	else
		snprintf(out, NAME_ROOM, "%.*s", SPAN_ARG(message->id));
}

static inline bool sink_turns_away(const struct world *world, const struct batch *batch, struct record *record)
{
	const struct message *message = &batch->messages[record->message];
	int ordinal = record->position[POSITION_BYTES - 1];
	const struct rule *refuse = rule_find(world, "sink", "refuse", message->id, ordinal);
	const struct rule *park = rule_find(world, "sink", "park", message->id, ordinal);
	const struct rule *all = rule_find(world, "sink", "park-all", world->staged.tables[record->table]->name, -1);
	const struct rule *rule = refuse ? refuse : park ? park : all;
	struct refusal *refusal;

	if (!rule)
		return false;
	refusal = arena_zalloc(batch->arena, sizeof(*refusal));
	*refusal = (struct refusal){ .stage = "write", .code = rule->code, .message = rule->text };
	record->refusal = refusal;
	record->verdict = refuse ? VERDICT_REFUSED : VERDICT_PARKED;
	return true;
}

static inline void sink_write_record(struct world *world, const struct batch *batch, struct record *record)
{
	struct stored *staged = &world->staged;
	char name[NAME_ROOM];

	if (record->verdict != VERDICT_PENDING || sink_turns_away(world, batch, record))
		return;
	row_name(batch, record, name);
	record->verdict = row_is_stored(staged, name) ? VERDICT_REPEATED : VERDICT_WRITTEN;
	if (record->verdict == VERDICT_WRITTEN) {
		assert_true(staged->row_count < ROWS_MOST);
		memcpy(staged->rows[staged->row_count++], name, NAME_ROOM);
	}
}

static inline bool fake_sink_write(struct sink *sink, struct batch *batch, struct error *err)
{
	struct world *world = ((struct fake_sink *)sink)->world;

	world->staged = world->stored;
	world->writing = batch;
	for (const struct schema_change *c = batch->changes; c; c = c->next)
		world->staged.tables[c->table] = schema_copy(world->arena, c->schema);
	for (size_t i = 0; i < batch->record_count; i++)
		sink_write_record(world, batch, &batch->records[i]);
	if (!world->write_failure[0])
		return true;
	fail(err, ERROR_TRANSIENT, world->write_failure, "the sink was told to fail");
	world->write_failure[0] = '\0';
	return false;
}

/*
 * Promises
 */

#define LETTERS_OF "SELECT count(*) FROM letters WHERE message_id = ?1"
/* In a row of its own, or among what was parked together, where its id stands in the bytes. */
#define PARKED_OF                                                                                                            \
	"SELECT (SELECT count(*) FROM parked WHERE message_id = ?1) + (SELECT count(*) FROM piles WHERE instr(body, CAST(?1 AS BLOB)))"

static inline bool name_has_row(const struct stored *stored, const char *name)
{
	char first[NAME_ROOM + 2];

	snprintf(first, sizeof(first), "%s#0", name);
	return row_is_stored(stored, name) || row_is_stored(stored, first);
}

static inline void check_nothing_is_missing(const struct world *world, const struct stored *stored)
{
	for (size_t i = 0; i < stored->position.offset; i++) {
		const char *name = world->names[i];

		if (!name_has_row(stored, name) && !store_number(world, LETTERS_OF, name) &&
		    !store_number(world, PARKED_OF, name) && !rule_find(world, "transform", "filter", span_of(name), -1))
			SAY_FAIL(world, "the position is behind '%s', which is nowhere", name);
	}
}

static inline void check_letters_first(const struct world *world)
{
	const struct batch *batch = world->writing;

	for (size_t i = 0; i < batch->record_count; i++) {
		enum verdict verdict = batch->records[i].verdict;
		char name[NAME_ROOM];

		snprintf(name, sizeof(name), "%.*s", SPAN_ARG(batch->messages[batch->records[i].message].id));
		if (verdict == VERDICT_REFUSED && store_number(world, LETTERS_OF, name) != 1)
			SAY_FAIL(world, "the sink commits, but the letter of '%s' is not in the store", name);
		if (verdict == VERDICT_PARKED && store_number(world, PARKED_OF, name) + store_number(world, LETTERS_OF, name) == 0)
			SAY_FAIL(world, "the sink commits, but '%s' is not parked", name);
	}
}

static inline void stage_counters(struct world *world, const struct ledger *added, size_t table_count)
{
	struct stored *staged = &world->staged;
	struct ledger none = staged->ledgers[staged->table_count], sum;

	assert_true(table_count >= staged->table_count && table_count <= TABLES_MOST);
	for (size_t i = staged->table_count; i < table_count; i++)
		staged->ledgers[i] = (struct ledger){ 0 };
	staged->ledgers[table_count] = none;
	staged->table_count = table_count;
	for (size_t i = 0; i <= table_count; i++)
		ledger_add(&staged->ledgers[i], &added[i]);
	sum = stored_sum(staged);
	if (!ledger_balances(&sum, 0))
		SAY_FAIL(world, "the ledger does not balance");
}

static inline bool fake_sink_commit(struct sink *sink, const struct source_position *position, const struct ledger *added,
                                    size_t table_count, struct error *err)
{
	struct world *world = ((struct fake_sink *)sink)->world;
	struct stored *staged = &world->staged;

	check_letters_first(world);
	stage_counters(world, added, table_count);
	staged->position = *position;
	staged->position.identity = arena_copy(world->arena, position->identity);
	staged->position.unparked = arena_copy(world->arena, position->unparked);
	staged->is_known = true;
	memcpy(staged->incarnation, ((struct fake_sink *)sink)->incarnation, sizeof(staged->incarnation));
	check_nothing_is_missing(world, staged);
	if (world->commit_failure[0]) {
		fail(err, ERROR_TRANSIENT, world->commit_failure, "the sink was told to fail");
		world->commit_failure[0] = '\0';
		return false;
	}
	world->was_killed = world->kill != KILL_NEVER;
	if (world->was_killed)
		store_keep(world);
	if (world->kill == KILL_BEFORE_COMMIT)
		return fail(err, ERROR_CANCELLED, "cancelled", "killed");
	world->stored = *staged;
	return true;
}

static inline void fake_sink_rollback(struct sink *sink)
{
	struct world *world = ((struct fake_sink *)sink)->world;

	world->staged = world->stored;
}

static inline bool fake_sink_forget(struct sink *sink, struct error *err)
{
	struct stored *stored = &((struct fake_sink *)sink)->world->stored;

	(void)err;
	stored->position = (struct source_position){ .offset = 0 };
	stored->is_known = false;
	memset(stored->ledgers, 0, sizeof(stored->ledgers));
	return true;
}

static inline void fake_sink_close(struct sink *sink)
{
	free(sink);
}

static const struct sink_ops fake_sink = {
	"fake", "Keeps rows in memory.", fake_sink_open, fake_sink_state, fake_sink_write,
	fake_sink_commit, fake_sink_rollback, fake_sink_forget, fake_sink_close,
};

static inline struct sink *fake_sink_open(const struct sink_setup *setup, struct error *err)
{
	struct fake_sink *fake = memory_zalloc(sizeof(*fake));

	(void)err;
	fake->sink.ops = &fake_sink;
	fake->world = world_of(setup->options);
	snprintf(fake->incarnation, sizeof(fake->incarnation), "%s", setup->incarnation);
	return &fake->sink;
}

#endif
