/* The question before a lossy act: the exact count or name typed by hand, and why. Only that lets Enter act. */
#include "base/arena.h"
#include "base/clean.h"
#include "prompt/prompt.h"
#include "term/cells.h"
#include "view/box.h"
#include "view/lossy.h"

#include <ctype.h>
#include <stdlib.h>

#define FIELD_BYTES 200
#define LINE_BYTES 4096
#define BOX_COLS 70

struct confirm {
	struct act_lines *lines; /* without --confirm, --yes, --why */
	const char *says;        /* what is lost */
	char wanted[FIELD_BYTES]; /* the count or the name; "": not known yet */
	json_t *choice;          /* of the letters that are to be counted; NULL: none are */
	bool is_job;
	char typed[2][FIELD_BYTES]; /* count or name; why */
	int field;
	bool is_wrong;
};

static const char lost_letters[] = "They can not be replayed afterwards. The ledger does not change; the journal gets a line "
                                   "with who, when, the count and the reason.";
static const char lost_job[] = "Its dead letters, position and history go. The tables it has written stay.";

static const char nothing_open[] = "nothing to discard: none of these letters is open, they are done or discarded already";

/* The count is known, and there is nothing to type it for. */
static bool is_nothing(const struct confirm *confirm)
{
	return !confirm->is_job && strcmp(confirm->wanted, "0") == 0;
}

static void confirm_size(const struct box *box, int *out_rows, int *out_cols)
{
	(void)box;
	*out_rows = 10;
	*out_cols = BOX_COLS;
}

/* The n-th command with what has been typed. */
static void confirm_line(const struct confirm *confirm, size_t at, struct text *out)
{
	text_add(out, confirm->lines->line[at]);
	if (confirm->is_job)
		text_add(out, " --yes");
	else
		text_add_format(out, " --confirm %lld", (long long)confirm->lines->letters[at]);
	text_add(out, " --why ");
	shell_quote(out, span_of(confirm->typed[1]));
}

/* How many open letters are meant; -1: not known yet. */
static int64_t open_letters(struct console *console, json_t *choice)
{
	const struct answer *answer = model_ask(console_model(console), LANE_LETTERS, "dlq.groups", json_incref(choice), "jobs");
	const json_t *group;
	int64_t open = 0;
	size_t i;

	json_array_foreach(answer->lines, i, group)
		open += member_int(group, "open");
	return answer->is_known ? open : -1;
}

/* The count is of the moment when it is first known, and stays: what is typed must be what was shown. */
static void confirm_count(struct box *box)
{
	struct confirm *confirm = box->state;
	int64_t total = 0;

	if (*confirm->wanted)
		return;
	if (confirm->choice)
		confirm->lines->letters[0] = open_letters(box->console, confirm->choice);
	for (size_t i = 0; i < confirm->lines->count; i++)
		total += confirm->lines->letters[i];
	if (total < 0)
		return;
	snprintf(confirm->wanted, sizeof(confirm->wanted), "%lld", (long long)total);
	snprintf(box->title, sizeof(box->title), "discard %lld dead letter%s", (long long)total, total == 1 ? "" : "s");
}

/* The end of a text that is longer than its field: there it is typed. */
static const char *end_of(const char *typed, int width)
{
	while (*typed && cells_width(span_of(typed)) > width) {
		do
			typed++;
		while (((unsigned char)*typed & 0xc0) == 0x80);
	}
	return typed;
}

static void draw_field_of(const struct confirm *confirm, struct area area, int row, int field, const char *label)
{
	const char *typed = confirm->typed[field];
	int at = 32, width = area.cols - at - 1;
	bool is_bad = field == 0 && *typed && strcmp(typed, confirm->wanted) != 0;

	draw_text(area, row, 0, ROLE_popup, label);
	draw_text(area, row, at - 1, ROLE_popup, "[");
	draw_blank(area, row, at, width, field == confirm->field ? ROLE_field_focus : ROLE_field);
	int taken = draw_text(area_part(area, row, at, 1, width - 1), 0, 0,
	                      is_bad ? ROLE_field_error : field == confirm->field ? ROLE_field_focus : ROLE_field,
	                      end_of(typed, width - 1));
	draw_text(area, row, at + width, ROLE_popup, "]");
	if (field == confirm->field)
		cursor_put(area, row, at + taken);
}

