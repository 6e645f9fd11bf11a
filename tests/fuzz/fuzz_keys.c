/*
 * Any bytes as what a terminal sends: one by one they are the keys of all at once, texts
 * stay within their limits, and a key that has a name is found by it again.
 */
#include "base/text.h"
#include "term/term.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check_event(const struct key_event *event)
{
	char name[KEY_NAME_BYTES], again[KEY_NAME_BYTES];
	struct key key;

	key_to_name(event->key, name);
	assert(event->text.len <= PASTE_BYTES_MAX);
	assert(event->key.code != KEY_SYNC_ || event->text.len < SYNC_TOKEN_BYTES);
	if (!name[0])
		return;
	assert(key_parse(span_of(name), &key));
	key_to_name(key, again);
	assert(strcmp(name, again) == 0 && key.code == event->key.code && key.mods == event->key.mods);
}

static void drain(struct input *input, int64_t now_ms, struct text *out)
{
	struct key_event event;

	while (input_next(input, now_ms, &event)) {
		check_event(&event);
		text_add_format(out, "%u/%u/%d/%d ", (unsigned)event.key.code, event.key.mods, event.row, event.col);
		text_add_span(out, event.text);
	}
}

static struct text *keys_of(const char *bytes, size_t size, size_t piece)
{
	struct input *input = input_new();
	struct text *out = text_new(4u << 20);

	for (size_t at = 0; at < size; at += piece) {
		input_feed(input, bytes + at, size - at < piece ? size - at : piece, 0);
		drain(input, 0, out);
	}
	drain(input, 1000000, out);
	assert(input_due_ms(input) == -1);
	input_free(input);
	return out;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const char *bytes = (const char *)data;
	struct text *whole, *pieces;

	if (!size)
		return 0;
	whole = keys_of(bytes, size, size);
	pieces = keys_of(bytes, size, 1 + size % 3);
	assert(whole->len == pieces->len && memcmp(whole->at, pieces->at, whole->len) == 0);
	text_free(whole);
	text_free(pieces);
	return 0;
}
