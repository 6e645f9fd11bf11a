/*
 * What becomes of a column's values when a statement gives it another type: the
 * server converts them in place, and no event tells of it. A table of pairs; what
 * stands nowhere in it is kept, and that is said.
 *
 * A spec is a list of steps for the sink (sink/local_cast.c), joined by '+'. In the
 * table a capital letter stands for what the definition says:
 *   S  digits behind the point    L  characters         N  the type's width in bytes
 *   F  digits of a second         E  values of a list   W  digits behind the old point
 *   U  "up" where the server rounds fractions of seconds (MySQL), nothing where it cuts them (MariaDB)
 */
#include "transform/ddl_private.h"
#include "transform/ddl_value.h"

#include "base/clean.h"

#define SPEC_BYTES_MAX (64u << 10)

/* Where a value may come from, and what its new type is of. */
enum {
	WAS_ANY,
	WAS_SINGLE, /* a FLOAT of four bytes */
	WAS_LIST,   /* ENUM, SET */
};

struct pair {
	enum bq_kind from;
	uint8_t was;
	enum ddl_family to;
	const char *spec; /* NULL: kept */
	const char *why;
};

#define ZONE "it goes by the time zone of the source's session"
#define NUMBERED "it becomes the number of the value in the list"
#define FORMATTED "how many digits its text has, only the source knows"

