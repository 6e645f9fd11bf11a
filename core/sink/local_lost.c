/*
 * What is lost: a replica whose file is missing, is an older copy, or belongs to
 * another changelog is not merged on as if nothing had happened. The job's store
 * remembers how far each had come (struct witness), the changelog has a random
 * identity that its replicas repeat.
 */
#include "sink/local_private.h"

#include <inttypes.h>
#include <stdlib.h>

static int witness_compare(const void *table, const void *witness)
{
	return span_compare(*(const struct span *)table, span_of(((const struct witness *)witness)->table));
}

int64_t witness_level(const struct sink_setup *setup, struct span table, const struct span *identity)
{
	const struct witness *found = setup->witness_count ? bsearch(&table, setup->witnesses, setup->witness_count,
	                                                             sizeof(*found), witness_compare) : NULL;

	if (!found || (identity && !span_is(*identity, found->identity)))
		return 0;
	return found->level;
}

bool replica_is_lost(const struct sink_setup *setup, const struct catalog_table *table, const struct standing *standing,
                     struct text *out)
{
	int64_t any = witness_level(setup, table->schema.name, NULL);
	int64_t same = witness_level(setup, table->schema.name, &table->identity);

	/* Files from before version 2 say nothing of where a replica comes from. */
	if (standing->made_from.len && table->identity.len && !span_equal(standing->made_from, table->identity))
		text_add(out, "the replica was made from another changelog");
	else if (!standing->is_known && any)
		text_add_format(out, "the replica is missing, though %" PRId64 " changes had been merged into it", any);
	else if (standing->is_known && standing->watermark < same)
		text_add_format(out, "the replica is an older copy: it has %" PRId64 " changes of %" PRId64 " that had been merged",
		                standing->watermark, same);
	else
		return false;
	return true;
}

/* A missing file stands nowhere. */
bool standing_read(struct store *store, struct span table, struct arena *arena, struct standing *out, struct error *err)
{
	sqlite3_stmt *stmt;
	bool is_fine;

	*out = (struct standing){ 0 };
	if (!store)
		return true;
	stmt = store_prepare(store, "SELECT watermark, made_from FROM _weir_replica WHERE table_name=?1", err);
	if (!stmt)
		return false;
	store_bind_text(stmt, 1, table);
	is_fine = store_step(store, stmt, &out->is_known, err);
	if (is_fine && out->is_known) {
		out->watermark = sqlite3_column_int64(stmt, 0);
		out->made_from = arena_copy(arena, store_text(stmt, 1));
	}
	sqlite3_finalize(stmt);
	return is_fine;
}

struct looking {
	const struct sink_setup *setup;
	struct store *changelog, *replica;
	struct arena *arena;
	void (*on_lost)(void *context, struct span table, const char *sentence);
	void *context;
};

static bool tables_look(const struct looking *look, struct error *err)
{
	struct catalog_table *tables;
	struct standing standing;
	size_t count;

	if (!catalog_tables_read(look->changelog, look->setup->options->name, true, look->arena, &tables, &count, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		OWNED(text) sentence = text_new(256);

		if (!tables[i].schema.key_count)
			continue;
		if (!standing_read(look->replica, tables[i].schema.name, look->arena, &standing, err))
			return false;
		if (replica_is_lost(look->setup, &tables[i], &standing, sentence))
			look->on_lost(look->context, tables[i].schema.name, sentence->at);
	}
	return true;
}

static bool open_if_there(const struct sink_setup *setup, const char *dataset, struct store **out, struct error *err)
{
	struct error failure = { 0 };

	*out = local_open(setup->warehouse, dataset, STORE_READ, 0, 0, &failure);
	if (*out || strcmp(failure.code, "no_such_file") == 0)
		return true;
	*err = failure;
	return false;
}

bool warehouse_lost(const struct sink_setup *setup, void (*on_lost)(void *context, struct span table, const char *sentence),
                    void *context, struct error *err)
{
	struct looking look = { .setup = setup, .on_lost = on_lost, .context = context };
	bool is_fine;

	if (setup->options->replication_mode != REPLICATION_MERGE)
		return true;
	look.arena = arena_new(64u << 10);
	is_fine = open_if_there(setup, setup->options->change_log_dataset, &look.changelog, err) &&
	          open_if_there(setup, setup->options->replica_dataset, &look.replica, err) &&
	          (!look.changelog || tables_look(&look, err));
	store_close(look.changelog);
	store_close(look.replica);
	arena_free(look.arena);
	return is_fine;
}
