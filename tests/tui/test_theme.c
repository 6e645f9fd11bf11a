/* Themes: what a file says and leaves out, mistakes with their places, and whether people can read the result. */
#include "term/term.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct shade {
	double red, green, blue;
};

/* xterm's palette, computed otherwise than colour.c does. */
static struct shade palette(int index)
{
	static const unsigned named[16] = { 0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
		                            0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff };
	static const int levels[6] = { 0, 95, 135, 175, 215, 255 };
	int grey = 8 + (index - 232) * 10;

	if (index < 16)
		return (struct shade){ named[index] >> 16, named[index] >> 8 & 255, named[index] & 255 };
	if (index >= 232)
		return (struct shade){ grey, grey, grey };
	index -= 16;
	return (struct shade){ levels[index / 36], levels[index % 36 / 6], levels[index % 6] };
}

static double linear(double part)
{
	part /= 255;
	return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
}

/* WCAG 2, relative luminance. */
static double light_of(struct shade s)
{
	return 0.2126 * linear(s.red) + 0.7152 * linear(s.green) + 0.0722 * linear(s.blue);
}

static double contrast(struct shade a, struct shade b)
{
	double x = light_of(a) + 0.05, y = light_of(b) + 0.05;

	return x > y ? x / y : y / x;
}

/* Terminals dim by a third towards the ground. */
static struct shade dimmed(struct shade s, struct shade ground)
{
	return (struct shade){ (2 * s.red + ground.red) / 3, (2 * s.green + ground.green) / 3,
		               (2 * s.blue + ground.blue) / 3 };
}

static double look_contrast(struct look look, struct shade ground, struct shade ink)
{
	struct shade bg = look.bg < 0 ? ground : palette(look.bg), fg = look.fg < 0 ? ink : palette(look.fg);

	return contrast(look.attributes & LOOK_DIM ? dimmed(fg, bg) : fg, bg);
}

/* Lines and pictures; all others are read. */
static bool is_drawn(enum role role)
{
	return role == ROLE_rule || role == ROLE_popup_border || (role >= ROLE_chart_1 && role <= ROLE_chart_4);
}

static const struct ground {
	enum theme_background background;
	struct shade ground, ink;
} grounds[] = {
	{ THEME_DARK, { 0, 0, 0 }, { 229, 229, 229 } },
	{ THEME_DARK, { 28, 28, 28 }, { 208, 208, 208 } },
	{ THEME_LIGHT, { 255, 255, 255 }, { 0, 0, 0 } },
	{ THEME_LIGHT, { 242, 242, 242 }, { 38, 38, 38 } },
};

static bool is_for_people(const char *name)
{
	return strcmp(name, "test") != 0;
}

static struct theme *shipped(const char *name)
{
	struct text *problems = text_new(4000);
	struct theme *theme = theme_read(name, theme_shipped_text(name), problems);

	assert_string_equal(problems->at, "");
	text_free(problems);
	return theme;
}

static int check_contrast(const char *name, const struct theme *theme, const struct ground *on)
{
	int bad = 0;

	for (int level = COLOUR_NONE; level <= (int)COLOUR_256; level++) {
		double text_wants = strcmp(name, "high-contrast") == 0 && level == COLOUR_256 ? 7.0 : 4.5;

		/* A soft ground is no colour of the sixteen. */
		if (level == COLOUR_16 && on->ground.red > 0 && on->ground.red < 255)
			continue;
		for (int role = 0; role < (int)ROLES; role++) {
			struct look look = theme_look(theme, (enum role)role, (enum colour_level)level);
			double is = look_contrast(look, on->ground, on->ink), want = is_drawn((enum role)role) ? 3.0 : text_wants;

			if (is >= want)
				continue;
			print_error("%s: %s at level %d: %.1f, wanted %.1f\n", name, role_name((enum role)role), level, is, want);
			bad++;
		}
	}
	return bad;
}

static void all_themes_can_be_read(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; theme_shipped_name(i); i++) {
		const char *name = theme_shipped_name(i);
		struct theme *theme = shipped(name);

		for (size_t j = 0; j < sizeof(grounds) / sizeof(*grounds) && is_for_people(name); j++) {
			if (theme_background(theme) == THEME_BOTH || theme_background(theme) == grounds[j].background)
				bad += check_contrast(name, theme, &grounds[j]);
		}
		theme_free(theme);
	}
	assert_int_equal(bad, 0);
}

