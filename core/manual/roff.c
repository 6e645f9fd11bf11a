/* The man macros, for a page that any man program shows without a warning. */
#include "manual/roff_private.h"

#include "control/control.h"
#include "build_info.h"

#include <ctype.h>
#include <string.h>

/* A hyphen that is typed must not become a typographic one, nor a quote a curly one. */
static const char *escape(char c)
{
	switch (c) {
	case '\\':
		return "\\e";
	case '-':
		return "\\-";
	case '\'':
		return "\\(aq";
	case '`':
		return "\\(ga";
	case '~':
		return "\\(ti";
	case '^':
		return "\\(ha";
	default:
		return NULL;
	}
}

static void add_char(struct text *out, char c)
{
	const char *escaped = escape(c);

	/* A point at the beginning of a line would be a macro. */
	if (c == '.' && out->len && out->at[out->len - 1] == '\n')
		text_add(out, "\\&");
	if (escaped)
		text_add(out, escaped);
	else
		text_add_char(out, c);
}

static void add_plain(struct text *out, const char *text)
{
	for (; *text; text++)
		add_char(out, *text);
}

void roff_title(struct text *out, const char *name, int section, const char *what)
{
	text_add(out, ".\\\" Made from weir's tables by `make docs`; edit those.\n.TH ");
	for (const char *c = name; *c; c++)
		add_char(out, (char)toupper((unsigned char)*c));
	text_add_format(out, " %d \"\" \"weir %s\" \"\"\n.ad l\n.nh\n.SH NAME\n", section, WEIR_VERSION);
	add_plain(out, name);
	text_add(out, " \\- ");
	add_plain(out, what);
	text_add_char(out, '\n');
}

void roff_section(struct text *out, const char *title)
{
	text_add_format(out, ".SH %s\n", title);
}

void roff_subsection(struct text *out, const char *title)
{
	text_add(out, ".SS ");
	add_plain(out, title);
	text_add_char(out, '\n');
}

void roff_text(struct text *out, const char *text)
{
	bool is_bold = false;

	for (; *text; text++) {
		if (*text == '`') {
			text_add(out, is_bold ? "\\fR" : "\\fB");
			is_bold = !is_bold;
		} else {
			add_char(out, *text);
		}
	}
	text_add_char(out, '\n');
}

void roff_paragraph(struct text *out, const char *text)
{
	text_add(out, ".PP\n");
	roff_text(out, text);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

static void add_usage_word(struct text *out, const char *word, size_t len)
{
	bool is_placeholder = isupper((unsigned char)word[0]);

	text_add(out, is_placeholder ? "\\fI" : "\\fB");
	for (size_t i = 0; i < len; i++)
		add_char(out, word[i]);
	text_add(out, "\\fR");
}

void roff_usage(struct text *out, const char *name, const char *args)
{
	text_add(out, "\\fBweir ");
	add_plain(out, name);
	text_add(out, *args ? "\\fR " : "\\fR");
	while (*args) {
		size_t len = 0;

		while (is_word(args[len]))
			len++;
		if (len)
			add_usage_word(out, args, len);
		else
			add_char(out, args[len++]);
		args += len;
	}
	text_add_char(out, '\n');
}

void roff_item(struct text *out, const char *term, const char *text)
{
	text_add(out, ".TP\n\\fB");
	add_plain(out, term);
	text_add(out, "\\fR\n");
	roff_text(out, text);
}

void roff_items(struct text *out, const struct entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		roff_item(out, entries[i].name, entries[i].text);
}

void roff_example(struct text *out, const char *lines)
{
	text_add(out, ".PP\n.in +4n\n.EX\n");
	add_plain(out, lines);
	text_add(out, ".EE\n.in\n");
}

void roff_exit_statuses(struct text *out)
{
	roff_section(out, "EXIT STATUS");
	for (size_t i = 0; i < exit_status_count; i++) {
		const struct exit_status *row = &exit_statuses[i];

		text_add_format(out, ".TP\n\\fB%d\\fR ", row->status);
		add_plain(out, row->meaning);
		text_add_char(out, '\n');
		roff_text(out, row->when);
	}
}