static void confirm_draw(struct box *box, struct area area)
{
	const struct confirm *confirm = box->state;
	OWNED(text) label = text_new(LINE_BYTES);
	OWNED(text) line = text_new(LINE_BYTES);

	confirm_count(box);
	draw_paragraph(area, 0, 0, area.cols, 3, ROLE_popup, span_of(is_nothing(confirm) ? nothing_open : confirm->says));
	if (is_nothing(confirm))
		return; /* the count came after the box: Enter and Esc both leave it */
	text_add_format(label, "Type %s (%s)", confirm->is_job ? "the name" : "the count",
	                *confirm->wanted ? confirm->wanted : "counting ..");
	draw_field_of(confirm, area, 4, 0, label->at);
	draw_field_of(confirm, area, 5, 1, "Why, for the journal");
	if (confirm->is_wrong)
		draw_text(area, 6, 0, ROLE_error, strcmp(confirm->typed[0], confirm->wanted) != 0 ?
		                                          "that is not it: nothing has been done" :
		                                          "a reason is needed: nothing has been done");
	draw_rule(area, area.rows - 3, "", "");
	text_add(line, "Same as:  weir ");
	confirm_line(confirm, 0, line);
	if (confirm->lines->count > 1)
		text_add_format(line, "  and %zu more", confirm->lines->count - 1);
	draw_paragraph(area, area.rows - 2, 0, area.cols, 2, ROLE_popup, text_span(line));
}

/* As much of it as a field of one line takes: to its end or its first control character, in whole characters. */
static size_t typeable(struct span bytes, size_t room)
{
	size_t len = 0;

	while (len < bytes.len && (unsigned char)bytes.at[len] >= ' ' && bytes.at[len] != 0x7f)
		len++;
	if (len <= room)
		return len;
	while (room && ((unsigned char)bytes.at[room] & 0xc0) == 0x80)
		room--;
	return room;
}

static void field_key(struct confirm *confirm, const struct key_event *event)
{
	char *typed = confirm->typed[confirm->field];
	size_t len = strlen(typed);

	if (event->key.code == KEY_BACKSPACE_) {
		while (len && ((unsigned char)typed[--len] & 0xc0) == 0x80)
			continue;
		typed[len] = '\0';
	} else if (event->key.code == 'u' && event->key.mods == KEY_CTRL) {
		typed[0] = '\0';
	} else if (event->key.code == KEY_PASTE_ || (event->key.code < KEY_NONE_ && event->key.code >= ' ' && !event->key.mods)) {
		struct span bytes = event->key.code == KEY_PASTE_ ? event->text : input_key_text(event);
		size_t more = typeable(bytes, FIELD_BYTES - 1 - len);

		memcpy(typed + len, bytes.at, more);
		typed[len + more] = '\0';
	}
	confirm->is_wrong = false;
}

/* The lines as they are run: with the count and the reason. */
static void confirm_lines(const struct confirm *confirm, struct act_lines *out)
{
	snprintf(out->title, sizeof(out->title), "%s", confirm->lines->title);
	for (; out->count < confirm->lines->count; out->count++) {
		OWNED(text) line = text_new(LINE_BYTES);

		confirm_line(confirm, out->count, line);
		out->line[out->count] = text_take(line);
	}
}

static enum box_fate confirm_enter(struct box *box)
{
	struct confirm *confirm = box->state;
	bool is_right = *confirm->wanted && strcmp(confirm->typed[0], confirm->wanted) == 0;
	struct act_lines *lines;

