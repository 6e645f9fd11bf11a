/*
 * Questions before an act: "Enter / Esc" for what can be undone, and for what cannot
 * the exact count or name typed by hand, and why. Only that lets Enter act.
 */
#include "base/arena.h"
#include "base/clean.h"
#include "prompt/prompt.h"
#include "view/box.h"

#include <ctype.h>
#include <stdlib.h>

#define FIELD_BYTES 200
#define LINE_BYTES 4096
#define BOX_COLS 70

/*
 * A yes or no.
 */
struct question {
	char *line;
};

static void question_size(const struct box *box, int *out_rows, int *out_cols)
{
	(void)box;
	*out_rows = 3;
	*out_cols = BOX_COLS;
}

static void question_draw(struct box *box, struct area area)
{
	const struct question *question = box->state;

	draw_format(area, 0, 0, ROLE_popup, "Enter does it, Esc leaves it.");
	draw_format(area, area.rows - 1, 0, ROLE_popup, "Same as:  weir %s", question->line);
}

static enum box_fate question_key(struct box *box, const struct key_event *event)
{
	struct question *question = box->state;
	struct console *console = box->console;

	if (event->key.code == KEY_ESC_ || event->key.code == 'q')
		return BOX_CLOSES;
	if (event->key.code != KEY_ENTER_)
		return BOX_STAYS;
	char *line = question->line;

	question->line = NULL;
	box->ops->close(box);
	box->ops = NULL;
	console_run(console, line);
	free(line);
	return BOX_STAYS;
}

static void question_hints(const struct box *box, struct text *out)
{
	(void)box;
	text_add(out, "Enter do it  Esc leave, nothing done");
}

static void question_close(struct box *box)
{
	struct question *question = box->state;

	free(question->line);
	free(question);
}

static const struct box_ops question_ops = { "question", question_size, question_draw, question_key, question_hints,
	                                     question_close };

void box_ask_open(struct console *console, const char *text, const char *line)
{
	struct question *question = memory_zalloc(sizeof(*question));
	struct box box = { .ops = &question_ops, .state = question };

	question->line = strdup(line);
	snprintf(box.title, sizeof(box.title), "%s", text);
	console_box(console, &box);
}

/*
 * A lossy act.
 */
struct confirm {
	char *line;              /* without --confirm, --yes, --why */
	const char *says;        /* what is lost */
	char wanted[FIELD_BYTES]; /* the count or the name */
	bool is_job;
	char typed[2][FIELD_BYTES]; /* count or name; why */
	int field;
	bool is_wrong;
};

static const char lost_letters[] = "They can not be replayed afterwards. The ledger does not change; the journal gets a line "
                                   "with who, when, the count and the reason.";
static const char lost_job[] = "Its dead letters, position and history go. The tables it has written stay.";

static void confirm_size(const struct box *box, int *out_rows, int *out_cols)
{
	(void)box;
	*out_rows = 9;
	*out_cols = BOX_COLS;
}

/* The command with what has been typed. */
static void confirm_line(const struct confirm *confirm, struct text *out)
{
	text_add(out, confirm->line);
	if (confirm->is_job)
		text_add(out, " --yes");
	else
		text_add_format(out, " --confirm %s", confirm->wanted);
	text_add(out, " --why ");
	shell_quote(out, span_of(confirm->typed[1]));
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
	                      is_bad ? ROLE_field_error : field == confirm->field ? ROLE_field_focus : ROLE_field, typed);
	draw_text(area, row, at + width, ROLE_popup, "]");
	if (field == confirm->field)
		cursor_put(area, row, at + taken);
}

static void confirm_draw(struct box *box, struct area area)
{
	const struct confirm *confirm = box->state;
	OWNED(text) label = text_new(LINE_BYTES);
	OWNED(text) line = text_new(LINE_BYTES);

	draw_paragraph(area, 0, 0, area.cols, 3, ROLE_popup, span_of(confirm->says));
	text_add_format(label, "Type %s (%s)", confirm->is_job ? "the name" : "the count", confirm->wanted);
	draw_field_of(confirm, area, 4, 0, label->at);
	draw_field_of(confirm, area, 5, 1, "Why, for the journal");
	if (confirm->is_wrong)
		draw_text(area, 6, 0, ROLE_error, strcmp(confirm->typed[0], confirm->wanted) != 0 ?
		                                          "that is not it: nothing has been done" :
		                                          "a reason is needed: nothing has been done");
	draw_rule(area, area.rows - 2, "", "");
	text_add(line, "Same as:  weir ");
	confirm_line(confirm, line);
	draw_field(area, area.rows - 1, 0, area.cols, -1, ROLE_popup, text_span(line));
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

		if (len + bytes.len < FIELD_BYTES && !memchr(bytes.at, '\n', bytes.len)) {
			memcpy(typed + len, bytes.at, bytes.len);
			typed[len + bytes.len] = '\0';
		}
	}
	confirm->is_wrong = false;
}