static const struct pair pairs[] = {
	{ BQ_INT64, WAS_ANY, FAMILY_INTEGER, "N", NULL },
	{ BQ_INT64, WAS_ANY, FAMILY_DECIMAL, "", NULL },
	{ BQ_INT64, WAS_ANY, FAMILY_DOUBLE, "double", NULL },
	{ BQ_INT64, WAS_ANY, FAMILY_FLOAT, "float", NULL },
	{ BQ_INT64, WAS_ANY, FAMILY_YEAR, "year", NULL },
	{ BQ_INT64, WAS_ANY, FAMILY_CHAR, "L", NULL },
	{ BQ_INT64, WAS_ANY, FAMILY_VARCHAR, "L", NULL },
	{ BQ_INT64, WAS_ANY, FAMILY_TEXT, "", NULL },
	{ BQ_INT64, WAS_ANY, FAMILY_ENUM, "index:E", NULL },
	{ BQ_BOOL, WAS_ANY, FAMILY_INTEGER, "truth", NULL },
	{ BQ_BOOL, WAS_ANY, FAMILY_DECIMAL, "truth", NULL },
	{ BQ_BOOL, WAS_ANY, FAMILY_DOUBLE, "truth", NULL },
	{ BQ_BOOL, WAS_ANY, FAMILY_FLOAT, "truth", NULL },
	{ BQ_FLOAT64, WAS_ANY, FAMILY_INTEGER, "rint+N", NULL },
	{ BQ_FLOAT64, WAS_ANY, FAMILY_DECIMAL, "decimal:S", NULL },
	{ BQ_FLOAT64, WAS_SINGLE, FAMILY_DECIMAL, "single+decimal:S", NULL },
	{ BQ_FLOAT64, WAS_ANY, FAMILY_DOUBLE, "", NULL },
	{ BQ_FLOAT64, WAS_SINGLE, FAMILY_DOUBLE, "single", NULL },
	{ BQ_FLOAT64, WAS_ANY, FAMILY_FLOAT, "float", NULL },
	{ BQ_FLOAT64, WAS_ANY, FAMILY_CHAR, "gtext+L", NULL },
	{ BQ_FLOAT64, WAS_ANY, FAMILY_VARCHAR, "gtext+L", NULL },
	{ BQ_FLOAT64, WAS_ANY, FAMILY_TEXT, "gtext", NULL },
	{ BQ_FLOAT64, WAS_SINGLE, FAMILY_CHAR, "gtext:6+L", NULL },
	{ BQ_FLOAT64, WAS_SINGLE, FAMILY_VARCHAR, "gtext:6+L", NULL },
	{ BQ_FLOAT64, WAS_SINGLE, FAMILY_TEXT, "gtext:6", NULL },
	{ BQ_NUMERIC, WAS_ANY, FAMILY_INTEGER, "decimal:0+N", NULL },
	{ BQ_NUMERIC, WAS_ANY, FAMILY_DECIMAL, "decimal:S", NULL },
	{ BQ_NUMERIC, WAS_ANY, FAMILY_DOUBLE, "double", NULL },
	{ BQ_NUMERIC, WAS_ANY, FAMILY_FLOAT, "float", NULL },
	{ BQ_NUMERIC, WAS_ANY, FAMILY_CHAR, "fixed:W+L", FORMATTED },
	{ BQ_NUMERIC, WAS_ANY, FAMILY_VARCHAR, "fixed:W+L", FORMATTED },
	{ BQ_NUMERIC, WAS_ANY, FAMILY_TEXT, "fixed:W", FORMATTED },
	{ BQ_STRING, WAS_ANY, FAMILY_INTEGER, "decimal:0+N", NULL },
	{ BQ_STRING, WAS_ANY, FAMILY_DECIMAL, "decimal:S", NULL },
	{ BQ_STRING, WAS_ANY, FAMILY_DOUBLE, "double", NULL },
	{ BQ_STRING, WAS_ANY, FAMILY_FLOAT, "float", NULL },
	{ BQ_STRING, WAS_LIST, FAMILY_INTEGER, NULL, NUMBERED },
	{ BQ_STRING, WAS_LIST, FAMILY_DECIMAL, NULL, NUMBERED },
	{ BQ_STRING, WAS_LIST, FAMILY_DOUBLE, NULL, NUMBERED },
	{ BQ_STRING, WAS_LIST, FAMILY_FLOAT, NULL, NUMBERED },
	{ BQ_STRING, WAS_ANY, FAMILY_CHAR, "L", NULL },
	{ BQ_STRING, WAS_ANY, FAMILY_VARCHAR, "L", NULL },
	{ BQ_STRING, WAS_ANY, FAMILY_TEXT, "", NULL },
	{ BQ_STRING, WAS_ANY, FAMILY_ENUM, "enum:E", NULL },
	{ BQ_STRING, WAS_ANY, FAMILY_SET, "set:E", NULL },
	{ BQ_STRING, WAS_ANY, FAMILY_UUID, "", NULL },
	{ BQ_STRING, WAS_ANY, FAMILY_DATE, "dateU", NULL },
	{ BQ_STRING, WAS_ANY, FAMILY_DATETIME, "datetime+fractionU:F", NULL },
	{ BQ_STRING, WAS_ANY, FAMILY_TIME, "fractionU:F", NULL },
	{ BQ_BYTES, WAS_ANY, FAMILY_BLOB, "", NULL },
	{ BQ_DATE, WAS_ANY, FAMILY_DATE, "", NULL },
	{ BQ_DATE, WAS_ANY, FAMILY_DATETIME, "datetime", NULL },
	{ BQ_DATE, WAS_ANY, FAMILY_INTEGER, "digits", NULL },
	{ BQ_DATE, WAS_ANY, FAMILY_CHAR, "L", NULL },
	{ BQ_DATE, WAS_ANY, FAMILY_VARCHAR, "L", NULL },
	{ BQ_DATE, WAS_ANY, FAMILY_TEXT, "", NULL },
	{ BQ_DATE, WAS_ANY, FAMILY_TIMESTAMP, NULL, ZONE },
	{ BQ_DATETIME, WAS_ANY, FAMILY_DATETIME, "fractionU:F", NULL },
	{ BQ_DATETIME, WAS_ANY, FAMILY_DATE, "dateU", NULL },
	{ BQ_DATETIME, WAS_ANY, FAMILY_TIMESTAMP, NULL, ZONE },
	{ BQ_DATETIME, WAS_ANY, FAMILY_CHAR, NULL, FORMATTED },
	{ BQ_DATETIME, WAS_ANY, FAMILY_VARCHAR, NULL, FORMATTED },
	{ BQ_DATETIME, WAS_ANY, FAMILY_TEXT, NULL, FORMATTED },
	{ BQ_TIME, WAS_ANY, FAMILY_TIME, "fractionU:F", NULL },
	{ BQ_TIME, WAS_ANY, FAMILY_CHAR, NULL, FORMATTED },
	{ BQ_TIME, WAS_ANY, FAMILY_VARCHAR, NULL, FORMATTED },
	{ BQ_TIME, WAS_ANY, FAMILY_TEXT, NULL, FORMATTED },
	{ BQ_TIMESTAMP, WAS_ANY, FAMILY_TIMESTAMP, "fractionU:F", NULL },
	{ BQ_TIMESTAMP, WAS_ANY, FAMILY_DATETIME, NULL, ZONE },
	{ BQ_TIMESTAMP, WAS_ANY, FAMILY_DATE, NULL, ZONE },
	{ BQ_TIMESTAMP, WAS_ANY, FAMILY_TIME, NULL, ZONE },
	{ BQ_TIMESTAMP, WAS_ANY, FAMILY_VARCHAR, NULL, ZONE },
	{ BQ_TIMESTAMP, WAS_ANY, FAMILY_CHAR, NULL, ZONE },
	{ BQ_TIMESTAMP, WAS_ANY, FAMILY_TEXT, NULL, ZONE },
	{ BQ_JSON, WAS_ANY, FAMILY_JSON, "", NULL },
};

