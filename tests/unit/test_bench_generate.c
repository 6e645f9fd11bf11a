/* The generator of benchmark feeds: what it makes must be real, distinct, and the same every time. */
#include "base/arena.h"
#include "base/file.h"
#include "base/span.h"
#include "bench/generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#define ROWS 20
#define LINES 200

static struct generator *make(uint64_t seed, bool has_schema)
{
	struct generator_setup setup = { .seed = seed, .rows = ROWS, .has_schema = has_schema };

	return generator_new(&setup);
}

static json_t *line_json(const struct generator *generator, uint64_t number)
{
	char line[GENERATE_LINE_BYTES];
	size_t len = generator_line(generator, number, line);
	json_t *json = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);

	assert_true(len < GENERATE_LINE_BYTES);
	assert_int_equal(line[len - 1], '\n');
	assert_null(memchr(line, '\n', len - 1));
	assert_non_null(json);
	return json;
}

/* The payload of a message, lent. */
static json_t *change(json_t *line, bool has_schema)
{
	json_t *data = json_object_get(line, "data");

	return has_schema ? json_object_get(data, "payload") : data;
}

static int64_t number_at(json_t *object, const char *first, const char *second)
{
	return json_integer_value(json_object_get(json_object_get(object, first), second));
}

static void the_same_seed_gives_the_same_lines(void **state)
{
	struct generator *one = make(1, false), *again = make(1, false), *other = make(2, false);
	char a[GENERATE_LINE_BYTES], b[GENERATE_LINE_BYTES];
	(void)state;

	/* in another order, too */
	for (uint64_t i = 0; i < LINES; i++) {
		uint64_t number = LINES - 1 - i;
		size_t len = generator_line(one, number, a);

		assert_true(span_equal(span_make(a, len), span_make(b, generator_line(again, number, b))));
		assert_false(span_equal(span_make(a, len), span_make(b, generator_line(other, number, b))));
	}
	generator_free(one);
	generator_free(again);
	generator_free(other);
}

static void every_line_is_valid_and_later_than_the_one_before(void **state)
{
	(void)state;
	for (int has_schema = 0; has_schema < 2; has_schema++) {
		struct generator *generator = make(GENERATE_SEED, has_schema);
		int64_t before = 0;

		for (uint64_t i = 0; i < LINES; i++) {
			json_t *line = line_json(generator, i);
			int64_t lsn = number_at(change(line, has_schema), "source", "lsn");

			assert_true(lsn > before);
			before = lsn;
			json_decref(line);
		}
		generator_free(generator);
	}
}

static void a_message_has_about_0_86_kb_and_a_schema_block_3_5_kb(void **state)
{
	struct generator *plain = make(GENERATE_SEED, false), *blocks = make(GENERATE_SEED, true);
	size_t bytes = 0, block_bytes = 0;
	(void)state;

	for (uint64_t i = 0; i < LINES; i++) {
		json_t *line = line_json(plain, i), *big = line_json(blocks, i);
		json_t *block = json_object_get(json_object_get(big, "data"), "schema");

		bytes += json_dumpb(change(line, false), NULL, 0, JSON_COMPACT);
		block_bytes += json_dumpb(block, NULL, 0, JSON_COMPACT);
		json_decref(line);
		json_decref(big);
	}
	assert_in_range(bytes / LINES, 830, 890);
	assert_in_range(block_bytes / LINES, 3300, 3600);
	generator_free(plain);
	generator_free(blocks);
}

static void first_each_row_is_inserted_then_rows_are_updated(void **state)
{
	struct generator *generator = make(GENERATE_SEED, false);
	bool is_met[ROWS + 1] = { false };
	size_t met = 0;
	(void)state;

	for (uint64_t i = 0; i < LINES; i++) {
		json_t *line = line_json(generator, i);
		int64_t id = number_at(change(line, false), "after", "id");
		const char *op = json_string_value(json_object_get(change(line, false), "op"));

		assert_in_range(id, 1, ROWS);
		assert_string_equal(op, i < ROWS ? "c" : "u");
		if (i < ROWS)
			assert_int_equal(id, i + 1);
		else if (!is_met[id])
			met++;
		is_met[id] = is_met[id] || i >= ROWS;
		json_decref(line);
	}
	assert_int_equal(met, ROWS);
	generator_free(generator);
}

