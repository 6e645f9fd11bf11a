/*
 * Themes: what each role looks like at each level of colour. themes/README.md has
 * the form of a file; what a line leaves out is derived from what it gives, what a
 * file leaves out comes from the default that is compiled in.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "term/colour_private.h"
#include "term/term.h"

#include <stdlib.h>

#define ABOUT_BYTES 100

enum form_kind { FORM_HINT, FORM_INDEX, FORM_NAME, FORM_PLAIN, FORMS };

/* One way a line says how its role looks. */
struct form {
	bool is_given;
	int32_t fg, bg;
	uint8_t attributes;
};

struct theme {
	struct look looks[ROLES][COLOUR_256 + 1];
	enum theme_background background;
	char about[ABOUT_BYTES];
};

/* Where the reader is, for whoever has to find a mistake. */
struct reader {
	const char *file;
	struct theme *theme;
	struct text *problems;
	int line;
	struct span rest; /* of the line */
	const char *begin;
	int given[ROLES]; /* line that gave it; 0: none */
};

static const char *const role_names[ROLES] = {
#define ROLE(id, name, meaning) [ROLE_##id] = name,
#include "term/roles.def"
#undef ROLE
};

static const char *const background_names[] = {
	[THEME_DARK] = "dark",
	[THEME_LIGHT] = "light",
	[THEME_BOTH] = "both",
};

static const struct {
	const char *name;
	uint8_t attribute;
} attributes[] = {
	{ "bold", LOOK_BOLD },       { "dim", LOOK_DIM },       { "underline", LOOK_UNDERLINE },
	{ "reverse", LOOK_REVERSE }, { "italic", LOOK_ITALIC }, { "plain", 0 },
};

static const struct shipped {
	const char *name, *text;
} shipped[] = {
#include "themes.inc"
};

#define SHIPPED (sizeof(shipped) / sizeof(*shipped))

const char *role_name(enum role role)
{
	return (unsigned)role < ROLES ? role_names[role] : "?";
}

const char *theme_shipped_name(size_t index)
{
	return index < SHIPPED ? shipped[index].name : NULL;
}

const char *theme_shipped_text(const char *name)
{
	for (size_t i = 0; i < SHIPPED; i++) {
		if (strcmp(shipped[i].name, name) == 0)
			return shipped[i].text;
	}
	return NULL;
}

/* Complains about what stands at `at`. */
__attribute__((format(printf, 4, 5))) static void problem(struct reader *reader, const char *at, struct span word,
                                                          const char *format, ...)
{
	char what[160];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (word.len > 60)
		word.len = 60;
	text_add_format(reader->problems, "%s:%d:%d: ", reader->file, reader->line, (int)(at - reader->begin) + 1);
	if (word.len) {
		text_add(reader->problems, "'");
		clean_text(reader->problems, word);
		text_add(reader->problems, "' ");
	}
	text_add_format(reader->problems, "%s\n", what);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of the line; an empty one at its end. */
static struct span word_next(struct reader *reader)
{
	struct span *rest = &reader->rest;
	size_t len = 0;

	while (rest->len && is_blank(*rest->at))
		*rest = span_make(rest->at + 1, rest->len - 1);
	while (len < rest->len && !is_blank(rest->at[len]))
		len++;
	struct span word = span_make(rest->at, len);

	*rest = span_make(rest->at + len, rest->len - len);
	return word;
}

static bool attribute_find(struct span word, uint8_t *out_attribute)
{
	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
		if (span_is(word, attributes[i].name)) {
			*out_attribute = attributes[i].attribute;
			return true;
		}
	}
	return false;
}

/* Up to `c`, which is skipped. */
static struct span piece_take(struct span *rest, char c)
{
	const char *at = rest->len ? memchr(rest->at, c, rest->len) : NULL;
	struct span piece = span_make(rest->at, at ? (size_t)(at - rest->at) : rest->len);
	size_t skip = piece.len + (at ? 1 : 0);

	*rest = span_make(rest->at + skip, rest->len - skip);
	return piece;
}

static bool colours_read(struct reader *reader, struct span piece, struct form *form)
{
	struct span fg = piece_take(&piece, '/');

	if (!colour_parse(fg, &form->fg)) {
		problem(reader, fg.at, fg, "is no colour");
		return false;
	}
	if (piece.len && !colour_parse(piece, &form->bg)) {
		problem(reader, piece.at, piece, "is no colour");
		return false;
	}
	return true;
}

/* "203/235+bold", "bold+reverse" */
static void form_read(struct reader *reader, struct span word, enum form_kind kind, struct form *out)
{
	struct form form = { true, COLOUR_DEFAULT, COLOUR_DEFAULT, 0 };
	bool is_first = true;

	if (span_is(word, "-"))
		return;
	for (struct span rest = word; rest.len; is_first = false) {
		struct span piece = piece_take(&rest, '+');
		uint8_t attribute = 0;

		if (attribute_find(piece, &attribute)) {
			form.attributes |= attribute;
		} else if (!is_first || kind == FORM_PLAIN) {
			problem(reader, piece.at, piece, "is none of bold, dim, underline, reverse, italic, plain");
			return;
		} else if (!colours_read(reader, piece, &form)) {
			return;
		}
	}
	*out = form;
}

static struct look look_256(const struct form *form)
{
	return (struct look){ colour_to_256(form->fg), colour_to_256(form->bg), form->attributes };
}

