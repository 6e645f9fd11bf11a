/* The parts of a pipeline that do as the script says. Each finds its world by the job's options. */
#ifndef WEIR_TESTS_FAKES_H
#define WEIR_TESTS_FAKES_H

#include "pipeline/world.h"

/*
 * Source: the names that were delivered, in order; a place is an index.
 */

struct fake_source {
	struct source source;
	struct world *world;
	size_t next;
};

static inline struct source *fake_source_open(const struct source_setup *setup, struct error *err);

static inline enum pulled fake_source_pull(struct source *source, struct batch *into, int64_t until_ms, struct error *err)
{
	struct fake_source *fake = (struct fake_source *)source;
	struct world *world = fake->world;
	struct message *message;

	(void)until_ms;
	if (world->source_failure[0]) {
		fail(err, ERROR_TRANSIENT, world->source_failure, "the source was told to fail");
		world->source_failure[0] = '\0';
		return PULLED_FAILED;
	}
	if (fake->next == world->delivered)
		return PULLED_NOTHING;
	message = batch_add_message(into);
	message->id = message->body = arena_copy(into->arena, span_of(world->names[fake->next]));
	message->offset = fake->next++;
	message->line = fake->next;
	return PULLED_MESSAGE;
}

static inline void fake_source_mark(struct source *source, struct batch *batch)
{
	const struct fake_source *fake = (const struct fake_source *)source;

	batch->end = (struct source_position){ SPAN("the feed"), fake->next, fake->next + 1, { NULL, 0 } };
}

static inline bool fake_source_confirm(struct source *source, const struct source_position *position, struct error *err)
{
	(void)source, (void)position, (void)err;
	return true;
}

static inline bool fake_source_note(struct source *source, struct error *out_note)
{
	(void)source, (void)out_note;
	return false;
}

static inline void fake_source_close(struct source *source)
{
	free(source);
}

static const struct source_ops fake_source = {
	"fake", "Delivers what the script says.", fake_source_open, fake_source_pull, fake_source_mark,
	fake_source_confirm, fake_source_note, fake_source_close,
};

static inline struct source *fake_source_open(const struct source_setup *setup, struct error *err)
{
	struct fake_source *fake = memory_zalloc(sizeof(*fake));

	(void)err;
	fake->source.ops = &fake_source;
	fake->world = world_of(setup->options);
	fake->next = setup->from ? setup->from->offset : 0;
	return &fake->source;
}

/*
 * Transform: one record a message, or as many as `split` says, into table "t" or the one that `table` says.
 */

struct fake_transform {
	struct transform transform;
	struct world *world;
	char tables[TABLES_MOST][NAME_ROOM];
	size_t table_count;
};

static inline struct transform *fake_transform_open(const struct transform_setup *setup, struct error *err);

static inline uint32_t fake_table(struct fake_transform *fake, struct batch *batch, const char *name)
{
	struct table_schema schema = { .source = span_of(name), .name = span_of(name), .version = 1 };

	for (size_t i = 0; i < fake->table_count; i++) {
		if (strcmp(fake->tables[i], name) == 0)
			return (uint32_t)i;
	}
	assert_true(fake->table_count < TABLES_MOST);
	snprintf(fake->tables[fake->table_count], NAME_ROOM, "%.20s", name);
	batch_add_change(batch, (uint32_t)fake->table_count, &schema, "new table");
	return (uint32_t)fake->table_count++;
}

static inline void fake_record_add(struct fake_transform *fake, struct batch *batch, struct message *message, int ordinal)
{
	struct record *record = batch_add_record(batch, message);
	const struct rule *rule = rule_find(fake->world, "transform", "refuse", message->id, ordinal);
	struct refusal *refusal;

	record->key = message->id;
	record->position[POSITION_BYTES - 1] = (unsigned char)ordinal;
	if (rule) {
		message_refuse(batch, message, "map", rule->code, SPAN(""), SPAN(""), "%s", rule->text);
		return;
	}
	rule = rule_find(fake->world, "transform", "park", message->id, ordinal);
	if (!rule)
		return;
	refusal = arena_zalloc(batch->arena, sizeof(*refusal));
	*refusal = (struct refusal){ .stage = "map", .code = rule->code, .message = "it waits" };
	record->refusal = refusal;
	record->verdict = VERDICT_PARKED;
}

static inline void fake_transform_apply(struct transform *transform, struct batch *batch, struct message *message)
{
	struct fake_transform *fake = (struct fake_transform *)transform;
	const struct rule *table = rule_find(fake->world, "transform", "table", message->id, -1);
	const struct rule *split = rule_find(fake->world, "transform", "split", message->id, -1);
	const struct rule *decode = rule_find(fake->world, "transform", "choke", message->id, -1);
	const struct rule *note;

	if (rule_find(fake->world, "transform", "filter", message->id, -1)) {
		message->fate = MESSAGE_FILTERED;
		return;
	}
	if (decode) {
		message_refuse(batch, message, "decode", decode->code, SPAN(""), SPAN(""), "%s", decode->text);
		return;
	}
	message->table = fake_table(fake, batch, table ? table->code : "t");
	if ((note = rule_find(fake->world, "transform", "note", message->id, -1)))
		batch_add_note(batch, message->table, SPAN(""), note->code, 1, "%s", note->text);
	for (int i = 0; i < (split ? split->code[0] - '0' : 1); i++)
		fake_record_add(fake, batch, message, i);
}

static inline void fake_transform_close(struct transform *transform)
{
	free(transform);
}

static const struct transform_ops fake_transform = {
	"fake", "Does as the script says.", fake_transform_open, fake_transform_apply, NULL, fake_transform_close,
};

static inline struct transform *fake_transform_open(const struct transform_setup *setup, struct error *err)
{
	struct fake_transform *fake = memory_zalloc(sizeof(*fake));

	(void)err;
	fake->transform.ops = &fake_transform;
	fake->world = world_of(setup->options);
	for (size_t i = 0; i < setup->table_count; i++)
		snprintf(fake->tables[fake->table_count++], NAME_ROOM, "%.*s", SPAN_ARG(setup->tables[i]->name));
	return &fake->transform;
}

#endif
