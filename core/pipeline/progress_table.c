/* The tables of a running job as others see them, and what of them waits for the merge. */
#include "pipeline/progress_private.h"

#include "base/arena.h"
#include "base/clock.h"
#include "sink/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tables_free(struct progress *progress)
{
	for (size_t i = 0; i <= progress->table_count; i++)
		free(progress->tables[i].name);
	free(progress->tables);
	for (size_t i = 0; i < progress->old_name_count; i++)
		free(progress->old_names[i]);
	free(progress->old_names);
}

/* What waits is what this run has committed: what an earlier run left is merged at once and not counted. */
void tables_begin_locked(struct progress *progress)
{
	for (size_t i = 0; i <= progress->table_count; i++) {
		progress->tables[i].waiting_count = 0;
		progress->tables[i].is_exact = false;
	}
}

/* "-" stays the last. */
static void grow_locked(struct progress *progress, size_t count)
{
	struct shown_table none = progress->tables[progress->table_count];

	progress->tables = memory_grow(progress->tables, (count + 1) * sizeof(*progress->tables));
	for (size_t i = progress->table_count; i < count; i++)
		progress->tables[i] = (struct shown_table){ .view.lag_us = -1 };
	progress->tables[count] = none;
	progress->table_count = count;
}

/* A name is lent to who looks: one that is no more is kept for them. */
static void name_locked(struct progress *progress, struct shown_table *table, const char *name)
{
	if (table->name && strcmp(table->name, name) == 0)
		return;
	if (table->name) {
		progress->old_names = memory_grow(progress->old_names, (progress->old_name_count + 1) * sizeof(char *));
		progress->old_names[progress->old_name_count++] = table->name;
	}
	table->name = memory_string(name);
}

void progress_learn_table(struct progress *progress, size_t table, const char *name, bool has_replica)
{
	pthread_mutex_lock(&progress->lock);
	if (table >= progress->table_count)
		grow_locked(progress, table + 1);
	name_locked(progress, &progress->tables[table], name);
	progress->tables[table].view.has_replica = has_replica;
	progress->tables[table].view.version++;
	pthread_mutex_unlock(&progress->lock);
}

static void trouble_fill(struct table_progress *view, const struct sink_trouble *trouble)
{
	view->has_trouble = trouble != NULL;
	if (!trouble)
		return;
	view->needs_you = trouble->needs_you;
	snprintf(view->code, sizeof(view->code), "%s", trouble->error->code);
	snprintf(view->sentence, sizeof(view->sentence), "%s", trouble->error->message);
	view->since_us = trouble->since_us;
	view->until_us = clock_utc_us() + (trouble->next_ms - clock_mono_ms()) * 1000;
}

/* Who looks is told when it begins, ends or becomes another one; not of each try. */
void progress_set_trouble(struct progress *progress, size_t table, const struct sink_trouble *trouble)
{
	pthread_mutex_lock(&progress->lock);
	if (table < progress->table_count) {
		struct table_progress *view = &progress->tables[table].view;
		bool is_same = view->has_trouble == (trouble != NULL) &&
		               (!trouble || strcmp(view->code, trouble->error->code) == 0);

		trouble_fill(view, trouble);
		view->version += !is_same;
	}
	pthread_mutex_unlock(&progress->lock);
}

void progress_set_table(struct progress *progress, size_t table, const struct ledger *total)
{
	pthread_mutex_lock(&progress->lock);
	if (table <= progress->table_count) {
		progress->tables[table].view.total = *total;
		progress->tables[table].view.version++;
	}
	pthread_mutex_unlock(&progress->lock);
}

size_t progress_table_count(struct progress *progress)
{
	size_t count;

	pthread_mutex_lock(&progress->lock);
	count = progress->table_count;
	pthread_mutex_unlock(&progress->lock);
	return count;
}

static uint64_t waiting_changes(const struct shown_table *table)
{
	uint64_t changes = 0;

	for (size_t i = 0; i < table->waiting_count; i++)
		changes += table->waiting[i].changes;
	return changes;
}

void progress_table(struct progress *progress, size_t table, struct table_progress *out)
{
	const struct shown_table *shown;

	pthread_mutex_lock(&progress->lock);
	shown = &progress->tables[table < progress->table_count ? table : progress->table_count];
	*out = shown->view;
	out->name = shown->name ? shown->name : "-";
	out->waiting_changes = waiting_changes(shown);
	out->waiting_since_us = shown->waiting_count ? shown->waiting[0].committed_us : 0;
	pthread_mutex_unlock(&progress->lock);
}

static bool is_nothing(const struct ledger *added)
{
	return !added->received && !added->parked && !added->filtered && !added->written;
}

void tables_committed_locked(struct progress *progress, const struct ledger *added, size_t count)
{
	for (size_t i = 0; i <= count; i++) {
		struct shown_table *table = &progress->tables[i < count ? i : progress->table_count];

		if (i < count && i >= progress->table_count)
			continue;
		if (is_nothing(&added[i]))
			continue;
		ledger_add(&table->view.total, &added[i]);
		table->view.version++;
	}
}

