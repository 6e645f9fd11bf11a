/*
 * One dead letter: its payload as a tree, its bytes, and why it is here. From `weir dlq
 * show ID --json`; a payload longer than the engine shows at once is cut, and says so.
 */
#include "base/arena.h"
#include "base/hash.h"
#include "view/known_names.h"
#include "view/letter_private.h"
#include "view/payload.h"

#include <inttypes.h>
#include <stdlib.h>

#define SIDE_COLS 100 /* from here on, why it is here stands beside the payload */

static const struct answer *ask(struct view *view)
{
	const struct letter *letter = view->state;
	json_t *args = json_pack("{s:I}", "id", (json_int_t)letter->id);

	if (strcmp(letter->words.word[0], "-") != 0)
		json_object_set_new(args, "job", json_string(letter->words.word[0]));
	return model_ask(console_model(view->console), LANE_LETTERS, "dlq.show", args, "journal");
}

static const json_t *shown_of(struct view *view)
{
	return json_array_get(ask(view)->lines, 0);
}

/* The bytes that came, whether the engine could write them as text or not. */
static void bytes_take(struct letter *letter, const json_t *shown)
{
	const json_t *text = json_object_get(shown, "payload"), *encoded = json_object_get(shown, "payload_b64");
	size_t len = json_string_length(text ? text : encoded);

	free(letter->bytes);
	letter->bytes = memory_alloc(len + 1);
	if (text)
		memcpy(letter->bytes, json_string_value(text), len);
	else if (!encoded || !base64_decode(span_make(json_string_value(encoded), len), letter->bytes, &len))
		len = 0;
	letter->hex.bytes = span_make(letter->bytes, len);
}

static void payload_take(struct view *view)
{
	struct letter *letter = view->state;
	const struct answer *answer = ask(view);
	const json_t *shown = shown_of(view);
	OWNED(text) room = text_new(LINE_BYTES);
	struct span spot;
	const char *path;

	if (!shown || letter->generation == answer->generation)
		return;
	letter->generation = answer->generation;
	bytes_take(letter, shown);
	json_decref(letter->payload);
	letter->payload = json_loadb(letter->hex.bytes.at, letter->hex.bytes.len, JSON_ALLOW_NUL, NULL);
	spot = payload_spot(shown, letter->hex.bytes);
	hex_point(&letter->hex, spot.len ? (size_t)(spot.at - letter->hex.bytes.at) : 0,
	          spot.len ? (size_t)(spot.at - letter->hex.bytes.at) + spot.len : 0);
	path = payload_path(shown, room);
	tree_set(letter->tree, letter->payload, path ? path : member_text(shown, "path"));
	if (!letter->payload && !letter->is_page_chosen)
		letter->page = PAGE_RAW;
}

/* The tree keeps the cursor: it is drawn last. */
static void draw_side(struct view *view, const json_t *shown, struct area area)
{
	struct area left = area_part(area, 0, 0, area.rows, area.cols * 3 / 5);
	struct area right = area_part(area, 0, left.cols + 1, area.rows, area.cols - left.cols - 1);

	for (int row = 0; row < area.rows; row++)
		draw_text(area, row, left.cols, ROLE_rule, glyph_text(GLYPH_VERTICAL));
	letter_why(view, shown, right);
	letter_payload(view->state, shown, left);
}

/* To the letter before or behind this one in its group; the answer may come later, see step_take. */
static void letter_go(struct view *view, int64_t id, const char *job)
{
	struct letter *letter = view->state;

	letter->id = id;
	letter->generation = 0;
	letter->hex.top = letter->hex.from = letter->hex.to = 0;
	free(view->argument);
	view->argument = memory_zalloc(LINE_BYTES);
	snprintf(view->argument, LINE_BYTES, "%s %" PRId64, job, id);
}

/* One letter is asked for, never the group. */
static void step_take(struct view *view)
{
	struct letter *letter = view->state;
	const json_t *shown = shown_of(view);
	const struct answer *answer;
	int64_t id;

	if (!letter->step || !shown)
		return;
	answer = model_ask(console_model(view->console), LANE_LETTERS, "dlq.list",
	                   json_pack("{s:s, s:I, s:I, s:i}", "job", member_text(shown, "job"), "group",
	                             (json_int_t)member_int(shown, "group"), letter->step < 0 ? "before" : "after",
	                             (json_int_t)letter->id, "limit", 1), "journal");
	if (!answer->is_known)
		return;
	id = member_int(json_array_get(answer->lines, 0), "id");
	if (id)
		letter_go(view, id, member_text(shown, "job"));
	else if (answer->error.kind != ERROR_NONE)
		console_complain(view->console, &answer->error);
	else
		console_say(view->console, letter->step < 0 ? "this is the first letter of its group" :
		                                             "this is the last letter of its group");
	letter->step = 0;
}

