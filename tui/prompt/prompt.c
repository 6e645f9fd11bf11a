/*
 * GNU readline as an editor of one line inside our loop; see prompt.h. Readline owns
 * one line in a process, so one prompt is open at a time. It reads from and writes to
 * /dev/null; what it would have drawn is drawn by prompt_draw.
 */
#include "base/arena.h"
#include "base/file.h"
#include "prompt/prompt_private.h"
#include "term/cells.h"

#include <stdlib.h>

#include <readline/readline.h>
#include <readline/history.h>

#define KEY_ESC '\x1b'
#define KEY_CTRL_C '\x03'
#define KEY_CTRL_G '\x07'

struct prompt {
	enum prompt_kind kind;
	bool is_open, is_leaving;
	enum prompt_end end;
	char *text;                   /* the line when it is closed */
	char *folder, *paths[2];      /* of history, or NULL */
	HISTORY_STATE histories[2];
};

static const struct { const char *sign, *file; } kinds[] = {
	[PROMPT_LINE] = { ":", "console-line" },
	[PROMPT_FILTER] = { "/", "console-filter" },
};

static struct prompt *current; /* the open one */
static struct span held;       /* bytes that readline has not asked for yet */

static int get_byte(FILE *stream)
{
	(void)stream;
	if (!held.len)
		return EOF;
	held.len--;
	return (unsigned char)*held.at++;
}

static int has_byte(void)
{
	return held.len > 0;
}

static void history_enter(struct prompt *prompt)
{
	history_set_history_state(&prompt->histories[prompt->kind]);
	stifle_history(HISTORY_LINES_MAX);
	using_history();
}

static void history_leave(struct prompt *prompt)
{
	HISTORY_STATE *state = history_get_history_state();

	prompt->histories[prompt->kind] = *state;
	free(state);
}

struct prompt *prompt_new(const char *history_folder)
{
	struct prompt *prompt = memory_zalloc(sizeof(*prompt));

	readline_begin(get_byte, has_byte);
	prompt->text = memory_string("");
	prompt->folder = memory_string(history_folder);
	for (int kind = PROMPT_LINE; kind <= PROMPT_FILTER && history_folder; kind++) {
		prompt->paths[kind] = path_join(history_folder, kinds[kind].file);
		prompt->kind = (enum prompt_kind)kind;
		history_enter(prompt);
		history_load(prompt->paths[kind]);
		history_leave(prompt);
	}
	return prompt;
}

void prompt_free(struct prompt *prompt)
{
	if (!prompt)
		return;
	prompt_close(prompt);
	for (int kind = PROMPT_LINE; kind <= PROMPT_FILTER; kind++) {
		prompt->kind = (enum prompt_kind)kind;
		history_enter(prompt);
		clear_history();
		history_leave(prompt);
		free(prompt->histories[kind].entries);
		free(prompt->paths[kind]);
	}
	history_set_history_state(&(HISTORY_STATE){ 0 });
	free(prompt->folder);
	free(prompt->text);
	free(prompt);
}

/* What C-v has put in as a control character becomes a blank: nothing that takes a line knows what to do with it. */
static void set_text(struct prompt *prompt, const char *line)
{
	free(prompt->text);
	prompt->text = memory_string(line);
	for (char *c = prompt->text; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
	}
}

static void remember(struct prompt *prompt)
{
	HIST_ENTRY *last = history_length ? history_get(history_base + history_length - 1) : NULL;

	if (!history_may_keep(prompt->text) || (last && strcmp(last->line, prompt->text) == 0))
		return;
	add_history(prompt->text);
	if (prompt->folder)
		history_keep(prompt->folder, prompt->paths[prompt->kind], prompt->text);
}

/* Readline calls it when a line has ended; the handler goes first, else the next prompt would be begun. NULL: C-d. */
static void line_ended(char *line)
{
	struct prompt *prompt = current;

	rl_callback_handler_remove();
	prompt->is_open = false;
	prompt->end = line && !prompt->is_leaving ? PROMPT_TAKEN : PROMPT_LEFT;
	set_text(prompt, line ? line : "");
	if (prompt->end == PROMPT_TAKEN)
		remember(prompt);
	history_leave(prompt);
	current = NULL;
	free(line);
}

void prompt_open(struct prompt *prompt, enum prompt_kind kind, const char *text)
{
	if (current)
		prompt_close(current);
	prompt->kind = kind;
	prompt->is_open = true;
	prompt->is_leaving = false;
	prompt->end = PROMPT_GOES_ON;
	current = prompt;
	history_enter(prompt);
	rl_callback_handler_install("", line_ended);
	prompt_insert(prompt, span_of(text));
}

bool prompt_is_open(const struct prompt *prompt)
{
	return prompt->is_open;
}

enum prompt_kind prompt_kind(const struct prompt *prompt)
{
	return prompt->kind;
}

/* A line as long as it may be; M-9999 x, yanks and macros could make it longer. */
static void keep_short(void)
{
	int len = PROMPT_BYTES_MAX - 1;

	if (rl_numeric_arg > PROMPT_BYTES_MAX)
		rl_numeric_arg = PROMPT_BYTES_MAX;
	if (rl_end <= len)
		return;
	while (len && ((unsigned char)rl_line_buffer[len] & 0xc0) == 0x80)
		len--;
	rl_delete_text(len, rl_end);
	rl_point = rl_point < rl_end ? rl_point : rl_end;
}

