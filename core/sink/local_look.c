/* A look at what the warehouse knows of a job, by a connection that only reads: safe while the job runs. */
#include "sink/local_sink_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void copy_state(const struct local_sink *sink, struct arena *arena, struct sink_state *out)
{
	const struct table_schema **tables = arena_alloc(arena, (sink->count + 1) * sizeof(*tables));
	struct ledger *ledgers = arena_alloc(arena, (sink->count + 1) * sizeof(*ledgers));

	for (size_t i = 0; i < sink->count; i++)
		tables[i] = schema_copy(arena, sink->tables[i].schema);
	memcpy(ledgers, sink->ledgers, (sink->count + 1) * sizeof(*ledgers));
	*out = (struct sink_state){
		.is_known = sink->is_known,
		.damage = sink->damage ? arena_string(arena, span_of(sink->damage)) : NULL,
		.incarnation = sink->is_known ? arena_string(arena, span_of(sink->known_incarnation)) : NULL,
		.position = { .identity = arena_copy(arena, sink->position.identity), .offset = sink->position.offset,
		              .line = sink->position.line },
		.commits = sink->commits,
		.tables = tables,
		.ledgers = ledgers,
		.table_count = sink->count,
	};
}

/* One snapshot: tables, position and ledger of one commit. */
static bool read_books(struct local_sink *sink, struct error *err)
{
	bool is_fine = store_exec(sink->store, "BEGIN", err) && books_read(sink, err);

	store_rollback(sink->store);
	return is_fine;
}

static const char *dataset_of(const struct sink_setup *setup)
{
	if (setup->dataset)
		return setup->dataset;
	return setup->options->replication_mode == REPLICATION_UPSERT ? setup->options->replica_dataset
	                                                              : setup->options->change_log_dataset;
}

bool warehouse_is_there(const struct sink_setup *setup)
{
	struct error ignored = { 0 };
	char *path = NULL;
	bool is_there;

	if (setup->options->warehouse == WAREHOUSE_BIGQUERY)
		path = bigquery_books_path(setup->warehouse, setup->options->name);
	else if (!dataset_path(setup->warehouse, dataset_of(setup), &path, &ignored))
		return false;
	is_there = access(path, F_OK) == 0;
	free(path);
	return is_there;
}

static bool look_at_one(const struct sink_setup *setup, struct arena *arena, struct sink_state *out, struct error *err)
{
	struct arena *scratch = arena_new(16u << 10);
	bool is_upsert = setup->options->replication_mode == REPLICATION_UPSERT;
	struct local_sink sink = { .arena = scratch, .job = setup->options->name, .is_upsert = is_upsert,
	                           .is_append = setup->options->replication_mode == REPLICATION_APPEND };
	struct error failure = { 0 };
	bool is_fine;

	sink.dataset = (char *)dataset_of(setup);
	sink.has_own_dataset = setup->options->template == TEMPLATE_PUBSUB_CDC;
	sink.are_columns_by_source = sink.is_append && setup->options->warehouse == WAREHOUSE_BIGQUERY;
	sink.store = setup->options->warehouse == WAREHOUSE_BIGQUERY
	                     ? bigquery_books_open(setup->warehouse, sink.job, STORE_READ, &failure)
	                     : local_open(setup->warehouse, sink.dataset, STORE_READ, 0, 0, &failure);
	is_fine = sink.store && read_books(&sink, &failure);
	if (is_fine)
		copy_state(&sink, arena, out);
	else if (strcmp(failure.code, "no_such_file") == 0)
		*out = (struct sink_state){ .is_known = false };
	else
		*err = failure;
	is_fine = is_fine || strcmp(failure.code, "no_such_file") == 0;
	store_close(sink.store);
	free(sink.tables);
	free(sink.schemas);
	free(sink.ledgers);
	arena_free(scratch);
	return is_fine;
}

bool warehouse_look(const struct sink_setup *setup, struct arena *arena, struct sink_state *out, struct error *err)
{
	return sink_has_many_files(setup->options) ? many_look(setup, look_at_one, arena, out, err)
	                                           : look_at_one(setup, arena, out, err);
}
