/* What may come next on the `:` line and in a filter. */
#include "action/places.h"
#include "base/arena.h"
#include "control/control.h"
#include "prompt/prompt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void each(void *context, const char *kind, const char *job, void (*add)(void *, const char *, const char *), void *to)
{
	(void)context;
	if (strcmp(kind, "JOB") == 0) {
		add(to, "shop", "ok");
		add(to, "clicks", "stopped");
		add(to, "my job", "ok");
	}
	if (strcmp(kind, "TABLE") == 0 && strcmp(job, "shop") == 0) {
		add(to, "shop.orders", "needs you");
		add(to, "shop.carts", "paused since 02:54");
	}
	if (strcmp(kind, "GROUP") == 0)
		add(to, "7", job);
	if (strcmp(kind, "newer") == 0) {
		add(to, "yes", "the replica has a newer row for the key");
		add(to, "no", NULL);
	}
	for (int i = 0; i < 300 && strcmp(kind, "many") == 0; i++)
		add(to, "x", NULL);
}

static const struct prompt_names names = { each, NULL };
static const char *const fields[] = { "code", "newer", "many", NULL };

static const struct match *find(const struct matches *matches, const char *text)
{
	for (size_t i = 0; i < matches->count; i++) {
		if (strcmp(matches->match[i].text, text) == 0)
			return &matches->match[i];
	}
	return NULL;
}

/* All matches joined by blanks; those that are off have a '-' in front. */
static void comes(const char *line, size_t from, const char *expected)
{
	OWNED(text) joined = text_new(20000);
	struct matches matches;

	complete_line(line, strlen(line), &names, &matches);
	for (size_t i = 0; i < matches.count; i++)
		text_add_format(joined, "%s%s%s", i ? " " : "", matches.match[i].is_off ? "-" : "", matches.match[i].text);
	assert_string_equal(joined->at, expected);
	assert_int_equal(matches.from, from);
	matches_clear(&matches);
}

static void first_words_are_commands_places_and_lines(void **state)
{
	struct matches matches;

	(void)state;
	comes("ba", 0, "balance");
	comes("dl", 0, "dlq");
	comes("he", 0, "health help");
	comes("q", 0, "q quit");
	comes("zzz", 0, "");
	complete_line("", 0, &names, &matches);
	for (int i = 0; i < COMMANDS; i++) {
		char *first = memory_string_of(span_make(command_table[i].name, strcspn(command_table[i].name, " ")));

		assert_non_null(find(&matches, first));
		free(first);
	}
	for (size_t i = 0; i < place_count; i++)
		assert_int_equal(find(&matches, place_table[i].name) != NULL, place_table[i].exists);
	assert_non_null(strstr(find(&matches, "dlq")->note, "groups, list, show"));
	matches_clear(&matches);
}

static void second_words_follow_their_first(void **state)
{
	(void)state;
	comes("dlq s", 4, "show");
	comes("engine ", 7, "start status stop");
	comes("nonsense ", 9, "");
}

static void names_come_with_why_they_cannot_be_chosen(void **state)
{
	struct matches matches;

	(void)state;
	comes("pause sh", 6, "shop");
	comes("stop s", 5, "shop");
	comes("stop c", 5, "-clicks");
	comes("start s", 6, "-shop");
	comes("pause shop shop.", 11, "shop.orders -shop.carts");
	comes("resume shop shop.", 12, "-shop.orders shop.carts");
	complete_line("pause shop shop.c", 17, &names, &matches);
	assert_int_equal(matches.count, 1);
	assert_string_equal(matches.match[0].note, "paused since 02:54, off");
	assert_int_equal(strncmp(matches.title, "pause JOB [TABLE]", 17), 0);
	assert_string_equal(matches.title + strlen("pause "), command_table[COMMAND_pause].args);
	assert_string_equal(matches.effect, command_table[COMMAND_pause].help);
	matches_clear(&matches);
}