static bool looks_equal(struct look a, struct look b)
{
	return a.fg == b.fg && a.bg == b.bg && a.attributes == b.attributes;
}

static void no_two_states_look_the_same(void **state)
{
	static const enum role states[] = { ROLE_state_ok, ROLE_state_watch, ROLE_state_needs_you, ROLE_state_off, ROLE_selection };

	(void)state;
	for (size_t i = 0; theme_shipped_name(i); i++) {
		struct theme *theme = shipped(theme_shipped_name(i));

		for (int level = is_for_people(theme_shipped_name(i)) ? COLOUR_NONE : COLOUR_256; level <= (int)COLOUR_256; level++) {
			for (int a = 0; a < 5; a++) {
				for (int b = 0; b < a; b++)
					assert_false(looks_equal(theme_look(theme, states[a], (enum colour_level)level),
					                         theme_look(theme, states[b], (enum colour_level)level)));
			}
		}
		theme_free(theme);
	}
}

/* Weight, or lightness by a quarter: who sees no hues has these. */
static void states_differ_in_more_than_hue(void **state)
{
	static const enum role states[] = { ROLE_state_ok, ROLE_state_watch, ROLE_state_needs_you, ROLE_state_off };

	(void)state;
	for (size_t i = 0; theme_shipped_name(i); i++) {
		struct theme *theme = shipped(theme_shipped_name(i));
		struct shade ground = { 0, 0, 0 }, ink = { 229, 229, 229 };

		for (int level = COLOUR_16; is_for_people(theme_shipped_name(i)) && level <= (int)COLOUR_256; level++) {
			for (int n = 0; n < 16; n++) {
				struct look a = theme_look(theme, states[n / 4], (enum colour_level)level);
				struct look b = theme_look(theme, states[n % 4], (enum colour_level)level);
				double x = look_contrast(a, ground, ink), y = look_contrast(b, ground, ink);

				if (n / 4 != n % 4 && a.attributes == b.attributes && a.bg == b.bg && x / y < 1.25 && y / x < 1.25)
					fail_msg("%s: %s and %s", theme_shipped_name(i), role_name(states[n / 4]), role_name(states[n % 4]));
			}
		}
		theme_free(theme);
	}
}

static void a_selection_is_seen_without_colour(void **state)
{
	(void)state;
	for (size_t i = 0; theme_shipped_name(i); i++) {
		struct theme *theme = shipped(theme_shipped_name(i));

		for (int level = COLOUR_NONE; is_for_people(theme_shipped_name(i)) && level <= (int)COLOUR_256; level++)
			assert_true(theme_look(theme, ROLE_selection, (enum colour_level)level).attributes & LOOK_REVERSE);
		for (int role = 0; role < (int)ROLES; role++) {
			struct look look = theme_look(theme, (enum role)role, COLOUR_NONE);

			assert_true(look.fg == -1 && look.bg == -1);
		}
		theme_free(theme);
	}
}

static void a_shipped_theme_leaves_no_role_out(void **state)
{
	(void)state;
	for (size_t i = 0; theme_shipped_name(i); i++) {
		const char *text = theme_shipped_text(theme_shipped_name(i));

		for (int role = 0; role < (int)ROLES; role++) {
			char begin[40];

			snprintf(begin, sizeof(begin), "\n%s ", role_name((enum role)role));
			if (!strstr(text, begin))
				fail_msg("%s has no %s", theme_shipped_name(i), role_name((enum role)role));
		}
		assert_non_null(strstr(text, "\nabout "));
		assert_non_null(strstr(text, "\nbackground "));
	}
}

static void in_the_test_theme_a_role_is_its_number(void **state)
{
	struct theme *theme = shipped("test");

	(void)state;
	for (int role = 0; role < (int)ROLES; role++)
		assert_int_equal(theme_look(theme, (enum role)role, COLOUR_256).fg, 16 + role);
	theme_free(theme);
}

static struct look look_of(const char *text, enum role role, enum colour_level level)
{
	struct text *problems = text_new(4000);
	struct theme *theme = theme_read("my.theme", text, problems);
	struct look look = theme_look(theme, role, level);

	assert_string_equal(problems->at, "");
	theme_free(theme);
	text_free(problems);
	return look;
}

