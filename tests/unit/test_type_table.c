/*
 * Every row of the type table at both ends of its range and one beyond each
 * (tests/fixtures/types.def): read, as JSON, as the Storage Write API's bytes, in a
 * column of text; and that no row of the table is left out.
 */
#include <time.h>

#include "base/hash.h"
#include "type_cases.h"
#include "type_help.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Handling modes of Debezium's connectors (spec/types.md 4): each must be a subject of the table. */
static const char *const modes[] = {
	"decimal.handling.mode=precise", "decimal.handling.mode=string", "decimal.handling.mode=double",
	"time.precision.mode=adaptive", "time.precision.mode=adaptive_time_microseconds", "time.precision.mode=connect",
	"time.precision.mode=isostring", "time.precision.mode=microseconds", "time.precision.mode=nanoseconds",
	"time.precision.mode=structured", "binary.handling.mode=bytes", "binary.handling.mode=base64",
	"binary.handling.mode=base64-url-safe", "binary.handling.mode=hex", "hstore.handling.mode=map",
	"hstore.handling.mode=json", "interval.handling.mode=numeric", "interval.handling.mode=string",
	"bigint.unsigned.handling.mode=precise", "bigint.unsigned.handling.mode=long",
};

static const struct {
	const char *name, *literal;
} rows[] = {
#define TYPE(name, literal, kind, is_array, reader, unit, note) { name, literal },
#include "record/types.def"
#undef TYPE
};

static const char *row_name(size_t i)
{
	return *rows[i].name ? rows[i].name : rows[i].literal;
}

/* All that is wrong is said in one run. */
static size_t faults;

static void say(const struct table_case *c, const char *what, struct span got, struct span meant)
{
	faults++;
	print_error("%s into %s: %s: %s: '%.*s', not '%.*s'\n", c->node, c->column, c->value, what, (int)got.len, got.at,
	            (int)meant.len, meant.at);
}

static void check_text(const struct table_case *c, const char *what, struct span got, struct span meant)
{
	if (!span_equal(got, meant))
		say(c, what, got, meant);
}

static void check_unread(const struct table_case *c)
{
	struct json_doc doc = { .tokens = NULL };
	size_t at;
	enum json_fault fault = json_parse(&doc, span_of(c->value), &at);

	if (fault == JSON_FINE)
		fail_msg("%s was read", c->value);
	assert_string_equal(json_fault_code(fault), c->code);
	json_doc_free(&doc);
}

/* Is the column that the table names the one that the type gets by itself? */
static void check_default(const struct table_case *c, struct trial *t)
{
	OWNED(text) printed = text_new(4096);
	struct bq_type type;

	if (*c->column != '=')
		return;
	type_default(&t->from, t->arena, &type);
	bq_type_print(printed, &type);
	check_text(c, "default column", text_span(printed), span_of(c->column + 1));
}

static struct span text_of(struct trial *t)
{
	struct span text;

	return cell_text(&t->cell, &t->to, t->arena, &text) ? text : SPAN("NULL");
}

/*
 * JSON of fullRecord, read again by our reader
 */

/* "NaN" equals itself. */
static bool same_real(struct span a, struct span b, struct arena *arena)
{
	return span_equal(a, b) || strtod(arena_string(arena, a), NULL) == strtod(arena_string(arena, b), NULL);
}

static struct span token_text(const struct json_doc *doc, uint32_t token, struct arena *arena)
{
	return json_is(doc, token, JSON_STRING) ? json_text(doc, token, arena) : json_slice(doc, token);
}

static void check_json(const struct table_case *c, struct trial *t)
{
	char *json = arena_bytes(t->arena, cell_json_room(&t->cell));
	struct span text = span_make(json, (size_t)(cell_json(&t->cell, &t->to, json) - json)), back;
	struct json_doc doc = { .tokens = NULL };
	size_t at;

	assert_true(text.len <= cell_json_room(&t->cell));
	assert_int_equal(json_parse(&doc, text, &at), JSON_FINE);
	back = token_text(&doc, 0, t->arena);
	if (t->to.kind == BQ_FLOAT64 && !t->to.is_array ? !same_real(back, c->text, t->arena) : !span_equal(back, c->text))
		say(c, "JSON", back, c->text);
	json_doc_free(&doc);
}

