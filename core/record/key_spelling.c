/*
 * One spelling a value: where a source may write one value of a key in several
 * ways (a snapshot and the log often do), the key has the one that is chosen here.
 * Types whose cell is the value itself (numbers, times, decimals) need none.
 */
#include "record/key.h"

#include "record/type_private.h"

#include <math.h>
#include <stdlib.h>

#define FLOAT_DIGITS_MAX 9 /* always enough for 32 bits */

/* 0.10000000149011612 is the 32-bit 0.1, as the snapshot may have it: the double of its shortest text. */
static double float_widened(double real)
{
	char text[REAL_TEXT_BYTES];
	float narrow = (float)real;

	for (int digits = 1; digits <= FLOAT_DIGITS_MAX; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, (double)narrow);
		if (strtof(text, NULL) == narrow)
			break;
	}
	return strtod(text, NULL);
}

static bool float_is_narrow(double real)
{
	return isfinite(real) && isfinite((float)real);
}

static void spell_float(struct cell *cell, bool is_upper, struct arena *arena)
{
	(void)is_upper;
	double real = cell->real;
	char *text;

	if (cell->kind == CELL_TEXT && !real_parse(cell_plain(cell, arena), arena, &real))
		return;
	if (!float_is_narrow(real))
		return;
	real = float_widened(real);
	if (cell->kind == CELL_REAL) {
		*cell = (struct cell){ .kind = CELL_REAL, .real = real };
		return;
	}
	text = arena_bytes(arena, REAL_TEXT_BYTES);
	*cell = (struct cell){ .kind = CELL_TEXT, .text = span_make(text, (size_t)(real_print(real, text) - text)) };
}

/* Little endian: zero bytes at the end are kept by one connector and cut by another. */
static void spell_bits(struct cell *cell, bool is_upper, struct arena *arena)
{
	(void)is_upper, (void)arena;
	while (cell->kind == CELL_BYTES && cell->text.len && !cell->text.at[cell->text.len - 1])
		cell->text.len--;
}

static void text_copy(struct cell *cell, struct arena *arena, char **out_at, size_t *out_len)
{
	struct span plain = cell_plain(cell, arena);

	*out_len = plain.len;
	*out_at = arena_bytes(arena, plain.len + 1);
	if (plain.len)
		memcpy(*out_at, plain.at, plain.len);
	*cell = (struct cell){ .kind = CELL_TEXT, .text = span_make(*out_at, plain.len) };
}

/* SQL Server shows its own in capitals, all others in small letters: the replica shows what the source does. */
static void spell_uuid(struct cell *cell, bool is_upper, struct arena *arena)
{
	char from = is_upper ? 'a' : 'A';
	size_t len;
	char *at;

	text_copy(cell, arena, &at, &len);
	for (size_t i = 0; i < len; i++)
		at[i] = at[i] >= from && at[i] <= from + 25 ? (char)(at[i] ^ 32) : at[i];
}

/* A comma inside a value of an ENUM comes from MariaDB's log as "x\,y", and from its snapshot as "x,y". */
static void spell_enum(struct cell *cell, bool is_upper, struct arena *arena)
{
	size_t len, kept = 0;
	char *at;

	(void)is_upper;
	text_copy(cell, arena, &at, &len);
	for (size_t i = 0; i < len; i++) {
		if (at[i] == '\\' && i + 1 < len && at[i + 1] == ',')
			continue;
		at[kept++] = at[i];
	}
	cell->text.len = kept;
}

/* "10:15:30.500000Z" is "10:15:30.5Z". */
static void spell_zoned_time(struct cell *cell, bool is_upper, struct arena *arena)
{
	char *at, *point, *end;
	size_t len, digits = 0;

	(void)is_upper;
	text_copy(cell, arena, &at, &len);
	point = len ? memchr(at, '.', len) : NULL;
	if (!point)
		return;
	for (end = point + 1; end < at + len && *end >= '0' && *end <= '9'; end++) {
		if (*end != '0')
			digits = (size_t)(end - point);
	}
	char *cut = digits ? point + digits + 1 : point;

	memmove(cut, end, (size_t)(at + len - end));
	cell->text.len = len - (size_t)(end - cut);
}

static const struct spelling {
	const char *name, *literal; /* as in types.def */
	enum cell_kind kind;
	void (*spell)(struct cell *cell, bool is_upper, struct arena *arena);
} spellings[] = {
	{ "", "float", CELL_REAL, spell_float },
	{ "", "float", CELL_TEXT, spell_float },
	{ "io.debezium.data.Bits", "bytes", CELL_BYTES, spell_bits },
	{ "io.debezium.data.Uuid", "string", CELL_TEXT, spell_uuid },
	{ "io.debezium.data.Enum", "string", CELL_TEXT, spell_enum },
	{ "io.debezium.time.ZonedTime", "string", CELL_TEXT, spell_zoned_time },
};

void key_spell(struct cell *cell, const struct source_type *from, bool is_upper, struct arena *arena)
{
	if (!from || cell->kind == CELL_INT)
		return;
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		const struct spelling *s = &spellings[i];

		if (s->kind == cell->kind && strcmp(s->literal, from->row->literal) == 0 && strcmp(s->name, from->row->name) == 0) {
			s->spell(cell, is_upper, arena);
			return;
		}
	}
}
