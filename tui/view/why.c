/*
 * Why one table is as it is: reason and sentence, the first bad event, what came before
 * it, what weir does now, and numbered next steps. From `weir why TABLE --json`.
 */
#include "base/arena.h"
#include "view/journal_lines.h"
#include "view/names.h"
#include "view/totals.h"
#include "widget/chart.h"
#include "widget/lines.h"

#include <stdlib.h>

#define LINE_BYTES 4096
#define STEPS_MOST 9

struct why {
	struct lines *lines;
	struct name_words words; /* job ("-": any), table */
	size_t finding;          /* of several: n and N */
};

static const struct answer *ask(struct view *view)
{
	const struct why *why = view->state;
	json_t *args = json_pack("{s:s}", "table", why->words.word[1]);

	if (strcmp(why->words.word[0], "-") != 0)
		json_object_set_new(args, "job", json_string(why->words.word[0]));
	return model_ask(console_model(view->console), LANE_LOOK, "why", args, "jobs journal");
}

static const json_t *finding_of(struct view *view)
{
	struct why *why = view->state;
	const struct answer *answer = ask(view);
	size_t count = json_array_size(answer->lines);

	if (why->finding >= count)
		why->finding = count ? count - 1 : 0;
	return json_array_get(answer->lines, why->finding);
}

static void head_add(struct view *view, const json_t *finding, struct lines *lines)
{
	OWNED(text) head = text_new(LINE_BYTES);

	text_add_format(head, " %s", *member_text(finding, "code") ? member_text(finding, "code") : member_text(finding, "state"));
	if (*member_text(finding, "since")) {
		text_add(head, "      since ");
		console_time(view->console, member_text(finding, "since"), true, head);
		text_add(head, ", ");
		console_ago(view->console, member_text(finding, "since"), head);
	}
	lines_add(lines, strcmp(member_text(finding, "state"), "ok") == 0 ? ROLE_ok : ROLE_error, "%s", head->at);
	lines_paragraph(lines, ROLE_text, 1, member_text(finding, "sentence"));
}

static void source_add(const json_t *letter, struct text *out)
{
	const json_t *source = json_object_get(letter, "source");

	if (member_int(source, "line"))
		text_add_format(out, "line %lld  ", (long long)member_int(source, "line"));
	if (*member_text(source, "message_id"))
		text_add_format(out, "message %s  ", member_text(source, "message_id"));
	if (*member_text(letter, "key"))
		text_add_format(out, "key %s", member_text(letter, "key"));
}

static void first_add(struct view *view, const json_t *finding, struct lines *lines)
{
	const json_t *first = json_object_get(finding, "first");
	OWNED(text) note = text_new(LINE_BYTES);
	OWNED(text) line = text_new(LINE_BYTES);

	if (!json_is_object(first))
		return;
	text_add_format(note, "f opens letter %lld", (long long)member_int(first, "id"));
	lines_rule(lines, "first bad event", note->at);
	text_add(line, " ");
	console_moment(view->console, member_text(first, "first"), line);
	text_add(line, "  ");
	source_add(first, line);
	lines_paragraph(lines, ROLE_text, 1, line->at + 1);
	lines_paragraph(lines, ROLE_error, 1, member_text(first, "message"));
}

static void before_add(struct view *view, const json_t *finding, struct lines *lines)
{
	const json_t *before = json_object_get(finding, "before"), *line;
	size_t i;

	if (!json_array_size(before))
		return;
	lines_rule(lines, "before it", "");
	json_array_foreach(before, i, line) {
		OWNED(text) shown = text_new(LINE_BYTES);

		if (member_bool(line, "ended"))
			continue;
		console_time(view->console, member_text(line, "time"), true, shown);
		text_add_format(shown, " %-8s ", member_text(line, "who"));
		journal_sentence(line, shown);
		lines_add(lines, ROLE_text, " %s", shown->at);
	}
}

/* The sentence about what goes on meanwhile follows from the state. */
static void now_add(const json_t *finding, struct lines *lines)
{
	static const struct {
		const char *state, *text;
	} table[] = {
		{ "needs you", "Keeps the exact bytes of each refused message as a dead letter; writes and merges all others. "
		               "Nothing is lost; the ledger shows it (g b)." },
		{ "paused", "Keeps the messages of this table, in order, and reads them back when it goes on. Other tables go on." },
		{ "waiting", "Waits, and goes on by itself when the cause is gone. Nothing is lost." },
		{ "retrying", "Tries again by itself. Nothing is lost." },
		{ "catching up", "Reads faster than new messages come. Nothing is to be done." },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(table[i].state, member_text(finding, "state")) != 0)
			continue;
		lines_rule(lines, "what weir does now", "");
		lines_paragraph(lines, ROLE_text, 1, table[i].text);
	}
}

/* "weir dlq show 7 --job demo" is a command, other steps are sentences. */
static const char *command_of(const char *step)
{
	return strncmp(step, "weir ", 5) == 0 ? step + 5 : NULL;
}

static void steps_add(const json_t *finding, struct lines *lines)
{
	const json_t *next = json_object_get(finding, "next"), *step;
	size_t i;

	if (!json_array_size(next))
		return;
	lines_rule(lines, "next steps: the number puts the command on the : line", "");
	json_array_foreach(next, i, step) {
		const char *text = json_string_value(step), *command = text ? command_of(text) : NULL;

		if (command)
			lines_add(lines, ROLE_text, " %zu  :%s", i + 1, command);
		else if (text)
			lines_paragraph(lines, ROLE_text, 4, text);
	}
}