/*
 * Storage Write bytes, read again by a reader that has nothing of the writer
 */

struct wire {
	const unsigned char *at, *end;
};

static uint64_t take_varint(struct wire *w)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		assert_true(w->at < w->end);
		value |= (uint64_t)(*w->at & 127) << shift;
		if (*w->at++ < 128)
			break;
	}
	return value;
}

static struct span take_bytes(struct wire *w)
{
	uint64_t len = take_varint(w);
	struct span bytes = { (const char *)w->at, len };

	assert_true(len <= (uint64_t)(w->end - w->at));
	w->at += len;
	return bytes;
}

static struct span clock_text(struct arena *arena, unsigned hour, unsigned minute, unsigned second, unsigned us)
{
	return span_of(us ? arena_printf(arena, "%02u:%02u:%02u.%06u", hour, minute, second, us)
	                  : arena_printf(arena, "%02u:%02u:%02u", hour, minute, second));
}

static struct span packed_clock(struct arena *arena, uint64_t packed)
{
	return clock_text(arena, packed >> 32 & 31, packed >> 26 & 63, packed >> 20 & 63, packed & 0xfffff);
}

/* By the C library's calendar. */
static struct span calendar_text(struct arena *arena, enum bq_kind kind, int64_t number)
{
	int64_t second = kind == BQ_DATE ? number * 86400 : number / 1000000 - (number % 1000000 < 0);
	time_t when = second;
	struct tm tm;
	struct span clock;

	assert_non_null(gmtime_r(&when, &tm));
	if (kind == BQ_DATE)
		return span_of(arena_printf(arena, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday));
	clock = clock_text(arena, (unsigned)tm.tm_hour, (unsigned)tm.tm_min, (unsigned)tm.tm_sec,
	                   (unsigned)(number - second * 1000000));
	return span_of(arena_printf(arena, "%04d-%02d-%02d %.*s+00", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
	                            (int)clock.len, clock.at));
}

static struct span scalar_text(struct arena *arena, enum bq_kind kind, struct wire *w)
{
	uint64_t bits = 0;
	double real;
	char *text;

	if (kind == BQ_FLOAT64) {
		assert_true(w->end - w->at >= 8);
		for (unsigned i = 0; i < 8; i++)
			bits |= (uint64_t)*w->at++ << (8 * i);
		memcpy(&real, &bits, sizeof(real));
		return span_of(real != real ? "NaN" : arena_printf(arena, "%.17g", real));
	}
	if (kind == BQ_INT64)
		return span_of(arena_printf(arena, "%lld", (long long)take_varint(w)));
	if (kind == BQ_BOOL)
		return take_varint(w) ? SPAN("true") : SPAN("false");
	if (kind == BQ_DATE || kind == BQ_TIMESTAMP)
		return calendar_text(arena, kind, (int64_t)take_varint(w));
	if (kind == BQ_TIME)
		return packed_clock(arena, take_varint(w));
	if (kind == BQ_DATETIME) {
		uint64_t packed = take_varint(w);
		struct span clock = packed_clock(arena, packed);

		return span_of(arena_printf(arena, "%04u-%02u-%02uT%.*s", (unsigned)(packed >> 46), (unsigned)(packed >> 42 & 15),
		                            (unsigned)(packed >> 37 & 31), (int)clock.len, clock.at));
	}
	struct span bytes = take_bytes(w);

	if (kind != BQ_BYTES)
		return bytes;
	text = arena_bytes(arena, base64_room(bytes.len) + 1);
	return span_make(text, base64_encode(bytes, text));
}

/* A message of two fields, each there or not. */
static struct span range_wire_text(struct arena *arena, enum bq_kind kind, struct wire *w)
{
	static const enum bq_kind elements[BQ_KINDS] = { [BQ_RANGE_DATE] = BQ_DATE, [BQ_RANGE_DATETIME] = BQ_DATETIME,
		                                         [BQ_RANGE_TIMESTAMP] = BQ_TIMESTAMP };
	struct span bytes = take_bytes(w), ends[2] = { SPAN("UNBOUNDED"), SPAN("UNBOUNDED") };
	struct wire inner = { (const unsigned char *)bytes.at, (const unsigned char *)bytes.at + bytes.len };