static uint8_t was_of(const struct ddl_was *was)
{
	if (was->is_told && was->is_single)
		return WAS_SINGLE;
	return was->is_told && was->is_list ? WAS_LIST : WAS_ANY;
}

static const struct pair *pair_find(enum bq_kind from, uint8_t was, enum ddl_family to)
{
	const struct pair *any = NULL;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		if (pairs[i].from != from || pairs[i].to != to)
			continue;
		if (pairs[i].was == was)
			return &pairs[i];
		if (pairs[i].was == WAS_ANY)
			any = &pairs[i];
	}
	return any;
}

/* Only what the column was before would tell: as one thing it is kept or done otherwise than as another. */
static bool is_doubtful(enum bq_kind from, enum ddl_family to)
{
	return pair_find(from, WAS_SINGLE, to) != pair_find(from, WAS_LIST, to);
}

static void list_add(struct text *out, const struct ddl_value *value)
{
	for (; value; value = value->next) {
		for (size_t i = 0; i < value->text.len; i++)
			text_add_format(out, "%02x", (unsigned char)value->text.at[i]);
		if (value->next)
			text_add_char(out, ':');
	}
}

/* CHAR loses blanks at its end when it is read. */
static void length_add(struct text *out, const struct ddl_column *to)
{
	bool is_char = ddl_family(to) == FAMILY_CHAR;

	text_add_format(out, "cut:%llu", to->size_count ? (unsigned long long)to->sizes[0] : 1ull);
	text_add(out, is_char ? "+trim" : "");
}

/* What lies beyond the type's range is its nearest end, where the server lets it pass at all. */
static void width_add(struct text *out, const struct ddl_column *to)
{
	text_add_format(out, "%s:%u", to->is_unsigned ? "uint" : "int", ddl_width(to));
}

static void letter_add(struct text *out, char letter, const struct ddl_was *was, const struct ddl_column *to)
{
	switch (letter) {
	case 'S':
		text_add_format(out, "%d", (int)ddl_size(to, 1, 0));
		break;
	case 'W':
		text_add_format(out, "%d", (int)was->scale);
		break;
	case 'F':
		text_add_format(out, "%d", (int)ddl_size(to, 0, 0));
		break;
	case 'U':
		text_add(out, was->is_mariadb ? "" : "up");
		break;
	case 'E':
		list_add(out, to->values);
		break;
	case 'L':
		length_add(out, to);
		break;
	case 'N':
		width_add(out, to);
		break;
	default:
		text_add_char(out, letter);
	}
}

