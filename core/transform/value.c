/*
 * One value into its column: as it is written, or as the value itself tells;
 * and what becomes of a value that the column cannot hold.
 */
#include "transform/debezium_private.h"

#define EXACT_DOUBLE ((int64_t)1 << 53)

static bool refuse_value(struct event *e, int column, const char *code, const struct convert_fault *fault)
{
	const struct column *c = &e->table->columns[column];
	struct text *path = text_new(NAME_BYTES_MAX * 2 + 64);

	text_add(path, e->is_flattened || e->is_mapped ? "" : e->op == 'd' ? "before." : "after.");
	text_add_span(path, c->source_name);
	text_add_span(path, fault->path);
	struct text *type = text_new(4096);

	bq_type_print(type, &c->type);
	REFUSE_MAP(e, code, c->name, text_span(path), "column %.*s (%s): %s", SPAN_ARG(c->name), type->at,
	           fault->message ? fault->message : "the value does not fit");
	text_free(path);
	text_free(type);
	return false;
}

/* Counted per column: the batch adds such notes up. */
static void count_unrepresentable(struct event *e, int column, const char *what)
{
	const struct column *c = &e->table->columns[column];
	struct text *type = text_new(4096);

	bq_type_print(type, &c->type);
	batch_add_note(e->batch, e->table->number, c->name, "value_not_representable", 1, "values of %.*s outside %s, %s",
	               SPAN_ARG(c->name), type->at, what);
	text_free(type);
}

/* The column becomes text, and the value stands in it exactly: as the source means it, else as it wrote it. */
static bool value_as_text(struct debezium *d, struct event *e, int column, const struct source_type *from,
                          const struct json_doc *doc, uint32_t token, struct cell *out,
                          const struct convert_fault *fault)
{
	const struct bq_type text = { .kind = BQ_STRING };
	struct convert_fault again = { 0 };

	if (!column_may_change(d, e->table, column))
		return refuse_value(e, column, fault->code, fault);
	count_unrepresentable(e, column, "the column became text");
	column_widen(e, column, &text, false);
	if (type_convert(from, &text, doc, token, d->placeholder, e->batch->arena, out, &again) != CONVERT_OK)
		*out = (struct cell){ .kind = CELL_TEXT, .text = fault->raw };
	return true;
}

/* In a column that has become text the value keeps the kind that it had. */
static enum value_group group_of(struct event *e, int column, const struct source_type *from)
{
	enum value_group group = bq_value_group(&e->table->columns[column].type);
	struct bq_type natural;

	if (group != GROUP_OTHER)
		return group;
	type_default(from, e->batch->arena, &natural);
	return bq_value_group(&natural);
}

/* A decimal whose source names no precision: the column's was our choice, so it widens as a guessed one does. */
static bool is_open_decimal(const struct debezium *d, const struct event *e, int column, const struct source_type *from)
{
	return source_type_is_open_decimal(from) && e->table->columns[column].type.kind == BQ_BIGNUMERIC &&
	       column_may_change(d, e->table, column);
}

#define NULL_ELEMENT "null_element"

/* What the owner wished; but a key that is NULL or near another one would make one row of two. */
static enum unrepresentable policy_of(const struct debezium *d, struct event *e, int column,
                                      const struct source_type *from, const struct convert_fault *fault)
{
	bool is_of_array = fault->code && strcmp(fault->code, NULL_ELEMENT) == 0; /* whatever its elements are */
	enum unrepresentable policy = d->options->on_unrepresentable[is_of_array ? GROUP_OTHER : group_of(e, column, from)];
	bool is_key = is_key_column(e, column);

	return is_key && policy != UNREPRESENTABLE_TEXT ? UNREPRESENTABLE_DEAD_LETTER : policy;
}

