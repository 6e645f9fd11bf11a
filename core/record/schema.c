/*
 * Table schemas: copying one into another lifetime, and finding columns the way
 * BigQuery compares names, without regard to case.
 */
#include "record/schema.h"

struct bq_type bq_type_copy(struct arena *arena, const struct bq_type *type)
{
	struct bq_type copy = *type;
	struct bq_field *fields;

	if (!type->field_count)
		return copy;
	fields = arena_alloc(arena, type->field_count * sizeof(*fields));
	for (size_t i = 0; i < type->field_count; i++) {
		fields[i] = type->fields[i];
		fields[i].name = arena_copy(arena, type->fields[i].name);
		fields[i].type = bq_type_copy(arena, &type->fields[i].type);
	}
	copy.fields = fields;
	return copy;
}

static const struct column *columns_copy(struct arena *arena, const struct table_schema *schema)
{
	struct column *columns = arena_alloc(arena, schema->count * sizeof(*columns) + 1);

	for (size_t i = 0; i < schema->count; i++) {
		columns[i] = schema->columns[i];
		columns[i].name = arena_copy(arena, schema->columns[i].name);
		columns[i].source_name = arena_copy(arena, schema->columns[i].source_name);
		columns[i].type = bq_type_copy(arena, &schema->columns[i].type);
	}
	return columns;
}

const struct table_schema *schema_copy(struct arena *arena, const struct table_schema *schema)
{
	struct table_schema *copy = arena_alloc(arena, sizeof(*copy));
	uint16_t *keys = arena_alloc(arena, schema->key_count * sizeof(*keys) + 1);

	*copy = *schema;
	copy->source = arena_copy(arena, schema->source);
	copy->name = arena_copy(arena, schema->name);
	copy->dataset = arena_copy(arena, schema->dataset);
	copy->history = arena_copy(arena, schema->history);
	copy->columns = columns_copy(arena, schema);
	if (schema->key_count)
		memcpy(keys, schema->keys, schema->key_count * sizeof(*keys));
	copy->keys = keys;
	return copy;
}

/*
 * Simple case folding by ranges: `step` 1 moves every letter by `shift`, step 2
 * pairs an upper case letter at even (or odd, as `first` is) places with the
 * next one. Latin, Greek, Cyrillic, Armenian: the scripts that have case.
 */
static const struct fold {
	uint32_t first, last;
	uint32_t step, shift;
} folds[] = {
	{ 'A', 'Z', 1, 32 },         { 0x00C0, 0x00D6, 1, 32 },   { 0x00D8, 0x00DE, 1, 32 },   { 0x0100, 0x012E, 2, 1 },
	{ 0x0132, 0x0136, 2, 1 },    { 0x0139, 0x0147, 2, 1 },    { 0x014A, 0x0176, 2, 1 },    { 0x0179, 0x017D, 2, 1 },
	{ 0x01CD, 0x01DB, 2, 1 },    { 0x01DE, 0x01EE, 2, 1 },    { 0x01F8, 0x021E, 2, 1 },    { 0x0222, 0x0232, 2, 1 },
	{ 0x0388, 0x038A, 1, 37 },   { 0x0391, 0x03A1, 1, 32 },   { 0x03A3, 0x03AB, 1, 32 },   { 0x03D8, 0x03EE, 2, 1 },
	{ 0x0400, 0x040F, 1, 80 },   { 0x0410, 0x042F, 1, 32 },   { 0x0460, 0x0480, 2, 1 },    { 0x048A, 0x04BE, 2, 1 },
	{ 0x04C1, 0x04CD, 2, 1 },    { 0x04D0, 0x052E, 2, 1 },    { 0x0531, 0x0556, 1, 48 },   { 0x1E00, 0x1E94, 2, 1 },
	{ 0x1EA0, 0x1EFE, 2, 1 },    { 0xFF21, 0xFF3A, 1, 32 },   { 0x10400, 0x10427, 1, 40 },
};

static uint32_t fold_one(uint32_t c)
{
	for (size_t i = 0; i < sizeof(folds) / sizeof(folds[0]) && c >= folds[i].first; i++) {
		if (c <= folds[i].last && (c - folds[i].first) % folds[i].step == 0)
			return c + folds[i].shift;
	}
	return c;
}

/* The next character of UTF-8; broken bytes stand for themselves. */
static uint32_t take_char(struct span *rest)
{
	unsigned char lead = (unsigned char)*rest->at;
	size_t more = lead < 0xC0 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
	uint32_t c = more == 0 ? lead : lead & (0x3Fu >> more);

	if (more >= rest->len) {
		more = 0;
		c = lead;
	}
	for (size_t i = 1; i <= more; i++)
		c = c << 6 | ((unsigned char)rest->at[i] & 63);
	rest->at += more + 1;
	rest->len -= more + 1;
	return c;
}

static unsigned char fold_ascii(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

/* Of ASCII at a byte's price: a new table of thousands of columns compares each name with each. */
bool name_equal(struct span a, struct span b)
{
	while (a.len && b.len) {
		unsigned char x = (unsigned char)*a.at, y = (unsigned char)*b.at;

		if (x < 0x80 && y < 0x80) {
			if (fold_ascii(x) != fold_ascii(y))
				return false;
			a = span_make(a.at + 1, a.len - 1);
			b = span_make(b.at + 1, b.len - 1);
		} else if (fold_one(take_char(&a)) != fold_one(take_char(&b))) {
			return false;
		}
	}
	return !a.len && !b.len;
}

int schema_find(const struct table_schema *schema, struct span name)
{
	for (size_t i = 0; i < schema->count; i++) {
		if (span_equal(schema->columns[i].name, name))
			return (int)i;
	}
	for (size_t i = 0; i < schema->count; i++) {
		if (name_equal(schema->columns[i].name, name))
			return (int)i;
	}
	return -1;
}
