/*
 * SQL functions of the verification, on jansson: SQLite 3.40's own JSON functions
 * stop at \u0000 and do not always read a number exactly.
 */
#include "sink/verify_private.h"

#include "base/hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A row has many columns: its record is decoded once. */
struct verify_cache {
	sqlite3_int64 id;
	json_t *record;
};

void verify_cache_clear(struct verify_cache *cache)
{
	json_decref(cache->record);
	*cache = (struct verify_cache){ 0 };
}

static void cache_free(void *data)
{
	verify_cache_clear(data);
	free(data);
}

static json_t *decode(sqlite3_value *value)
{
	const char *at = (const char *)sqlite3_value_text(value);

	return at ? json_loadb(at, (size_t)sqlite3_value_bytes(value), JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL) : NULL;
}

static void shortest(double number, char out[40])
{
	if (number == trunc(number) && fabs(number) < 9.2e18) {
		snprintf(out, 40, "%lld", (long long)number);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, 40, "%.*g", digits, number);
		if (strtod(out, NULL) == number)
			return;
	}
}

static void give_text(sqlite3_context *context, const char *text)
{
	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void give_canonical(sqlite3_context *context, const json_t *value)
{
	char number[40];
	char *dump;

	if (json_is_string(value)) {
		sqlite3_result_text64(context, json_string_value(value), json_string_length(value), SQLITE_TRANSIENT, SQLITE_UTF8);
	} else if (json_is_integer(value)) {
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
		give_text(context, number);
	} else if (json_is_real(value)) {
		shortest(json_real_value(value), number);
		give_text(context, number);
	} else {
		dump = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
		give_text(context, dump ? dump : "");
		free(dump);
	}
}

static bool give_integer(sqlite3_context *context, const json_t *value)
{
	if (json_is_integer(value))
		sqlite3_result_int64(context, json_integer_value(value));
	return json_is_integer(value);
}

static bool give_truth(sqlite3_context *context, const json_t *value)
{
	if (json_is_boolean(value))
		sqlite3_result_int(context, json_is_true(value));
	return json_is_boolean(value);
}

static bool give_real(sqlite3_context *context, const json_t *value)
{
	const char *text = json_string_value(value);

	if (json_is_number(value))
		sqlite3_result_double(context, json_number_value(value));
	else if (text && strcmp(text, "Infinity") == 0)
		sqlite3_result_double(context, HUGE_VAL);
	else if (text && strcmp(text, "-Infinity") == 0)
		sqlite3_result_double(context, -HUGE_VAL);
	else
		return false;
	return true;
}

static bool give_bytes(sqlite3_context *context, const json_t *value)
{
	struct span text = span_make(json_string_value(value), json_string_length(value));
	char *bytes = memory_alloc(text.len + 1);
	size_t len;
	bool is_fine = json_is_string(value) && base64_decode(text, bytes, &len);

	if (is_fine)
		sqlite3_result_blob64(context, bytes, len, SQLITE_TRANSIENT);
	free(bytes);
	return is_fine;
}

static const struct giver {
	const char *type;
	bool (*give)(sqlite3_context *, const json_t *);
} givers[] = {
	{ "INT64", give_integer },
	{ "BOOL", give_truth },
	{ "FLOAT64", give_real },
	{ "BYTES", give_bytes },
};

static void give(sqlite3_context *context, const json_t *value, const char *type)
{
	if (!value || json_is_null(value))
		return; /* NULL */
	for (size_t i = 0; i < sizeof(givers) / sizeof(givers[0]); i++) {
		if (strcmp(givers[i].type, type) == 0 && givers[i].give(context, value))
			return;
	}
	give_canonical(context, value);
}

static json_t *record_get(struct verify_cache *cache, sqlite3_value **values, bool *out_owned)
{
	*out_owned = sqlite3_value_type(values[0]) == SQLITE_NULL;
	if (*out_owned)
		return decode(values[1]);
	if (!cache->record || cache->id != sqlite3_value_int64(values[0])) {
		verify_cache_clear(cache);
		cache->id = sqlite3_value_int64(values[0]);
		cache->record = decode(values[1]);
	}
	return cache->record;
}

static void value_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	bool is_owned;
	json_t *record;
	const char *name = (const char *)sqlite3_value_text(values[2]);

	(void)count;
	/* Nothing was found by looking back. */
	if (sqlite3_value_type(values[1]) == SQLITE_NULL)
		return;
	record = record_get(sqlite3_user_data(context), values, &is_owned);
	if (json_is_object(record) && name)
		give(context, json_object_get(record, name), (const char *)sqlite3_value_text(values[3]));
	else
		give_text(context, "(this change is no JSON object)");
	if (is_owned)
		json_decref(record);
}

static void has_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	bool is_owned;
	json_t *record = record_get(sqlite3_user_data(context), values, &is_owned);
	const char *name = (const char *)sqlite3_value_text(values[2]);

	(void)count;
	sqlite3_result_int(context, name && json_object_get(record, name) != NULL);
	if (is_owned)
		json_decref(record);
}

/* A member as JSON text; in SQLite's own functions a text would end at its first NUL. */
static void part_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	json_t *record = decode(values[0]);
	const char *name = (const char *)sqlite3_value_text(values[1]);
	char *part = name ? json_dumps(json_object_get(record, name), JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	(void)count;
	if (part)
		give_text(context, part);
	free(part);
	json_decref(record);
}

static void lists_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *name = (const char *)sqlite3_value_text(values[1]);
	json_t *list = decode(values[0]);
	bool has_name = false;

	(void)count;
	for (size_t i = 0; name && i < json_array_size(list); i++) {
		const char *item = json_string_value(json_array_get(list, i));

		has_name = has_name || (item && strcmp(item, name) == 0);
	}
	json_decref(list);
	sqlite3_result_int(context, has_name);
}

struct verify_cache *verify_functions(sqlite3 *db)
{
	struct verify_cache *cache = memory_zalloc(sizeof(*cache));

	/* On failure SQLite calls cache_free itself. */
	if (sqlite3_create_function_v2(db, "weir_value", 4, SQLITE_UTF8, cache, value_function, NULL, NULL, cache_free) !=
	            SQLITE_OK ||
	    sqlite3_create_function_v2(db, "weir_has", 3, SQLITE_UTF8, cache, has_function, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_create_function_v2(db, "weir_casts", 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, verify_casts_function, NULL,
	                               NULL, NULL) != SQLITE_OK ||
	    sqlite3_create_function_v2(db, "weir_part", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, part_function, NULL, NULL,
	                               NULL) != SQLITE_OK ||
	    sqlite3_create_function_v2(db, "weir_lists", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, lists_function, NULL,
	                               NULL, NULL) != SQLITE_OK)
		return NULL;
	return cache;
}