void progress_tables_committed(struct progress *progress, const struct ledger *added, size_t count)
{
	pthread_mutex_lock(&progress->lock);
	tables_committed_locked(progress, added, count);
	pthread_mutex_unlock(&progress->lock);
}

/* Two neighbours become one, at the mean of their times. */
static void waiting_halve(struct shown_table *table)
{
	size_t count = table->waiting_count / 2;

	for (size_t i = 0; i < count; i++) {
		struct waiting a = table->waiting[2 * i], b = table->waiting[2 * i + 1];
		uint64_t changes = a.changes + b.changes;
		int64_t apart_us = b.committed_us - a.committed_us;

		table->waiting[i].changes = changes;
		table->waiting[i].committed_us =
			a.committed_us + (int64_t)((double)apart_us * (double)b.changes / (double)changes);
	}
	table->waiting_count = count;
}

static void waiting_add(struct shown_table *table, int64_t committed_us, uint64_t changes)
{
	if (!table->view.has_replica || !changes)
		return;
	if (table->waiting_count == WAITING_ROOM)
		waiting_halve(table);
	table->waiting[table->waiting_count++] = (struct waiting){ committed_us, changes };
}

static void measure_table(struct shown_table *table, const struct batch_times *times, size_t i,
                          const struct ledger *added)
{
	if (!added->received)
		return;
	table->view.bytes += times->bytes[i];
	table->view.committed_us = times->committed_us;
	table->view.lag_us = times->oldest_us[i] ? times->committed_us - times->oldest_us[i] : -1;
	waiting_add(table, times->committed_us, added->rows);
}

static size_t sample_table(const struct latency_sample *sample, const struct batch_times *times)
{
	if (sample->which == LATENCY_BATCH)
		return NO_TABLE;
	return sample->table < times->table_count ? sample->table : UNNAMED_TABLE;
}

void measured_locked(struct progress *progress, const struct batch_times *times, const struct ledger *added)
{
	progress->view.committed_us = times->committed_us;
	progress->view.lag_us = times->lag_us;
	progress->view.written_bytes += times->written_bytes;
	for (size_t i = 0; i < times->sample_count; i++) {
		const struct latency_sample *sample = &times->samples[i];

		latency_add_locked(progress, sample->which, sample_table(sample, times), sample->took_us, sample->weight);
	}
	for (size_t i = 0; i < times->table_count && i < progress->table_count; i++)
		measure_table(&progress->tables[i], times, i, &added[i]);
	measure_table(&progress->tables[progress->table_count], times, times->table_count, &added[times->table_count]);
}

/* "orders" is DATASET.orders. */
static struct shown_table *find_locked(struct progress *progress, const char *name)
{
	for (size_t i = 0; i < progress->table_count; i++) {
		const char *full = progress->tables[i].name;
		const char *dot = full ? strchr(full, '.') : NULL;

		if (dot && strcmp(dot + 1, name) == 0)
			return &progress->tables[i];
	}
	return NULL;
}

/* How many of the oldest are visible now. */
static uint64_t merged_of(const struct shown_table *table, const struct waiting *oldest, uint64_t changes,
                          int64_t began_us, bool is_all)
{
	if (is_all && oldest->committed_us <= began_us)
		return oldest->changes;
	if (!table->is_exact)
		return 0;
	return changes < oldest->changes ? changes : oldest->changes;
}

static void take_merged(struct progress *progress, struct shown_table *table, uint64_t changes, int64_t began_us,
                        bool is_all)
{
	int64_t now_us = clock_utc_us();
	size_t gone = 0;

	while (gone < table->waiting_count) {
		struct waiting *oldest = &table->waiting[gone];
		uint64_t merged = merged_of(table, oldest, changes, began_us, is_all);

		latency_add_locked(progress, LATENCY_REPLICA, (size_t)(table - progress->tables), now_us - oldest->committed_us, merged);
		changes -= merged < changes ? merged : changes;
		oldest->changes -= merged;
		if (oldest->changes)
			break;
		gone++;
	}
	table->waiting_count -= gone;
	memmove(table->waiting, table->waiting + gone, table->waiting_count * sizeof(table->waiting[0]));
}

void progress_merged(struct progress *progress, const char *name, uint64_t changes, int64_t began_us, bool is_all)
{
	struct shown_table *table;

	pthread_mutex_lock(&progress->lock);
	table = find_locked(progress, name);
	if (table) {
		take_merged(progress, table, changes, began_us, is_all);
		table->is_exact = table->is_exact || is_all;
		progress->view.merges += is_all;
		table->view.version++;
		progress->view.version++;
	}
	pthread_mutex_unlock(&progress->lock);
}

void progress_merged_all(struct progress *progress, int64_t began_us)
{
	pthread_mutex_lock(&progress->lock);
	for (size_t i = 0; i < progress->table_count; i++) {
		struct shown_table *table = &progress->tables[i];
		size_t before = table->waiting_count;

		take_merged(progress, table, 0, began_us, true);
		table->view.version += table->waiting_count != before;
		progress->view.version += table->waiting_count != before;
	}
	pthread_mutex_unlock(&progress->lock);
}
