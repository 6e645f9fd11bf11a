/*
 * Sequences that begin with "ESC [" or "ESC O": the keys of xterm, rxvt, the Linux console
 * and the VT family, mouse and answers of the terminal (ECMA-48 5.4 is the grammar).
 */
#include "base/utf8.h"
#include "term/input_private.h"

#define NUMBERS_MAX 4

/* "ESC O x": the keypad in application mode, cursor keys, F1 to F4; and the finals of "ESC [ x". */
static const struct final_key {
	char final;
	bool is_csi, is_ss3;
	uint32_t code;
	uint8_t mods;
} final_keys[] = {
	{ 'A', true, true, KEY_UP_, 0 },
	{ 'B', true, true, KEY_DOWN_, 0 },
	{ 'C', true, true, KEY_RIGHT_, 0 },
	{ 'D', true, true, KEY_LEFT_, 0 },
	{ 'F', true, true, KEY_END_, 0 },
	{ 'H', true, true, KEY_HOME_, 0 },
	{ 'P', true, true, KEY_F1_, 0 },
	{ 'Q', true, true, KEY_F1_ + 1, 0 },
	{ 'R', true, true, KEY_F1_ + 2, 0 },
	{ 'S', true, true, KEY_F1_ + 3, 0 },
	{ 'Z', true, false, KEY_TAB_, KEY_SHIFT },
	{ 'a', true, false, KEY_UP_, KEY_SHIFT }, /* rxvt */
	{ 'b', true, false, KEY_DOWN_, KEY_SHIFT },
	{ 'c', true, false, KEY_RIGHT_, KEY_SHIFT },
	{ 'd', true, false, KEY_LEFT_, KEY_SHIFT },
	{ 'a', false, true, KEY_UP_, KEY_CTRL },
	{ 'b', false, true, KEY_DOWN_, KEY_CTRL },
	{ 'c', false, true, KEY_RIGHT_, KEY_CTRL },
	{ 'd', false, true, KEY_LEFT_, KEY_CTRL },
	{ 'M', false, true, KEY_ENTER_, 0 },
	{ 'I', false, true, KEY_TAB_, 0 },
	{ ' ', false, true, ' ', 0 },
	{ 'X', false, true, '=', 0 },
};

/* "ESC [ N ~". */
static const uint16_t tilde_function_keys[] = { 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24 };
static const uint32_t tilde_keys[9] = { KEY_NONE_,   KEY_HOME_,    KEY_INSERT_,    KEY_DELETE_, KEY_END_,
	                                KEY_PAGE_UP_, KEY_PAGE_DOWN_, KEY_HOME_,   KEY_END_ };

struct sequence_parts {
	struct span params;   /* with a leading '?', '<' or '>' */
	char private;         /* that one, or 0 */
	unsigned numbers[NUMBERS_MAX];
	size_t count;
	char final;
	size_t taken;
};

static void numbers_read(struct sequence_parts *parts)
{
	bool is_open = false;

	for (size_t i = parts->private != 0; i < parts->params.len; i++) {
		char c = parts->params.at[i];

		if (c >= '0' && c <= '9') {
			unsigned *number = &parts->numbers[parts->count < NUMBERS_MAX ? parts->count : NUMBERS_MAX - 1];

			*number = *number > 0x110000 ? *number : *number * 10 + (unsigned)(c - '0');
			is_open = true;
		} else if (parts->count < NUMBERS_MAX - 1) {
			parts->count++;
			is_open = false;
		}
	}
	parts->count += is_open;
}

static uint8_t mods_of(unsigned parameter)
{
	/* 1 + bits: shift 1, alt 2, ctrl 4, meta 8, as xterm counts them. */
	unsigned bits = parameter > 1 && parameter <= 16 ? parameter - 1 : 0;

	return (uint8_t)((bits & 1 ? KEY_SHIFT : 0) | (bits & (2 | 8) ? KEY_ALT : 0) | (bits & 4 ? KEY_CTRL : 0));
}