	while (inner.at < inner.end) {
		uint64_t tag = take_varint(&inner);

		assert_true(tag == (1 << 3) || tag == (2 << 3));
		ends[(tag >> 3) - 1] = scalar_text(arena, elements[kind], &inner);
	}
	return span_of(arena_printf(arena, "[%.*s, %.*s)", (int)ends[0].len, ends[0].at, (int)ends[1].len, ends[1].at));
}

static void check_field(const struct table_case *c, struct arena *arena, const struct bq_type *type,
                        const struct json_doc *doc, uint32_t token, unsigned number, struct wire *w)
{
	struct bq_type element = *type;

	if (json_is(doc, token, JSON_NULL))
		return;
	element.is_array = false;
	if (type->is_array) {
		for (uint32_t t = token + 1; t < doc->tokens[token].next; t = doc->tokens[t].next)
			check_field(c, arena, &element, doc, t, number, w);
		return;
	}
	bool is_eight = type->kind == BQ_FLOAT64;
	bool is_number = is_eight || type->kind == BQ_INT64 || type->kind == BQ_BOOL || type->kind == BQ_DATE ||
	                 type->kind == BQ_TIME || type->kind == BQ_DATETIME || type->kind == BQ_TIMESTAMP;

	assert_int_equal(take_varint(w), number << 3 | (is_eight ? 1 : is_number ? 0 : 2));
	if (type->kind == BQ_STRUCT) {
		struct span bytes = take_bytes(w);
		struct wire inner = { (const unsigned char *)bytes.at, (const unsigned char *)bytes.at + bytes.len };

		for (size_t i = 0; i < type->field_count; i++)
			check_field(c, arena, &type->fields[i].type, doc, json_member(doc, token, type->fields[i].name),
			            (unsigned)i + 1, &inner);
		assert_ptr_equal(inner.at, inner.end);
		return;
	}
	bool is_range = type->kind == BQ_RANGE_DATE || type->kind == BQ_RANGE_DATETIME || type->kind == BQ_RANGE_TIMESTAMP;
	struct span got = is_range ? range_wire_text(arena, type->kind, w) : scalar_text(arena, type->kind, w);
	struct span meant = token_text(doc, token, arena);

	if (is_eight ? !same_real(got, meant, arena) : !span_equal(got, meant))
		say(c, "protobuf", got, meant);
}

static void check_proto(const struct table_case *c, struct trial *t)
{
	char *proto = arena_bytes(t->arena, cell_proto_room(&t->cell));
	char *end = cell_proto(&t->cell, &t->to, 3, proto), *json;
	struct wire w = { (const unsigned char *)proto, (const unsigned char *)end };
	struct json_doc doc = { .tokens = NULL };
	bool is_nested = t->cell.kind == CELL_JSON;
	size_t at;

	assert_true((size_t)(end - proto) <= cell_proto_room(&t->cell));
	json = arena_bytes(t->arena, cell_json_room(&t->cell));
	struct span text = span_make(json, (size_t)(cell_json(&t->cell, &t->to, json) - json));

	assert_int_equal(json_parse(&doc, is_nested ? t->cell.text : text, &at), JSON_FINE);
	check_field(c, t->arena, &t->to, &doc, 0, 3, &w);
	assert_ptr_equal(w.at, w.end);
	json_doc_free(&doc);
}

/* What a quick reader takes is what the slow one says. */
static void check_quick(const struct table_case *c, struct trial *t)
{
	struct type_quick quick = type_quick(&t->from, &t->to);
	struct cell cell;
	struct span text;

	if (json_is(&t->value, 0, JSON_NULL) || !quick.read || !quick.read(&quick, &t->value, 0, t->arena, &cell))
		return;
	assert_int_equal(t->result, CONVERT_OK);
	assert_true(cell_text(&cell, &t->to, t->arena, &text));
	check_text(c, "quick", text, c->text);
}