#define LOOK(f, b, a) ((struct look){ (f), (b), (a) })

static void what_a_line_leaves_out_is_derived(void **state)
{
	static const struct row {
		const char *line;
		struct look none, of_16, of_256;
	} rows[] = {
		{ "ok #ff5f5f", { -1, -1, 0 }, { 9, -1, 0 }, { 203, -1, 0 } },
		{ "ok #ff5f5f 21+bold red/blue+dim underline", { -1, -1, 4 }, { 1, 4, 2 }, { 21, -1, 1 } },
		{ "ok - 160+bold", { -1, -1, 1 }, { 1, -1, 1 }, { 160, -1, 1 } },
		{ "ok - - bright-cyan+bold", { -1, -1, 1 }, { 14, -1, 1 }, { 14, -1, 1 } },
		{ "ok - - black/yellow", { -1, -1, 8 }, { 0, 3, 0 }, { 0, 3, 0 } },
		{ "ok - default/238", { -1, -1, 8 }, { -1, 8, 0 }, { -1, 238, 0 } },
		{ "ok\t3\r\n", { -1, -1, 0 }, { 3, -1, 0 }, { 3, -1, 0 } },
		{ "ok default+bold+reverse - - plain", { -1, -1, 0 }, { -1, -1, 9 }, { -1, -1, 9 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("%s\n", rows[i].line);
		assert_true(looks_equal(look_of(rows[i].line, ROLE_ok, COLOUR_NONE), rows[i].none));
		assert_true(looks_equal(look_of(rows[i].line, ROLE_ok, COLOUR_16), rows[i].of_16));
		assert_true(looks_equal(look_of(rows[i].line, ROLE_ok, COLOUR_256), rows[i].of_256));
		assert_true(looks_equal(look_of(rows[i].line, ROLE_error, COLOUR_256), LOOK(203, -1, LOOK_BOLD)));
	}
}

static void a_mistake_is_told_with_its_place_and_the_rest_is_used(void **state)
{
	static const struct row {
		const char *text, *problems;
	} rows[] = {
		{ "okk red\n", "my.theme:1:1: 'okk' is no role; did you mean 'ok'\n" },
		{ "\n  ok - 256\n", "my.theme:2:8: '256' is no colour\n" },
		{ "ok - red/pink+bold\n", "my.theme:1:10: 'pink' is no colour\n" },
		{ "ok red+blod\n", "my.theme:1:8: 'blod' is none of bold, dim, underline, reverse, italic, plain\n" },
		{ "ok - - - red\n", "my.theme:1:10: 'red' is none of bold, dim, underline, reverse, italic, plain\n" },
		{ "ok 1 2 3 bold 5\n", "my.theme:1:15: '5' is too much: a role has a hint, an index, names, attributes\n" },
		{ "ok #12345\n", "my.theme:1:4: '#12345' is no colour\n" },
		{ "ok\n", "my.theme:1:1: nothing says how 'ok' looks\n" },
		{ "ok 1\nok 2\n", "my.theme:2:1: 'ok' stands in line 1 too; this one is taken\n" },
		{ "background pink\n", "my.theme:1:12: 'pink' is no background: dark, light or both\n" },
		{ "x\x1b[2J\xe2\x80\xae red\n", "my.theme:1:1: 'x\\x1b[2J\\u202e' is no role\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct text *problems = text_new(4000), *text = text_new(4000);
		struct theme *theme;

		text_add_format(text, "%serror 77\n", rows[i].text);
		theme = theme_read("my.theme", text->at, problems);
		assert_string_equal(problems->at, rows[i].problems);
		assert_int_equal(theme_look(theme, ROLE_error, COLOUR_256).fg, 77);
		theme_free(theme);
		text_free(problems);
		text_free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_themes_can_be_read),
		cmocka_unit_test(no_two_states_look_the_same),
		cmocka_unit_test(states_differ_in_more_than_hue),
		cmocka_unit_test(a_selection_is_seen_without_colour),
		cmocka_unit_test(a_shipped_theme_leaves_no_role_out),
		cmocka_unit_test(in_the_test_theme_a_role_is_its_number),
		cmocka_unit_test(what_a_line_leaves_out_is_derived),
		cmocka_unit_test(a_mistake_is_told_with_its_place_and_the_rest_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