static void letter_draw(struct view *view, struct area area)
{
	struct letter *letter = view->state;
	const json_t *shown = shown_of(view);
	struct area page = area_part(area, 1, 0, area.rows - 1, area.cols);

	if (!shown) {
		const struct answer *answer = ask(view);

		draw_paragraph(area, 0, 1, area.cols - 2, 3, answer->error.kind ? ROLE_error : ROLE_dim,
		               span_of(answer->error.kind ? answer->error.message : "asking the engine ..."));
		return;
	}
	payload_take(view);
	letter_tabs(letter, shown, area);
	if (letter->page == PAGE_PAYLOAD && letter->payload && area.cols >= SIDE_COLS)
		draw_side(view, shown, page);
	else if (letter->page == PAGE_PAYLOAD)
		letter_payload(letter, shown, page);
	else if (letter->page == PAGE_RAW)
		letter_raw(letter, shown, page);
	else
		letter_why(view, shown, page);
}

/*
 * Keys.
 */
/* The title comes first in a frame: all of it is of one letter. */
static void letter_title(struct view *view, struct text *out, bool *out_has_verdict)
{
	const json_t *shown;

	step_take(view);
	shown = shown_of(view);

	(void)out_has_verdict;
	text_add_format(out, "letter %" PRId64, ((struct letter *)view->state)->id);
	if (shown)
		text_add_format(out, " of group %" PRId64 "  %s", member_int(shown, "group"), member_text(shown, "code"));
}

static void letter_status(struct view *view, struct text *left, struct text *right)
{
	const struct letter *letter = view->state;

	text_add_format(left, "job %s, letter %" PRId64 ", state %s", member_text(shown_of(view), "job"), letter->id,
	                member_text(shown_of(view), "state"));
	if (letter->page == PAGE_WHY || (letter->page == PAGE_RAW && letter->is_text))
		lines_status(letter->lines, right);
}

static const enum action_id *letter_hints(struct view *view)
{
	static const enum action_id payload[] = { ACTION_pane_next, ACTION_next,    ACTION_previous, ACTION_fold,
		                                  ACTION_acts,      ACTION_explain, ACTIONS };
	static const enum action_id raw[] = { ACTION_pane_next, ACTION_wide, ACTION_next, ACTION_previous,
		                              ACTION_acts,      ACTION_copy, ACTIONS };
	static const enum action_id why[] = { ACTION_pane_next, ACTION_next, ACTION_previous, ACTION_acts,
		                              ACTION_explain,   ACTION_copy, ACTIONS };
	static const enum action_id *const hints[] = { [PAGE_PAYLOAD] = payload, [PAGE_RAW] = raw, [PAGE_WHY] = why };

	return hints[((struct letter *)view->state)->page];
}

static const char *letter_hint_word(struct view *view, enum action_id action)
{
	const struct letter *letter = view->state;
	static const char *const pages[] = { [PAGE_PAYLOAD] = "raw", [PAGE_RAW] = "why", [PAGE_WHY] = "payload" };

	switch ((int)action) {
	case ACTION_pane_next: return pages[letter->page];
	case ACTION_next: return "next letter";
	case ACTION_previous: return "last letter";
	case ACTION_wide: return letter->is_text ? "hex" : "text";
	default: return NULL;
	}
}

static bool letter_subject(struct view *view, struct subject *out)
{
	const json_t *shown = shown_of(view);

	if (!shown)
		return false;
	snprintf(out->job, sizeof(out->job), "%s", member_text(shown, "job"));
	snprintf(out->table, sizeof(out->table), "%s", member_text(shown, "table"));
	snprintf(out->code, sizeof(out->code), "%s", member_text(shown, "code"));
	snprintf(out->state, sizeof(out->state), "%s", member_text(shown, "state"));
	out->group = member_int(shown, "group");
	out->letter = ((struct letter *)view->state)->id;
	return true;
}

