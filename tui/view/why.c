/*
 * Why one table is as it is, from `weir why TABLE --json`: the view and its keys.
 */
#include "view/why_private.h"

#include "base/arena.h"
#include "view/known_names.h"
#include "view/totals.h"

#include <stdlib.h>

const struct answer *why_ask(struct view *view)
{
	const struct why *why = view->state;
	json_t *args = json_pack("{s:s}", "table", why->words.word[1]);

	if (strcmp(why->words.word[0], "-") != 0)
		json_object_set_new(args, "job", json_string(why->words.word[0]));
	return model_ask(console_model(view->console), LANE_LOOK, "why", args, "jobs journal");
}

const json_t *why_finding(struct view *view)
{
	struct why *why = view->state;
	const struct answer *answer = why_ask(view);
	size_t count = json_array_size(answer->lines);

	if (why->finding >= count)
		why->finding = count ? count - 1 : 0;
	return json_array_get(answer->lines, why->finding);
}

static void why_draw(struct view *view, struct area area)
{
	why_page(view, area.cols, area.rows);
	lines_draw(((struct why *)view->state)->lines, area);
}

static void why_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	const struct why *why = view->state;

	text_add_format(out, "why %s  %s", why->words.word[1], state_column(member_text(why_finding(view), "state")));
	*out_has_verdict = true;
}

static void why_status(struct view *view, struct text *left, struct text *right)
{
	struct why *why = view->state;
	size_t count = json_array_size(why_ask(view)->lines);
	int64_t group = member_int(json_object_get(why_finding(view), "first"), "group");

	if (count > 1)
		text_add_format(left, "finding %zu of %zu; n and N go through them", why->finding + 1, count);
	else if (json_array_size(json_object_get(why_finding(view), "steps")))
		text_add(left, "a number puts its command on the : line; Enter runs it");
	else
		text_add(left, why_ask(view)->error.kind ? "Esc goes back" : "nothing is to be done");
	if (group)
		text_add_format(right, "group %lld  ", (long long)group);
	lines_status(why->lines, right);
}

static const enum action_id *why_hints(struct view *view)
{
	static const enum action_id bad[] = { ACTION_step,         ACTION_first_bad,    ACTION_letters, ACTION_explain,
		                              ACTION_toggle_pause, ACTION_copy_finding, ACTION_back,    ACTIONS };
	static const enum action_id fine[] = { ACTION_acts, ACTION_toggle_pause, ACTION_letters, ACTION_logs, ACTION_back, ACTIONS };
	static const enum action_id other[] = { ACTION_step,    ACTION_toggle_pause, ACTION_explain, ACTION_acts,
		                                ACTION_copy_finding, ACTION_back, ACTIONS };

	if (json_is_object(json_object_get(why_finding(view), "first")))
		return bad;
	return json_array_size(json_object_get(why_finding(view), "steps")) ? other : fine;
}

static bool why_subject(struct view *view, struct subject *out)
{
	const struct why *why = view->state;
	const json_t *finding = why_finding(view);
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
	const json_t *finding = why_finding(view), *first = json_object_get(finding, "first");
	OWNED(text) argument = text_new(WHY_LINE_BYTES);

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
	OWNED(text) say = text_new(WHY_LINE_BYTES);
	bool is_mine = true;

	(void)argument;
	if (action == ACTION_first_bad || action == ACTION_open)
		open_first(view);
	else if (action == ACTION_next && !*lines_searched(why->lines) && json_array_size(why_ask(view)->lines) > 1)
		why->finding = (why->finding + 1) % json_array_size(why_ask(view)->lines);
	else
		is_mine = lines_act(why->lines, action, say);
	if (say->len)
		console_say(view->console, "%s", say->at);
	return is_mine;
}

static bool why_step(struct view *view, int number, struct text *out)
{
	const char *command = member_text(why_step_of(why_finding(view), number), "command");

	return *command && text_add(out, command);
}

static bool why_copy(struct view *view, bool is_finding, struct text *out)
{
	struct why *why = view->state;

	if (!is_finding)
		return text_add(out, why->words.word[1]);
	why_page(view, 100, LINES_MAX); /* all of it */
	text_add_format(out, "%s: %s\n", why->words.word[1], member_text(why_finding(view), "state"));
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
	if (!known_table(view->console, why->words.word[0], why->words.word[1], err)) {
		free(why);
		return false;
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