static void feed_readline(const struct prompt *prompt, struct span bytes)
{
	held = bytes;
	while (held.len && prompt->is_open) {
		rl_callback_read_char();
		if (prompt->is_open)
			keep_short();
	}
	held = (struct span){ 0 };
}

/* Readline itself ends the line, which we then throw away: it takes back what was changed in lines of the history. */
void prompt_close(struct prompt *prompt)
{
	if (!prompt->is_open)
		return;
	prompt->is_leaving = true;
	rl_callback_sigcleanup();
	feed_readline(prompt, SPAN("\n"));
	if (prompt->is_open) /* the user's .inputrc gives Enter another meaning */
		line_ended(NULL);
}

/* Esc leaves a search first; in vi mode it first leaves the insert mode. */
static bool is_leave_key(struct span bytes)
{
	if (bytes.len != 1)
		return false;
	if (*bytes.at == KEY_CTRL_C)
		return true;
	if (*bytes.at != KEY_ESC || RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH))
		return false;
	return rl_editing_mode == 1 || rl_get_keymap() == vi_movement_keymap;
}

/* C-x and its like, in a search: readline 8.2 ends the search with it, waits for the second key where nobody has noted the
 * first, and falls over that. Such a key is not handed on. */
static bool is_prefix_in_search(struct span bytes)
{
	return bytes.len == 1 && RL_ISSTATE(RL_STATE_ISEARCH) && *bytes.at != KEY_ESC &&
	       rl_get_keymap()[(unsigned char)*bytes.at].type == ISKMAP;
}

enum prompt_end prompt_feed(struct prompt *prompt, struct span bytes)
{
	static const char abort_search[] = { KEY_CTRL_G };

	if (!prompt->is_open)
		return prompt->end;
	if (is_leave_key(bytes)) {
		prompt_close(prompt);
		return PROMPT_LEFT;
	}
	if (is_prefix_in_search(bytes))
		return prompt->end;
	if (span_is(bytes, "\x1b") && RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH))
		bytes = span_make(abort_search, 1);
	feed_readline(prompt, bytes);
	return prompt->end;
}

void prompt_insert(struct prompt *prompt, struct span text)
{
	OWNED(text) line = text_new(PROMPT_BYTES_MAX);

	if (!prompt->is_open)
		return;
	rl_callback_sigcleanup();
	rl_clear_message();
	for (size_t i = 0; i < text.len && !line->is_full; i++)
		text_add_char(line, (unsigned char)text.at[i] < 0x20 || text.at[i] == 0x7f ? ' ' : text.at[i]);
	rl_insert_text(line->at);
	keep_short();
}

const char *prompt_recent(const struct prompt *prompt, size_t n)
{
	HIST_ENTRY *entry = prompt->is_open && (int)n < history_length ? history_get(history_base + history_length - 1 - (int)n) : NULL;

	return entry ? entry->line : NULL;
}

const char *prompt_text(const struct prompt *prompt)
{
	return prompt->is_open ? rl_line_buffer : prompt->text;
}

size_t prompt_point(const struct prompt *prompt)
{
	size_t len = strlen(prompt_text(prompt));

	return prompt->is_open && rl_point >= 0 && (size_t)rl_point < len ? (size_t)rl_point : len;
}

void prompt_move_end(struct prompt *prompt)
{
	if (prompt->is_open)
		rl_point = rl_end;
}

void prompt_take(struct prompt *prompt, size_t from, const char *word)
{
	size_t point = prompt_point(prompt);

	if (!prompt->is_open || from > point)
		return;
	rl_begin_undo_group();
	rl_delete_text((int)from, (int)point);
	rl_point = (int)from;
	rl_insert_text(word);
	rl_end_undo_group();
	keep_short();
}

/* The first byte that is drawn, so that the cursor stands inside `cols`. */
static size_t scrolled(const char *text, size_t point, int cols)
{
	struct glyph glyph;
	size_t from = 0;

	while (from < point && cells_width(span_make(text + from, point - from)) >= cols &&
	       glyph_next(span_make(text, point), from, &glyph))
		from += glyph.taken;
	return from;
}

void prompt_draw(const struct prompt *prompt, struct area area, int row, const char *note)
{
	const char *text = prompt_text(prompt), *sign = kinds[prompt->kind].sign;
	int note_cols = note ? cells_width(span_of(note)) : 0, at, cols;
	size_t point = prompt_point(prompt), from;

	/* While it searches or counts, readline says so where its prompt would be. */
	if (prompt->is_open && rl_display_prompt && *rl_display_prompt)
		sign = rl_display_prompt;
	draw_blank(area, row, 0, area.cols, ROLE_text);
	at = draw_text(area, row, 0, ROLE_text, sign);
	cols = area.cols - at > 1 ? area.cols - at : 1;
	from = scrolled(text, point, cols);
	draw_text(area, row, at, ROLE_text, text + from);
	if (note_cols && cells_width(span_of(text)) + note_cols + 2 < cols)
		draw_text(area, row, area.cols - note_cols, ROLE_dim, note);
	if (prompt->is_open)
		cursor_put(area, row, at + cells_width(span_make(text + from, point - from)));
}
