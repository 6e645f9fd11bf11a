/* Names of keys, for key files and for people. */
#include "base/utf8.h"
#include "term/input_private.h"

static const struct {
	uint32_t code;
	const char *name;
} named_keys[] = {
	{ ' ', "Space" },
	{ '#', "Hash" }, /* begins a comment in a key file */
	{ KEY_ENTER_, "Enter" },
	{ KEY_ESC_, "Esc" },
	{ KEY_TAB_, "Tab" },
	{ KEY_BACKSPACE_, "Backspace" },
	{ KEY_UP_, "Up" },
	{ KEY_DOWN_, "Down" },
	{ KEY_LEFT_, "Left" },
	{ KEY_RIGHT_, "Right" },
	{ KEY_HOME_, "Home" },
	{ KEY_END_, "End" },
	{ KEY_PAGE_UP_, "PgUp" },
	{ KEY_PAGE_DOWN_, "PgDn" },
	{ KEY_INSERT_, "Insert" },
	{ KEY_DELETE_, "Delete" },
};

static const struct {
	uint8_t mod;
	const char *prefix;
} key_prefixes[] = { { KEY_CTRL, "C-" }, { KEY_ALT, "M-" }, { KEY_SHIFT, "S-" } };

/* Control characters that have a key of their own: no terminal tells them from it. */
static const struct {
	char letter;
	uint32_t code;
} control_keys[] = { { 'i', KEY_TAB_ }, { 'm', KEY_ENTER_ }, { 'j', KEY_ENTER_ }, { '[', KEY_ESC_ }, { 'h', KEY_BACKSPACE_ } };

static struct key control_normal(struct key key)
{
	if (key.code >= 'A' && key.code <= 'Z')
		key.code += 'a' - 'A';
	if (key.code == '@')
		key.code = ' ';
	if (key.code == '/')
		key.code = '_';
	for (size_t i = 0; i < sizeof(control_keys) / sizeof(control_keys[0]); i++) {
		if (key.code == (uint32_t)control_keys[i].letter)
			return (struct key){ control_keys[i].code, (uint8_t)(key.mods & ~KEY_CTRL) };
	}
	return key;
}

struct key key_normal(struct key key)
{
	if (key.code >= KEY_NONE_)
		return key;
	/* A character has its shift in itself. */
	if (key.mods & KEY_SHIFT && key.code >= 'a' && key.code <= 'z')
		key.code -= 'a' - 'A';
	key.mods &= (uint8_t)~KEY_SHIFT;
	return key.mods & KEY_CTRL ? control_normal(key) : key;
}

static void code_name(uint32_t code, char out[KEY_NAME_BYTES])
{
	for (size_t i = 0; i < sizeof(named_keys) / sizeof(named_keys[0]); i++) {
		if (named_keys[i].code == code) {
			snprintf(out, KEY_NAME_BYTES, "%s", named_keys[i].name);
			return;
		}
	}
	out[0] = '\0';
	if (code >= KEY_F1_ && code <= KEY_F12_)
		snprintf(out, KEY_NAME_BYTES, "F%d", (int)(code - KEY_F1_ + 1));
	else if (code < KEY_NONE_ && !code_is_control(code) && !code_is_bidi(code))
		out[utf8_put(code, out)] = '\0';
}

/* Empty for what has no name: a paste, a report. */
void key_to_name(struct key key, char out[KEY_NAME_BYTES])
{
	char name[KEY_NAME_BYTES], prefix[8] = "";
	size_t len = 0;

	code_name(key.code, name);
	for (size_t i = 0; i < sizeof(key_prefixes) / sizeof(key_prefixes[0]); i++) {
		if (key.mods & key_prefixes[i].mod) {
			memcpy(prefix + len, key_prefixes[i].prefix, 2);
			len += 2;
		}
	}
	/* A name has 9 letters at most, the prefixes 6. */
	snprintf(out, KEY_NAME_BYTES, "%s%.16s", name[0] ? prefix : "", name);
}

/* Letters as they stand: "Down" is a key, "down" an action. */
static bool code_parse(struct span name, uint32_t *out_code)
{
	uint32_t code;

	for (size_t i = 0; i < sizeof(named_keys) / sizeof(named_keys[0]); i++) {
		if (span_is(name, named_keys[i].name)) {
			*out_code = named_keys[i].code;
			return true;
		}
	}
	for (uint32_t i = 1; i <= 12; i++) {
		char known[8];

		snprintf(known, sizeof(known), "F%u", (unsigned)i);
		if (span_is(name, known)) {
			*out_code = KEY_F1_ + i - 1;
			return true;
		}
	}
	if (!name.len || utf8_step(name, &code) != name.len || code_is_control(code) || code_is_bidi(code))
		return false;
	*out_code = code;
	return true;
}

/* "C-" and its like at the beginning; a lone "C-" at the end is none: "M--" is Alt and minus. */
static uint8_t prefix_take(struct span *name)
{
	for (size_t i = 0; i < sizeof(key_prefixes) / sizeof(key_prefixes[0]); i++) {
		if (name->len > 2 && memcmp(name->at, key_prefixes[i].prefix, 2) == 0) {
			*name = span_make(name->at + 2, name->len - 2);
			return key_prefixes[i].mod;
		}
	}
	return 0;
}

bool key_parse(struct span name, struct key *out)
{
	struct key key = { 0 };
	uint8_t mod;

	while ((mod = prefix_take(&name)) != 0) {
		if (key.mods & mod)
			return false;
		key.mods |= mod;
	}
	if (!code_parse(name, &key.code))
		return false;
	*out = key_normal(key);
	return true;
}
