/* The row that a replica holds for the key of a dead letter, as JSON. */
#include "sink/replica_private.h"

#include "base/clean.h"

static bool add_columns(struct replica *replica, struct text *out)
{
	const struct table_schema *schema = &replica->schema;

	for (size_t i = 0; i < schema->count; i++) {
		if (!text_add(out, i ? "," : "{") || !json_quote(out, schema->columns[i].name) || !text_add_char(out, ':') ||
		    !value_json(out, sqlite3_column_value(replica->find, (int)i + 1), &schema->columns[i].type))
			return false;
	}
	return text_add_char(out, '}');
}

/* A letter that was refused before its key was made knows the key as JSON. */
static bool bind_json_key(struct replica *replica, struct span json, struct error *err)
{
	const struct table_schema *schema = &replica->schema;

	for (size_t i = 0; i < schema->key_count; i++) {
		if (!replica_bind_from(replica, replica->find, (int)i + 1, schema->keys[i], json, err))
			return false;
	}
	return true;
}

static bool find(struct replica *replica, const struct row_question *question, bool *out_found, struct error *err)
{
	*out_found = false;
	if (question->key.len)
		return replica_find(replica, question->key, out_found, err);
	if (!question->json_key.len || *question->json_key.at != '{' || !replica->schema.key_count)
		return true;
	return bind_json_key(replica, question->json_key, err) && store_step(replica->store, replica->find, out_found, err);
}

static bool row_read(struct replica *replica, const struct row_question *question, struct row_answer *out, struct error *err)
{
	bool is_found;

	if (!replica->schema.count)
		return true;
	if (!replica_prepare(replica, err) || !find(replica, question, &is_found, err))
		return false;
	out->has_replica = true;
	out->is_found = is_found;
	if (is_found && store_blob(replica->find, 0).len == POSITION_BYTES)
		memcpy(out->position, store_blob(replica->find, 0).at, POSITION_BYTES);
	out->is_too_long = is_found && !add_columns(replica, out->row);
	sqlite3_reset(replica->find);
	return true;
}

bool warehouse_row(const struct sink_setup *setup, const char *table, const struct row_question *question,
                   struct row_answer *out, struct error *err)
{
	struct error failure = { 0 };
	struct store *store;
	struct replica *replica;
	bool is_fine;

	out->has_replica = out->is_found = out->is_too_long = false;
	if (setup->options->replication_mode == REPLICATION_CHANGELOG || setup->options->replication_mode == REPLICATION_APPEND)
		return true;
	store = local_open(setup->warehouse, setup->options->replica_dataset, STORE_READ, 0, 0, &failure);
	if (!store && strcmp(failure.code, "no_such_file") == 0)
		return true;
	if (!store) {
		*err = failure;
		return false;
	}
	replica = replica_open(store, span_of(table), NULL, err);
	is_fine = replica && row_read(replica, question, out, err);
	replica_free(replica);
	store_close(store);
	return is_fine;
}
