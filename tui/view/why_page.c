/*
 * The page of "why": reason and sentence, the first bad event, what came before it,
 * what weir does now, and numbered next steps.
 */
#include "view/why_private.h"

#include "base/arena.h"
#include "view/journal_lines.h"
#include "view/payload.h"
#include "view/totals.h"
#include "widget/chart.h"

#define STEPS_MOST 9
#define WORDS_COLS 31 /* of a step, where its command begins behind */
#define NARROW_COLS 72
#define CAUSES_SHOWN 6 /* the others are a key away: the first bad event and the steps are wanted on the same screen */

/* What the first bad event says stands below, with the event. */
static void sentence_add(const json_t *finding, struct lines *lines)
{
	const char *sentence = member_text(finding, "sentence"), *event = strstr(sentence, " The first bad event says: ");
	OWNED(text) shown = text_new(WHY_LINE_BYTES);

	text_add_span(shown, span_make(sentence, event && json_is_object(json_object_get(finding, "first")) ?
	                                                 (size_t)(event - sentence) :
	                                                 strlen(sentence)));
	lines_paragraph(lines, ROLE_text, 1, shown->at);
}

static void number_add(const char *words, int64_t number, struct text *out)
{
	text_add_format(out, "%s%s ", out->len > 1 ? "   " : "", words);
	number_text(number, out);
}

/* "dlq 4,182 (+102/min)   written 1,527,078   refused 0.3 %" */
static void numbers_add(const json_t *finding, struct lines *lines)
{
	int64_t received = member_int(finding, "received"), refused = member_int(finding, "dead_lettered");
	double rate = member_number(json_object_get(finding, "rates"), "dead_lettered") * 60;
	OWNED(text) line = text_new(WHY_LINE_BYTES);

	if (!json_object_get(finding, "received"))
		return;
	text_add_char(line, ' ');
	number_add("dlq", member_int(finding, "open_letters"), line);
	if (rate >= 0.5)
		text_add_format(line, " (+%.0f/min)", rate);
	number_add("written", member_int(finding, "written"), line);
	if (member_int(finding, "parked") || json_object_get(finding, "paused"))
		number_add("parked", member_int(finding, "parked"), line);
	if (refused && received)
		text_add_format(line, "   refused %.*f %%", refused * 10 < received ? 1 : 0, 100.0 * (double)refused / (double)received);
	lines_add(lines, ROLE_text, "%s", line->at);
}

/* Does it pass by itself? */
static const char *kind_of(const json_t *finding)
{
	static const struct {
		const char *state, *kind;
	} table[] = { { "needs you", "permanent: not retried" },
		      { "paused", "until somebody resumes it" },
		      { "waiting", "passes by itself" },
		      { "retrying", "passes by itself" } };

	if (member_bool(finding, "trouble") && strcmp(member_text(finding, "state"), "needs you") == 0)
		return "until it is mended; looked at every 10 s";
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(table[i].state, member_text(finding, "state")) == 0)
			return table[i].kind;
	}
	return "";
}

/* Of one that has another trouble besides: who has paused it, and since when. */
static void paused_add(struct view *view, const json_t *finding, struct lines *lines)
{
	const json_t *paused = json_object_get(finding, "paused");
	OWNED(text) words = text_new(WHY_LINE_BYTES);

	if (!json_is_object(paused) || strcmp(member_text(finding, "state"), "paused") == 0)
		return;
	text_add_format(words, " paused by %s since ", member_text(paused, "who"));
	console_time(view->console, member_text(paused, "since"), true, words);
	if (*member_text(paused, "why"))
		text_add_format(words, ": %s", member_text(paused, "why"));
	lines_add(lines, state_role("paused"), "%s", words->at);
}

static void head_add(struct view *view, const json_t *finding, int cols, struct lines *lines)
{
	const char *code = member_text(finding, "code");
	OWNED(text) head = text_new(WHY_LINE_BYTES);

	text_add_format(head, " %s", *code ? code : member_text(finding, "state"));
	if (*member_text(finding, "column"))
		text_add_format(head, " %s", member_text(finding, "column"));
	if (*member_text(finding, "since")) {
		text_add(head, "   since ");
		console_time(view->console, member_text(finding, "since"), true, head);
		text_add(head, ", ");
		console_ago(view->console, member_text(finding, "since"), head);
	}
	if ((int)(head->len + 3 + strlen(kind_of(finding))) <= cols)
		text_add_format(head, "   %s", kind_of(finding));
	lines_add(lines, state_role(member_text(finding, "state")), "%s", head->at);
	paused_add(view, finding, lines);
	sentence_add(finding, lines);
	numbers_add(finding, lines);
}

