/*
 * Append tables whose columns are not as the transform thinks: made by hand, or by
 * another engine that saw the column first. Their columns are never changed; rows are
 * written for them anew (record/fit.h), and one that has no place there is refused.
 */
#include "sink/bigquery_private.h"

#include "base/clock.h"

#include <stdlib.h>

#define DOUBT_MS 10000 /* between looks at a table that refuses rows: somebody may have changed it */

struct fitting {
	struct arena *arena;           /* of the columns */
	const struct table_column *columns;
	size_t count;
	uint64_t columns_version;      /* the desk's */
	struct arena *table_arena;     /* of `table` */
	struct fit_table table;
	int64_t doubted_ms;            /* clock_mono_ms */
};

void fitting_free(struct fitting *fitting)
{
	if (!fitting)
		return;
	arena_free(fitting->arena);
	arena_free(fitting->table_arena);
	free(fitting);
}

void fitting_learn(struct bigquery *sink, struct bigquery_table *table)
{
	struct fitting *fitting = table->fitting;

	if (!fitting)
		fitting = table->fitting = memory_zalloc(sizeof(*fitting));
	arena_free(fitting->arena);
	fitting->arena = arena_new(4096);
	fitting->columns = table_desk_columns(sink->desk, table->desk_number, fitting->arena, &fitting->count, &fitting->columns_version);
	table->shape_of = NULL;
	table->is_unfit = false;
}

void fitting_refresh(struct bigquery *sink, struct bigquery_table *table)
{
	struct table_view view;

	table_desk_look(sink->desk, table->desk_number, &view);
	if (view.columns_version != table->fitting->columns_version)
		fitting_learn(sink, table);
}

static const struct table_column *column_there(const struct fitting *fitting, struct span name)
{
	for (size_t i = 0; i < fitting->count; i++) {
		if (name_equal(fitting->columns[i].name, name))
			return &fitting->columns[i];
	}
	return NULL;
}

/* The type that the column has there. What is not there is added as the transform wants it, or left out. */
static void column_fit(const struct fitting *fitting, struct column *column, bool adds_columns, bool *out_is_absent)
{
	const struct table_column *there = column_there(fitting, column->name);

	*out_is_absent = there ? !there->is_known : !adds_columns;
	if (!there || !there->is_known)
		return;
	column->type = there->type;
	column->is_provisional = false;
}

const struct table_shape *fitting_shape(const struct bigquery *sink, struct fitting *fitting, struct arena *arena,
                                        const struct table_schema *schema)
{
	struct table_schema *fitted;
	struct column *columns;
	bool *is_absent;

	arena_free(fitting->table_arena);
	fitting->table_arena = arena_new(4096);
	fitted = (struct table_schema *)(uintptr_t)schema_copy(fitting->table_arena, schema);
	columns = arena_alloc(fitting->table_arena, (schema->count + 1) * sizeof(*columns));
	is_absent = arena_zalloc(fitting->table_arena, schema->count + 1);
	for (size_t i = 0; i < schema->count; i++) {
		columns[i] = fitted->columns[i];
		column_fit(fitting, &columns[i], sink->options->auto_map_tables, &is_absent[i]);
	}
	fitted->columns = columns;
	fitting->table = (struct fit_table){ fitted, is_absent, fitting->table.version + 1 };
	return row_shape_of(arena, fitted, is_absent, !sink->options->auto_map_tables);
}

/* What refuses rows may have been mended. */
static void doubt(struct bigquery *sink, struct bigquery_table *table)
{
	int64_t now_ms = clock_mono_ms();

	if (table->fitting->doubted_ms && now_ms - table->fitting->doubted_ms < DOUBT_MS)
		return;
	table->fitting->doubted_ms = now_ms;
	table_desk_doubt(sink->desk, table->desk_number);
}

bool fitting_row(struct bigquery *sink, struct bigquery_table *table, struct batch *batch, struct record *record)
{
	if (sink->fitter->fit(sink->fitter, batch, record, &table->fitting->table))
		return true;
	doubt(sink, table);
	return false;
}
