/* Row identity, and the schemas whose key columns it is made of. */
#include <stdio.h>

#include "record/key.h"

#include "type_help.h"

static const struct column columns[] = {
	{ .name = { "kind", 4 }, .source_name = { "kind", 4 }, .type = { .kind = BQ_STRING }, .key_ordinal = 2 },
	{ .name = { "\xc3\x84ndern", 7 }, .type = { .kind = BQ_NUMERIC } },
	{ .name = { "id", 2 }, .source_name = { "ID", 2 }, .type = { .kind = BQ_INT64 }, .key_ordinal = 1 },
	{ .name = { "ID2", 3 }, .type = { .kind = BQ_JSON } },
};
static const uint16_t keys[] = { 2, 0 };
static const struct table_schema schema = {
	.source = { "db.t", 4 }, .name = { "t", 1 }, .version = 3, .count = 4, .columns = columns, .key_count = 2, .keys = keys,
};

static void a_key_is_its_parts_with_their_lengths(void **state)
{
	struct cell cells[] = { { .kind = CELL_INT, .number = 7 }, { .kind = CELL_TEXT, .text = { "home", 4 } } };
	struct arena *arena = arena_new(4096);
	struct span key = key_encode(&schema, cells, arena), texts[2];

	(void)state;
	assert_int_equal(key.len, 9);
	assert_memory_equal(key.at, "\x01\x01" "7" "\x01\x04home", 9);
	assert_true(span_is(key_json(&schema, cells, arena), "{\"id\":7,\"kind\":\"home\"}"));
	assert_true(key_decode(key, texts, 2));
	assert_true(span_is(texts[0], "7"));
	assert_true(span_is(texts[1], "home"));
	arena_free(arena);
}

static void how_the_source_wrote_it_does_not_matter(void **state)
{
	struct cell escaped[] = { { .kind = CELL_INT, .number = 7 },
		                  { .kind = CELL_TEXT, .is_escaped = true, .text = { "h\\u006fme", 9 } } };
	struct cell plain[] = { { .kind = CELL_INT, .number = 7 }, { .kind = CELL_TEXT, .text = { "home", 4 } } };
	struct arena *arena = arena_new(4096);

	(void)state;
	assert_true(span_equal(key_encode(&schema, escaped, arena), key_encode(&schema, plain, arena)));
	plain[1].text = SPAN("Home");
	assert_false(span_equal(key_encode(&schema, escaped, arena), key_encode(&schema, plain, arena)));
	arena_free(arena);
}

static void a_key_with_a_null_is_none(void **state)
{
	struct cell cells[] = { { .kind = CELL_INT, .number = 7 }, { .kind = CELL_NULL } };
	struct arena *arena = arena_new(4096);

	(void)state;
	assert_int_equal(key_encode(&schema, cells, arena).len, 0);
	cells[1].kind = CELL_UNAVAILABLE;
	assert_int_equal(key_encode(&schema, cells, arena).len, 0);
	arena_free(arena);
}