/* onUnrepresentable. `out` holds the nearest value that fits. */
static bool value_unrepresentable(struct debezium *d, struct event *e, int column, const struct source_type *from,
                                  const struct json_doc *doc, uint32_t token, struct cell *out,
                                  const struct convert_fault *fault)
{
	switch (policy_of(d, e, column, from, fault)) {
	case UNREPRESENTABLE_NULL:
		count_unrepresentable(e, column, "stored as NULL");
		*out = (struct cell){ .kind = CELL_NULL };
		return true;
	case UNREPRESENTABLE_CLAMP:
		count_unrepresentable(e, column, out->kind == CELL_NULL ? "stored as NULL, for none is near"
		                                                        : "stored as the nearest value");
		return true;
	case UNREPRESENTABLE_TEXT:
		return value_as_text(d, e, column, from, doc, token, out, fault);
	case UNREPRESENTABLE_DEAD_LETTER:
		if (is_open_decimal(d, e, column, from))
			return value_as_text(d, e, column, from, doc, token, out, fault);
		break;
	}
	return refuse_value(e, column, fault->code ? fault->code : "type_mismatch", fault);
}

/* BigQuery's arrays have no NULL elements, and JSON rows are rehearsed for it in the local warehouse. What is near is the array without them, and so the bytes for it are written. */
static bool nulls_refused(struct debezium *d, struct event *e, int column, const struct source_type *from,
                          const struct json_doc *doc, uint32_t token, struct cell *out)
{
	struct convert_fault fault = { .code = NULL_ELEMENT, .message = "NULL among the elements, of which BigQuery stores none",
	                               .raw = json_slice(doc, token) };

	return value_unrepresentable(d, e, column, from, doc, token, out, &fault);
}

static void note_wide(struct event *e, int column, const struct cell *cell)
{
	struct column *c = &e->table->columns[column];

	if (cell->number >= -EXACT_DOUBLE && cell->number <= EXACT_DOUBLE)
		return;
	c->is_wide = true;
	table_change(e->table, "large numbers in", c->name);
}

static bool is_plain_text(const struct bq_type *type)
{
	return type->kind == BQ_STRING && !type->is_array;
}

/* The owner made it a column of text, so that also what is no number of an INT column has its place: as it came. */
static bool is_text_as_wished(const struct event *e, int column, const struct json_doc *doc, uint32_t token)
{
	const struct column *c = &e->table->columns[column];
	const struct column_more *more = &e->table->more[column];

	return more->is_fixed && !more->is_encoded && !c->key_ordinal && is_plain_text(&c->type) &&
	       json_is(doc, token, JSON_STRING);
}

bool value_convert(struct debezium *d, struct event *e, int column, const struct source_type *from,
                          const struct json_doc *doc, uint32_t token, struct cell *out)
{
	struct column *c = &e->table->columns[column];
	struct convert_fault fault = { 0 };

	switch (type_convert(from, &c->type, doc, token, d->placeholder, e->batch->arena, out, &fault)) {
	case CONVERT_OK:
		if (c->type.kind == BQ_INT64 && !c->is_wide && out->kind == CELL_INT)
			note_wide(e, column, out);
		if ((d->wants_proto || d->mapping) && out->kind == CELL_JSON && out->number)
			return nulls_refused(d, e, column, from, doc, token, out);
		return true;
	case CONVERT_OUT_OF_RANGE:
		return value_unrepresentable(d, e, column, from, doc, token, out, &fault);
	case CONVERT_MISMATCH:
		break;
	}
	if (is_text_as_wished(e, column, doc, token) &&
	    type_convert(&d->string, &c->type, doc, token, d->placeholder, e->batch->arena, out, &fault) == CONVERT_OK)
		return true;
	return refuse_value(e, column, fault.code, &fault);
}

static void decimals_become_text(struct debezium *d)
{
	d->decimals_are_text = true;
	for (size_t i = 0; i < d->table_count; i++)
		d->tables[i]->type_version++;
}

/* sourceSchema tells how the connector writes, but a row may have come by another way: decimals as text are read as
 * what they are. Text with a point is never base64; one job writes all its decimals in one way. */
static bool is_text_decimal(struct debezium *d, const struct column *c, const struct json_doc *doc, uint32_t token)
{
	struct span text = json_raw(doc, token);

	if ((c->type.kind != BQ_NUMERIC && c->type.kind != BQ_BIGNUMERIC) || !json_is(doc, token, JSON_STRING) ||
	    !text.len)
		return false;
	if (!d->decimals_are_text && (memchr(text.at, '.', text.len) || *text.at == '-'))
		decimals_become_text(d);
	return d->decimals_are_text;
}

