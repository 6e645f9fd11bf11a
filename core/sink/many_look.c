/*
 * A reader's look at the datasets of a job, in the order of its own tables.
 */
#include "sink/many_private.h"

static bool entries_look(const struct sink_setup *setup, struct arena *arena, struct many_entry **out_datasets,
                         size_t *out_count, struct many_entry **out_order, size_t *out_order_count, struct error *err)
{
	const char *job = setup->options->name;
	struct store *store = local_open(setup->warehouse, setup->options->replica_dataset, STORE_READ, 0, 0, err);
	bool is_fine = store && many_datasets_read(store, job, arena, out_datasets, out_count, err) &&
	               many_order_read(store, job, arena, out_order, out_order_count, err);

	store_close(store);
	return is_fine;
}

bool many_look(const struct sink_setup *setup,
               bool (*look_at_one)(const struct sink_setup *, struct arena *, struct sink_state *, struct error *),
               struct arena *arena, struct sink_state *out, struct error *err)
{
	struct many_entry *datasets = NULL, *order = NULL;
	size_t count = 0, order_count = 0, all = 0;
	struct sink_state *states;
	struct many_table *tables;
	const struct table_schema **schemas;
	struct ledger *ledgers;

	if (!look_at_one(setup, arena, out, err))
		return false;
	if (!out->is_known)
		return true;
	if (!entries_look(setup, arena, &datasets, &count, &order, &order_count, err))
		return false;
	states = arena_zalloc(arena, (count + 1) * sizeof(*states));
	for (size_t i = 0; i < count; i++) {
		struct sink_setup one = *setup;

		one.dataset = datasets[i].name;
		if (!look_at_one(&one, arena, &states[i], err))
			return false;
		all += states[i].table_count;
	}
	tables = arena_alloc(arena, (all + 1) * sizeof(*tables));
	schemas = arena_alloc(arena, (all + 1) * sizeof(*schemas));
	ledgers = arena_alloc(arena, (all + 1) * sizeof(*ledgers));
	all = many_arrange(states, count, order, order_count, tables);
	for (size_t i = 0; i < all; i++) {
		schemas[i] = states[tables[i].file].tables[tables[i].local];
		ledgers[i] = states[tables[i].file].ledgers[tables[i].local];
	}
	ledgers[all] = out->ledgers[out->table_count];
	out->tables = schemas;
	out->ledgers = ledgers;
	out->table_count = all;
	return true;
}