static void flags_and_their_values(void **state)
{
	struct matches matches;

	(void)state;
	comes("merge shop --reb", 11, "--rebuild");
	comes("merge shop --rebuild --reb", 21, "");
	comes("dlq list --job s", 15, "shop");
	comes("dlq list --job shop --group ", 28, "7");
	comes("pause shop --why sh", 17, "");
	complete_line("dlq discard --", 14, &names, &matches);
	assert_string_equal(find(&matches, "--confirm")->note, "must be given");
	matches_clear(&matches);
}

static void parameters_and_their_choices(void **state)
{
	(void)state;
	comes("job set shop replicationM", 13, "replicationMode=");
	comes("job set shop replicationMode=m", 13, "replicationMode=merge");
	comes("job set shop nothing=", 13, "");
	comes("run shop --param schemaCh", 17, "schemaChanges=");
}

static void quotes_are_understood_and_put(void **state)
{
	(void)state;
	comes("stop \"my j", 5, "\"my job\"");
	comes("stop my\\ j", 5, "\"my job\"");
	comes("pause 'sh", 6, "shop");
}

static void the_console_s_own_lines_have_choices(void **state)
{
	(void)state;
	comes("mouse o", 6, "on off");
	comes("range ", 6, "10m 1h 24h");
	comes("quit ", 5, "");
}

static void codes_are_explained(void **state)
{
	(void)state;
	comes("explain bad_fi", 8, "bad_filter");
}

static void only_what_is_before_the_cursor_counts(void **state)
{
	struct matches matches;

	(void)state;
	complete_line("pause shop", 7, &names, &matches);
	assert_int_equal(matches.from, 6);
	assert_non_null(find(&matches, "shop"));
	matches_clear(&matches);
}

static void filter(const char *line, size_t from, size_t count, const char *first)
{
	struct matches matches;

	complete_filter(line, strlen(line), fields, &names, &matches);
	assert_int_equal(matches.all, count);
	assert_int_equal(matches.from, from);
	if (count)
		assert_string_equal(matches.match[0].text, first);
	assert_true(matches.count <= MATCHES_MAX);
	matches_clear(&matches);
}

static void a_filter_has_fields_and_their_values(void **state)
{
	(void)state;
	filter("", 0, 3, "code:");
	filter("x !ne", 3, 1, "newer:");
	filter("newer:", 6, 2, "yes");
	filter("code:x newer:n", 13, 1, "no");
	filter("cod:", 4, 0, NULL);
	filter("/ne", 3, 0, NULL);
	filter("/a b/ ne", 6, 1, "newer:");
	filter("many:", 5, 300, "x");
}

static void every_place_is_found_by_its_names(void **state)
{
	(void)state;
	assert_ptr_equal(place_find(SPAN("dlq")), place_find(SPAN("dead-letters")));
	assert_non_null(place_find(SPAN("dlq")));
	assert_null(place_find(SPAN("")));
	assert_null(place_find(SPAN("nowhere")));
	assert_non_null(console_line_find(SPAN("quit")));
	for (size_t i = 0; i < place_count; i++) {
		for (size_t j = 0; j < i; j++)
			assert_true(!*place_table[i].key || strcmp(place_table[i].key, place_table[j].key) != 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_words_are_commands_places_and_lines),
		cmocka_unit_test(second_words_follow_their_first),
		cmocka_unit_test(names_come_with_why_they_cannot_be_chosen),
		cmocka_unit_test(flags_and_their_values),
		cmocka_unit_test(parameters_and_their_choices),
		cmocka_unit_test(quotes_are_understood_and_put),
		cmocka_unit_test(the_console_s_own_lines_have_choices),
		cmocka_unit_test(codes_are_explained),
		cmocka_unit_test(only_what_is_before_the_cursor_counts),
		cmocka_unit_test(a_filter_has_fields_and_their_values),
		cmocka_unit_test(every_place_is_found_by_its_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
