/*
 * For the tests of the Debezium transform: one job, one batch, messages as
 * literals. Not every test needs every helper.
 */
#ifndef WEIR_TESTS_TRANSFORM_HELP_H
#define WEIR_TESTS_TRANSFORM_HELP_H

#include "base/file.h"
#include "transform/transform.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Last: cmocka has a macro called fail, as base/error.h has a function. */
#include <cmocka.h>

struct rig {
	struct job_options *options;
	struct transform *transform;
	struct batch *batch;
	uint64_t line;
};

/* `parameters`: more of them, beginning with a comma, or "". */
static inline void rig_open_with(struct rig *rig, const char *parameters, const struct table_schema *const *tables,
                                 size_t table_count, bool wants_proto)
{
	struct option_problems problems = { 0 };
	struct error err = { 0 };
	size_t room = strlen(parameters) + 512;
	char *job = malloc(room);

	assert_non_null(job);
	snprintf(job, room,
	         "{\"name\":\"t\",\"template\":\"Cdc_To_BigQuery_Template\",\"parameters\":{\"inputFile\":\"-\","
	         "\"warehouse\":\"local\",\"changeLogDataset\":\"l\",\"replicaDataset\":\"r\"%s}}", parameters);
	*rig = (struct rig){ 0 };
	rig->options = job_options_read(span_of(job), "t.json", "/tmp", NULL, 0, &problems);
	free(job);
	if (!rig->options)
		fail_msg("%s: %s", problems.items[0].code, problems.items[0].message);
	option_problems_free(&problems);
	const struct transform_ops *ops = transform_choose(rig->options, &err);

	assert_non_null(ops);
	struct transform_setup setup = { .options = rig->options, .tables = tables, .table_count = table_count, .wants_proto = wants_proto,
	                                 .wants_json = true };

	rig->transform = ops->open(&setup, &err);
	if (!rig->transform)
		fail_msg("%s: %s", err.code, err.message);
	rig->batch = batch_new();
}

static inline void rig_open(struct rig *rig, const char *parameters)
{
	rig_open_with(rig, parameters, NULL, 0, false);
}

static inline void rig_close(struct rig *rig)
{
	if (rig->transform)
		rig->transform->ops->close(rig->transform);
	batch_free(rig->batch);
	job_options_free(rig->options);
}

/* A message with id and publish time, as a feed has them. */
static inline struct message *rig_message(struct rig *rig, const char *body, const char *key)
{
	struct message *message = batch_add_message(rig->batch);

	rig->line++;
	message->body = span_of(body);
	message->key = span_of(key);
	message->id = span_of(arena_printf(rig->batch->arena, "m%u", (unsigned)rig->line));
	message->publish = SPAN("2026-01-05T03:10:00.5Z");
	message->line = rig->line;
	return message;
}

static inline struct message *rig_apply(struct rig *rig, struct message *message)
{
	rig->transform->ops->apply(rig->transform, rig->batch, message);
	/* Every message has exactly one fate. */
	assert_true(message->fate != MESSAGE_OPEN || message->record_count > 0);
	assert_true(message->fate != MESSAGE_REFUSED || (message->refusal && !message->record_count));
	return message;
}

static inline struct message *rig_send(struct rig *rig, const char *body, const char *key)
{
	return rig_apply(rig, rig_message(rig, body, key));
}

static inline struct record *rig_record(struct rig *rig, const struct message *message, uint32_t i)
{
	if (message->refusal && !message->record_count)
		fail_msg("refused: %s: %s", message->refusal->code, message->refusal->message);
	assert_true(i < message->record_count);
	return &rig->batch->records[message->first_record + i];
}

static inline struct position rig_position(struct rig *rig, const struct message *message, uint32_t i)
{
	struct position position;

	position_unpack(rig_record(rig, message, i)->position, &position);
	return position;
}

/* The newest schema of a table that went out in this batch. */
static inline const struct table_schema *rig_schema(const struct rig *rig, const char *name)
{
	const struct table_schema *found = NULL;

	for (const struct schema_change *change = rig->batch->changes; change; change = change->next) {
		if (span_is(change->schema->name, name))
			found = change->schema;
	}
	assert_non_null(found);
	return found;
}

static inline const struct batch_note *rig_note(const struct rig *rig, const char *code)
{
	for (const struct batch_note *note = rig->batch->notes; note; note = note->next) {
		if (strcmp(note->code, code) == 0)
			return note;
	}
	return NULL;
}

static inline void rig_type_is(const struct rig *rig, const char *table, const char *column, const char *type)
{
	const struct table_schema *schema = rig_schema(rig, table);
	struct text *printed = text_new(1024);
	bool is_found = false;

	for (size_t i = 0; i < schema->count; i++) {
		if (!span_is(schema->columns[i].name, column))
			continue;
		is_found = true;
		bq_type_print(printed, &schema->columns[i].type);
		assert_string_equal(printed->at, type);
	}
	assert_true(is_found);
	text_free(printed);
}

static inline void span_is_text(struct span span, const char *text)
{
	char copy[4096];

	assert_true(span.len < sizeof(copy));
	memcpy(copy, span.at ? span.at : "", span.len);
	copy[span.len] = 0;
	assert_string_equal(copy, text);
}

static inline void row_is(struct rig *rig, const struct message *message, const char *json)
{
	span_is_text(rig_record(rig, message, 0)->full_record, json);
}

static inline void refused_as(const struct message *message, const char *code)
{
	assert_int_equal(message->fate, MESSAGE_REFUSED);
	assert_non_null(message->refusal);
	assert_string_equal(message->refusal->code, code);
}

static inline void filtered(const struct message *message)
{
	assert_int_equal(message->fate, MESSAGE_FILTERED);
}

#define PG(table, lsn) \
	"\"source\":{\"connector\":\"postgresql\",\"db\":\"shop\",\"schema\":\"public\",\"table\":\"" table "\"," \
	"\"lsn\":" #lsn ",\"ts_ms\":1700000000000}"
#define MY(table, file, pos, row) \
	"\"source\":{\"connector\":\"mysql\",\"db\":\"shop\",\"table\":\"" table "\",\"file\":\"" file "\",\"pos\":" #pos \
	",\"row\":" #row ",\"ts_ms\":1700000000000}"
#define EVENT(op, before, after, source) \
	"{\"op\":\"" op "\",\"before\":" before ",\"after\":" after "," source ",\"ts_ms\":1700000000123}"

#endif