	if (is_nothing(confirm)) {
		console_say(box->console, nothing_open);
		return BOX_CLOSES;
	}
	if (!is_right || !confirm->typed[1][0]) {
		/* The first Enter of a right count goes on to the reason. */
		confirm->is_wrong = confirm->field == 1 || !is_right;
		confirm->field = is_right;
		return BOX_STAYS;
	}
	lines = memory_zalloc(sizeof(*lines));
	confirm_lines(confirm, lines);
	if (lines->count == 1)
		console_run(box->console, lines->line[0]);
	else
		console_run_lines(box->console, lines);
	act_lines_free(lines);
	free(lines);
	return BOX_CLOSES;
}

static enum box_fate confirm_key(struct box *box, const struct key_event *event)
{
	struct confirm *confirm = box->state;

	switch (event->key.code) {
	case KEY_ESC_: console_say(box->console, "nothing done"); return BOX_CLOSES;
	case KEY_TAB_:
	case KEY_DOWN_:
	case KEY_UP_: confirm->field = !confirm->field; return BOX_STAYS;
	case KEY_ENTER_: return confirm_enter(box);
	default: field_key(confirm, event); return BOX_STAYS;
	}
}

static void confirm_hints(const struct box *box, struct text *out)
{
	(void)box;
	text_add(out, "Enter do it  Tab field  Esc leave, nothing done");
}

static void confirm_close(struct box *box)
{
	struct confirm *confirm = box->state;

	act_lines_free(confirm->lines);
	json_decref(confirm->choice);
	free(confirm->lines);
	free(confirm);
}

static const struct box_ops confirm_ops = { "confirm", confirm_size, confirm_draw, confirm_key, confirm_hints, confirm_close };

static void confirm_letters(const json_t *args, struct box *box)
{
	struct confirm *confirm = box->state;

	confirm->says = lost_letters;
	confirm->lines->letters[0] = 1; /* one letter, unless it is a choice of them */
	confirm->choice = json_object_get(args, "id") ? NULL : lossy_choice(args);
	snprintf(box->title, sizeof(box->title), "discard dead letters");
	confirm_count(box);
}

static void confirm_job(const json_t *args, struct box *box)
{
	struct confirm *confirm = box->state;

	confirm->says = lost_job;
	confirm->is_job = true;
	snprintf(confirm->wanted, sizeof(confirm->wanted), "%s", member_text(args, "job"));
	snprintf(box->title, sizeof(box->title), "delete job %.80s", confirm->wanted);
}

static struct confirm *confirm_new(struct act_lines *lines)
{
	struct confirm *confirm = memory_zalloc(sizeof(*confirm));

	confirm->lines = lines;
	return confirm;
}

bool box_confirm_open(struct console *console, const char *line)
{
	struct box box = { .ops = &confirm_ops, .console = console };
	struct act_lines *lines;
	enum command_id id;
	json_t *args = NULL;

	if (!lossy_read(line, &id, &args))
		return false;
	lines = memory_zalloc(sizeof(*lines));
	lines->line[lines->count++] = lossy_line(id, args);
	box.state = confirm_new(lines);
	snprintf(((struct confirm *)box.state)->typed[1], FIELD_BYTES, "%s", member_text(args, "why"));
	if (id == COMMAND_dlq_discard)
		confirm_letters(args, &box);
	else
		confirm_job(args, &box);
	json_decref(args);
	if (is_nothing(box.state)) { /* known already: no box that can only be left */
		console_say(console, nothing_open);
		confirm_close(&box);
		return true;
	}
	console_box(console, &box);
	return true;
}

bool box_confirm_many(struct console *console, struct act_lines *lines)
{
	struct box box = { .ops = &confirm_ops, .console = console };
	enum command_id id;
	json_t *args = NULL;

	if (!lines->count || !lossy_read(lines->line[0], &id, &args))
		return false;
	box.state = confirm_new(lines);
	((struct confirm *)box.state)->says = lost_letters;
	confirm_count(&box);
	console_box(console, &box);
	json_decref(args);
	return true;
}
