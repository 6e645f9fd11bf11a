/* Dead letters as lines for people: groups, lists, one letter, what became of them. */
#include "cli/cli_private.h"

/* What is numbered by job says whose it is, once for all that follow. */
static void print_owner(const json_t *object, struct printer_state *state)
{
	const char *job = cli_word(object, "job");

	if (strcmp(job, state->last) == 0)
		return;
	printf("%sjob ", state->count ? "\n" : "");
	cli_print_text(job);
	putchar('\n');
	snprintf(state->last, sizeof(state->last), "%s", job);
}

void print_letter_group(const json_t *group, struct printer_state *state)
{
	static const struct page_column columns[] = {
		{ "GROUP", 5, 0, 0, true },  { "COUNT", 7, 0, 0, true },   { "STATE", 12, 0, 1, false },
		{ "CODE", 22, 0, 0, false }, { "TABLE", 18, 10, 0, false }, { "COLUMN", 10, 0, 2, false },
	};
	char id[24], count[24];
	const char *const cells[] = { cli_number_cell(group, "group", id), cli_number_cell(group, "count", count), cli_state(group),
		                      cli_word(group, "code"), cli_word(group, "table"), cli_word(group, "column") };

	if (!group) {
		puts("no dead letters");
		return;
	}
	print_owner(group, state);
	PRINT_CELLS(state, columns, cells);
}

void print_letter(const json_t *letter, struct printer_state *state)
{
	static const struct page_column columns[] = {
		{ "ID", 4, 0, 0, true },      { "LINE", 6, 0, 3, true },   { "FIRST", 19, 0, 1, false },
		{ "STATE", 12, 0, 2, false }, { "CODE", 21, 0, 0, false }, { "TABLE", 13, 0, 0, false },
	};
	const json_t *source = json_object_get(letter, "source");
	char id[24], line[24], first[24];
	bool has_line = json_integer_value(json_object_get(source, "line")) > 0; /* messages of a subscription have none */
	const char *const cells[] = { cli_number_cell(letter, "id", id), has_line ? cli_number_cell(source, "line", line) : "-", first,
		                      cli_state(letter), cli_word(letter, "code"), cli_word(letter, "table") };

	if (!letter) {
		puts("no dead letters");
		return;
	}
	/* "2026-11-30T02:37:30.123456Z" without what a terminal has no room for. */
	snprintf(first, sizeof(first), "%.19s", cli_word(letter, "first"));
	print_owner(letter, state);
	PRINT_CELLS(state, columns, cells);
	/* The sentence is what matters most: on a line of its own it is never cut. */
	printf("      ");
	cli_print_wrapped(cli_word(letter, "message"), 6);
}

static void print_member(const char *label, const json_t *value)
{
	if (json_is_null(value) && strcmp(label, "newer") == 0)
		puts("newer         unknown: it was refused before it became a row");
	if (!value || json_is_null(value))
		return;
	printf("%-13s ", label);
	if (strcmp(label, "message") == 0)
		cli_print_wrapped(json_string_value(value), 14);
	else
		print_value(value);
}

void print_shown(const json_t *letter, struct printer_state *state)
{
	static const char *const members[] = { "id", "job", "group", "state", "stage", "code", "message", "table", "column",
		                                   "path", "key", "source", "message_id", "publish", "ordering_key", "attrs", "attr_list", "bytes",
		                                   "sha256", "commit", "position", "first", "last", "attempts", "newer",
		                                   "replica", "shortened", "payload", "payload_b64" };

	if (!letter)
		return;
	state->count++;
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		print_member(members[i], json_object_get(letter, members[i]));
	if (json_is_true(json_object_get(letter, "cut")))
		puts("(cut: 'weir dlq show ID --bytes' writes all of it)");
	if (json_object_get(letter, "shortened"))
		puts("(shortened: 'weir dlq show ID --envelope' writes all of it)");
}

void print_replayed(const json_t *run, struct printer_state *state)
{
	if (!run)
		return;
	state->count++;
	printf("replay %lld of group %lld (job %s): %lld done, %lld no effect, %lld failed again, %lld left\n",
	       cli_number(run, "run"), cli_number(run, "group"), cli_word(run, "job"), cli_number(run, "done"),
	       cli_number(run, "no_effect"), cli_number(run, "failed_again"), cli_number(run, "left"));
}

void print_discarded(const json_t *answer, struct printer_state *state)
{
	static const char *const names[] = { "id", "group", "table", "code", "state" };
	static const char *const words[] = { "letter", "group", "table", "code", "state" };

	if (!answer)
		return;
	state->count++;
	printf("job %s", cli_word(answer, "job"));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const json_t *value = json_object_get(answer, names[i]);

		if (json_is_integer(value))
			printf(", %s %lld", words[i], (long long)json_integer_value(value));
		else if (value)
			printf(", %s %s", words[i], cli_word(answer, names[i]));
	}
	printf(": %lld letter%s discarded\n", cli_number(answer, "discarded"), cli_number(answer, "discarded") == 1 ? "" : "s");
}