static enum box_fate confirm_enter(struct box *box)
{
	struct confirm *confirm = box->state;
	struct console *console = box->console;
	OWNED(text) line = text_new(LINE_BYTES);

	if (strcmp(confirm->typed[0], confirm->wanted) != 0 || !confirm->typed[1][0]) {
		/* The first Enter of a right count goes on to the reason. */
		confirm->is_wrong = confirm->field == 1 || strcmp(confirm->typed[0], confirm->wanted) != 0;
		confirm->field = strcmp(confirm->typed[0], confirm->wanted) == 0;
		return BOX_STAYS;
	}
	confirm_line(confirm, line);
	box->ops->close(box);
	box->ops = NULL;
	console_run(console, line->at);
	return BOX_STAYS;
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
	text_add_format(out, "Enter %s  Tab field  Esc leave, nothing done", box->title);
}

static void confirm_close(struct box *box)
{
	struct confirm *confirm = box->state;

	free(confirm->line);
	free(confirm);
}

static const struct box_ops confirm_ops = { "confirm", confirm_size, confirm_draw, confirm_key, confirm_hints, confirm_close };

/* How many open letters a group has, of the moment when the box opens. */
static int64_t open_letters(struct console *console, const char *job, int64_t group)
{
	const struct answer *answer = model_ask(console_model(console), LANE_LETTERS, "dlq.groups", NULL, "jobs");
	const json_t *row;
	size_t i;

	json_array_foreach(answer->lines, i, row) {
		if (member_int(row, "group") == group && (!*job || strcmp(member_text(row, "job"), job) == 0))
			return member_int(row, "open");
	}
	return -1;
}

static bool confirm_letters(struct console *console, const json_t *args, struct box *box)
{
	struct confirm *confirm = box->state;
	int64_t group = json_integer_value(json_object_get(args, "group"));
	const char *job = member_text(args, "job");
	int64_t count = json_object_get(args, "id") ? 1 : open_letters(console, job, group);

	if (count < 0) {
		console_say(console, "the count is not known yet; once more");
		return false;
	}
	confirm->says = lost_letters;
	snprintf(confirm->wanted, sizeof(confirm->wanted), "%lld", (long long)count);
	snprintf(box->title, sizeof(box->title), "discard %lld dead letter%s", (long long)count, count == 1 ? "" : "s");
	return true;
}

static bool confirm_job(const json_t *args, struct box *box)
{
	struct confirm *confirm = box->state;

	confirm->says = lost_job;
	confirm->is_job = true;
	snprintf(confirm->wanted, sizeof(confirm->wanted), "%s", member_text(args, "job"));
	snprintf(box->title, sizeof(box->title), "delete job %.80s", confirm->wanted);
	return true;
}

/* Takes the words of a line apart; false: it is not complete, and the engine will say what is missing. */
static bool is_lossy(const char *line, enum command_id *out_id, json_t **out_args)
{
	struct command_line parsed = { 0 };
	struct error err = { 0 };
	char **word = NULL;
	size_t count = 0;
	int taken = 0;
	bool is_parsed = words_split(line, &word, &count) && (parsed.command = command_find((int)count, word, &taken)) &&
	                 command_line_parse(parsed.command, (int)count - taken, word + taken, &parsed, &err);

	words_free(word, count);
	if (is_parsed)
		*out_id = (enum command_id)(parsed.command - command_table);
	if (is_parsed && ((*out_id == COMMAND_dlq_discard && !json_object_get(parsed.args, "confirm")) ||
	                  (*out_id == COMMAND_job_delete && !json_object_get(parsed.args, "yes")))) {
		*out_args = parsed.args;
		return true;
	}
	json_decref(parsed.args);
	return false;
}

bool box_confirm_open(struct console *console, const char *line)
{
	struct confirm *confirm;
	struct box box = { .ops = &confirm_ops };
	enum command_id id;
	json_t *args = NULL;

	if (!is_lossy(line, &id, &args))
		return false;
	confirm = memory_zalloc(sizeof(*confirm));
	confirm->line = strdup(line);
	box.state = confirm;
	if (id == COMMAND_dlq_discard ? confirm_letters(console, args, &box) : confirm_job(args, &box))
		console_box(console, &box);
	else
		confirm_close(&box);
	json_decref(args);
	return true;
}
