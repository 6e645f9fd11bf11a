/*
 * Bytes to keys: what has come and not been taken, how long ago, and whether a paste or a
 * sequence too long to be ours is going on. Knows no terminal; time is handed in.
 */
#include "base/utf8.h"
#include "term/input_private.h"

/* So long after an Esc was given, "[A" in one piece is still the rest of an arrow key. */
#define LATE_MS 500
/* A paste whose end is lost must not take the keyboard for ever. */
#define PASTE_SILENCE_MS 5000
static const char paste_end[] = "\033[201~";

enum input_mode { MODE_KEYS, MODE_PASTE, MODE_LONG_CSI, MODE_LONG_OSC, MODE_LONG_STRING };

struct input {
	enum input_mode mode;
	int64_t esc_ms;     /* instead of INPUT_ESC_MS, which the parser of sequences says */
	char *bytes;
	size_t at, len, room;
	size_t cut;         /* bytes that lay here, unfinished, when others came after a pause... */
	int64_t cut_ms;     /* ...of so long */
	int64_t fed_ms;     /* when bytes came last */
	int64_t late_until_ms;
	size_t raw, raw_len;
	char *paste;        /* PASTE_BYTES_MAX, made with the first paste */
	size_t paste_len;
};

struct input *input_new(void)
{
	struct input *input = calloc(1, sizeof(*input));

	if (input)
		input->late_until_ms = INT64_MIN, input->esc_ms = INPUT_ESC_MS;
	return input;
}

void input_set_esc_ms(struct input *input, int esc_ms)
{
	input->esc_ms = esc_ms < 1 ? 1 : esc_ms > INPUT_ESC_MS_MAX ? INPUT_ESC_MS_MAX : esc_ms;
}

void input_free(struct input *input)
{
	if (!input)
		return;
	free(input->bytes);
	free(input->paste);
	free(input);
}

static struct span pending(const struct input *input)
{
	return span_make(input->bytes + input->at, input->len - input->at);
}

static int64_t step_wait_ms(const struct input *input, const struct step *step)
{
	return step->wait_ms == INPUT_ESC_MS ? input->esc_ms : step->wait_ms;
}

/* How long to wait for more of what is pending; -1: not at all, it is a key or nothing is pending. */
static int64_t wait_ms(const struct input *input)
{
	struct span bytes = pending(input);
	struct step step;

	if (input->mode == MODE_PASTE)
		return PASTE_SILENCE_MS;
	if (input->mode != MODE_KEYS)
		return SEQUENCE_MS;
	if (!bytes.len)
		return -1;
	step = step_parse(bytes, input->fed_ms < input->late_until_ms);
	return step.kind == STEP_MORE ? step_wait_ms(input, &step) : -1;
}

static bool make_room(struct input *input, size_t more)
{
	size_t room = input->room ? input->room : 4096;
	char *bytes;

	input->len -= input->at;
	input->raw = input->raw_len = 0;
	if (input->at)
		memmove(input->bytes, input->bytes + input->at, input->len);
	input->at = 0;
	if (input->len + more > INPUT_BYTES_MAX)
		return false;
	while (room < input->len + more)
		room *= 2;
	if (room == input->room)
		return true;
	bytes = realloc(input->bytes, room);
	if (!bytes)
		return false;
	input->bytes = bytes;
	input->room = room;
	return true;
}

void input_feed(struct input *input, const char *bytes, size_t len, int64_t now_ms)
{
	if (!len || !make_room(input, len))
		return;
	/* A pause splits: an Esc of long ago is no part of what comes now. */
	if (!input->cut && input->len) {
		input->cut = input->len;
		input->cut_ms = now_ms - input->fed_ms;
	}
	memcpy(input->bytes + input->len, bytes, len);
	input->len += len;
	input->fed_ms = now_ms;
}

static void take(struct input *input, size_t count)
{
	input->raw = input->at;
	input->raw_len = count;
	input->at += count;
	input->cut = input->cut > count ? input->cut - count : 0;
}

static void paste_begin(struct input *input)
{
	if (!input->paste)
		input->paste = malloc(PASTE_BYTES_MAX);
	input->paste_len = 0;
	input->mode = MODE_PASTE;
}

/* Without memory a paste is empty, not a row of keys. */
static void paste_add(struct input *input, size_t count)
{
	size_t room = input->paste ? PASTE_BYTES_MAX - input->paste_len : 0;
	size_t some = count < room ? count : room;

	if (some)
		memcpy(input->paste + input->paste_len, input->bytes + input->at, some);
	input->paste_len += some;
	take(input, count);
}

/* A character that the limit has cut in two is left out. */
static struct span paste_text(const struct input *input)
{
	size_t len = input->paste_len, back = 0;
	uint32_t code;

	if (len < PASTE_BYTES_MAX)
		return span_make(input->paste, len);
	while (back < 3 && ((unsigned char)input->paste[len - 1 - back] & 0xc0) == 0x80)
		back++;
	if ((unsigned char)input->paste[len - 1 - back] >= 0xc2 &&
	    utf8_step(span_make(input->paste + len - 1 - back, back + 1), &code) != back + 1)
		len -= back + 1;
	return span_make(input->paste, len);
}

