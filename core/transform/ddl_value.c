/*
 * What rows have in a column that was added behind them: its default, or the
 * implicit one of its type, as the changelog writes values of the column.
 */
#include "transform/ddl_value.h"

#include "transform/ddl_private.h"

#include "base/clean.h"
#include "base/hash.h"
#include "base/utf8.h"

#include <stdlib.h>

#define VALUE_BYTES_MAX (1u << 20)
#define FIELD_BYTES_MAX 65535 /* of a BINARY(n) */
#define MS_DIGITS 3           /* up to here DATETIME comes in milliseconds, beyond in microseconds */

/*
 * The value itself
 */

struct filling {
	const struct ddl_column *column;
	struct bq_type type; /* the column's own */
	int64_t when_ms;
	struct arena *arena;
	struct cell cell;
	const char *why;
};

static bool unknown(struct filling *f, const char *why)
{
	f->why = why;
	return false;
}

static bool is_time(const struct bq_type *type)
{
	return type->kind == BQ_DATE || type->kind == BQ_DATETIME || type->kind == BQ_TIMESTAMP;
}

/* '0000-00-00', and dates without a day or month, which BigQuery does not have. */
static bool is_zero_date(struct span text)
{
	return text.len >= 10 && (memcmp(text.at, "0000", 4) == 0 || memcmp(text.at + 5, "00", 2) == 0 ||
	                          memcmp(text.at + 8, "00", 2) == 0);
}

/* Debezium writes a zero date as NULL, or where that may not be as the first day of its time. */
static bool cell_of_zero_date(struct filling *f)
{
	f->cell = (struct cell){ .kind = f->column->is_not_null ? CELL_INT : CELL_NULL };
	return true;
}

/* Bytes of BINARY(n) are filled up with zeros; bits stand in little-endian order. */
static bool cell_of_bytes(struct filling *f, struct span bytes)
{
	bool is_bits = ddl_word_is(f->column->type, "bit");
	uint64_t size = f->column->size_count ? f->column->sizes[0] : 1;
	size_t len = is_bits ? (size_t)(size + 7) / 8 : ddl_word_is(f->column->type, "binary") ? (size_t)size : bytes.len;
	char *copy;

	if (len > FIELD_BYTES_MAX)
		return unknown(f, "its default has too many bytes");
	copy = arena_zalloc(f->arena, len + 1);
	for (size_t i = 0; i < len && i < bytes.len; i++)
		copy[i] = is_bits ? bytes.at[bytes.len - 1 - i] : bytes.at[i];
	f->cell = (struct cell){ .kind = CELL_BYTES, .text = span_make(copy, len) };
	return true;
}

static bool cell_of_bit(struct filling *f, struct span bytes)
{
	f->cell = (struct cell){ .kind = CELL_INT };
	for (size_t i = 0; i < bytes.len; i++)
		f->cell.number |= bytes.at[i] != 0;
	return true;
}

/* By the reader that values of the same column take when they come as text. */
static bool cell_of_text(struct filling *f, struct span text)
{
	OWNED(text) json = text_new(VALUE_BYTES_MAX);
	struct json_doc doc = { 0 };
	struct convert_fault fault = { 0 };
	struct source_type any;
	size_t at;
	bool is_number = f->type.kind == BQ_INT64 || f->type.kind == BQ_FLOAT64, is_fine;

	if (!source_type_named("weir.Any", &any) || !(is_number ? text_add_span(json, text) : json_quote(json, text)))
		return unknown(f, "its default is longer than what is read of one");
	is_fine = json_parse(&doc, arena_copy(f->arena, text_span(json)), &at) == JSON_FINE &&
	          type_convert(&any, &f->type, &doc, 0, SPAN(""), f->arena, &f->cell, &fault) == CONVERT_OK;
	json_doc_free(&doc);
	return is_fine || unknown(f, "its default cannot be read as a value of its type");
}

/* Text between the quotes, as the column holds it. */
static struct span text_trimmed(const struct ddl_column *column, struct span text)
{
	bool is_char = ddl_word_is(column->type, "char") || ddl_word_is(column->type, "character") ||
	               ddl_word_is(column->type, "nchar") || ddl_word_is(column->type, "enum");

