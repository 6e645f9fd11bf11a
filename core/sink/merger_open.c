/*
 * Opening a merger: its stores, and the replicas that stay open from step to step.
 */
#include "sink/merger_private.h"

#include <stdlib.h>

static bool has_replica(const struct job_options *options, struct error *err)
{
	if (options->replication_mode == REPLICATION_MERGE)
		return true;
	return fail(err, ERROR_CONFIG, "no_replica", "job '%s' has no replica that is merged; only replicationMode merge has "
	            "one", options->name);
}

/* A replica in a file of its own is derived, and its watermark commits with its rows: after a power cut the last steps
 * may be gone, together with their watermarks, and are made again. A file that holds the changelog keeps FULL. */
static bool replica_relax(struct merger *merger, const struct job_options *options, struct error *err)
{
	if (strcmp(options->change_log_dataset, options->replica_dataset) == 0)
		return true;
	merger->is_relaxed = true;
	return store_exec(merger->replica_store, "PRAGMA synchronous=NORMAL", err);
}

/* A step goes through its pages in order and once, so a larger cache would not spare it one: the rest of the share is
 * left to what a step holds of its changes. */
static bool stores_open(struct merger *merger, const struct sink_setup *setup, struct error *err)
{
	const struct job_options *options = setup->options;
	struct store *store = local_open(setup->warehouse, options->change_log_dataset, STORE_WRITE, 0, 0, err);

	if (!store)
		return false;
	store_close(store); /* it exists now */
	merger->replica_store = local_open(setup->warehouse, options->replica_dataset, STORE_WRITE,
	                                   setup->cache_bytes / 2, LOCAL_CHECKPOINT_PAGES, err);
	if (!merger->replica_store || !replica_relax(merger, options, err))
		return false;
	merger->changelog_store = local_open(setup->warehouse, options->change_log_dataset, STORE_READ,
	                                     setup->cache_bytes / 16, 0, err);
	return merger->changelog_store;
}

struct merger *merger_open(const struct sink_setup *setup, struct error *err)
{
	struct merger *merger;

	if (!has_replica(setup->options, err))
		return NULL;
	merger = memory_zalloc(sizeof(*merger));
	merger->job = memory_string(setup->options->name);
	merger->setup = *setup;
	merger->changelog_dataset = memory_string(setup->options->change_log_dataset);
	merger->catalog = arena_new(64u << 10);
	merger->limits = merge_limits;
	merger->rows = arena_new(1u << 20);
	merger->chunk = arena_new(256u << 10);
	merger->piles = piles_new(setup->warehouse);
	fold_init(&merger->fold, NULL);
	merger->fold.is_sorted = true;
	if (!stores_open(merger, setup, err)) {
		merger_close(merger);
		return NULL;
	}
	return merger;
}

static void open_replica_close(struct merger *merger, struct open_replica *place)
{
	if (place->replica && merger->ahead.replica == place->replica)
		merger->ahead = (struct ahead){ 0 };
	sqlite3_finalize(place->read);
	replica_free(place->replica);
	*place = (struct open_replica){ 0 };
}

void merger_close_replicas(struct merger *merger)
{
	for (size_t i = 0; i < REPLICAS_OPEN; i++) {
		open_replica_close(merger, &merger->open[i]);
	}
}

void merger_close(struct merger *merger)
{
	if (!merger)
		return;
	merger_close_replicas(merger);
	store_close(merger->changelog_store);
	store_close(merger->replica_store);
	fold_free(&merger->fold);
	sieve_free(&merger->sieve);
	free(merger->queue.items);
	piles_free(merger->piles);
	arena_free(merger->chunk);
	arena_free(merger->rows);
	arena_free(merger->catalog);
	free(merger->changelog_dataset);
	free(merger->job);
	free(merger);
}

/*
 * Replicas stay open from step to step
 */

static bool replica_make(struct merger *merger, const struct catalog_table *table, struct open_replica *place,
                         struct error *err)
{
	struct span name = table->schema.name;
	struct replica_source source = { merger->changelog_dataset, changelog_name(merger->catalog, name), table->identity };

	open_replica_close(merger, place);
	if (!changes_prepare(merger, place, source.changelog, err))
		return false;
	place->replica = replica_open(merger->replica_store, name, &source, err);
	return place->replica;
}

struct open_replica *merger_replica(struct merger *merger, const struct catalog_table *table, struct error *err)
{
	struct open_replica *place;
	int64_t watermark;

	if (!merger_watermark(merger, table->schema.name, &watermark, err))
		return NULL;
	for (size_t i = 0; i < REPLICAS_OPEN; i++) {
		place = &merger->open[i];
		if (!place->replica || !span_equal(replica_name(place->replica), table->schema.name))
			continue;
		return replica_watermark(place->replica) == watermark || replica_make(merger, table, place, err) ? place : NULL;
	}
	place = &merger->open[merger->next_victim++ % REPLICAS_OPEN];
	return replica_make(merger, table, place, err) ? place : NULL;
}