/* A key by its character's number, "ESC [ 105 ; 5 u" and "ESC [ 27 ; 5 ; 105 ~". */
static struct step step_of_number(unsigned number, uint8_t mods, size_t taken)
{
	static const struct {
		unsigned number;
		uint32_t code;
	} special[] = { { 9, KEY_TAB_ }, { 13, KEY_ENTER_ }, { 10, KEY_ENTER_ }, { 27, KEY_ESC_ }, { 127, KEY_BACKSPACE_ }, { 8, KEY_BACKSPACE_ } };
	bool is_surrogate = number >= 0xd800 && number < 0xe000;

	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		if (special[i].number == number)
			return step_key(special[i].code, mods, taken);
	}
	if (number >= 0x110000 || is_surrogate || code_is_control(number))
		return step_none(taken);
	return step_key(number, mods, taken);
}

/* rxvt ends the numbered keys with another character for each set of modifiers. */
static struct step step_tilde(const struct sequence_parts *parts, size_t taken)
{
	uint8_t mods = mods_of(parts->count > 1 ? parts->numbers[1] : 0);
	unsigned number = parts->numbers[0];

	mods |= parts->final == '$' ? KEY_SHIFT : parts->final == '^' ? KEY_CTRL : parts->final == '@' ? KEY_SHIFT | KEY_CTRL : 0;
	if (number == 200 && parts->final == '~')
		return (struct step){ .kind = STEP_PASTE, .taken = taken };
	if (number == 27 && parts->count == 3)
		return step_of_number(parts->numbers[2], mods, taken);
	if (number > 0 && number < 9)
		return step_key(tilde_keys[number], mods, taken);
	for (size_t i = 0; i < sizeof(tilde_function_keys) / sizeof(tilde_function_keys[0]); i++) {
		if (tilde_function_keys[i] == number)
			return step_key(KEY_F1_ + (uint32_t)i, mods, taken);
	}
	return step_none(taken);
}

/* "ESC [ < BUTTON ; COLUMN ; ROW M": presses of the left button and the wheel; all else is swallowed. */
static struct step step_mouse(const struct sequence_parts *parts, size_t taken)
{
	static const enum mouse_act acts[] = { [0] = MOUSE_CLICK, [1] = MOUSE_WHEEL_UP, [2] = MOUSE_WHEEL_DOWN };
	unsigned button = parts->numbers[0] & ~28u; /* without shift, alt, ctrl */
	size_t act = button == 0 ? 0 : button == 64 ? 1 : button == 65 ? 2 : 3;
	struct step step = step_key(KEY_MOUSE_, mods_of((parts->numbers[0] >> 2 & 7) + 1), taken);

	if (parts->final != 'M' || parts->count != 3 || act == 3 || !parts->numbers[1] || !parts->numbers[2])
		return step_none(taken);
	step.event.mouse = acts[act];
	step.event.col = (int)parts->numbers[1] - 1;
	step.event.row = (int)parts->numbers[2] - 1;
	return step;
}

static bool is_report(const struct sequence_parts *parts, char before_final)
{
	return (parts->final == 'R' && parts->count == 2) || (parts->final == 'c' && (parts->private == '?' || parts->private == '>')) ||
	       (parts->final == 'n' && parts->count) || (parts->final == 'y' && before_final == '$') ||
	       (parts->final == 't' && parts->count == 3) || (parts->final == 'u' && parts->private == '?');
}

static struct step step_final(const struct sequence_parts *parts, bool is_csi, size_t taken)
{
	uint8_t mods = mods_of(parts->count > 1 ? parts->numbers[1] : is_csi ? 0 : parts->numbers[0]);

	for (size_t i = 0; i < sizeof(final_keys) / sizeof(final_keys[0]); i++) {
		const struct final_key *key = &final_keys[i];

		if (key->final == parts->final && (is_csi ? key->is_csi : key->is_ss3))
			return step_key(key->code, key->mods | mods, taken);
	}
	if (!is_csi && parts->final >= 'j' && parts->final <= 'y')
		return step_key((uint32_t)"*+,-./0123456789"[parts->final - 'j'], mods, taken);
	return step_none(taken);
}

