/*
 * Without a schema: what a value's JSON kind says (design/engine.md "Without a
 * schema"), and how a column is written of which only the type is known.
 */
#include "record/type_private.h"

#include "base/hash.h"

#include <math.h>

#define EXACT_INT (INT64_C(1) << 53)

static struct source_type plain(const char *name)
{
	struct source_type type = { .row = NULL };

	source_type_named(name, &type);
	return type;
}

/* {"scale": 2, "value": "AfQ="} is how Debezium writes a decimal of changing scale; nothing else looks so. */
static bool is_variable_decimal(const struct json_doc *doc, uint32_t token, struct arena *arena)
{
	uint32_t scale = json_member(doc, token, SPAN("scale")), value = json_member(doc, token, SPAN("value"));
	struct span text;
	int64_t number;
	size_t len;

	if (!scale || !value || doc->tokens[token].next != token + 5 || !json_is(doc, value, JSON_STRING) ||
	    !json_int64(doc, scale, &number) || number > INT32_MAX || number < INT32_MIN)
		return false;
	text = json_text(doc, value, arena);
	return text.len && base64_decode(text, arena_bytes(arena, text.len), &len) && len > 0;
}

static const struct {
	enum bq_kind kind;
	const char *words;
} guesses[] = {
#define GUESS(kind, words) { BQ_##kind, words },
#include "record/guesses.def"
#undef GUESS
};

const char *type_guess(const struct bq_type *type)
{
	for (size_t i = 0; i < sizeof(guesses) / sizeof(guesses[0]); i++) {
		if (guesses[i].kind == type->kind)
			return guesses[i].words;
	}
	return NULL;
}

/* Doubles are never written with more digits, and any with so many is read back. */
#define REAL_DIGITS_MOST 17

static bool is_double(struct span text, struct arena *arena)
{
	size_t digits = 0;
	double real;

	for (size_t i = 0; i < text.len && (text.at[i] | 32) != 'e'; i++) {
		if (text.at[i] >= '0' && text.at[i] <= '9')
			digits += digits || text.at[i] != '0';
	}
	if (digits > REAL_DIGITS_MOST)
		return false;
	return real_parse_short(text, &real) ||
	       (real_parse(text, arena, &real) && !isinf(real) && (real != 0 || !digits));
}

bool type_infer_fits(const struct json_doc *doc, uint32_t token, struct arena *arena)
{
	int64_t number;

	if (doc->tokens[token].flags & JSON_IS_FRACTION)
		return is_double(json_raw(doc, token), arena);
	return json_int64(doc, token, &number);
}

/* Whole numbers beside fractions are FLOAT64 only while exact; what neither holds is a decimal. */
static const char *number_name(const struct json_doc *doc, uint32_t token, struct arena *arena)
{
	if (!type_infer_fits(doc, token, arena))
		return "org.apache.kafka.connect.data.Decimal";
	return doc->tokens[token].flags & JSON_IS_FRACTION ? "weir.Number" : "int64";
}

static const char *scalar_name(const struct json_doc *doc, uint32_t token, struct arena *arena)
{
	switch (doc->tokens[token].kind) {
	case JSON_TRUE:
	case JSON_FALSE:
		return "boolean";
	case JSON_NUMBER:
		return number_name(doc, token, arena);
	case JSON_STRING:
		return "string";
	default:
		break;
	}
	return NULL;
}

static bool is_exact_int(const struct json_doc *doc, uint32_t token)
{
	int64_t number;

	return json_int64(doc, token, &number) && number <= EXACT_INT && number >= -EXACT_INT;
}

/* The one scalar kind of an array without nulls, or NULL. */
static const char *element_name(const struct json_doc *doc, uint32_t array, struct arena *arena)
{
	const char *name = NULL;
	bool all_exact = true;

	for (uint32_t t = array + 1; t < doc->tokens[array].next; t = doc->tokens[t].next) {
		const char *seen = scalar_name(doc, t, arena);
		bool is_number = json_is(doc, t, JSON_NUMBER);

		if (!seen || (is_number && !type_infer_fits(doc, t, arena)) || (name && strcmp(name, seen) != 0 && !is_number))
			return NULL;
		all_exact = all_exact && (!is_number || strcmp(seen, "int64") != 0 || is_exact_int(doc, t));
		if (name && strcmp(name, seen) != 0) {
			if (strcmp(name, "int64") != 0 && strcmp(name, "weir.Number") != 0)
				return NULL;
			seen = "weir.Number";
		}
		name = seen;
	}
	return name && strcmp(name, "weir.Number") == 0 && !all_exact ? NULL : name;
}

static void infer_array(const struct json_doc *doc, uint32_t token, struct arena *arena, struct source_type *out)
{
	const char *name = element_name(doc, token, arena);
	struct source_type *element;

	*out = plain("weir.Object");
	if (!name)
		return;
	element = arena_alloc(arena, sizeof(*element));
	*element = plain(name);
	*out = plain("array");
	out->element = element;
}

void type_infer(const struct json_doc *doc, uint32_t token, struct arena *arena, struct source_type *out_from,
                struct bq_type *out_to, bool *is_known)
{
	*is_known = !json_is(doc, token, JSON_NULL);
	if (json_is(doc, token, JSON_ARRAY))
		infer_array(doc, token, arena, out_from);
	else if (json_is(doc, token, JSON_OBJECT))
		*out_from = plain(is_variable_decimal(doc, token, arena) ? "io.debezium.data.VariableScaleDecimal"
		                                                         : "weir.Object");
	else
		*out_from = plain(*is_known ? scalar_name(doc, token, arena) : "string");
	type_default(out_from, arena, out_to);
}
