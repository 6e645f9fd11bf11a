/*
 * Values of a fullRecord on their way into SQLite: one binder for each BigQuery
 * type. A JSON number in a column that has since become STRING becomes its
 * canonical text.
 */
#include "sink/local_private.h"

#include "base/clean.h"
#include "base/hash.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct value_reader {
	locale_t plain; /* decimal points, whatever the environment says */
};

/* What a binder works with. */
struct binding {
	struct value_reader *reader;
	sqlite3_stmt *stmt;
	int index;
	const struct json_doc *doc;
	uint32_t token;
	struct arena *arena;
};

struct value_reader *value_reader_new(void)
{
	struct value_reader *reader = memory_zalloc(sizeof(*reader));

	reader->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	return reader;
}

void value_reader_free(struct value_reader *reader)
{
	if (!reader)
		return;
	freelocale(reader->plain);
	free(reader);
}

static double real_read(struct value_reader *reader, struct span text, struct arena *arena)
{
	char near[64];
	char *copy;
	double quick;

	if (real_parse_short(text, &quick) && quick != 0)
		return quick;
	copy = text.len < sizeof(near) ? near : arena_bytes(arena, text.len + 1);
	memcpy(copy, text.at, text.len);
	copy[text.len] = '\0';
	return strtod_l(copy, NULL, reader->plain);
}

