/*
 * The terminal: started, drawn to, read from, given back in the state it had, also
 * by a signal. One of them in a process. ncurses writes, it never reads.
 */
#ifndef WEIR_TUI_TERM_TERM_H
#define WEIR_TUI_TERM_TERM_H

#include "base/error.h"
#include "term/canvas.h"

/*
 * Keys. input.c turns bytes into them; a pure function, fuzzed.
 */
enum key_code {
	/* below 0x110000: a character */
	KEY_NONE_ = 0x110000, /* the suffix keeps clear of curses' names */
	KEY_ENTER_, KEY_ESC_, KEY_TAB_, KEY_BACKSPACE_, KEY_UP_, KEY_DOWN_, KEY_LEFT_, KEY_RIGHT_, KEY_HOME_, KEY_END_,
	KEY_PAGE_UP_, KEY_PAGE_DOWN_, KEY_INSERT_, KEY_DELETE_, KEY_F1_,
	KEY_F12_ = KEY_F1_ + 11,
	KEY_PASTE_,   /* text follows in struct key_event */
	KEY_SYNC_,    /* ESC ] 7717 ; TOKEN BEL: the token is in text; answered by the same after the next frame */
	KEY_MOUSE_,   /* wheel or click; see row, col */
	KEY_REPORT_,  /* the terminal's answer to a question of ours; text holds it */
};

enum key_mods { KEY_SHIFT = 1, KEY_ALT = 2, KEY_CTRL = 4 };

struct key {
	uint32_t code;
	uint8_t mods;
};

/* "C-x", "Enter", "F1", "g", "S-Tab", "M-x"; empty for what has no name, as a paste. */
#define KEY_NAME_BYTES 24
void key_to_name(struct key key, char out[KEY_NAME_BYTES]);
/* The other way; false: no such key. */
bool key_parse(struct span name, struct key *out);

#define PASTE_BYTES_MAX 65536
#define SYNC_TOKEN_BYTES 33

enum mouse_act { MOUSE_CLICK, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN };

struct key_event {
	struct key key;
	struct span text;   /* of KEY_PASTE_ (cut at PASTE_BYTES_MAX), KEY_SYNC_, KEY_REPORT_ ("12;40R"); valid until the next call */
	enum mouse_act mouse;
	int row, col;       /* of KEY_MOUSE_, from 0 */
};

struct input;

struct input *input_new(void);
void input_free(struct input *input);
/* What the terminal sent. Take all keys before the next feed: above INPUT_BYTES_MAX the newest bytes are dropped. */
#define INPUT_BYTES_MAX (1u << 20)
void input_feed(struct input *input, const char *bytes, size_t len, int64_t now_ms);
/* The next whole key; false: none yet. A lone Esc is whole some ms after it came. */
#define INPUT_ESC_MS 25
bool input_next(struct input *input, int64_t now_ms, struct key_event *out);
/* How long to wait for what may follow an Esc, 1 to INPUT_ESC_MS_MAX; INPUT_ESC_MS until this is called. */
#define INPUT_ESC_MS_MAX 1000
void input_set_esc_ms(struct input *input, int esc_ms);
/* When to call again though nothing came, or -1. */
int64_t input_due_ms(const struct input *input);
/* The character of a key as UTF-8; empty for a key that is none. Valid until the next call. */
struct span input_key_text(const struct key_event *event);
/* The bytes of the event given last, as they came: for readline. Empty for a paste, whose text is in the event. Valid until
 * the next call. */
struct span input_raw(const struct input *input);

/*
 * The screen.
 */
struct terminal;
struct theme;
enum colour_level { COLOUR_NONE, COLOUR_16, COLOUR_256 };

struct term_wishes {
	bool no_color;            /* --no-color; NO_COLOR holds as well */
	bool ascii;               /* --ascii; a locale without UTF-8 holds as well */
	const struct theme *theme; /* kept, not owned */
};

/* NULL when standard input or output is no terminal, or the terminal cannot move its cursor (`no_terminal`): use plain
 * output then. *out_note says what the operator should know (another TERM was taken, no colours), or is empty. */
