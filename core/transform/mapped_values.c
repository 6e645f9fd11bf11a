/*
 * Values of JSON rows on their way into their columns: cleaned as the original
 * cleans them, then converted; what does not fit is that row's fault.
 */
#include "transform/mapped_private.h"

#include "base/clean.h"

static bool is_text(const struct bq_type *type)
{
	return type->kind == BQ_STRING && !type->is_array;
}

static struct span number_text(const struct debezium *d, const struct json_doc *doc, uint32_t token, struct arena *arena)
{
	struct span raw = json_raw(doc, token);

	return d->options->value_cleaning == CLEANING_ORIGINAL ? clean_number(raw, arena) : raw;
}

static struct span nested_text(const struct debezium *d, const struct json_doc *doc, uint32_t token, struct arena *arena)
{
	if (d->options->value_cleaning == CLEANING_EXACT)
		return json_slice(doc, token);
	return clean_nested(doc, token, d->options->value_cleaning == CLEANING_ORIGINAL, arena);
}

/* Everything has its text. */
static bool cell_of_text(struct debezium *d, struct event *e, const struct json_doc *doc, uint32_t token, struct cell *out)
{
	struct arena *arena = e->batch->arena;

	*out = (struct cell){ .kind = CELL_TEXT };
	if (json_is(doc, token, JSON_STRING)) {
		out->is_escaped = true;
		out->is_plain = !(doc->tokens[token].flags & JSON_HAS_ESCAPES);
		out->text = json_raw(doc, token);
	} else if (json_is(doc, token, JSON_NUMBER)) {
		out->text = number_text(d, doc, token, arena);
	} else if (json_is(doc, token, JSON_TRUE) || json_is(doc, token, JSON_FALSE)) {
		out->text = json_is(doc, token, JSON_TRUE) ? SPAN("true") : SPAN("false");
	} else {
		out->text = nested_text(d, doc, token, arena);
	}
	return true;
}

/* A date or time as text that was cleaned: read again, for there is no token of it. */
static bool cell_of_cleaned(struct debezium *d, struct event *e, int column, struct span text, struct cell *out)
{
	struct arena *arena = e->batch->arena;
	OWNED(text) quoted = text_new(1u << 20);
	size_t at;

	if (!json_quote(quoted, text) ||
	    json_parse(&d->other_doc, arena_copy(arena, text_span(quoted)), &at) != JSON_FINE)
		return REFUSE_MAP(e, "type_mismatch", e->table->columns[column].name, e->table->columns[column].name,
		                  "text where a date or time is meant");
	return value_convert(d, e, column, &d->any, &d->other_doc, 0, out);
}

bool mapped_cell(struct debezium *d, struct event *e, int column, const struct json_doc *doc, uint32_t token,
                 struct cell *out)
{
	const struct bq_type *type = &e->table->columns[column].type;
	struct arena *arena = e->batch->arena;
	bool is_original = d->options->value_cleaning == CLEANING_ORIGINAL;
	struct span text, cleaned;

	if (!e->table->more[column].is_fixed)
		return value_inferred(d, e, column, doc, token, out);
	if (!mapped_fields_known(d, e, column, doc, token))
		return false;
	if (is_text(type) && !e->table->more[column].is_encoded)
		return cell_of_text(d, e, doc, token, out);
	if (type->is_array || (type->kind != BQ_DATE && type->kind != BQ_DATETIME) || !json_is(doc, token, JSON_STRING))
		return value_convert(d, e, column, e->table->more[column].from ? e->table->more[column].from : &d->any, doc, token,
		                     out);
	text = json_text(doc, token, arena);
	cleaned = type->kind == BQ_DATE ? clean_date(text, is_original, arena) : clean_datetime(text);
	if (span_equal(text, cleaned))
		return value_convert(d, e, column, &d->any, doc, token, out);
	return cell_of_cleaned(d, e, column, cleaned, out);
}
