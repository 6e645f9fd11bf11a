/*
 * BigQuery's types as values: text and back, comparing, widening, and what a
 * local column is declared as.
 */
#include "record/type_private.h"

#include "base/text.h"

static const struct {
	const char *name;
	const char *alias;  /* the REST API's word */
	const char *local;  /* SQLite: never a BigQuery name, whose affinity would change values */
	enum value_group group;
} kinds[BQ_KINDS] = {
	[BQ_STRING] = { "STRING", "STRING", "TEXT", GROUP_OTHER },
	[BQ_INT64] = { "INT64", "INTEGER", "INTEGER", GROUP_NUMBER },
	[BQ_FLOAT64] = { "FLOAT64", "FLOAT", "REAL", GROUP_NUMBER },
	[BQ_BOOL] = { "BOOL", "BOOLEAN", "INTEGER", GROUP_OTHER },
	[BQ_BYTES] = { "BYTES", "BYTES", "BLOB", GROUP_OTHER },
	[BQ_NUMERIC] = { "NUMERIC", "DECIMAL", "TEXT", GROUP_NUMBER },
	[BQ_BIGNUMERIC] = { "BIGNUMERIC", "BIGDECIMAL", "TEXT", GROUP_NUMBER },
	[BQ_DATE] = { "DATE", "DATE", "TEXT", GROUP_TIME },
	[BQ_TIME] = { "TIME", "TIME", "TEXT", GROUP_TIME },
	[BQ_DATETIME] = { "DATETIME", "DATETIME", "TEXT", GROUP_TIME },
	[BQ_TIMESTAMP] = { "TIMESTAMP", "TIMESTAMP", "TEXT", GROUP_TIME },
	[BQ_INTERVAL] = { "INTERVAL", "INTERVAL", "TEXT", GROUP_TIME },
	[BQ_JSON] = { "JSON", "JSON", "TEXT", GROUP_OTHER },
	[BQ_GEOGRAPHY] = { "GEOGRAPHY", "GEOGRAPHY", "TEXT", GROUP_OTHER },
	[BQ_RANGE_DATE] = { "RANGE<DATE>", "RANGE<DATE>", "TEXT", GROUP_OTHER },
	[BQ_RANGE_DATETIME] = { "RANGE<DATETIME>", "RANGE<DATETIME>", "TEXT", GROUP_OTHER },
	[BQ_RANGE_TIMESTAMP] = { "RANGE<TIMESTAMP>", "RANGE<TIMESTAMP>", "TEXT", GROUP_OTHER },
	[BQ_STRUCT] = { "STRUCT", "RECORD", "TEXT", GROUP_OTHER },
};

#define TYPE_DEPTH_MAX 15 /* BigQuery's limit of nesting */

const char *bq_type_local(const struct bq_type *type)
{
	return type->is_array ? "TEXT" : kinds[type->kind].local;
}

enum value_group bq_value_group(const struct bq_type *type)
{
	return kinds[type->kind].group;
}

bool bq_type_print(struct text *out, const struct bq_type *type)
{
	if (type->is_array)
		text_add(out, "ARRAY<");
	text_add(out, kinds[type->kind].name);
	if (type->kind == BQ_STRUCT) {
		text_add(out, "<");
		for (size_t i = 0; i < type->field_count; i++) {
			text_add(out, i ? ", " : "");
			text_add_span(out, type->fields[i].name);
			text_add(out, " ");
			bq_type_print(out, &type->fields[i].type);
		}
		text_add(out, ">");
	}
	if (type->is_array)
		text_add(out, ">");
	return !out->is_full;
}

bool bq_type_equal(const struct bq_type *a, const struct bq_type *b)
{
	if (a->kind != b->kind || a->is_array != b->is_array)
		return false;
	if (a->kind != BQ_STRUCT)
		return true;
	if (a->field_count != b->field_count)
		return false;
	for (size_t i = 0; i < a->field_count; i++) {
		if (!span_equal(a->fields[i].name, b->fields[i].name) ||
		    !bq_type_equal(&a->fields[i].type, &b->fields[i].type))
			return false;
	}
	return true;
}

/* Eats words of the text from the left. */
struct type_text {
	struct span rest;
	struct arena *arena;
	unsigned depth;
};

static void skip_blanks(struct type_text *t)
{
	while (t->rest.len && (*t->rest.at == ' ' || *t->rest.at == '\t' || *t->rest.at == '\n')) {
		t->rest.at++;
		t->rest.len--;
	}
}

static bool eat_char(struct type_text *t, char c)
{
	skip_blanks(t);
	if (!t->rest.len || *t->rest.at != c)
		return false;
	t->rest.at++;
	t->rest.len--;
	return true;
}

static bool eat_word(struct type_text *t, struct span *out)
{
	size_t n = 0;

	skip_blanks(t);
	while (n < t->rest.len && !memchr(" \t\n<>,()", t->rest.at[n], 8))
		n++;
	*out = span_make(t->rest.at, n);
	t->rest.at += n;
	t->rest.len -= n;
	return n > 0;
}