static struct look look_16(const struct form *form)
{
	return (struct look){ colour_to_16(form->fg), colour_to_16(form->bg), form->attributes };
}

/* A field stands out by its ground; without colours it is reversed. */
static struct look look_plain(const struct form *form)
{
	uint8_t reverse = form->bg != COLOUR_DEFAULT ? LOOK_REVERSE : 0;

	return (struct look){ COLOUR_DEFAULT, COLOUR_DEFAULT, form->attributes | reverse };
}

static const struct form *first_given(const struct form forms[FORMS], const enum form_kind order[3])
{
	for (int i = 0; i < 3; i++) {
		if (forms[order[i]].is_given)
			return &forms[order[i]];
	}
	return NULL;
}

static void looks_derive(const struct form forms[FORMS], struct look looks[COLOUR_256 + 1])
{
	static const enum form_kind for_256[] = { FORM_INDEX, FORM_HINT, FORM_NAME };
	static const enum form_kind for_16[] = { FORM_NAME, FORM_INDEX, FORM_HINT };
	const struct form *of_256 = first_given(forms, for_256), *of_16 = first_given(forms, for_16);

	if (of_256) {
		looks[COLOUR_256] = look_256(of_256);
		looks[COLOUR_16] = look_16(of_16);
		looks[COLOUR_NONE] = look_plain(of_16);
	}
	if (forms[FORM_PLAIN].is_given)
		looks[COLOUR_NONE].attributes = forms[FORM_PLAIN].attributes;
}

static void role_read(struct reader *reader, enum role role, const char *at)
{
	struct form forms[FORMS] = { 0 };
	struct span word = word_next(reader);

	if (!word.len)
		problem(reader, at, (struct span){ 0 }, "nothing says how '%s' looks", role_names[role]);
	if (reader->given[role])
		problem(reader, at, (struct span){ 0 }, "'%s' stands in line %d too; this one is taken", role_names[role],
		        reader->given[role]);
	reader->given[role] = reader->line;
	for (int kind = 0; word.len; kind++, word = word_next(reader)) {
		if (kind == FORMS) {
			problem(reader, word.at, word, "is too much: a role has a hint, an index, names, attributes");
			break;
		}
		form_read(reader, word, (enum form_kind)kind, &forms[kind]);
	}
	looks_derive(forms, reader->theme->looks[role]);
}

static void background_read(struct reader *reader)
{
	struct span word = word_next(reader);

	for (size_t i = 0; i < sizeof(background_names) / sizeof(*background_names); i++) {
		if (span_is(word, background_names[i])) {
			reader->theme->background = (enum theme_background)i;
			return;
		}
	}
	problem(reader, word.at, word, "is no background: dark, light or both");
}

static void about_read(struct reader *reader)
{
	OWNED(text) clean = text_new(ABOUT_BYTES - 1);

	while (reader->rest.len && is_blank(*reader->rest.at))
		reader->rest = span_make(reader->rest.at + 1, reader->rest.len - 1);
	if (!clean_text(clean, reader->rest))
		problem(reader, reader->rest.at, (struct span){ 0 }, "about says more than %d bytes", ABOUT_BYTES - 1);
	snprintf(reader->theme->about, ABOUT_BYTES, "%s", clean->at);
}

static void role_unknown(struct reader *reader, struct span word)
{
	char name[40];
	const char *near;

	snprintf(name, sizeof(name), "%.*s", word.len < sizeof(name) ? (int)word.len : 0, word.at);
	near = nearest_word(name, role_names, ROLES);
	if (near)
		problem(reader, word.at, word, "is no role; did you mean '%s'", near);
	else
		problem(reader, word.at, word, "is no role");
}

static void line_read(struct reader *reader)
{
	struct span word = word_next(reader);

	if (!word.len || *word.at == '#')
		return;
	if (span_is(word, "background")) {
		background_read(reader);
		return;
	}
	if (span_is(word, "about")) {
		about_read(reader);
		return;
	}
	for (unsigned role = 0; role < ROLES; role++) {
		if (span_is(word, role_names[role])) {
			role_read(reader, (enum role)role, word.at);
			return;
		}
	}
	role_unknown(reader, word);
}

static void lines_read(struct reader *reader, const char *text)
{
	struct span all = span_of(text);

	while (all.len) {
		reader->rest = piece_take(&all, '\n');
		reader->begin = reader->rest.at;
		reader->line++;
		line_read(reader);
	}
}

struct theme *theme_read(const char *file, const char *text, struct text *problems)
{
	struct theme *theme = memory_zalloc(sizeof(*theme));
	struct reader defaults = { .file = "dark.theme", .theme = theme, .problems = problems };
	struct reader reader = { .file = file, .theme = theme, .problems = problems };

	lines_read(&defaults, theme_shipped_text("dark"));
	if (text) {
		theme->about[0] = '\0';
		lines_read(&reader, text);
	}
	return theme;
}

void theme_free(struct theme *theme)
{
	free(theme);
}

struct look theme_look(const struct theme *theme, enum role role, enum colour_level level)
{
	return theme->looks[(unsigned)role < ROLES ? role : ROLE_text][level];
}

const char *theme_about(const struct theme *theme)
{
	return theme->about;
}

enum theme_background theme_background(const struct theme *theme)
{
	return theme->background;
}

const char *theme_background_name(enum theme_background background)
{
	return background_names[background];
}