static void cause_add(const json_t *group, int cols, struct lines *lines)
{
	bool is_narrow = cols < NARROW_COLS;
	OWNED(text) count = text_new(64);

	number_text(member_int(group, "open"), count);
	lines_add(lines, ROLE_text, " group %-4lld %*s  %-12s %-*s %s", (long long)member_int(group, "group"), is_narrow ? 5 : 7,
	          count->at, member_text(group, "state"), is_narrow ? 14 : 22, member_text(group, "code"),
	          member_text(group, "column"));
}

/* With one cause the head has said it; of several each has a row, and the event and the steps below are those of one. */
static void causes_add(const json_t *finding, int cols, struct lines *lines)
{
	const json_t *groups = json_object_get(finding, "groups");
	size_t count = json_array_size(groups), shown = count > CAUSES_SHOWN ? CAUSES_SHOWN : count;
	int64_t more = (int64_t)(count - shown) + member_int(finding, "groups_more");

	if (count < 2)
		return;
	lines_rule(lines, "all that fails here, worst first", "d opens these groups");
	for (size_t i = 0; i < shown; i++)
		cause_add(json_array_get(groups, i), cols, lines);
	if (more)
		lines_add(lines, ROLE_dim, " and %lld more: d shows them all", (long long)more);
}

static void source_add(const json_t *letter, struct text *out)
{
	const json_t *source = json_object_get(letter, "source");

	if (member_int(source, "line"))
		text_add_format(out, "line %lld  ", (long long)member_int(source, "line"));
	if (*member_text(source, "message_id"))
		text_add_format(out, "message id %s  ", member_text(source, "message_id"));
	if (*member_text(letter, "key"))
		text_add_format(out, "key %s", member_text(letter, "key"));
}

/* The letter with its bytes; the finding has it without. */
static const json_t *letter_ask(struct view *view, const json_t *first)
{
	json_t *args = json_pack("{s:I, s:s}", "id", (json_int_t)member_int(first, "id"), "job", member_text(first, "job"));

	return json_array_get(model_ask(console_model(view->console), LANE_LETTERS, "dlq.show", args, "journal")->lines, 0);
}

static void excerpt_add(struct view *view, const json_t *first, int cols, struct lines *lines)
{
	OWNED(text) line = text_new(WHY_LINE_BYTES);
	OWNED(text) marks = text_new(WHY_LINE_BYTES);
	const char *message = member_text(first, "message");
	bool is_shown = payload_excerpt(letter_ask(view, first), cols - 2, line, marks);

	if (is_shown)
		lines_add(lines, ROLE_text, " %s", line->at);
	if (is_shown && marks->len && marks->len + 1 + strlen(message) < (size_t)cols - 1) {
		lines_add(lines, ROLE_error, " %s %s", marks->at, message);
		return;
	}
	if (is_shown && marks->len)
		lines_add(lines, ROLE_error, " %s", marks->at);
	lines_paragraph(lines, ROLE_error, 1, message);
}

/* What the journal has of the time before: the cause often stands there. */
static void before_add(struct view *view, const json_t *finding, const char *label, struct lines *lines)
{
	const json_t *before = json_object_get(finding, "before"), *line;
	bool is_first = true;
	size_t i;

	json_array_foreach(before, i, line) {
		OWNED(text) shown = text_new(WHY_LINE_BYTES);

		if (member_bool(line, "ended"))
			continue;
		console_time(view->console, member_text(line, "time"), true, shown);
		text_add_format(shown, "%*s%-8s ", (int)(9 - shown->len), "", member_text(line, "who"));
		journal_sentence(line, shown);
		lines_add(lines, ROLE_text, " %-11s %s", is_first ? label : "", shown->at);
		is_first = false;
	}
	if (is_first)
		lines_add(lines, ROLE_dim, " before it:  nothing was changed in the 7 days before");
}

static void first_add(struct view *view, const json_t *finding, int cols, struct lines *lines)
{
	const json_t *first = json_object_get(finding, "first");
	OWNED(text) note = text_new(WHY_LINE_BYTES);
	OWNED(text) line = text_new(WHY_LINE_BYTES);

	if (!json_is_object(first)) {
		if (json_array_size(json_object_get(finding, "before"))) {
			lines_rule(lines, "before it", "");
			before_add(view, finding, "", lines);
		}
		return;
	}
	text_add_format(note, "f opens letter %lld", (long long)member_int(first, "id"));
	lines_rule(lines, "first bad event", note->at);
	console_moment(view->console, member_text(first, "first"), line);
	text_add(line, "  ");
	source_add(first, line);
	lines_paragraph(lines, ROLE_text, 1, line->at);
	excerpt_add(view, first, cols, lines);
	before_add(view, finding, "before it:", lines);
}

#define TROUBLE "trouble" /* of a table that nothing enters; no state */