	while (is_char && text.len && text.at[text.len - 1] == ' ')
		text.len--;
	return text;
}

static bool is_utf8(struct span text)
{
	while (text.len) {
		uint32_t code;
		size_t length = utf8_step(text, &code);

		if (!length)
			return false;
		text = span_make(text.at + length, text.len - length);
	}
	return true;
}

static bool cell_of_literal(struct filling *f, struct span text)
{
	if (f->type.kind == BQ_BYTES)
		return cell_of_bytes(f, text);
	if (f->type.kind == BQ_BOOL)
		return cell_of_bit(f, span_is(text, "0") ? SPAN("") : text);
	if (!is_utf8(text))
		return unknown(f, "its default is no UTF-8");
	if (f->type.kind == BQ_STRING) {
		f->cell = (struct cell){ .kind = CELL_TEXT, .text = text_trimmed(f->column, text) };
		return true;
	}
	if (is_time(&f->type))
		ddl_read_date(text, f->type.kind != BQ_DATE, f->arena, &text);
	else if (f->type.kind == BQ_TIME)
		ddl_read_time(text, f->arena, &text);
	if (is_time(&f->type) && is_zero_date(text))
		return cell_of_zero_date(f);
	if (f->type.kind == BQ_TIMESTAMP) /* in the session's time zone, which nobody tells: UTC, as servers mostly have it */
		text = span_of(arena_printf(f->arena, "%.*sZ", SPAN_ARG(text)));
	return cell_of_text(f, text);
}

/* A number in x'0A' or b'101'. */
static bool cell_of_blob(struct filling *f, struct span bytes)
{
	uint64_t number = 0;

	if (f->type.kind == BQ_BYTES)
		return cell_of_bytes(f, bytes);
	if (f->type.kind == BQ_BOOL)
		return cell_of_bit(f, bytes);
	if (f->type.kind != BQ_INT64)
		return cell_of_literal(f, bytes);
	for (size_t i = 0; i < bytes.len && i < 8; i++)
		number = number << 8 | (unsigned char)bytes.at[i];
	f->cell = (struct cell){ .kind = CELL_INT, .number = (int64_t)number };
	return true;
}

static bool cell_of_now(struct filling *f)
{
	if (f->type.kind != BQ_TIMESTAMP)
		return unknown(f, "its default is the clock in the source's time zone");
	if (f->column->size_count && f->column->sizes[0])
		return unknown(f, "its default is the clock, and the log does not tell its fractions");
	f->cell = (struct cell){ .kind = CELL_INT, .number = f->when_ms / 1000 * 1000000 };
	return true;
}

/* NOT NULL without a default. */
static bool cell_implicit(struct filling *f)
{
	const char *implicit = ddl_implicit(f->column);

	if (ddl_word_is(f->column->type, "enum"))
		return cell_of_literal(f, f->column->values ? f->column->values->text : SPAN(""));
	if (!implicit)
		return unknown(f, "its type has no implicit default that is known");
	return cell_of_literal(f, span_of(implicit));
}

static bool cell_find(struct filling *f)
{
	const struct ddl_column *column = f->column;

	if (column->is_generated)
		return unknown(f, "it is computed by the source");
	if (column->is_counter)
		return unknown(f, "the source has numbered its rows");
	switch (column->kind) {
	case DDL_NO_DEFAULT:
		if (column->is_not_null)
			return cell_implicit(f);
		break;
	case DDL_NULL:
		break;
	case DDL_LITERAL:
		return cell_of_literal(f, column->value);
	case DDL_BYTES:
		return cell_of_blob(f, column->value);
	case DDL_NOW:
		return cell_of_now(f);
	case DDL_EXPRESSION:
		return unknown(f, "its default is an expression");
	}
	f->cell = (struct cell){ .kind = CELL_NULL };
	return true;
}

/*
 * Into the column as it is at the destination
 */

static bool json_plain(struct filling *f, const struct bq_type *to, struct span *out)
{
	char *at = arena_bytes(f->arena, cell_json_room(&f->cell));

	*out = span_make(at, (size_t)(cell_json(&f->cell, to, at) - at));
	return true;
}

