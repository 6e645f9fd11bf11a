/*
 * One key out of bytes: UTF-8, controls, Alt as an Esc in front, strings; sequences are in
 * input_sequence.c. Pure; what is no key of ours is taken whole, so that its letters never act.
 */
#include "base/utf8.h"
#include "term/input_private.h"

#define ESC '\033'
#define BAD_CHARACTER 0xfffd

bool string_end(struct span bytes, bool is_osc, size_t *out_end)
{
	for (size_t i = 0; i < bytes.len; i++) {
		char c = bytes.at[i];
		bool is_end = (c == '\a' && is_osc) || c == 0x18 || c == 0x1a;

		if (!is_end && c != ESC)
			continue;
		if (c == ESC && i + 1 == bytes.len)
			return false;
		/* After another Esc another sequence begins: the string ends before it. */
		*out_end = is_end ? i + 1 : bytes.at[i + 1] == '\\' ? i + 2 : i;
		return true;
	}
	return false;
}

/* "ESC ] 7717 ; TOKEN BEL". The token is sent back, so it may hold nothing that a terminal obeys. */
static struct step step_string(struct span bytes, bool is_osc)
{
	static const char head[] = "7717;";
	struct span inside = span_make(bytes.at + 2, bytes.len - 2);
	size_t end = 0, len = sizeof(head) - 1;
	struct step step;

	if (!string_end(inside, is_osc, &end))
		return bytes.len < SEQUENCE_BYTES_MAX ? step_more(SEQUENCE_MS) : (struct step){ .kind = STEP_LONG_STRING, .taken = 2 };
	step = step_key(KEY_SYNC_, 0, end + 2);
	if (end + 2 > SEQUENCE_BYTES_MAX || !is_osc || end <= len || memcmp(inside.at, head, len) != 0)
		return step_none(end + 2);
	while (len < end && inside.at[len] > ' ' && inside.at[len] <= '~')
		len++;
	step.event.text = span_make(inside.at + sizeof(head) - 1, len - (sizeof(head) - 1));
	bool is_whole = end - len == 1 ? inside.at[len] == '\a' : end - len == 2 && inside.at[len] == ESC && inside.at[len + 1] == '\\';

	return is_whole && step.event.text.len && step.event.text.len < SYNC_TOKEN_BYTES ? step : step_none(end + 2);
}

static struct step step_control(unsigned char byte)
{
	static const char after_z[] = "\\]^_";

	switch (byte) {
	case '\t':
		return step_key(KEY_TAB_, 0, 1);
	case '\r':
	case '\n': /* what was an Enter before the terminal was ours, and another Enter of some terminals */
		return step_key(KEY_ENTER_, 0, 1);
	case 0x08:
	case 0x7f:
		return step_key(KEY_BACKSPACE_, 0, 1);
	case 0:
		return step_key(' ', KEY_CTRL, 1);
	default:
		return step_key(byte <= 26 ? 'a' + byte - 1u : (uint32_t)after_z[byte - 28], KEY_CTRL, 1);
	}
}

static struct step step_character(struct span bytes)
{
	unsigned char first = (unsigned char)bytes.at[0];
	size_t need = first < 0xc2 || first > 0xf4 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4, have = 1;
	uint32_t code;

	if (first < ' ' || first == 0x7f)
		return step_control(first);
	while (have < need && have < bytes.len && ((unsigned char)bytes.at[have] & 0xc0) == 0x80)
		have++;
	if (have < need && have == bytes.len)
		return step_more(SEQUENCE_MS);
	size_t taken = utf8_step(span_make(bytes.at, have), &code);

	if (!taken)
		return step_key(BAD_CHARACTER, 0, 1);
	return code_is_control(code) ? step_none(taken) : step_key(code, 0, taken);
}

static struct step with_alt(struct step step, size_t more)
{
	if (step.kind == STEP_MORE)
		return step;
	step.taken += more;
	if (step.kind == STEP_KEY && step.event.key.code != KEY_REPORT_ && step.event.key.code != KEY_MOUSE_)
		step.event.key.mods |= KEY_ALT;
	return step;
}

static struct step step_esc(struct span bytes)
{
	struct span rest = span_make(bytes.at + 1, bytes.len - 1);

	if (!rest.len)
		return step_more(INPUT_ESC_MS);
	if (rest.at[0] == '[' || rest.at[0] == 'O')
		return sequence_parse(bytes, 2, rest.at[0] == '[');
	if (rest.at[0] == ']' || rest.at[0] == 'P' || rest.at[0] == '_')
		return step_string(bytes, rest.at[0] == ']');
	if (rest.at[0] != ESC)
		return with_alt(step_character(rest), 1);
	/* Alt with an arrow is an Esc more in rxvt; any other pair is two keys. */
	if (rest.len == 1)
		return step_more(INPUT_ESC_MS);
	if (rest.at[1] == '[' || rest.at[1] == 'O')
		return with_alt(sequence_parse(rest, 2, rest.at[1] == '['), 1);
	return step_key(KEY_ESC_, 0, 1);
}

struct step step_parse(struct span bytes, bool is_late)
{
	bool is_rest = is_late && (bytes.at[0] == '[' || bytes.at[0] == 'O');
	struct step step;

	if (bytes.at[0] == ESC)
		return step_esc(bytes);
	if (!is_rest)
		return step_character(bytes);
	step = sequence_parse(bytes, 1, bytes.at[0] == '[');
	if (step.kind == STEP_MORE)
		step.wait_ms = INPUT_ESC_MS;
	return step.kind == STEP_NOTHING ? step_character(bytes) : step;
}

struct step step_give_up(struct span bytes, bool is_late)
{
	struct step step = step_parse(bytes, is_late);

	if (step.kind != STEP_MORE)
		return step;
	/* What would have been the rest of a late sequence is a character; else it is half of one. */
	if (bytes.at[0] == '[' || bytes.at[0] == 'O')
		return step_character(bytes);
	if (bytes.at[0] != ESC)
		return step_key(BAD_CHARACTER, 0, 1);
	if (bytes.len == 1 || (bytes.at[1] == ESC && bytes.len <= 3))
		return step_key(KEY_ESC_, 0, 1);
	if (bytes.len == 2)
		return step_key((unsigned char)bytes.at[1] < 0x80 ? (uint32_t)bytes.at[1] : BAD_CHARACTER, KEY_ALT, 2);
	return step_none(bytes.len);
}
