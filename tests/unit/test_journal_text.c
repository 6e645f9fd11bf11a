/* The journal's word for an act is the command that one would type for it: read again, it gives the same call. */
#include "engine/journal_private.h"

#include "base/arena.h"
#include "control/control.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <wordexp.h>

#include <cmocka.h>

/* As they are typed; and what the journal says where that is another order or spelling (NULL: the same). */
static const struct {
	const char *typed, *said;
} acts[] = {
	{ "run shop --until-idle --from-start --replace --pace 7 --param a=1 --param 'b=x y'", NULL },
	{ "run /srv/jobs/a.json", NULL },
	{ "job create jobs/a.json --replace --param a=1", NULL },
	{ "job set shop a=1 'b=it'\\''s' --why because", "job set shop a=1 'b=it'\\''s'" },
	{ "job delete shop --yes", NULL },
	{ "start shop", NULL },
	{ "pause shop shop.orders --ahead --why 'the source backfills'", "pause shop shop.orders --ahead" },
	{ "pause shop -", NULL },
	{ "pause -- shop --odd", NULL },
	{ "pause --ahead -- shop -odd", NULL },
	{ "resume shop", NULL },
	{ "drain shop", NULL },
	{ "stop shop", NULL },
	{ "merge shop shop.orders --rebuild", NULL },
	{ "dlq replay --group 1 --job shop --rate 31 --yes", NULL },
	{ "dlq replay --job shop --group 1", "dlq replay --group 1 --job shop" },
	{ "dlq discard --group 1 --confirm 8 --why 'test data' --job shop", NULL },
	{ "dlq discard --id 4711 --confirm 1 --why x", NULL },
	{ "note 'a sentence; $(with) signs' --job shop --table shop.orders", NULL },
	{ "secret put prod-key --why 'a new key'", "secret put prod-key" },
	{ "secret delete prod-key", NULL },
	{ "secret unlock", NULL },
	{ "secret seal --passphrase", NULL },
	{ "seek shop --to 2026-11-30T02:37:30Z", NULL },
	{ "seek shop --snapshot before", NULL },
	{ "engine stop", NULL },
};

static void read_line(const char *text, struct command_line *out)
{
	struct error err = { 0 };
	wordexp_t words;
	int taken = 0;
	const struct command *command;

	assert_int_equal(wordexp(text, &words, WRDE_NOCMD), 0);
	command = command_find((int)words.we_wordc, words.we_wordv, &taken);
	assert_non_null(command);
	if (!command_line_parse(command, (int)words.we_wordc - taken, words.we_wordv + taken, out, &err))
		fail_msg("%s: %s", text, err.message);
	wordfree(&words);
}

static void what_is_said_can_be_typed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		struct command_line first, again;
		char *text;

		read_line(acts[i].typed, &first);
		text = journal_command_text(first.command, first.args);
		assert_string_equal(text, acts[i].said ? acts[i].said : acts[i].typed);
		read_line(text, &again);
		assert_ptr_equal(again.command, first.command);
		json_object_del(first.args, acts[i].said ? "why" : "");
		if (!json_equal(first.args, again.args))
			fail_msg("%s is not %s", text, acts[i].typed);
		json_decref(first.args);
		json_decref(again.args);
		free(text);
	}
}

/* A new act gets a row above, or this fails. */
static void every_act_is_tried(void **state)
{
	(void)state;
	for (int id = 0; id < COMMANDS; id++) {
		const struct command *command = &command_table[id];
		bool is_tried = command->access == VIEW || command->place != ENGINE;

		for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
			is_tried |= strncmp(acts[i].typed, command->name, strlen(command->name)) == 0;
		if (!is_tried)
			fail_msg("'%s' is not tried here", command->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_said_can_be_typed), cmocka_unit_test(every_act_is_tried) };

	return cmocka_run_group_tests_name("journal_text", tests, NULL, NULL);
}