/* The value's own kind where it is the column's: nearly always, so it is asked first. */
static const struct source_type *plain_type(const struct debezium *d, const struct column *c,
                                            const struct json_doc *doc, uint32_t at, struct arena *arena)
{
	const struct json_token *token = &doc->tokens[at];

	if (c->is_provisional || c->type.is_array)
		return NULL;
	if (token->kind == JSON_STRING && c->type.kind == BQ_STRING)
		return &d->string;
	if (token->kind == JSON_NUMBER && c->type.kind == (token->flags & JSON_IS_FRACTION ? BQ_FLOAT64 : BQ_INT64) &&
	    type_infer_fits(doc, at, arena))
		return token->flags & JSON_IS_FRACTION ? &d->real : &d->integer;
	if ((token->kind == JSON_TRUE || token->kind == JSON_FALSE) && c->type.kind == BQ_BOOL)
		return &d->boolean;
	return NULL;
}

/* Would FLOAT64 hold the old values and this one exactly? */
static bool double_fits(const struct column *c, const struct json_doc *doc, uint32_t token)
{
	int64_t number;

	if (c->type.kind == BQ_INT64)
		return !c->is_wide;
	return json_int64(doc, token, &number) && number >= -EXACT_DOUBLE && number <= EXACT_DOUBLE;
}

/* The column's type is a guess from earlier values; this one may not fit it. */
static bool column_follow(struct debezium *d, struct event *e, int column, const struct bq_type *seen,
                          const struct json_doc *doc, uint32_t token)
{
	struct column *c = &e->table->columns[column];
	struct bq_type wide = c->type;
	bool value_fits = double_fits(c, doc, token);

	if (c->is_provisional) {
		column_settle(e, column, seen);
		return true;
	}
	if (bq_type_equal(&c->type, seen) || !bq_type_widen(&wide, seen, value_fits))
		return true;
	if (column_may_change(d, e->table, column)) {
		column_widen(e, column, seen, value_fits);
		return true;
	}
	struct convert_fault fault = { .message = "a value of another type, and schemaChanges does not allow to widen "
	                               "the column" };

	return refuse_value(e, column, "type_mismatch", &fault);
}

static bool value_is_settled(const struct column *c, const struct bq_type *seen)
{
	return !c->is_provisional && seen->kind != BQ_INT64 && bq_type_equal(&c->type, seen);
}

/* Nothing tells how the value is written but itself; and the column, where the owner chose its type. */
bool value_inferred(struct debezium *d, struct event *e, int column, const struct json_doc *doc, uint32_t token,
                           struct cell *out)
{
	const struct source_type *plain = plain_type(d, &e->table->columns[column], doc, token, e->batch->arena);
	struct convert_fault fault = { 0 };
	struct source_type from;
	struct bq_type seen;
	bool is_known;

	if (plain)
		return value_convert(d, e, column, plain, doc, token, out);
	type_infer(doc, token, e->batch->arena, &from, &seen, &is_known);
	if (!is_known) {
		*out = (struct cell){ .kind = CELL_NULL };
		return true;
	}
	if (e->table->more[column].is_fixed)
		return value_convert(d, e, column, is_plain_text(&e->table->columns[column].type) ? &from : &d->any, doc,
		                     token, out);
	/* A placeholder says nothing about the column's type; and mostly the column is what the value says already. */
	if (type_convert(&from, &seen, doc, token, d->placeholder, e->batch->arena, out, &fault) == CONVERT_OK &&
	    !(d->wants_proto && out->kind == CELL_JSON && out->number) && (out->kind == CELL_UNAVAILABLE || value_is_settled(&e->table->columns[column], &seen)))
		return true;
	if (!column_follow(d, e, column, &seen, doc, token))
		return false;
	return value_convert(d, e, column, &from, doc, token, out);
}

bool cell_read(struct debezium *d, struct event *e, int column, const struct source_type *from,
               const struct json_doc *doc, uint32_t token, struct cell *out)
{
	if (json_is(doc, token, JSON_NULL)) {
		*out = (struct cell){ .kind = CELL_NULL };
		return true;
	}
	if (d->mapping)
		return mapped_cell(d, e, column, doc, token, out);
	if (from && from == e->table->more[column].from && !e->table->more[column].is_encoded &&
	    is_text_decimal(d, &e->table->columns[column], doc, token))
		from = &d->string;
	if (from)
		return value_convert(d, e, column, from, doc, token, out);
	return value_inferred(d, e, column, doc, token, out);
}
