/*
 * weir_text(value, type): the canonical text of a stored value, for columns that
 * become STRING.
 */
#include "sink/local_private.h"

#include "base/hash.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void result_text(sqlite3_context *context, const char *text)
{
	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void bytes_text(sqlite3_context *context, sqlite3_value *value)
{
	const char *at = sqlite3_value_blob(value);
	size_t len = (size_t)sqlite3_value_bytes(value);
	char *coded = memory_alloc(base64_room(len) + 1);
	size_t coded_len = base64_encode(span_make(at, len), coded);

	sqlite3_result_text64(context, coded, coded_len, free, SQLITE_UTF8);
}

static void integer_text(sqlite3_context *context, sqlite3_value *value, const char *type)
{
	char text[32];

	if (type && strcmp(type, "BOOL") == 0) {
		result_text(context, sqlite3_value_int(value) ? "true" : "false");
		return;
	}
	snprintf(text, sizeof(text), "%" PRId64, (int64_t)sqlite3_value_int64(value));
	result_text(context, text);
}

static void text_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	char text[32];

	(void)count;
	switch (sqlite3_value_type(values[0])) {
	case SQLITE_INTEGER:
		integer_text(context, values[0], (const char *)sqlite3_value_text(values[1]));
		return;
	case SQLITE_FLOAT:
		real_text(sqlite3_value_double(values[0]), text);
		result_text(context, text);
		return;
	case SQLITE_BLOB:
		bytes_text(context, values[0]);
		return;
	default: /* NULL and text stay what they are */
		sqlite3_result_value(context, values[0]);
	}
}

/* What a stored value is as text; false: it is none that a cast reads. */
static bool stored_text(sqlite3_value *value, char number[32], struct span *out)
{
	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		*out = span_make(number, (size_t)snprintf(number, 32, "%" PRId64, (int64_t)sqlite3_value_int64(value)));
		return true;
	case SQLITE_FLOAT:
		*out = span_make(number, real_text(sqlite3_value_double(value), number));
		return true;
	case SQLITE_TEXT:
		*out = span_make((const char *)sqlite3_value_text(value), (size_t)sqlite3_value_bytes(value));
		return true;
	default:
		return false;
	}
}

/* As a value of a column that SQLite declares so; an integer's column takes digits as a number by itself. */
static void result_cast(sqlite3_context *context, struct span text, const char *declared, struct arena *arena)
{
	char *copy = arena_string(arena, text), *end;
	double number = strtod(copy, &end);

	if (!text.at)
		sqlite3_result_null(context);
	else if (declared && strcmp(declared, "REAL") == 0 && text.len && end == copy + text.len && isfinite(number))
		sqlite3_result_double(context, number);
	else
		sqlite3_result_text64(context, text.at, text.len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* weir_cast(value, spec, declared type of its column): NULL and bytes stay. */
static void cast_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct arena *arena;
	struct span was, text;
	char number[32];

	(void)count;
	if (!stored_text(values[0], number, &was)) {
		sqlite3_result_value(context, values[0]);
		return;
	}
	arena = arena_new(1024);
	text = cast_text(span_of((const char *)sqlite3_value_text(values[1])), was, arena);
	if (text.at && span_equal(was, text))
		sqlite3_result_value(context, values[0]);
	else
		result_cast(context, text, (const char *)sqlite3_value_text(values[2]), arena);
	arena_free(arena);
}

/* weir_carried(position of the RENAME, rank): where a change stands that it carries over;
 * above the RENAME, below whatever comes next in the log, and in the order of ranks. */
static void carried_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	unsigned char packed[POSITION_BYTES];
	struct position position;

	(void)count;
	if (sqlite3_value_bytes(values[0]) != POSITION_BYTES)
		return;
	memcpy(packed, sqlite3_value_blob(values[0]), POSITION_BYTES);
	position_unpack(packed, &position);
	position.c = (uint64_t)(position.ordinal + 1) << 40 | (uint64_t)sqlite3_value_int64(values[1]);
	position.ordinal = 0;
	position_pack(&position, packed);
	sqlite3_result_blob(context, packed, POSITION_BYTES, SQLITE_TRANSIENT);
}

bool value_register(sqlite3 *db)
{
	return sqlite3_create_function_v2(db, "weir_carried", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
	                                  carried_function, NULL, NULL, NULL) == SQLITE_OK &&
	       sqlite3_create_function_v2(db, "weir_cast", 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
	                                  cast_function, NULL, NULL, NULL) == SQLITE_OK &&
	       sqlite3_create_function_v2(db, "weir_text", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
	                                  text_function, NULL, NULL, NULL) == SQLITE_OK;
}
