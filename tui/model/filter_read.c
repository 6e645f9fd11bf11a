/* A filter from its text, term by term; see filter.h. */
#include "base/arena.h"
#include "base/clean.h"
#include "base/utf8.h"
#include "model/filter_private.h"

#include <math.h>

struct reading {
	struct filter *filter;
	const char *const *fields;
	const char *at;      /* in filter->text */
	struct error *err;
};

static size_t column_of(const struct reading *reading, const char *at)
{
	size_t column = 1;

	for (const char *c = reading->filter->text; c < at; c++)
		column += ((unsigned char)*c & 0xc0) != 0x80;
	return column;
}

bool filter_number(const char *text, double *out)
{
	static const struct { const char *name; double factor; } units[] = {
		{ "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 }, { "w", 604800 },
		{ "ms", 0.001 }, { "B", 1 }, { "k", 1e3 }, { "kB", 1e3 }, { "M", 1e6 }, { "MB", 1e6 }, { "G", 1e9 }, { "GB", 1e9 },
	};
	size_t digits = strspn(text, "0123456789.-");
	char *end;
	double number = strtod(text, &end);

	/* strtod knows more (0x, inf, 1e3) than is shown anywhere. */
	if (end == text || end != text + digits || !isfinite(number))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].name) == 0) {
			*out = number * units[i].factor;
			return true;
		}
	}
	return false;
}

static bool no_field(const struct reading *reading, struct span name)
{
	OWNED(text) all = text_new(400);
	OWNED(text) clean = text_new(200);

	for (size_t i = 0; reading->fields[i]; i++)
		text_add_format(all, "%s%s", i ? " " : "", reading->fields[i]);
	clean_text(clean, span_make(name.at, name.len < 40 ? name.len : 40));
	return fail(reading->err, ERROR_USAGE, "bad_filter", "column %zu: no field is called '%s'; fields: %s",
	            column_of(reading, name.at), clean->at, all->at);
}

/* "code:" in front of a term. What has other signs than a name in front of its colon (10:30, public.a:b) is a text. */
static bool take_field(struct reading *reading, struct term *term)
{
	size_t len = strspn(reading->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	struct span name = { reading->at, len };

	term->field = FIELD_ANY;
	if (!len || reading->at[len] != ':')
		return true;
	for (size_t i = 0; reading->fields[i]; i++) {
		if (strlen(reading->fields[i]) == len && strncasecmp(reading->fields[i], name.at, len) == 0)
			term->field = i;
	}
	if (term->field == FIELD_ANY)
		return no_field(reading, name);
	reading->at += len + 1;
	return true;
}

/* `column` is that of the slash before it. */
static bool read_regex(struct reading *reading, struct term *term, size_t column)
{
	struct regex_fault fault;

	term->kind = TERM_REGEX;
	term->regex = regex_new(term->word, &fault);
	return term->regex || fail(reading->err, ERROR_USAGE, "bad_filter", "column %zu: %s", column + fault.letter, fault.why);
}

/* "/a b\/c/": to its slash, which the regex has as it was typed; while it is being typed, to the end. */
static bool take_regex(struct reading *reading, struct term *term)
{
	const char *from = reading->at, *at = from + 1;

	while (*at && *at != '/')
		at += 1 + (*at == '\\' && at[1]);
	term->word = memory_string_of(span_make(from + 1, (size_t)(at - from - 1)));
	at += *at == '/';
	if (*at && *at != ' ')
		return fail(reading->err, ERROR_USAGE, "bad_filter",
		            "column %zu: a blank must follow the regex; a slash inside it is written \\/", column_of(reading, at));
	reading->at = at;
	return read_regex(reading, term, column_of(reading, from));
}

static bool take_comparison(struct reading *reading, struct term *term)
{
	const char *number = reading->at + 1 + (reading->at[1] == '=');
	bool is_more = *reading->at == '>', is_equal = reading->at[1] == '=';
	OWNED(text) clean = text_new(300);
	size_t len = strcspn(number, " ");

	term->kind = TERM_COMPARES;
	term->least = is_more ? !is_equal : -1;
	term->most = is_more ? 1 : is_equal - 1;
	term->word = memory_string_of(span_make(number, len));
	reading->at = number + len;
	if (filter_number(term->word, &term->number))
		return true;
	clean_text(clean, span_make(number, len < 40 ? len : 40));
	return fail(reading->err, ERROR_USAGE, "bad_filter",
	            "column %zu: '%s' is no number; 2, 1.5h, 30s and 10k are", column_of(reading, number), clean->at);
}

/* A bare word, or a "text with blanks". */
static bool take_text(struct reading *reading, struct term *term)
{
	bool is_quoted = *reading->at == '"';
	const char *from = reading->at + is_quoted;
	size_t len = strcspn(from, is_quoted ? "\"" : " ");

	term->word = memory_string_of(span_make(from, len));
	for (size_t i = 0; i < len && !term->folded; i++) {
		if ((unsigned char)from[i] >= 0x80)
			term->folded = filter_fold(term->word);
	}
	term->is_integer = !is_quoted && term->kind == TERM_CONTAINS && term->field != FIELD_ANY && len &&
	                   !term->word[strspn(term->word, "0123456789")] && filter_number(term->word, &term->number);
	reading->at = from + len + (is_quoted && from[len] == '"');
	return true;
}

static bool take_value(struct reading *reading, struct term *term)
{
	if (term->kind != TERM_FUZZY && *reading->at == '/')
		return take_regex(reading, term);
	if (term->field != FIELD_ANY && (*reading->at == '<' || *reading->at == '>'))
		return take_comparison(reading, term);
	return take_text(reading, term);
}

static bool take_term(struct reading *reading, struct term *term)
{
	const char *from = reading->at;

	term->is_not = *reading->at == '!';
	reading->at += term->is_not;
	term->kind = *reading->at == '~' ? TERM_FUZZY : TERM_CONTAINS;
	reading->at += term->kind == TERM_FUZZY;
	if (!take_field(reading, term) || !take_value(reading, term))
		return false;
	if (!*term->word && term->field == FIELD_ANY)
		return fail(reading->err, ERROR_USAGE, "bad_filter", "column %zu: no word stands here", column_of(reading, from));
	return true;
}

static bool take_terms(struct reading *reading)
{
	struct filter *filter = reading->filter;

	reading->at += strspn(reading->at, " ");
	while (*reading->at) {
		if (filter->count == FILTER_TERMS_MAX)
			return fail(reading->err, ERROR_USAGE, "bad_filter", "column %zu: a filter has at most %d words",
			            column_of(reading, reading->at), FILTER_TERMS_MAX);
		if (!take_term(reading, &filter->terms[filter->count++]))
			return false;
		reading->at += strspn(reading->at, " ");
	}
	return true;
}

struct filter *filter_read(const char *text, const char *const *fields, struct error *err)
{
	struct filter *filter;
	struct reading reading = { .fields = fields, .err = err };

	if (!text[strspn(text, " ")])
		return NULL;
	if (strlen(text) > FILTER_BYTES_MAX) {
		fail(err, ERROR_USAGE, "bad_filter", "column %d: a filter has at most %d bytes", FILTER_BYTES_MAX, FILTER_BYTES_MAX);
		return NULL;
	}
	filter = memory_zalloc(sizeof(*filter));
	filter->text = memory_string(text);
	filter->cpu_ns = memory_zalloc(sizeof(*filter->cpu_ns));
	reading.filter = filter;
	reading.at = filter->text;
	if (take_terms(&reading))
		return filter;
	filter_free(filter);
	return NULL;
}