static void the_key_is_the_id_of_the_row(void **state)
{
	(void)state;
	for (int has_schema = 0; has_schema < 2; has_schema++) {
		struct generator *generator = make(GENERATE_SEED, has_schema);
		json_t *line = line_json(generator, ROWS + 7);
		json_t *key = json_loads(json_string_value(json_object_get(line, "key")), 0, NULL);
		json_t *payload = has_schema ? json_object_get(key, "payload") : key;

		assert_non_null(payload);
		assert_int_equal(json_integer_value(json_object_get(payload, "id")),
		                 number_at(change(line, has_schema), "after", "id"));
		json_decref(key);
		json_decref(line);
		generator_free(generator);
	}
}

static void messages_with_schema_blocks_are_of_several_tables(void **state)
{
	struct generator *generator = make(GENERATE_SEED, true);
	json_t *tables = json_object();
	(void)state;

	for (uint64_t i = 0; i < LINES; i++) {
		json_t *line = line_json(generator, i);
		json_t *source = json_object_get(change(line, true), "source");

		json_object_set_new(tables, json_string_value(json_object_get(source, "table")), json_true());
		json_decref(line);
	}
	assert_int_equal(json_object_size(tables), 8);
	json_decref(tables);
	generator_free(generator);
}

static void a_feed_can_be_appended_to(void **state)
{
	struct generator *generator = make(GENERATE_SEED, false);
	char folder[] = "/tmp/weir-test-XXXXXX", line[GENERATE_LINE_BYTES], *text, *path;
	atomic_bool no = false;
	struct generator_span first = { 0, 2, &no }, second = { 2, 1, &no };
	struct error err = { 0 };
	size_t len, at = 0;
	(void)state;

	assert_non_null(mkdtemp(folder));
	path = path_join(folder, "feed.jsonl");
	assert_true(generator_append(generator, path, &first, &err));
	assert_true(generator_append(generator, path, &second, &err));
	assert_true(file_read(path, 1u << 20, &text, &len, &err));
	for (uint64_t i = 0; i < 3; i++) {
		size_t line_len = generator_line(generator, i, line);

		assert_true(at + line_len <= len && memcmp(text + at, line, line_len) == 0);
		at += line_len;
	}
	assert_int_equal(at, len);
	free(text);
	unlink(path);
	rmdir(folder);
	free(path);
	generator_free(generator);
}

static void an_interrupted_generator_says_so(void **state)
{
	struct generator *generator = make(GENERATE_SEED, false);
	atomic_bool yes = true;
	struct generator_span span = { 0, 5000, &yes };
	struct error err = { 0 };
	(void)state;

	assert_false(generator_append(generator, "/dev/null", &span, &err));
	assert_string_equal(err.code, "cancelled");
	generator_free(generator);
}

static void the_source_schema_names_every_column_of_a_row(void **state)
{
	struct generator *generator = make(GENERATE_SEED, false);
	char folder[] = "/tmp/weir-test-XXXXXX", *path;
	struct error err = { 0 };
	json_t *line, *schema, *columns, *value;
	const char *name;
	(void)state;

	assert_non_null(mkdtemp(folder));
	path = path_join(folder, "schema.json");
	assert_true(generator_source_schema(path, &err));
	assert_non_null(schema = json_load_file(path, JSON_REJECT_DUPLICATES, NULL));
	line = line_json(generator, 0);
	columns = json_object_get(json_object_get(schema, "orders"), "columns");
	json_object_foreach(json_object_get(change(line, false), "after"), name, value)
		assert_non_null(json_object_get(columns, name));
	assert_int_equal(json_object_size(columns), json_object_size(json_object_get(change(line, false), "after")));
	json_decref(line);
	json_decref(schema);
	unlink(path);
	rmdir(folder);
	free(path);
	generator_free(generator);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_seed_gives_the_same_lines),
		cmocka_unit_test(every_line_is_valid_and_later_than_the_one_before),
		cmocka_unit_test(a_message_has_about_0_86_kb_and_a_schema_block_3_5_kb),
		cmocka_unit_test(first_each_row_is_inserted_then_rows_are_updated),
		cmocka_unit_test(the_key_is_the_id_of_the_row),
		cmocka_unit_test(messages_with_schema_blocks_are_of_several_tables),
		cmocka_unit_test(a_feed_can_be_appended_to),
		cmocka_unit_test(an_interrupted_generator_says_so),
		cmocka_unit_test(the_source_schema_names_every_column_of_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
