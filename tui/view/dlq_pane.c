/* The selected group: its first letter, its newest, and the next steps. From `weir dlq show` and `weir dlq list --newest`. */
#include "base/arena.h"
#include "base/clean.h"
#include "view/dlq_private.h"
#include "view/payload.h"
#include "widget/chart.h"

#include <stdlib.h>

#define LINE_BYTES 4096

static const json_t *letter_of(struct view *view, const json_t *group, int64_t id)
{
	const struct answer *answer = model_ask(console_model(view->console), LANE_LETTERS, "dlq.show",
	                                        json_pack("{s:I, s:s}", "id", (json_int_t)id, "job", member_text(group, "job")), "");

	return json_array_get(answer->lines, 0);
}

/* The newest of the group: far from the first, and so often of another value. NULL: it has one letter, or is not there yet. */
static const json_t *newest_of(struct view *view, const json_t *group)
{
	const struct answer *answer;
	char topics[100];
	int64_t id;

	if (member_int(group, "count") < 2)
		return NULL;
	snprintf(topics, sizeof(topics), "dlq:%s", member_text(group, "job"));
	answer = model_ask(console_model(view->console), LANE_LETTERS, "dlq.list",
	                   json_pack("{s:s, s:I, s:b, s:i}", "job", member_text(group, "job"), "group",
	                             (json_int_t)member_int(group, "group"), "newest", true, "limit", 1), topics);
	id = member_int(json_array_get(answer->lines, 0), "id");
	return id && id != member_int(group, "sample") ? letter_of(view, group, id) : NULL;
}

#define STEPS 3

/* Where no letter is open there is nothing to write again or to discard: only the list is left. */
static int first_step(const json_t *group)
{
	return member_int(group, "open") ? 0 : STEPS - 1;
}

void dlq_step_text(const json_t *group, int number, struct text *out)
{
	static const char *const verbs[] = { "replay", "discard", "list" };
	int first = first_step(group);

	if (number < 1 || number > STEPS - first)
		return;
	text_add_format(out, "dlq %s --group %lld --job ", verbs[first + number - 1], (long long)member_int(group, "group"));
	shell_quote(out, span_of(member_text(group, "job")));
}

static void draw_steps(const json_t *group, struct area area)
{
	static const char *const words[] = { "write them again", "discard (lossy, asks for the count)", "list its letters" };
	static const char *const narrow[] = { "write them again", "discard (asks count)", "list its letters" };

	int first = first_step(group);

	draw_rule(area, 0, first ? "nothing is to be done: no letter of it is open" : "next steps: the number puts the command on the : line", "");
	for (int i = first; i < STEPS; i++) {
		OWNED(text) line = text_new(LINE_BYTES);

		dlq_step_text(group, i - first + 1, line);
		draw_format(area, 1 + i - first, 1, ROLE_text, "%d %-*s :%s", i - first + 1, area.cols < 72 ? 20 : 37,
		            area.cols < 72 ? narrow[i] : words[i], line->at);
	}
}

static void source_text(const json_t *letter, struct text *out)
{
	const json_t *source = json_object_get(letter, "source");

	text_add_format(out, "letter %lld", (long long)member_int(letter, "id"));
	if (member_int(source, "line"))
		text_add_format(out, "   line %lld", (long long)member_int(source, "line"));
	if (*member_text(source, "message_id"))
		text_add_format(out, "   message id %s", member_text(source, "message_id"));
	if (*member_text(letter, "key"))
		text_add_format(out, "   key %s", member_text(letter, "key"));
	text_add_format(out, "   tries %lld", (long long)member_int(letter, "attempts"));
}

/* The first letter: where it came from, what it says, and the part of its bytes that it says it of. */
static void draw_sample(struct view *view, const json_t *letter, struct area area)
{
	OWNED(text) line = text_new(LINE_BYTES);
	OWNED(text) bytes = text_new(LINE_BYTES);
	OWNED(text) marks = text_new(LINE_BYTES);

	source_text(letter, line);
	draw_field(area, 0, 1, area.cols - 2, -1, console_role(view->console, ROLE_text), text_span(line));
	draw_field(area, 1, 1, area.cols - 2, -1, ROLE_error, span_of(member_text(letter, "message")));
	if (payload_excerpt(letter, area.cols - 4, bytes, marks)) {
		draw_span(area, 2, 3, ROLE_text, text_span(bytes));
		draw_span(area, 3, 3, ROLE_error, text_span(marks));
	} else {
		draw_text(area, 2, 3, ROLE_dim, json_object_get(letter, "payload_b64") ? "its bytes are no text; f shows them" : "");
	}
}

static void draw_counts(const json_t *group, struct area area)
{
	OWNED(text) line = text_new(LINE_BYTES);

	number_text(member_int(group, "count"), line);
	text_add_format(line, " letter%s, ", member_int(group, "count") == 1 ? "" : "s");
	number_text(member_int(group, "open"), line);
	text_add(line, " open, ");
	number_text(member_int(group, "keys"), line);
	text_add_format(line, " key%s", member_int(group, "keys") == 1 ? "" : "s");
	draw_span(area, 1, 1, ROLE_text, text_span(line));
}

void dlq_pane(struct view *view, const json_t *group, struct area area)
{
	bool has_two = area.rows >= DLQ_PANE_ROWS + DLQ_SAMPLE_ROWS && member_int(group, "count") > 1;
	const json_t *first = letter_of(view, group, member_int(group, "sample")), *newest = has_two ? newest_of(view, group) : NULL;
	int steps = 2 + DLQ_SAMPLE_ROWS * (has_two ? 2 : 1);
	OWNED(text) title = text_new(LINE_BYTES);

	if (area.rows < DLQ_PANE_ROWS) {
		draw_steps(group, area);
		return;
	}
	text_add_format(title, "group %lld of %s", (long long)member_int(group, "group"), member_text(group, "job"));
	draw_rule(area, 0, title->at, has_two ? "the first and the newest of its letters; Enter lists all" :
	                                       "the first of its letters; Enter lists all");
	draw_counts(group, area);
	if (first)
		draw_sample(view, first, area_part(area, 2, 0, DLQ_SAMPLE_ROWS, area.cols));
	if (newest)
		draw_sample(view, newest, area_part(area, 2 + DLQ_SAMPLE_ROWS, 0, DLQ_SAMPLE_ROWS, area.cols));
	draw_steps(group, area_part(area, steps, 0, area.rows - steps, area.cols));
}
