/*
 * JSON rows for tables that were not made by this job: a row is written again from
 * its message, each value cleaned and converted for the column that the table has.
 * It has tables, shapes and scratch of its own, for it works on the writer's thread
 * while the reader maps what comes next.
 */
#include "transform/mapped_private.h"

#include "record/fit.h"

#include <stdlib.h>

struct fitted {
	struct table *table;     /* NULL: not met yet */
	uint64_t version;
};

struct mapped_fitter {
	struct row_fitter base;
	struct mapping mapping;
	struct debezium *d;
	struct fitted *tables;   /* by the job's number */
	size_t room;
};

static void fitter_close(struct row_fitter *base)
{
	struct mapped_fitter *fitter = (struct mapped_fitter *)base;

	if (!fitter)
		return;
	for (size_t i = 0; i < fitter->room; i++)
		table_free(fitter->tables[i].table);
	free(fitter->tables);
	debezium_free(fitter->d);
	free(fitter);
}

/* The source is DATASET.TABLE. */
static void names_take(struct table *table)
{
	struct span source = table->schema.source;

	table->db = span_make(source.at, table->schema.dataset.len);
	table->name = source.len > table->db.len ? span_make(source.at + table->db.len + 1, source.len - table->db.len - 1) : source;
}

/* All columns are known and none of their types may change: they are the destination's. How a value is encoded is the
 * owner's word (columnTypes). */
static struct table *table_make(struct debezium *d, struct event *e, uint32_t number, const struct fit_table *told)
{
	struct table *table = table_alone(told->schema);

	table->number = number;
	names_take(table);
	e->table = table;
	columns_of_rule(d, e);
	for (size_t i = 0; i < table->schema.count; i++) {
		table->columns[i].is_provisional = table->columns[i].is_inferred = false;
		table->more[i].is_fixed = true;
	}
	return table;
}

static struct table *table_of(struct mapped_fitter *fitter, struct event *e, uint32_t number, const struct fit_table *told)
{
	struct fitted *fitted;
	size_t had = fitter->room;

	if (number >= had) {
		fitter->room = (size_t)number * 2 + 16;
		fitter->tables = memory_grow(fitter->tables, fitter->room * sizeof(*fitter->tables));
		memset(fitter->tables + had, 0, (fitter->room - had) * sizeof(*fitter->tables));
	}
	fitted = &fitter->tables[number];
	if (fitted->table && fitted->version == told->version)
		return fitted->table;
	table_free(fitted->table);
	*fitted = (struct fitted){ table_make(fitter->d, e, number, told), told->version };
	return fitted->table;
}

/* Without autoMapTables a value has no place in a column that is not there; NULL needs none. */
static bool has_place(struct event *e, const struct row *row, const struct fit_table *told)
{
	for (size_t i = 0; i < row->shape->count; i++) {
		int32_t at = row->shape->members[i].column;
		struct span name;

		if (at < 0 || (size_t)at >= told->schema->count || !told->is_absent[at] || json_is(row->doc, row->tokens[i], JSON_NULL))
			continue;
		name = told->schema->columns[at].name;
		return REFUSE_MAP(e, "unknown_column", name, name, "table %.*s.%.*s has no column %.*s, and autoMapTables=false adds none",
		                  SPAN_ARG(told->schema->dataset), SPAN_ARG(told->schema->name), SPAN_ARG(name));
	}
	return true;
}

static bool row_fit(struct mapped_fitter *fitter, struct event *e, const struct fit_table *told, struct span *out_proto)
{
	struct debezium *d = fitter->d;
	struct row row;

	if (!mapped_parse(d, e) || !row_shape(d, e, 0, &d->rooms[0], &row) || !has_place(e, &row, told) || !row_convert(d, e, &row))
		return false;
	*out_proto = row_proto(e, &row);
	return true;
}

static bool fitter_fit(struct row_fitter *base, struct batch *batch, struct record *record, const struct fit_table *told)
{
	struct mapped_fitter *fitter = (struct mapped_fitter *)base;
	struct event e;

	event_start(&e, batch, &batch->messages[record->message]);
	e.is_mapped = true;
	e.op = 'c';
	e.skips_metadata = !fitter->d->options->dead_letter_metadata;
	e.table = table_of(fitter, &e, record->table, told);
	return row_fit(fitter, &e, told, &record->proto);
}

struct row_fitter *mapped_fitter_open(const struct job_options *options, struct error *err)
{
	struct mapped_fitter *fitter = memory_zalloc(sizeof(*fitter));
	struct transform_setup setup = { .options = options, .wants_proto = true };

	fitter->base = (struct row_fitter){ fitter_fit, fitter_close };
	fitter->mapping.options = options;
	fitter->d = debezium_new(&setup, &transform_mapped, &fitter->mapping, err);
	if (fitter->d)
		return &fitter->base;
	free(fitter);
	return NULL;
}