static void check_beyond(const struct table_case *c)
{
	struct trial t;

	trial_run(&t, c->node, "STRING", c->value);
	if (t.result != CONVERT_OK)
		say(c, "a column of text refused it", span_of(t.fault.message), c->beyond);
	else
		check_text(c, "in a column of text", text_of(&t), c->beyond);
	trial_end(&t);
}

static void check_row(const struct table_case *c)
{
	static const enum convert_result results[] = { CONVERT_OK, CONVERT_OUT_OF_RANGE, CONVERT_MISMATCH };
	struct trial t;

	trial_run(&t, c->node, case_column(c), c->value);
	check_default(c, &t);
	if (t.result != results[c->outcome]) {
		say(c, "result", span_of(t.fault.message ? t.fault.message : "no fault"), span_of(c->code ? c->code : "fine"));
		trial_end(&t);
		return;
	}
	if (c->code)
		check_text(c, "reason", span_of(t.fault.code), span_of(c->code));
	if (c->outcome != IS_BAD)
		check_text(c, "text", text_of(&t), c->text);
	check_quick(c, &t);
	if (c->outcome != IS_BAD && !case_is_null(c)) {
		check_json(c, &t);
		check_proto(c, &t);
	}
	trial_end(&t);
	if (c->outcome == IS_OUT)
		check_beyond(c);
}

static void each_value_is_what_the_table_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE_CASES; i++) {
		if (table_cases[i].outcome == IS_UNREAD)
			check_unread(&table_cases[i]);
		else if (table_cases[i].outcome != IS_SUBJECT)
			check_row(&table_cases[i]);
	}
	assert_int_equal(faults, 0);
}

/* An end counts only as what it is: both ends convert, one beyond does not. */
static bool counts(const struct table_case *c)
{
	return c->outcome != IS_SUBJECT && (c->outcome == IS_FINE) == (c->end == LOWEST || c->end == HIGHEST);
}

static void check_ends(const char *what, const bool ends[ENDS])
{
	static const char *const names[ENDS] = { "", "lowest", "highest", "below", "above" };

	for (size_t i = LOWEST; i < ENDS; i++) {
		if (!ends[i])
			fail_msg("tests/fixtures/types.def: %s has no row of its %s", what, names[i]);
	}
}

static void every_row_of_the_type_table_has_its_ends(void **state)
{
	bool ends[COUNT(rows)][ENDS] = { { false } };

	(void)state;
	for (size_t i = 0; i < TABLE_CASES; i++) {
		struct trial t;

		if (!counts(&table_cases[i]))
			continue;
		trial_run(&t, table_cases[i].node, NULL, "null");
		for (size_t k = 0; k < COUNT(rows); k++)
			ends[k][table_cases[i].end] |= strcmp(source_type_name(&t.from), row_name(k)) == 0;
		trial_end(&t);
	}
	for (size_t k = 0; k < COUNT(rows); k++)
		check_ends(row_name(k), ends[k]);
}

static void every_subject_has_its_ends(void **state)
{
	bool ends[ENDS] = { false };
	const char *subject = NULL;

	(void)state;
	for (size_t i = 0; i < TABLE_CASES; i++) {
		if (table_cases[i].outcome != IS_SUBJECT) {
			ends[table_cases[i].end] |= counts(&table_cases[i]);
			continue;
		}
		if (subject)
			check_ends(subject, ends);
		subject = table_cases[i].node;
		memset(ends, 0, sizeof(ends));
	}
	check_ends(subject, ends);
}

static void every_handling_mode_is_a_subject(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT(modes); k++) {
		bool is_there = false;

		for (size_t i = 0; i < TABLE_CASES; i++)
			is_there |= table_cases[i].outcome == IS_SUBJECT && strcmp(table_cases[i].node, modes[k]) == 0;
		if (!is_there)
			fail_msg("tests/fixtures/types.def: nothing about %s", modes[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_is_what_the_table_says),
		cmocka_unit_test(every_row_of_the_type_table_has_its_ends),
		cmocka_unit_test(every_subject_has_its_ends),
		cmocka_unit_test(every_handling_mode_is_a_subject),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