static struct step step_csi(const struct sequence_parts *parts, struct span bytes, size_t lead)
{
	size_t taken = parts->taken;
	struct step step = step_key(KEY_REPORT_, 0, taken);

	if (is_report(parts, bytes.at[taken - 2])) {
		step.event.text = span_make(bytes.at + lead, taken - lead);
		return step;
	}
	if (parts->private == '<')
		return step_mouse(parts, taken);
	if (parts->private || lead + parts->params.len + 1 != taken)
		return step_none(taken);
	if (strchr("~$^@", parts->final))
		return step_tilde(parts, taken);
	if (parts->final == 'u')
		return step_of_number(parts->numbers[0], mods_of(parts->numbers[1]), taken);
	return step_final(parts, true, taken);
}

/* What is special about "ESC [": the Linux console's "[[A" are F1 to F5, and the oldest mouse sends three bytes more. */
static bool csi_special(struct span bytes, size_t lead, struct step *out)
{
	char first = bytes.at[lead];
	size_t mouse_bytes = 1;

	if (first == '[') {
		char last = bytes.len > lead + 1 ? bytes.at[lead + 1] : 0;

		*out = bytes.len == lead + 1   ? step_more(SEQUENCE_MS) :
		       last >= 'A' && last <= 'E' ? step_key(KEY_F1_ + (uint32_t)(last - 'A'), 0, lead + 2) :
		                                    step_none(lead + (last >= ' ' && last < 0x7f ? 2 : 1));
		return true;
	}
	if (first != 'M')
		return false;
	while (mouse_bytes < 4 && lead + mouse_bytes < bytes.len && (unsigned char)bytes.at[lead + mouse_bytes] >= ' ')
		mouse_bytes++;
	*out = mouse_bytes < 4 && lead + mouse_bytes == bytes.len ? step_more(SEQUENCE_MS) : step_none(lead + mouse_bytes);
	return true;
}

/* Parameters and intermediate bytes up to the final one. A byte that can be none of them ends the sequence before itself. */
struct step sequence_parse(struct span bytes, size_t lead, bool is_csi)
{
	struct sequence_parts parts = { .params = span_make(bytes.at + lead, 0) };
	size_t at = lead;
	struct step special;

	if (bytes.len == lead)
		return step_more(SEQUENCE_MS);
	if (is_csi && csi_special(bytes, lead, &special))
		return special;
	while (at < bytes.len && at < SEQUENCE_BYTES_MAX && bytes.at[at] >= '0' && bytes.at[at] <= '?')
		at++;
	parts.params.len = at - lead;
	if (parts.params.len && parts.params.at[0] >= '<')
		parts.private = parts.params.at[0];
	numbers_read(&parts);
	/* rxvt's shifted keys end in '$', which elsewhere stands before a final byte. */
	bool is_rxvt = is_csi && at < bytes.len && bytes.at[at] == '$' && parts.count == 1 && !parts.private &&
	               !memchr(parts.params.at, ';', parts.params.len);
	while (is_csi && !is_rxvt && at < bytes.len && at < SEQUENCE_BYTES_MAX && bytes.at[at] >= ' ' && bytes.at[at] <= '/')
		at++;
	if (at >= SEQUENCE_BYTES_MAX)
		return (struct step){ .kind = STEP_LONG_CSI, .taken = at };
	if (at == bytes.len)
		return step_more(SEQUENCE_MS);
	parts.final = bytes.at[at];
	if (!is_rxvt && (parts.final < (is_csi ? '@' : ' ') || parts.final > '~'))
		return step_none(at);
	parts.taken = at + 1;
	return is_csi ? step_csi(&parts, bytes, lead) : step_final(&parts, false, parts.taken);
}