/* Days, milliseconds or microseconds, as Debezium's default modes count. */
static bool json_counted(struct filling *f, struct span *out)
{
	bool has_ms = f->type.kind == BQ_DATETIME && ddl_size(f->column, 0, 0) <= MS_DIGITS;

	*out = span_of(arena_printf(f->arena, "%lld", (long long)(has_ms ? f->cell.number / 1000 : f->cell.number)));
	return true;
}

/* Decimals as text have all digits of their scale. */
static struct span scale_filled(struct filling *f, struct span text)
{
	const char *point = memchr(text.at, '.', text.len);
	size_t has = point ? (size_t)(text.at + text.len - point - 1) : 0, wants = (size_t)ddl_size(f->column, 1, 0);
	char *out = arena_bytes(f->arena, text.len + wants + 2);
	size_t len = text.len;

	memcpy(out, text.at, len);
	if (!point && wants)
		out[len++] = '.';
	for (; has < wants; has++)
		out[len++] = '0';
	return span_make(out, len);
}

/* As a connector writes the value into text. */
static bool json_text_of(struct filling *f, struct span *out)
{
	OWNED(text) json = text_new(VALUE_BYTES_MAX);
	struct span text;

	if (!cell_text(&f->cell, &f->type, f->arena, &text))
		return false;
	if (f->type.kind == BQ_NUMERIC || f->type.kind == BQ_BIGNUMERIC)
		text = scale_filled(f, text);
	if (f->type.kind == BQ_TIMESTAMP && text.len > 13) { /* 2024-01-01 10:00:00+00 */
		char *iso = arena_string(f->arena, span_make(text.at, text.len - 2));

		iso[10] = 'T';
		iso[text.len - 3] = 'Z';
		text = span_make(iso, text.len - 2);
	}
	if (!json_quote(json, text))
		return false;
	*out = arena_copy(f->arena, text_span(json));
	return true;
}

static bool is_number_kind(enum bq_kind kind)
{
	return kind == BQ_INT64 || kind == BQ_FLOAT64 || kind == BQ_NUMERIC || kind == BQ_BIGNUMERIC;
}

static bool json_number_of(struct filling *f, const struct bq_type *to, struct span *out)
{
	struct span text;
	bool is_quoted = to->kind == BQ_NUMERIC || to->kind == BQ_BIGNUMERIC;

	if (!cell_text(&f->cell, &f->type, f->arena, &text) || (to->kind == BQ_INT64 && memchr(text.at, '.', text.len)))
		return false;
	*out = span_of(arena_printf(f->arena, is_quoted ? "\"%.*s\"" : "%.*s", SPAN_ARG(text)));
	return true;
}

static bool json_for(struct filling *f, const struct bq_type *to, struct span *out)
{
	enum bq_kind from = f->type.kind;

	if (to->is_array || to->kind == BQ_STRUCT)
		return false;
	if (from == to->kind || (from == BQ_DATETIME && to->kind == BQ_TIMESTAMP) ||
	    (from == BQ_TIMESTAMP && to->kind == BQ_DATETIME) || (from == BQ_INT64 && to->kind == BQ_BOOL))
		return json_plain(f, to, out);
	if (to->kind == BQ_STRING)
		return json_text_of(f, out);
	if (to->kind == BQ_INT64 && (from == BQ_DATE || from == BQ_TIME || from == BQ_DATETIME))
		return json_counted(f, out);
	return is_number_kind(from) && is_number_kind(to->kind) && json_number_of(f, to, out);
}

bool ddl_column_fill(const struct ddl_column *column, const struct bq_type *to, int64_t when_ms, struct arena *arena,
                     struct span *out_json, const char **out_why)
{
	struct filling f = { .column = column, .when_ms = when_ms, .arena = arena };
	bool has_value = column->is_not_null || (column->kind != DDL_NO_DEFAULT && column->kind != DDL_NULL) ||
	                 column->is_generated || column->is_counter;

	if (!has_value) {
		*out_json = SPAN("null");
		return true;
	}
	*out_why = "its type is not known";
	if (!ddl_value_type(column, arena, &f.type))
		return false;
	if (!cell_find(&f)) {
		*out_why = f.why;
		return false;
	}
	*out_why = "its default is none of the column's type here";
	if (f.cell.kind != CELL_NULL)
		return json_for(&f, to, out_json);
	*out_json = SPAN("null");
	return true;
}