static bool paste_finish(struct input *input, struct key_event *out_event)
{
	input->mode = MODE_KEYS;
	input->raw_len = 0;
	*out_event = (struct key_event){ .key.code = KEY_PASTE_, .text = paste_text(input) };
	return true;
}

/* How much of the end of `bytes` may be the beginning of the paste's end. */
static size_t end_begun(struct span bytes)
{
	for (size_t len = sizeof(paste_end) - 2; len > 0; len--) {
		if (len <= bytes.len && memcmp(bytes.at + bytes.len - len, paste_end, len) == 0)
			return len;
	}
	return 0;
}

static bool paste_next(struct input *input, int64_t now_ms, struct key_event *out_event)
{
	struct span bytes = pending(input);
	const char *end = bytes.len ? memmem(bytes.at, bytes.len, paste_end, sizeof(paste_end) - 1) : NULL;
	size_t kept = end_begun(bytes);

	if (end) {
		paste_add(input, (size_t)(end - bytes.at));
		take(input, sizeof(paste_end) - 1);
		return paste_finish(input, out_event);
	}
	if (bytes.len > kept)
		paste_add(input, bytes.len - kept);
	input->cut = 0;
	if (now_ms - input->fed_ms < PASTE_SILENCE_MS)
		return false;
	paste_add(input, kept);
	return paste_finish(input, out_event);
}

/* Skips what is too long to be ours; true: its end has come, or nothing came for long. */
static bool skip_long(struct input *input, int64_t now_ms)
{
	struct span bytes = pending(input);
	size_t skipped = 0;
	bool is_end;

	if (input->mode == MODE_LONG_CSI) {
		while (skipped < bytes.len && bytes.at[skipped] >= ' ' && bytes.at[skipped] <= '?')
			skipped++;
		is_end = skipped < bytes.len;
		/* A byte that cannot end it is not its last. */
		skipped += is_end && bytes.at[skipped] >= '@' && bytes.at[skipped] <= '~';
	} else {
		is_end = string_end(bytes, input->mode == MODE_LONG_OSC, &skipped);
		if (!is_end)
			skipped = bytes.len && bytes.at[bytes.len - 1] == '\033' ? bytes.len - 1 : bytes.len;
	}
	take(input, skipped);
	if (is_end || now_ms - input->fed_ms >= SEQUENCE_MS)
		input->mode = MODE_KEYS;
	return input->mode == MODE_KEYS;
}

/* The next step, or one that was forced because more is overdue. */
static struct step step_next(const struct input *input, int64_t now_ms)
{
	struct span bytes = pending(input);
	size_t cut = input->cut;
	bool is_late = input->fed_ms < input->late_until_ms;
	struct step step;

	if (cut) {
		step = step_parse(span_make(bytes.at, cut), is_late);
		if (step.kind == STEP_MORE && input->cut_ms >= step_wait_ms(input, &step))
			return step_give_up(span_make(bytes.at, cut), is_late);
	}
	step = step_parse(bytes, is_late);
	if (step.kind == STEP_MORE && now_ms - input->fed_ms >= step_wait_ms(input, &step))
		return step_give_up(bytes, is_late);
	return step;
}

/* After an Esc that nothing followed in time, the rest of its sequence may still come. */
static void note_late(struct input *input, const struct step *step, int64_t now_ms)
{
	struct span bytes = pending(input);
	bool is_esc = step->event.key.code == KEY_ESC_ && step->taken == 1 && bytes.at[0] == '\033';
	bool is_lone = bytes.len == 1 || input->cut == 1;

	input->late_until_ms = step->kind == STEP_KEY && is_esc && is_lone ? now_ms + LATE_MS : INT64_MIN;
}

/* What goes on beyond the bytes of a step. */
static void enter_mode(struct input *input, const struct step *step)
{
	if (step->kind == STEP_PASTE)
		paste_begin(input);
	else if (step->kind == STEP_LONG_CSI)
		input->mode = MODE_LONG_CSI;
	else if (step->kind == STEP_LONG_STRING)
		input->mode = input->bytes[input->at + 1] == ']' ? MODE_LONG_OSC : MODE_LONG_STRING;
}

bool input_next(struct input *input, int64_t now_ms, struct key_event *out_event)
{
	for (;;) {
		struct step step;

		if (input->mode == MODE_PASTE)
			return paste_next(input, now_ms, out_event);
		if (input->mode != MODE_KEYS && !skip_long(input, now_ms))
			return false;
		if (input->at == input->len)
			return false;
		step = step_next(input, now_ms);
		if (step.kind == STEP_MORE)
			return false;
		note_late(input, &step, now_ms);
		enter_mode(input, &step);
		take(input, step.taken);
		if (step.kind == STEP_KEY) {
			*out_event = step.event;
			return true;
		}
	}
}

int64_t input_due_ms(const struct input *input)
{
	int64_t wait = wait_ms(input);

	return wait < 0 ? -1 : input->fed_ms + wait;
}

struct span input_raw(const struct input *input)
{
	return span_make(input->bytes ? input->bytes + input->raw : NULL, input->raw_len);
}
