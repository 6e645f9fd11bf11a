/* What the job's store remembers of the warehouse: read for the sink and the merger, written behind them. */
#include "pipeline/witness.h"

#include "base/crash.h"

#include <inttypes.h>
#include <unistd.h>

static const char *main_dataset(const struct job_options *options)
{
	return options->replication_mode == REPLICATION_UPSERT ? options->replica_dataset : options->change_log_dataset;
}

struct witness_list {
	struct arena *arena;
	struct witness *items;
	size_t count, room;
};

static void add(struct witness_list *list, struct span table, struct span identity, int64_t level)
{
	if (list->count == list->room) {
		struct witness *more = arena_alloc(list->arena, (list->room * 2 + 16) * sizeof(*more));

		if (list->count)
			memcpy(more, list->items, list->count * sizeof(*more));
		list->items = more;
		list->room = list->room * 2 + 16;
	}
	list->items[list->count++] = (struct witness){ arena_string(list->arena, table), arena_string(list->arena, identity),
	                                               level };
}

static void add_main(void *context, struct span table, struct span identity, int64_t level)
{
	if (!table.len)
		add(context, table, identity, level);
}

static void add_replica(void *context, struct span table, struct span identity, int64_t level)
{
	if (table.len)
		add(context, table, identity, level);
}

bool witnesses_read(struct dlq *dlq, struct arena *arena, struct sink_setup *setup, struct error *err)
{
	const struct job_options *options = setup->options;
	struct witness_list list = { .arena = arena };

	/* The empty name comes first, so the list is sorted. */
	if (!dlq_remembered(dlq, main_dataset(options), add_main, &list, err) ||
	    (options->replication_mode == REPLICATION_MERGE &&
	     !dlq_remembered(dlq, options->replica_dataset, add_replica, &list, err)))
		return false;
	setup->witnesses = list.items;
	setup->witness_count = list.count;
	return true;
}

bool witness_commits(const struct sink_setup *setup, const struct sink_state *state, struct error *err)
{
	const char *name = setup->options->name;
	bool is_there = setup->witness_count && !setup->witnesses[0].table[0];

	if (state->damage)
		return fail(err, ERROR_BUG, "state_damaged", "%s", state->damage);
	if (!is_there || setup->witnesses[0].level <= state->commits)
		return true;
	return fail(err, ERROR_BUG, "ledger_mismatch",
	            "dataset '%s' of job '%s' %s: it has %" PRId64 " of %" PRId64 " commits; nothing was changed ('weir run %s "
	            "--from-start' accepts the loss and reads again what the source still has)",
	            main_dataset(setup->options), name, state->is_known ? "is an older copy" : "is missing or another file",
	            state->commits, setup->witnesses[0].level, name);
}

bool witness_no_store(const struct job_options *options, const struct sink_state *state, struct error *err)
{
	if (!state->is_known)
		return true;
	return fail(err, ERROR_BUG, "ledger_mismatch", "the store of dead letters of job '%s' is missing, though the job has run",
	            options->name);
}

static bool look(const struct sink_setup *setup, bool (*judge)(const struct sink_setup *, const struct sink_state *, struct error *),
                 struct error *err)
{
	struct arena *arena = arena_new(16u << 10);
	struct sink_state state = { 0 };
	bool is_fine = warehouse_look(setup, arena, &state, err) && judge(setup, &state, err);

	arena_free(arena);
	return is_fine;
}

static bool is_unknown(const struct sink_setup *setup, const struct sink_state *state, struct error *err)
{
	return witness_no_store(setup->options, state, err);
}

bool witness_may_make_store(const char *store, const struct sink_setup *setup, struct error *err)
{
	return access(store, F_OK) == 0 || !warehouse_is_there(setup) || look(setup, is_unknown, err);
}

bool witness_files(const struct sink_setup *setup, struct error *err)
{
	return !setup->witness_count || warehouse_is_there(setup) || look(setup, witness_commits, err);
}

bool witness_keep_commits(struct dlq *dlq, const struct job_options *options, int64_t commits, struct error *err)
{
	/* Without a number nothing can be missed. */
	if (!commits)
		return true;
	if (!dlq_remember(dlq, main_dataset(options), "", "", commits, err))
		return false;
	crash_point(commits_remembered);
	return true;
}

bool witness_forget_commits(struct dlq *dlq, const struct job_options *options, struct error *err)
{
	return dlq_forget(dlq, main_dataset(options), "", err);
}

struct keeping {
	struct dlq *dlq;
	const char *dataset;
	bool is_fine;
	struct error *err;
};

static void keep_replica(void *context, const struct witness *replica)
{
	struct keeping *keeping = context;

	keeping->is_fine = keeping->is_fine && dlq_remember(keeping->dlq, keeping->dataset, replica->table, replica->identity,
	                                                    replica->level, keeping->err);
}

bool witness_keep_replicas(struct dlq *dlq, const struct job_options *options, struct merger *merger, struct error *err)
{
	struct keeping keeping = { dlq, options->replica_dataset, true, err };

	if (!dlq_begin(dlq, err))
		return false;
	if (!merger_settle(merger, keep_replica, &keeping, err) || !keeping.is_fine || !dlq_commit(dlq, err)) {
		dlq_rollback(dlq);
		return false;
	}
	crash_point(replicas_remembered);
	return true;
}