static void page_make(struct view *view, int cols)
{
	struct why *why = view->state;
	const json_t *finding = finding_of(view);
	const struct answer *answer = ask(view);

	lines_begin(why->lines, cols - 1);
	if (!finding) {
		lines_paragraph(why->lines, answer->error.kind ? ROLE_error : ROLE_dim, 1,
		                answer->error.kind ? answer->error.message : answer->is_known ? "nothing is known of this table" :
		                                                                                "asking the engine ...");
		return;
	}
	head_add(view, finding, why->lines);
	first_add(view, finding, why->lines);
	before_add(view, finding, why->lines);
	now_add(finding, why->lines);
	steps_add(finding, why->lines);
}

static void why_draw(struct view *view, struct area area)
{
	page_make(view, area.cols);
	lines_draw(((struct why *)view->state)->lines, area);
}

static void why_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	const struct why *why = view->state;

	text_add_format(out, "why %s  %s", why->words.word[1], state_column(member_text(finding_of(view), "state")));
	*out_has_verdict = true;
}

static void why_status(struct view *view, struct text *left, struct text *right)
{
	struct why *why = view->state;
	size_t count = json_array_size(ask(view)->lines);

	if (count > 1)
		text_add_format(left, "finding %zu of %zu; n and N go through them", why->finding + 1, count);
	else
		text_add_format(left, "e explains the code; Y copies all of this");
	lines_status(why->lines, right);
}

static const enum action_id *why_hints(struct view *view)
{
	static const enum action_id hints[] = { ACTION_step, ACTION_first_bad, ACTION_explain, ACTION_letters,
		                                ACTION_toggle_pause, ACTION_acts, ACTIONS };

	(void)view;
	return hints;
}

static bool why_subject(struct view *view, struct subject *out)
{
	const struct why *why = view->state;
	const json_t *finding = finding_of(view);
	const char *job = member_text(finding, "job");

	snprintf(out->job, sizeof(out->job), "%.63s", *job ? job : why->words.word[0]);
	snprintf(out->table, sizeof(out->table), "%s", why->words.word[1]);
	snprintf(out->state, sizeof(out->state), "%s", member_text(finding, "state"));
	snprintf(out->code, sizeof(out->code), "%s", member_text(finding, "code"));
	out->is_paused = json_object_get(finding, "paused") || strcmp(out->state, "paused") == 0;
	return true;
}

static void open_first(struct view *view)
{
	const json_t *finding = finding_of(view), *first = json_object_get(finding, "first");
	OWNED(text) argument = text_new(LINE_BYTES);

	if (!json_is_object(first)) {
		console_say(view->console, "no bad event is known of this table");
		return;
	}
	text_add_format(argument, "%s %lld", member_text(finding, "job"), (long long)member_int(first, "id"));
	console_go(view->console, "letter", argument->at);
}

static bool why_act(struct view *view, enum action_id action, const char *argument)
{
	struct why *why = view->state;
	OWNED(text) say = text_new(LINE_BYTES);
	bool is_mine = true;

	(void)argument;
	if (action == ACTION_first_bad || action == ACTION_open)
		open_first(view);
	else if (action == ACTION_next && !*lines_searched(why->lines) && json_array_size(ask(view)->lines) > 1)
		why->finding = (why->finding + 1) % json_array_size(ask(view)->lines);
	else
		is_mine = lines_act(why->lines, action, say);
	if (say->len)
		console_say(view->console, "%s", say->at);
	return is_mine;
}

static bool why_step(struct view *view, int number, struct text *out)
{
	const char *text = json_string_value(
		json_array_get(json_object_get(finding_of(view), "next"), (size_t)(number > 0 ? number - 1 : STEPS_MOST)));
	const char *command = text ? command_of(text) : NULL;

	return command && text_add(out, command);
}

static bool why_copy(struct view *view, bool is_finding, struct text *out)
{
	struct why *why = view->state;

	if (!is_finding)
		return text_add(out, why->words.word[1]);
	page_make(view, 100);
	text_add_format(out, "%s: %s\n", why->words.word[1], member_text(finding_of(view), "state"));
	return lines_text(why->lines, out);
}

static bool why_filter(struct view *view, const char *text, bool is_taken, struct error *err)
{
	(void)is_taken;
	(void)err;
	lines_search(((struct why *)view->state)->lines, text);
	return true;
}

static const char *why_filter_text(struct view *view)
{
	return lines_searched(((struct why *)view->state)->lines);
}

static bool why_open(struct view *view, struct error *err)
{
	struct why *why = memory_zalloc(sizeof(*why));

	name_words(view->argument, 2, &why->words);
	if (!why->words.word[1][0]) { /* only a table: of any job */
		snprintf(why->words.word[1], sizeof(why->words.word[1]), "%s", why->words.word[0]);
		snprintf(why->words.word[0], sizeof(why->words.word[0]), "-");
	}
	if (!why->words.word[1][0]) {
		free(why);
		return fail(err, ERROR_USAGE, "bad_argument", "no table is selected: `:why TABLE`, or select one in a list");
	}
	why->lines = lines_new();
	view->state = why;
	return true;
}

static void why_close(struct view *view)
{
	lines_free(((struct why *)view->state)->lines);
	free(view->state);
}

const struct view_ops view_why = {
	.name = "why",
	.table = "why",
	.help = "why a table fails: the first bad event and what you can do",
	.open = why_open,
	.close = why_close,
	.draw = why_draw,
	.title = why_title,
	.status = why_status,
	.hints = why_hints,
	.act = why_act,
	.subject = why_subject,
	.copy = why_copy,
	.step = why_step,
	.filter = why_filter,
	.filter_text = why_filter_text,
};