struct terminal *term_open(const struct term_wishes *wishes, struct text *out_note, struct error *err);
/* Gives the terminal back; `farewell`, whole lines or nothing, stands on its normal screen then. */
void term_close(struct terminal *term, struct span farewell);
/* Would term_open find a terminal here? Else `no_terminal`. */
bool term_is_there(struct error *err);
int term_fd(void);                                       /* to poll for keys */
void term_size(const struct terminal *term, int *out_rows, int *out_cols);
/* After SIGWINCH or on return from suspension: asks for the size; all is sent again with the next term_show. */
void term_resize(struct terminal *term);
/* Shows the canvas: only what differs is sent. False: the terminal takes nothing now; draw again later. */
bool term_show(struct terminal *term, const struct canvas *canvas);
/* All is sent again with the next term_show. */
void term_redraw(struct terminal *term);
/* Another theme from the next frame on. */
void term_theme(struct terminal *term, const struct theme *theme);
/* Whether wheel and clicks come as keys; off at first, since then the terminal selects no text. */
void term_mouse(struct terminal *term, bool is_on);
/* C-z: the terminal as it was, stops this process, comes back. */
void term_suspend(struct terminal *term);
/* Back from a stop that was not asked for here (SIGSTOP): whoever had the terminal meanwhile has left his modes in it. */
void term_continue(struct terminal *term);
/* Text to the clipboard by OSC 52; false: too long (then show it instead). What would end the sequence is cleaned away. */
#define COPY_BYTES_MAX 74994 /* of what many terminals take in one OSC 52 */
bool term_copy(struct terminal *term, struct span text);
/* Bytes outside the screen, after what was drawn: the answer to KEY_SYNC_. */
void term_send(struct terminal *term, struct span bytes);
/* Takes an answer of the terminal (KEY_REPORT_) to what it was asked at the start. */
void term_heard(struct terminal *term, struct span report, int64_t now_ms);
/* How long the terminal takes to answer; -1: it has not yet, or never will. Over TERM_FAR_MS the link is a slow one. */
#define TERM_FAR_MS 250
int term_round_trip_ms(const struct terminal *term);
/* Is an answer still likely to come? Who leaves before it would find it on his command line. */
bool term_owes_answer(const struct terminal *term, int64_t now_ms);
/* Signals of the process since the last call, as bits: a window of another size, the end (TERM, HUP), back from a stop, a stop
 * that is wished for (TSTP). To poll: term_signal_fd. From the first signal of the end on, output that the terminal does not
 * take is thrown away: a stalled one holds up no end. */
enum term_signals { SIGNAL_RESIZE = 1, SIGNAL_END = 2, SIGNAL_HANGUP = 4, SIGNAL_CONTINUE = 8, SIGNAL_STOP = 16 };
int term_signal_fd(void);
unsigned term_signals(void);
/* For a person: which TERM was taken, how many colours. */
const char *term_name(const struct terminal *term);
enum colour_level term_level(const struct terminal *term);

/*
 * Themes and glyphs (colour.c, glyph.c).
 */

/* How a role looks at a level: indexes as the terminal counts them, -1: its default. At COLOUR_16 there may be 8 to 15 also
 * where the terminal has only eight colours: 8 less is the same colour, darker. */
struct look {
	int16_t fg, bg;
	uint8_t attributes; /* LOOK_* */
};
enum look_attributes { LOOK_BOLD = 1, LOOK_DIM = 2, LOOK_UNDERLINE = 4, LOOK_REVERSE = 8, LOOK_ITALIC = 16 };

struct theme;
/* Reads a theme; errors in it are added to `problems` as "FILE:LINE:COLUMN: what", and the rest is used: what is missing
 * is taken from the compiled default. text NULL: the default. */
struct theme *theme_read(const char *file, const char *text, struct text *problems);
void theme_free(struct theme *theme);
struct look theme_look(const struct theme *theme, enum role role, enum colour_level level);
const char *role_name(enum role role);
/* What the file says of itself: one line, may be empty; and the background that its colours are made for. */
enum theme_background { THEME_DARK, THEME_LIGHT, THEME_BOTH };
const char *theme_about(const struct theme *theme);
enum theme_background theme_background(const struct theme *theme);
const char *theme_background_name(enum theme_background background);
/* The themes of the folder themes/, compiled in: the name of each, NULL behind the last; and its text, NULL: no such one. */
const char *theme_shipped_name(size_t index);
const char *theme_shipped_text(const char *name);

/* Glyphs of this session: Unicode or ASCII. */
enum glyph_id { GLYPH_RULE, GLYPH_VERTICAL, GLYPH_TOP_LEFT, GLYPH_TOP_RIGHT, GLYPH_BOTTOM_LEFT, GLYPH_BOTTOM_RIGHT, GLYPHS };
enum chart_glyphs { CHART_BRAILLE, CHART_BLOCKS, CHART_ASCII };
void glyphs_set(bool is_unicode, enum chart_glyphs charts);
const char *glyph_text(enum glyph_id id);
enum chart_glyphs glyphs_charts(void);

#endif
