/* What the destination takes as a name, and what a name of the source becomes: at the edges, and for any bytes. */
#include "base/clean.h"
#include "base/name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void becomes(enum name_kind kind, const char *source, const char *name, unsigned changes)
{
	struct arena *arena = arena_new(4096);
	unsigned found;
	struct span got = name_at_destination(kind, span_of(source), arena, &found);

	if (!span_is(got, name) || found != changes)
		fail_msg("'%s' becomes '%.*s' (%u), not '%s' (%u)", source, SPAN_ARG(got), found, name, changes);
	arena_free(arena);
}

static void every_rule_of_columns(void **state)
{
	static const char *const kept[] = { "id", "ID", "select", "9lives", "a b", "a-b", "&%=+:'<>#|", "\xc3\xa9", "e\xcc\x81",
		                            "\xe6\x97\xa5\xe6\x9c\xac", "\xe2\x80\x93", "_x", "_table", "_chang", "x_TABLE_", "_ROOT__" };
	static const char *const reserved[] = { "_TABLE_x", "_table_X", "_FILE_NAME", "_PARTITIONTIME", "_partition", "_ROW_TIMESTAMP",
		                                "__ROOT__", "__root__a", "_COLIDENTIFIER_1", "_CHANGE_TYPE", "_CHANGE_SEQUENCE_NUMBER",
		                                "_CHANGE_TIMESTAMP", "_weir_key", "sqlite_x", "_field_1" };
	static const char signs[] = "!\"$()*,./;?@[\\]^`{}~";
	char name[400];

	(void)state;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		becomes(NAME_COLUMN, kept[i], kept[i], 0);
	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
		snprintf(name, sizeof(name), "_%s", reserved[i]);
		becomes(NAME_COLUMN, reserved[i], name, NAME_MARKED);
	}
	for (size_t i = 0; signs[i]; i++) {
		snprintf(name, sizeof(name), "a%cb", signs[i]);
		becomes(NAME_COLUMN, name, "a_b", NAME_SIGNS);
	}
	becomes(NAME_COLUMN, "\xe2\x82\xac", "_", NAME_SIGNS);             /* the euro's sign is none of a name */
	becomes(NAME_COLUMN, "x\xf0\x9f\x98\x80y", "x_y", NAME_SIGNS);
	becomes(NAME_COLUMN, "x\xe2\x80\x8dy", "x_y", NAME_SIGNS);         /* a joiner, which cannot be seen */
	becomes(NAME_COLUMN, "a\xff" "b", "a_b", NAME_SIGNS);
	becomes(NAME_COLUMN, "$file_x", "__file_x", NAME_SIGNS | NAME_MARKED);
	becomes(NAME_COLUMN, "", "", 0);
}

static void tables_and_datasets(void **state)
{
	(void)state;
	becomes(NAME_TABLE, "Order Items-2", "Order Items-2", 0);
	becomes(NAME_TABLE, "a&b$1@2", "a_b_1_2", NAME_SIGNS);
	becomes(NAME_TABLE, "a\xc2\xa0" "b", "a_b", NAME_SIGNS); /* a space that looks like another */
	becomes(NAME_TABLE, "_TABLE_x", "_TABLE_x", 0);          /* reserved for columns only */
	becomes(NAME_TABLE, "_weir_tables", "__weir_tables", NAME_MARKED);
	becomes(NAME_TABLE, "__TABLES__", "___TABLES__", NAME_MARKED);
	assert_true(name_is_allowed(NAME_DATASET, SPAN("shop_Log2")));
	assert_false(name_is_allowed(NAME_DATASET, SPAN("shop-log")));
	assert_false(name_is_allowed(NAME_DATASET, SPAN("\xc3\xa9")));
	assert_false(name_is_allowed(NAME_DATASET, SPAN("")));
}