/* FLOAT(7,4): digits behind the point that a value is rounded to. */
static bool is_fixed_real(const struct ddl_column *to)
{
	return (ddl_family(to) == FAMILY_FLOAT || ddl_family(to) == FAMILY_DOUBLE) && to->size_count > 1;
}

static bool spec_make(const char *form, const struct ddl_was *was, const struct ddl_column *to, struct arena *arena,
                      struct span *out)
{
	OWNED(text) spec = text_new(SPEC_BYTES_MAX);

	for (; *form; form++)
		letter_add(spec, *form, was, to);
	if (is_fixed_real(to))
		text_add_format(spec, "%sdecimal:%d+%s", spec->len ? "+" : "", (int)ddl_size(to, 1, 0),
		                ddl_family(to) == FAMILY_FLOAT ? "float" : "double");
	*out = arena_copy(arena, text_span(spec));
	return !spec->is_full;
}

/* Nothing to do where every value of the old type is one of the new, whatever it is. */
static bool is_idle(const struct ddl_was *was, const struct ddl_column *to)
{
	enum ddl_family family = ddl_family(to);

	if (was->kind == BQ_INT64 && family == FAMILY_INTEGER)
		return !to->is_unsigned && ddl_width(to) == 8;
	return (family == FAMILY_DATETIME || family == FAMILY_TIME || family == FAMILY_TIMESTAMP) &&
	       (was->kind == BQ_DATETIME || was->kind == BQ_TIME || was->kind == BQ_TIMESTAMP) && ddl_size(to, 0, 0) >= 6;
}

/* TINYINT(1) is a truth value where the connector was told so, and a number elsewhere. */
static bool is_one_digit(const struct ddl_column *to)
{
	return ddl_family(to) == FAMILY_INTEGER && ddl_width(to) == 1 &&
	       (!to->size_count ? ddl_word_is(to->type, "bool") || ddl_word_is(to->type, "boolean") : to->sizes[0] == 1);
}

const char *ddl_convert(const struct ddl_was *was, const struct ddl_column *to, struct arena *arena, struct span *out_spec)
{
	enum bq_kind from = was->kind == BQ_BIGNUMERIC ? BQ_NUMERIC : was->kind;
	enum ddl_family family = ddl_family(to);
	const struct pair *pair;

	/* More digits than any decimal of BigQuery: text, but a decimal. */
	if (from == BQ_STRING && was->is_told && was->scale >= 0)
		from = BQ_NUMERIC;
	pair = pair_find(from, was_of(was), family);
	*out_spec = SPAN("");
	if (to->is_generated)
		return "it is computed by the source";
	/* MariaDB's JSON is text by another name. */
	if (was->is_mariadb && family == FAMILY_JSON && from == BQ_STRING)
		return NULL;
	if (!pair)
		return "how the source converts it is not known here";
	if (!pair->spec || (strchr(pair->spec, 'W') && (!was->is_told || was->scale < 0)))
		return pair->why;
	if (from == BQ_BOOL && is_one_digit(to))
		return "its next row must tell whether it stays a truth value";
	if (!is_idle(was, to) && !spec_make(pair->spec, was, to, arena, out_spec)) {
		*out_spec = SPAN("");
		return "its list of values is longer than what is read of one";
	}
	return !was->is_told && is_doubtful(from, family) ? "no row since the start has told what type it was" : NULL;
}

bool ddl_keeps_keys(const struct ddl_was *was, const struct ddl_column *to)
{
	enum ddl_family family = ddl_family(to);

	return (was->kind == BQ_INT64 && family == FAMILY_INTEGER) ||
	       (was->kind == BQ_STRING && (family == FAMILY_CHAR || family == FAMILY_VARCHAR || family == FAMILY_TEXT)) ||
	       (was->kind == BQ_STRING && was->is_list && (family == FAMILY_ENUM || family == FAMILY_SET));
}