static bool search_next(struct letter *letter, bool is_back, struct text *say)
{
	if (!*letter->word)
		return false;
	if (letter->page == PAGE_PAYLOAD ? !tree_search(letter->tree, letter->word, is_back) :
	    letter->page == PAGE_RAW && !letter->is_text ? !hex_search(&letter->hex, span_of(letter->word)) :
	                                                   !lines_act(letter->lines, is_back ? ACTION_previous : ACTION_next, say))
		text_add(say, "not found");
	return true;
}

static bool page_act(struct view *view, enum action_id action, struct text *say)
{
	struct letter *letter = view->state;

	if (letter->page == PAGE_PAYLOAD)
		return tree_act(letter->tree, action, say);
	if (letter->page == PAGE_RAW && !letter->is_text)
		return hex_act(&letter->hex, action);
	return lines_act(letter->lines, action, say);
}

static bool letter_act(struct view *view, enum action_id action, const char *argument)
{
	struct letter *letter = view->state;
	OWNED(text) say = text_new(LINE_BYTES);
	bool is_mine = true;

	(void)argument;
	if (action == ACTION_pane_next || action == ACTION_pane_previous) {
		letter->page = (letter->page + (action == ACTION_pane_next ? 1 : PAGES - 1)) % PAGES;
		letter->is_page_chosen = true;
	} else if (action == ACTION_next || action == ACTION_previous) {
		if (!search_next(letter, action == ACTION_previous, say))
			letter->step = action == ACTION_previous ? -1 : 1;
	} else if (action == ACTION_wide) {
		letter->is_text = !letter->is_text;
	} else {
		is_mine = page_act(view, action, say);
	}
	if (say->len)
		console_say(view->console, "%s", say->at);
	return is_mine;
}

static bool letter_copy(struct view *view, bool is_finding, struct text *out)
{
	const struct letter *letter = view->state;
	const json_t *shown = shown_of(view);
	OWNED(text) path = text_new(LINE_BYTES);

	if (!shown)
		return false;
	if (is_finding)
		text_add_format(out, "letter %" PRId64 " of job %s: %s: %s, table %s, key %s, sha256 %s", letter->id,
		                member_text(shown, "job"), member_text(shown, "code"), member_text(shown, "message"),
		                member_text(shown, "table"), member_text(shown, "key"), member_text(shown, "sha256"));
	else if (letter->page != PAGE_PAYLOAD || !tree_selected(letter->tree, path, out))
		text_add_int(out, letter->id);
	return true;
}

static bool letter_filter(struct view *view, const char *text, bool is_taken, struct error *err)
{
	struct letter *letter = view->state;
	OWNED(text) say = text_new(LINE_BYTES);

	(void)err;
	snprintf(letter->word, sizeof(letter->word), "%s", text);
	lines_search(letter->lines, text);
	if (is_taken && *text)
		search_next(letter, false, say);
	if (say->len)
		console_say(view->console, "%s", say->at);
	return true;
}

static const char *letter_filter_text(struct view *view)
{
	return ((struct letter *)view->state)->word;
}

static bool letter_open(struct view *view, struct error *err)
{
	struct letter *letter = memory_zalloc(sizeof(*letter));

	name_words(view->argument, 2, &letter->words);
	letter->id = strtoll(letter->words.word[1], NULL, 10);
	if (letter->id <= 0) {
		free(letter);
		return fail(err, ERROR_USAGE, "bad_argument", "which letter? `:dlq show ID --job JOB`, or Enter in a list of letters");
	}
	if (!known_job(view->console, letter->words.word[0], err)) {
		free(letter);
		return false;
	}
	letter->tree = tree_new();
	letter->lines = lines_new();
	view->state = letter;
	return true;
}

static void letter_close(struct view *view)
{
	struct letter *letter = view->state;

	tree_free(letter->tree);
	lines_free(letter->lines);
	json_decref(letter->payload);
	free(letter->bytes);
	free(letter);
}

static const enum action_id letter_own[] = { ACTION_pane_next, ACTION_pane_previous, ACTION_fold, ACTION_left, ACTION_right, ACTION_wide, ACTIONS };

const struct view_ops view_letter = {
	.name = "letter",
	.table = "letter",
	.help = "one dead letter: payload, bytes, why it is here",
	.open = letter_open,
	.close = letter_close,
	.draw = letter_draw,
	.title = letter_title,
	.status = letter_status,
	.own = letter_own,
	.hints = letter_hints,
	.hint_word = letter_hint_word,
	.act = letter_act,
	.subject = letter_subject,
	.copy = letter_copy,
	.filter = letter_filter,
	.filter_text = letter_filter_text,
};