size_t real_text(double number, char out[32])
{
	int precision = 15;
	int len;

	if (isnan(number) || isinf(number))
		return (size_t)snprintf(out, 32, "%s", isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity");
	/* Whole numbers look like the integers they were before the column was widened. */
	if (number == floor(number) && fabs(number) < 9.2e18)
		return (size_t)snprintf(out, 32, "%" PRId64, (int64_t)number);
	do {
		len = snprintf(out, 32, "%.*g", precision, number);
	} while (precision++ < 17 && strtod(out, NULL) != number);
	return (size_t)len;
}

static void bind_copy(struct binding *b, struct span text)
{
	store_bind_text(b->stmt, b->index, text.at ? text : SPAN(""));
}

struct span value_number_text(struct value_reader *reader, struct span raw, struct arena *arena)
{
	char text[32];
	int64_t number;

	if (span_int64(raw, &number) && number != 0)
		return raw;
	return arena_copy(arena, span_make(text, real_text(real_read(reader, raw, arena), text)));
}

static void bind_text(struct binding *b)
{
	if (json_is(b->doc, b->token, JSON_STRING))
		bind_copy(b, json_text(b->doc, b->token, b->arena));
	else if (json_is(b->doc, b->token, JSON_NUMBER))
		bind_copy(b, value_number_text(b->reader, json_raw(b->doc, b->token), b->arena));
	else
		bind_copy(b, json_slice(b->doc, b->token));
}

static void bind_int64(struct binding *b)
{
	int64_t number;

	if (json_is(b->doc, b->token, JSON_NUMBER) && json_int64(b->doc, b->token, &number))
		sqlite3_bind_int64(b->stmt, b->index, number);
	else
		bind_text(b);
}

static void bind_bool(struct binding *b)
{
	if (json_is(b->doc, b->token, JSON_TRUE) || json_is(b->doc, b->token, JSON_FALSE))
		sqlite3_bind_int(b->stmt, b->index, json_is(b->doc, b->token, JSON_TRUE));
	else
		bind_text(b);
}

/* SQLite holds infinities but no NaN. */
static bool bind_special_real(struct binding *b, struct span text)
{
	if (span_is(text, "Infinity"))
		sqlite3_bind_double(b->stmt, b->index, HUGE_VAL);
	else if (span_is(text, "-Infinity"))
		sqlite3_bind_double(b->stmt, b->index, -HUGE_VAL);
	else
		return false;
	return true;
}

static void bind_float64(struct binding *b)
{
	struct span raw = json_raw(b->doc, b->token);

	if (json_is(b->doc, b->token, JSON_NUMBER))
		sqlite3_bind_double(b->stmt, b->index, real_read(b->reader, raw, b->arena));
	else if (!bind_special_real(b, raw))
		bind_text(b);
}

static bool bind_base64(struct binding *b, struct span text)
{
	char *bytes = arena_bytes(b->arena, text.len / 4 * 3 + 1);
	size_t len;

	if (!base64_decode(text, bytes, &len))
		return false;
	store_bind_blob(b->stmt, b->index, span_make(bytes, len));
	return true;
}

static void bind_bytes(struct binding *b)
{
	if (!json_is(b->doc, b->token, JSON_STRING) ||
	    !bind_base64(b, json_text(b->doc, b->token, b->arena)))
		bind_text(b);
}

/* What is not here is text. */
static void (*const binders[BQ_KINDS])(struct binding *) = {
	[BQ_INT64] = bind_int64,
	[BQ_FLOAT64] = bind_float64,
	[BQ_BOOL] = bind_bool,
	[BQ_BYTES] = bind_bytes,
};

void value_bind(struct value_reader *reader, sqlite3_stmt *stmt, int index, const struct bq_type *type,
                const struct json_doc *doc, uint32_t token, struct arena *arena)
{
	struct binding b = { reader, stmt, index, doc, token, arena };

	if (json_is(doc, token, JSON_NULL))
		sqlite3_bind_null(stmt, index);
	else if (!type->is_array && binders[type->kind])
		binders[type->kind](&b);
	else
		bind_text(&b);
}

static bool bind_canonical_int64(struct binding *b, struct span text)
{
	int64_t number;

	if (!span_int64(text, &number))
		return false;
	sqlite3_bind_int64(b->stmt, b->index, number);
	return true;
}

static bool bind_canonical_bool(struct binding *b, struct span text)
{
	if (!span_is(text, "true") && !span_is(text, "false"))
		return false;
	sqlite3_bind_int(b->stmt, b->index, span_is(text, "true"));
	return true;
}

static bool bind_canonical_real(struct binding *b, struct span text)
{
	if (bind_special_real(b, text))
		return true;
	if (span_is(text, "NaN"))
		return false;
	sqlite3_bind_double(b->stmt, b->index, real_read(b->reader, text, b->arena));
	return true;
}

static bool (*const canonical_binders[BQ_KINDS])(struct binding *, struct span) = {
	[BQ_INT64] = bind_canonical_int64,
	[BQ_FLOAT64] = bind_canonical_real,
	[BQ_BOOL] = bind_canonical_bool,
	[BQ_BYTES] = bind_base64,
};

void value_bind_canonical(struct value_reader *reader, sqlite3_stmt *stmt, int index, const struct bq_type *type,
                          struct span text, struct arena *arena)
{
	struct binding b = { .reader = reader, .stmt = stmt, .index = index, .arena = arena };

	if (!type->is_array && canonical_binders[type->kind] && canonical_binders[type->kind](&b, text))
		return;
	bind_copy(&b, text);
}

bool value_json(struct text *out, sqlite3_value *value, const struct bq_type *type)
{
	const char *at;
	char *coded;
	char number[32];
	bool is_fine;

	switch (sqlite3_value_type(value)) {
	case SQLITE_NULL:
		return text_add(out, "null");
	case SQLITE_INTEGER:
		if (type->kind == BQ_BOOL && !type->is_array)
			return text_add(out, sqlite3_value_int(value) ? "true" : "false");
		return text_add_int(out, sqlite3_value_int64(value));
	case SQLITE_FLOAT:
		real_text(sqlite3_value_double(value), number);
		return isfinite(sqlite3_value_double(value)) ? text_add(out, number) : json_quote(out, span_of(number));
	case SQLITE_BLOB:
		at = sqlite3_value_blob(value);
		coded = memory_alloc(base64_room((size_t)sqlite3_value_bytes(value)) + 1);
		is_fine = json_quote(out, span_make(coded, base64_encode(
			span_make(at, (size_t)sqlite3_value_bytes(value)), coded)));
		free(coded);
		return is_fine;
	default:
		at = (const char *)sqlite3_value_text(value);
		return json_quote(out, span_make(at, (size_t)sqlite3_value_bytes(value)));
	}
}
