/*
 * A column that a statement gives another type: the server converts its values in
 * place. Where the same can be done here it is a cast of the record; where not, the
 * timeline and a note say that older rows keep their old form.
 */
#include "transform/statements_private.h"

#include "transform/ddl_private.h"
#include "transform/ddl_value.h"

void rows_keep_tell(struct event *e, struct span column, const char *why)
{
	batch_add_note(e->batch, e->table->number, column, "rows_not_converted", 1,
	               "a schema change reached rows that were there before it, and what they have now is not known: %s", why);
}

static bool is_mariadb(const struct event *e)
{
	const struct value *connector = &e->fields[FIELD_CONNECTOR];

	return value_is(connector, JSON_STRING) && span_is(json_raw(connector->doc, connector->token), "mariadb");
}

static struct ddl_was was_read(const struct event *e, int column)
{
	uint32_t told = e->table->columns[column].told;

	return (struct ddl_was){
		.kind = e->table->columns[column].type.kind,
		.is_told = told & TOLD_ANYTHING,
		.is_single = told & TOLD_SINGLE,
		.is_list = told & TOLD_LIST,
		.scale = told & TOLD_DECIMAL ? (int32_t)(told >> TOLD_SCALE_BITS) : -1,
		.is_mariadb = is_mariadb(e),
	};
}

/* What the statement says is what the column is from now on, whether a row comes before the next statement or not. */
void column_told_by(struct event *e, int column, const struct ddl_column *to)
{
	static const uint32_t told[] = { [FAMILY_FLOAT] = TOLD_SINGLE, [FAMILY_ENUM] = TOLD_LIST, [FAMILY_SET] = TOLD_LIST,
		                         [FAMILY_DECIMAL] = TOLD_DECIMAL, [FAMILY_JSON] = 0 };
	enum ddl_family family = ddl_family(to);
	uint32_t scale = family == FAMILY_DECIMAL ? (uint32_t)ddl_size(to, 1, 0) << TOLD_SCALE_BITS : 0;

	column_told(e->table, column, TOLD_ANYTHING | told[family] | scale | (e->table->columns[column].told & TOLD_HOLDS));
}

/* Values without a schema block have no type but what they look like: a date may be a number, a decimal text. */
static bool is_plainly_same(struct event *e, int column, const struct ddl_column *to)
{
	enum ddl_family family = ddl_family(to);
	struct bq_type type;

	return (family == FAMILY_INTEGER || family == FAMILY_CHAR || family == FAMILY_VARCHAR || family == FAMILY_TEXT) &&
	       ddl_column_type(to, false, e->batch->arena, &type) && bq_type_equal(&type, &e->table->columns[column].type);
}

/* Behind a restart only the destination's type is known, and it may be of another: then nothing is sure. */
static const char *why_kept(struct event *e, int column, const struct ddl_column *to, struct span *out_spec)
{
	const struct column *c = &e->table->columns[column];
	struct ddl_was was = was_read(e, column);
	const char *why;

	*out_spec = SPAN("");
	if (c->is_provisional && !(c->told & TOLD_HOLDS))
		return NULL;
	if (!e->block && !was.is_told)
		return is_plainly_same(e, column, to) ? NULL : "without schema blocks nothing tells how its values are written";
	if (c->type.is_array)
		return "it is stored as an array";
	why = ddl_convert(&was, to, e->batch->arena, out_spec);
	if (c->key_ordinal && out_spec->len && !ddl_keeps_keys(&was, to)) {
		*out_spec = SPAN("");
		why = "it is a key, and rows keep the key that their events had";
	}
	return why;
}

/*
 * At once what the next row's schema block will make of the column: text that a cast gives must not become a number
 * again before that row comes.
 */
static void column_follow(struct debezium *d, struct event *e, int column, const struct ddl_column *to)
{
	const struct column *c = &e->table->columns[column];
	struct bq_type type;

	if (ddl_column_type(to, true, e->batch->arena, &type) && !bq_type_equal(&type, &c->type) &&
	    column_may_change(d, e->table, column))
		column_widen(e, column, &type, !c->is_wide);
}

/* Text that is no number or date, as only a server without strict mode passes it, stays what it is. */
static bool is_sure(const struct event *e, const struct column *c, const struct ddl_column *to)
{
	struct bq_type type;

	return c->type.kind != BQ_STRING || !ddl_column_type(to, e->block != NULL, e->batch->arena, &type) || type.kind == BQ_STRING;
}

struct span column_convert(struct debezium *d, struct event *e, int column, const struct ddl_column *to, bool *out_sure,
                           struct text *did)
{
	const struct column *c = &e->table->columns[column];
	struct bq_type type;
	struct span spec;
	const char *why = why_kept(e, column, to, &spec);

	*out_sure = !why && is_sure(e, c, to);
	if (why) {
		text_add_format(did, "rows before it %s: %s", spec.len ? "are converted, but may keep their old form" : "keep their old form", why);
		rows_keep_tell(e, c->name, why);
	} else if (spec.len) {
		text_add(did, "rows before it are converted");
	} else if (!e->block || !ddl_column_type(to, true, e->batch->arena, &type)) {
		text_add(did, "nothing yet, its values tell");
	} else {
		text_add(did, bq_type_equal(&type, &c->type) ? "nothing, it fits" : "nothing yet, the next value widens it");
	}
	if (spec.len)
		column_follow(d, e, column, to);
	column_told_by(e, column, to);
	return spec;
}
