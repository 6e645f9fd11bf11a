/* Which rows a filter holds for; see filter.h. */
#include "base/arena.h"
#include "base/utf8.h"
#include "model/filter_private.h"

#include <wctype.h>

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->count; i++) {
		free(filter->terms[i].word);
		free(filter->terms[i].folded);
		regex_free(filter->terms[i].regex);
	}
	free(filter->text);
	free(filter->cpu_ns);
	free(filter);
}

const char *filter_text(const struct filter *filter)
{
	return filter->text;
}

bool filter_is_too_slow(const struct filter *filter)
{
	return *filter->cpu_ns > REGEX_CPU_NS_MAX;
}

void filter_begin(struct filter *filter)
{
	if (!filter_is_too_slow(filter))
		*filter->cpu_ns = 0;
}

/* The next letter without its case; a byte that begins none stands for itself, above all letters. */
static uint32_t take_letter(const char **at)
{
	uint32_t code = 0;
	size_t len = utf8_step(span_make(*at, strnlen(*at, 4)), &code);

	if (!len) {
		code = 0x110000u + (unsigned char)**at;
		(*at)++;
		return code;
	}
	*at += len;
	return code < 0x110000u ? (uint32_t)towlower((wint_t)code) : code;
}

char *filter_fold(const char *text)
{
	size_t room = 2 * strlen(text) + 1; /* a letter of two bytes may have one of three */
	char *folded = memory_alloc(room), *to = folded;

	while (*text) {
		uint32_t code = take_letter(&text);

		if (code < 0x110000u)
			to += utf8_put(code, to);
		else
			*to++ = text[-1];
	}
	*to = '\0';
	return folded;
}

/* Each in time that grows with the text alone: word and text may be long, and alike. */
static bool contains(const struct term *term, const char *text, int64_t *cpu_ns)
{
	char *folded;
	bool is_found;

	(void)cpu_ns;
	if (!term->folded)
		return strcasestr(text, term->word) != NULL;
	folded = filter_fold(text);
	is_found = strstr(folded, term->folded) != NULL;
	free(folded);
	return is_found;
}

static bool contains_in_order(const struct term *term, const char *text, int64_t *cpu_ns)
{
	const char *word = term->word;

	(void)cpu_ns;
	while (*text && *word) {
		const char *after = word;

		if (take_letter(&text) == take_letter(&after))
			word = after;
	}
	return !*word;
}

static bool matches(const struct term *term, const char *text, int64_t *cpu_ns)
{
	return regex_finds(term->regex, span_make(text, strnlen(text, REGEX_TEXT_BYTES_MAX)), cpu_ns);
}

static bool (*const text_holds[])(const struct term *, const char *, int64_t *) = {
	[TERM_CONTAINS] = contains,
	[TERM_FUZZY] = contains_in_order,
	[TERM_REGEX] = matches,
};

static bool field_holds(const struct filter *filter, const struct term *term, const struct filter_row *row, size_t field)
{
	const char *text;
	double number;

	/* Group 1 is not meant by one of the digits of 10. */
	if (term->is_integer && row->number && row->number(row->row, field, &number))
		return number >= term->number && number <= term->number;
	text = row->get(row->row, field);
	return text && !filter_is_too_slow(filter) && text_holds[term->kind](term, text, filter->cpu_ns);
}

static bool compares(const struct term *term, const struct filter_row *row)
{
	double number;
	int sign;

	if (!row->number || !row->number(row->row, term->field, &number))
		return false;
	sign = (number > term->number) - (number < term->number);
	return sign >= term->least && sign <= term->most;
}

static bool term_holds(const struct filter *filter, const struct term *term, const struct filter_row *row)
{
	if (term->kind == TERM_COMPARES)
		return compares(term, row);
	if (term->field != FIELD_ANY)
		return field_holds(filter, term, row, term->field);
	for (size_t i = 0; row->fields[i]; i++) {
		if (field_holds(filter, term, row, i))
			return true;
	}
	return false;
}

static uint64_t field_bit(const struct term *term)
{
	return term->field < 63 ? UINT64_C(1) << term->field : FILTER_EVERY;
}

uint64_t filter_fields(const struct filter *filter)
{
	uint64_t fields = 0;

	for (size_t i = 0; i < filter->count; i++)
		fields |= field_bit(&filter->terms[i]);
	return fields;
}

bool filter_holds(const struct filter *filter, const struct filter_row *row)
{
	return filter_holds_in(filter, row, ~UINT64_C(0));
}

bool filter_holds_in(const struct filter *filter, const struct filter_row *row, uint64_t fields)
{
	for (size_t i = 0; i < filter->count; i++) {
		if (field_bit(&filter->terms[i]) & fields &&
		    term_holds(filter, &filter->terms[i], row) == filter->terms[i].is_not)
			return false;
	}
	/* Asked last: a regex that took too long in this row must not turn "does not hold" into "holds". */
	return !filter_is_too_slow(filter);
}