static void long_parts_and_empty_parts(void **state)
{
	static const size_t lengths[] = { 0, 1, 127, 128, 16383, 16384 };
	static char text[16384];
	struct arena *arena = arena_new(4096);

	(void)state;
	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct cell cells[] = { { .kind = CELL_INT, .number = -1 }, { .kind = CELL_TEXT, .text = { text, lengths[i] } } };
		struct span key = key_encode(&schema, cells, arena), texts[3];

		assert_true(key_decode(key, texts, 2));
		assert_int_equal(texts[1].len, lengths[i]);
		/* a key that was cut is none, wherever */
		for (size_t cut = 0; cut < key.len && cut < 200; cut++)
			assert_false(key_decode(span_make(key.at, cut), texts, 2));
		assert_false(key_decode(key, texts, 1));
		assert_false(key_decode(key, texts, 3));
	}
	assert_false(key_decode(SPAN("\x02\x01" "7"), (struct span[1]){ SPAN("") }, 1));
	assert_false(key_decode(SPAN("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), (struct span[1]){ SPAN("") }, 1));
	arena_free(arena);
}

static void columns_are_found_without_regard_to_case(void **state)
{
	static const char *const same[][2] = {
		{ "a", "A" }, { "\xc3\xa4", "\xc3\x84" }, { "\xd0\xb6", "\xd0\x96" }, { "\xce\xa9", "\xcf\x89" }, { "", "" },
		{ "\xff", "\xff" },
	};
	static const char *const different[][2] = {
		{ "a", "b" }, { "a", "ab" }, { "", "a" }, { "[", "{" }, { "@", "`" }, { "\xc3\x97", "\xc3\xb7" }, { "\xc3", "\xc3\xa4" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		assert_true(name_equal(span_of(same[i][0]), span_of(same[i][1])));
	for (size_t i = 0; i < sizeof(different) / sizeof(different[0]); i++)
		assert_false(name_equal(span_of(different[i][0]), span_of(different[i][1])));
	assert_int_equal(schema_find(&schema, SPAN("id")), 2);
	assert_int_equal(schema_find(&schema, SPAN("KIND")), 0);
	assert_int_equal(schema_find(&schema, SPAN("\xc3\xa4NDERN")), 1);
	assert_int_equal(schema_find(&schema, SPAN("id3")), -1);
}

static void a_copy_owns_its_texts(void **state)
{
	struct arena *arena = arena_new(4096);
	const struct table_schema *copy = schema_copy(arena, &schema);

	(void)state;
	assert_ptr_not_equal(copy->columns[0].name.at, columns[0].name.at);
	assert_ptr_not_equal(copy->keys, keys);
	assert_true(span_is(copy->columns[2].source_name, "ID"));
	assert_true(span_is(copy->source, "db.t"));
	assert_int_equal(copy->keys[0], 2);
	assert_int_equal(copy->version, 3);
	assert_int_equal(copy->count, 4);
	arena_free(arena);
}

/* A type as its schema node, its column, two spellings of one value in capitals or not, the text that the key has. */
static const struct {
	const char *node, *column, *one, *other;
	bool is_upper;
	const char *text;
} spelt[] = {
	{ "float", NULL, "0.1", "0.10000000149011612", false, "0.1" },
	{ "float", NULL, "3.40282e38", "3.40282e+38", false, "3.40282e+38" },
	{ "float", NULL, "16777216", "16777216.0", false, "16777216" },
	{ "float", NULL, "1.4e-45", "1.401298464324817e-45", false, "1e-45" },
	{ "float", NULL, "0.0", "-0.0", false, "0" },
	{ "float", NULL, "\"NaN\"", "\"NaN\"", false, "NaN" },
	{ "float", "STRING", "0.1", "0.10000000149011612", false, "0.1" },
	{ "io.debezium.data.Bits", NULL, "\"BQ==\"", "\"BQAAAA==\"", false, "BQ==" },
	{ "io.debezium.data.Bits", NULL, "\"\"", "\"AAA=\"", false, "" },
	{ "io.debezium.data.Uuid", NULL, "\"6F9619FF-8b86-d011-b42d-00c04fc964ff\"", "\"6f9619ff-8b86-d011-b42d-00c04fc964FF\"", false,
	  "6f9619ff-8b86-d011-b42d-00c04fc964ff" },
	{ "io.debezium.data.Uuid", NULL, "\"6f9619ff-8b86-d011-b42d-00c04fc964ff\"", "\"6F9619FF-8B86-D011-B42D-00C04FC964FF\"", true,
	  "6F9619FF-8B86-D011-B42D-00C04FC964FF" },
	{ "io.debezium.data.Enum", NULL, "\"x,y\"", "\"x\\\\,y\"", false, "x,y" },
	{ "io.debezium.data.Enum", NULL, "\"\"", "\"\"", false, "" },
	{ "io.debezium.time.ZonedTime", NULL, "\"10:15:30.5Z\"", "\"10:15:30.500000Z\"", false, "10:15:30.5Z" },
	{ "io.debezium.time.ZonedTime", NULL, "\"10:15:30.000+01:00\"", "\"10:15:30+01:00\"", false, "10:15:30+01:00" },
	{ "string", NULL, "\"A\\u0042 \"", "\"AB \"", false, "AB " },
};

static void one_value_has_one_spelling(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(spelt) / sizeof(spelt[0]); i++) {
		for (int second = 0; second < 2; second++) {
			struct trial t;
			struct span text;

			trial_run(&t, spelt[i].node, spelt[i].column, second ? spelt[i].other : spelt[i].one);
			assert_true(t.result == CONVERT_OK || strstr(spelt[i].text, "e-45"));
			key_spell(&t.cell, &t.from, spelt[i].is_upper, t.arena);
			assert_true(cell_text(&t.cell, &t.to, t.arena, &text));
			assert_string_equal(arena_printf(t.arena, "%.*s", SPAN_ARG(text)), spelt[i].text);
			trial_end(&t);
		}
	}
}

static void a_value_of_unknown_writing_stays_as_it_is(void **state)
{
	struct cell cell = { .kind = CELL_TEXT, .text = SPAN("0.100") }, number = { .kind = CELL_INT, .number = 7 };
	struct source_type from;
	struct arena *arena = arena_new(4096);

	(void)state;
	assert_true(source_type_named("float", &from));
	key_spell(&cell, NULL, false, arena);
	assert_true(span_is(cell.text, "0.100"));
	cell.text = SPAN("no number");
	key_spell(&cell, &from, false, arena);
	assert_true(span_is(cell.text, "no number"));
	key_spell(&number, &from, false, arena);
	assert_int_equal(number.number, 7);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_is_its_parts_with_their_lengths),
		cmocka_unit_test(how_the_source_wrote_it_does_not_matter),
		cmocka_unit_test(a_key_with_a_null_is_none),
		cmocka_unit_test(long_parts_and_empty_parts),
		cmocka_unit_test(columns_are_found_without_regard_to_case),
		cmocka_unit_test(a_copy_owns_its_texts),
		cmocka_unit_test(one_value_has_one_spelling),
		cmocka_unit_test(a_value_of_unknown_writing_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