static bool word_is(struct span word, const char *name)
{
	if (word.len != strlen(name))
		return false;
	for (size_t i = 0; i < word.len; i++) {
		if ((word.at[i] & ~32) != (name[i] & ~32))
			return false;
	}
	return true;
}

/* NUMERIC(10, 2) and STRING(20) are accepted; the column gets the full range. */
static bool eat_parameters(struct type_text *t)
{
	struct span word;

	if (!eat_char(t, '('))
		return true;
	if (!eat_word(t, &word) || (eat_char(t, ',') && !eat_word(t, &word)))
		return false;
	return eat_char(t, ')');
}

static bool eat_type(struct type_text *t, struct bq_type *out);

static bool eat_fields(struct type_text *t, struct bq_type *out)
{
	struct bq_field *fields = NULL;
	size_t count = 0, room = 0;

	if (!eat_char(t, '<'))
		return false;
	do {
		if (count == room) {
			struct bq_field *more = arena_zalloc(t->arena, (room = room * 2 + 4) * sizeof(*more));

			if (count)
				memcpy(more, fields, count * sizeof(*fields));
			fields = more;
		}
		if (!eat_word(t, &fields[count].name) || !eat_type(t, &fields[count].type))
			return false;
		fields[count].name = arena_copy(t->arena, fields[count].name);
		count++;
	} while (eat_char(t, ','));
	*out = (struct bq_type){ .kind = BQ_STRUCT, .fields = fields, .field_count = count };
	return eat_char(t, '>');
}

static bool eat_array(struct type_text *t, struct bq_type *out)
{
	if (!eat_char(t, '<') || !eat_type(t, out) || out->is_array)
		return false;
	out->is_array = true;
	return eat_char(t, '>');
}

static bool eat_range(struct type_text *t, struct bq_type *out)
{
	struct bq_type element;

	if (!eat_char(t, '<') || !eat_type(t, &element) || element.is_array)
		return false;
	for (size_t i = 0; i < BQ_KINDS; i++) {
		if (bq_range_element((enum bq_kind)i) != element.kind || element.kind == BQ_STRING)
			continue;
		*out = (struct bq_type){ .kind = (enum bq_kind)i };
		return eat_char(t, '>');
	}
	return false;
}

static bool eat_kind(struct type_text *t, struct bq_type *out)
{
	struct span word;

	if (!eat_word(t, &word))
		return false;
	if (word_is(word, "ARRAY"))
		return eat_array(t, out);
	if (word_is(word, "RANGE"))
		return eat_range(t, out);
	for (size_t i = 0; i < BQ_KINDS; i++) {
		if (!word_is(word, kinds[i].name) && !word_is(word, kinds[i].alias))
			continue;
		if (i == BQ_STRUCT)
			return eat_fields(t, out);
		*out = (struct bq_type){ .kind = (enum bq_kind)i };
		return eat_parameters(t);
	}
	return false;
}

static bool eat_type(struct type_text *t, struct bq_type *out)
{
	bool is_read;

	if (t->depth == TYPE_DEPTH_MAX)
		return false;
	t->depth++;
	is_read = eat_kind(t, out);
	t->depth--;
	return is_read;
}

bool bq_type_parse(struct span text, struct arena *arena, struct bq_type *out)
{
	struct type_text t = { text, arena, 0 };
	struct bq_type type;

	/* schema.json says STRUCT of a point, whose fields everybody knows. */
	if (word_is(text, "STRUCT") || word_is(text, "RECORD"))
		t.rest = SPAN("STRUCT<x FLOAT64, y FLOAT64>");
	if (!eat_type(&t, &type))
		return false;
	skip_blanks(&t);
	if (t.rest.len)
		return false;
	*out = type;
	return true;
}

static bool holds_json(const struct bq_type *type)
{
	return type->is_array || type->kind == BQ_JSON || type->kind == BQ_STRUCT;
}

static bool is_decimal(enum bq_kind kind)
{
	return kind == BQ_NUMERIC || kind == BQ_BIGNUMERIC;
}

static enum bq_kind widened_scalar(enum bq_kind a, enum bq_kind b, bool value_fits)
{
	bool a_is_exact = is_decimal(a) || a == BQ_INT64, b_is_exact = is_decimal(b) || b == BQ_INT64;

	if (a_is_exact && b_is_exact)
		return a == BQ_BIGNUMERIC || b == BQ_BIGNUMERIC ? BQ_BIGNUMERIC : BQ_NUMERIC;
	if ((a == BQ_INT64 && b == BQ_FLOAT64) || (a == BQ_FLOAT64 && b == BQ_INT64))
		return value_fits ? BQ_FLOAT64 : BQ_STRING;
	return BQ_STRING;
}

bool bq_type_widen(struct bq_type *old, const struct bq_type *seen, bool value_fits)
{
	struct bq_type wide = { .kind = BQ_STRING };

	if (bq_type_equal(old, seen))
		return false;
	if (holds_json(old) && holds_json(seen))
		wide.kind = BQ_JSON;
	else if (!holds_json(old) && !holds_json(seen))
		wide.kind = widened_scalar(old->kind, seen->kind, value_fits);
	if (bq_type_equal(old, &wide))
		return false;
	*old = wide;
	return true;
}