/* The sentence about what goes on meanwhile follows from the state. */
static void now_add(const json_t *finding, struct lines *lines)
{
	static const struct {
		const char *state, *text;
	} table[] = {
		{ TROUBLE, "Parks the messages of this table in order, looks again at least every 10 s, and goes on by itself after the repair. "
		           "All other tables go on. Nothing is lost." },
		{ "needs you", "Keeps the exact bytes of each refused message as a dead letter; writes and merges all others. Nothing "
		               "is lost; the ledger shows it (g b)." },
		{ "paused", "Keeps the messages of this table, in order, and reads them back when it goes on. Other tables go on." },
		{ "waiting", "Waits, and goes on by itself when the cause is gone. Nothing is lost." },
		{ "retrying", "Tries again by itself. Nothing is lost." },
		{ "catching up", "Reads faster than new messages come. Nothing is to be done." },
	};

	/* A table that failed and was paused since does what a paused one does. */
	const char *state = json_object_get(finding, "paused") ? "paused" : member_bool(finding, "trouble") ? TROUBLE
	                                                                                       : member_text(finding, "state");

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(table[i].state, state) != 0)
			continue;
		lines_rule(lines, "what weir does now", "");
		lines_paragraph(lines, ROLE_text, 1, table[i].text);
	}
}

const json_t *why_step_of(const json_t *finding, int number)
{
	return json_array_get(json_object_get(finding, "steps"), (size_t)(number > 0 ? number - 1 : STEPS_MOST));
}

/* The reason's own advice is a sentence; the engine gives it last. */
static const char *advice_of(const json_t *finding)
{
	const json_t *next = json_object_get(finding, "next");
	const char *last = json_string_value(json_array_get(next, json_array_size(next) ? json_array_size(next) - 1 : 0));

	return last && strncmp(last, "weir ", 5) != 0 ? last : "";
}

/* The command stands beside its words where there is room, else on a line of its own. */
static void steps_add(const json_t *finding, int cols, struct lines *lines)
{
	const json_t *steps = json_object_get(finding, "steps"), *step;
	char note[40] = "";
	size_t i;

	if (!json_array_size(steps) && !*advice_of(finding))
		return;
	if (json_array_size(json_object_get(finding, "groups")) > 1)
		snprintf(note, sizeof(note), "of group %lld", (long long)member_int(json_object_get(finding, "first"), "group"));
	lines_rule(lines, "next steps: the number puts the command on the : line", note);
	lines_paragraph(lines, ROLE_text, 1, advice_of(finding));
	json_array_foreach(steps, i, step) {
		const char *command = member_text(step, "command"), *words = member_text(step, "text");

		int width = (int)strlen(words) < WORDS_COLS ? WORDS_COLS : (int)strlen(words);

		if (3 + width + 3 + (int)strlen(command) <= cols) {
			lines_add(lines, ROLE_text, " %zu %-*s  :%s", i + 1, width, words, command);
			continue;
		}
		lines_add(lines, ROLE_text, " %zu %s", i + 1, words);
		lines_add(lines, ROLE_dim, "     :%s", command);
	}
}

/* What stands with the table for good: values that were stored otherwise, types that are guesses. */
static void notes_add(const json_t *finding, struct lines *lines)
{
	const json_t *notes = json_object_get(finding, "notes"), *note;
	OWNED(text) words = text_new(WHY_LINE_BYTES);
	size_t i;

	if (json_array_size(notes))
		lines_rule(lines, "notes", "");
	json_array_foreach(notes, i, note) {
		text_clear(words);
		text_add_format(words, "%s: %s", member_text(note, "code"), member_text(note, "text"));
		lines_paragraph(lines, ROLE_text, 1, words->at);
	}
}

static void page_make(struct view *view, const json_t *finding, int cols, bool with_now)
{
	struct lines *lines = ((struct why *)view->state)->lines;

	lines_begin(lines, cols);
	head_add(view, finding, cols, lines);
	causes_add(finding, cols + 1, lines);
	first_add(view, finding, cols, lines);
	if (with_now)
		now_add(finding, lines);
	steps_add(finding, cols, lines);
	notes_add(finding, lines);
}

/* The steps are wanted without scrolling: what weir does now leaves where they would fall below the edge. */
void why_page(struct view *view, int cols, int rows)
{
	struct why *why = view->state;
	const json_t *finding = why_finding(view);
	const struct answer *answer = why_ask(view);

	if (finding) {
		page_make(view, finding, cols - 1, true);
		if (lines_count(why->lines) > (size_t)rows)
			page_make(view, finding, cols - 1, false);
		return;
	}
	lines_begin(why->lines, cols - 1);
	lines_paragraph(why->lines, answer->error.kind ? ROLE_error : ROLE_dim, 1,
	                answer->error.kind ? answer->error.message : answer->is_known ? "nothing is known of this table" :
	                                                                                "asking the engine ...");
}