/* `count` times `character` becomes `most` times the same. */
static void cut_at(enum name_kind kind, const char *character, size_t count, size_t most)
{
	struct arena *arena = arena_new(4096);
	size_t len = strlen(character);
	char *name = arena_bytes(arena, count * len + 1);
	unsigned changes;

	for (size_t i = 0; i < count; i++)
		memcpy(name + i * len, character, len);
	struct span got = name_at_destination(kind, span_make(name, count * len), arena, &changes);

	assert_int_equal(got.len, most * len);
	assert_memory_equal(got.at, name, got.len);
	assert_int_equal(changes, count > most ? NAME_CUT : 0);
	arena_free(arena);
}

static void lengths_are_characters_of_columns_and_bytes_of_tables(void **state)
{
	static const char *const characters[] = { "x", "\xc3\xa9", "\xe6\x97\xa5", "\xf0\xa0\x80\x80", "\xcc\x81" };

	(void)state;
	for (size_t i = 0; i < sizeof(characters) / sizeof(characters[0]); i++) {
		for (size_t count = 299; count <= 302; count++)
			cut_at(NAME_COLUMN, characters[i], count, count < 300 ? count : 300);
		size_t most = 1014 / strlen(characters[i]);

		cut_at(NAME_TABLE, characters[i], most, most);
		cut_at(NAME_TABLE, characters[i], most + 1, most);
	}
}

static void a_mark_or_number_stays_within_the_limit(void **state)
{
	struct arena *arena = arena_new(4096);
	char name[301], wide[600];
	unsigned changes;

	(void)state;
	memset(name, 'x', 300);
	memcpy(name, "_TABLE_", 7);
	struct span got = name_at_destination(NAME_COLUMN, span_make(name, 300), arena, &changes);

	assert_int_equal(got.len, 300);
	assert_int_equal(changes, NAME_MARKED | NAME_CUT);
	assert_true(span_is(name_numbered(NAME_COLUMN, SPAN("id"), 2, arena), "id_2"));
	for (size_t i = 0; i < 300; i++)
		memcpy(wide + 2 * i, "\xc3\xa9", 2);
	got = name_numbered(NAME_COLUMN, span_make(wide, 600), 10, arena);
	assert_int_equal(got.len, 2 * 297 + 3);
	assert_memory_equal(got.at + got.len - 5, "\xc3\xa9_10", 5);
	arena_free(arena);
}

/* Whatever comes in, what comes out is allowed, stays as it is the second time, and is text. */
static void any_bytes_become_a_name(void **state)
{
	static const char *const pieces[] = { "_TABLE_", "_", "__ROOT__", "sqlite_", "_weir_", "\xff", "\xe2\x82", "$", " ", "\xcc\x81",
		                              "\xf0\x9f\x98\x80", "name", "Z", "_PARTITION", "\x01", "." };
	unsigned seed = (unsigned)strtoul(getenv("WEIR_SEEDS") ? getenv("WEIR_SEEDS") : "1", NULL, 10);
	struct arena *arena = arena_new(65536);

	(void)state;
	srand(seed);
	for (int round = 0; round < 20000; round++) {
		char source[4096];
		size_t len = 0, count = 1 + (size_t)rand() % (round % 100 ? 8 : 400);
		unsigned changes;

		for (size_t i = 0; i < count; i++) {
			const char *piece = pieces[(size_t)rand() % (sizeof(pieces) / sizeof(pieces[0]))];

			memcpy(source + len, piece, strlen(piece));
			len += strlen(piece);
		}
		for (enum name_kind kind = NAME_TABLE; kind < NAME_KINDS; kind++) {
			struct span name = name_at_destination(kind, span_make(source, len), arena, &changes);

			if (!name_is_allowed(kind, name) || !utf8_is_valid(name) ||
			    !name_is_allowed(kind, name_numbered(kind, name, 2, arena)))
				fail_msg("WEIR_SEEDS=%u: '%.*s' is not allowed", seed, SPAN_ARG(name));
			assert_int_equal(changes == 0, span_equal(name, span_make(source, len)));
		}
		arena_reset(arena);
	}
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_rule_of_columns),
		cmocka_unit_test(tables_and_datasets),
		cmocka_unit_test(lengths_are_characters_of_columns_and_bytes_of_tables),
		cmocka_unit_test(a_mark_or_number_stays_within_the_limit),
		cmocka_unit_test(any_bytes_become_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
