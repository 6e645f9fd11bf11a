/* A key's character as text. */
#include "term/term.h"

struct span input_key_text(const struct key_event *event)
{
	static char bytes[4];
	uint32_t code = event->key.code;
	size_t len = code >= 0x110000 ? 0 : code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = len; i-- > 0; code >>= 6)
		bytes[i] = (char)(i ? 0x80 | (code & 0x3f) : len == 1 ? code : (0xf00 >> len & 0xff) | code);
	return span_make(bytes, len);
}
