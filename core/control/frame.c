/* Frames: JSON objects as lines, and errors on the wire. */
#include "base/clean.h"
#include "base/reason.h"
#include "control/control.h"

#include <stdlib.h>

/* A message may quote bytes of the command line or of a file that are not UTF-8. */
json_t *error_message_to_json(const struct error *err)
{
	json_t *message = json_string(err->message);
	OWNED(text) cleaned = text_new(sizeof(err->message) * 8);

	if (message)
		return message;
	clean_text(cleaned, span_of(err->message));
	return json_string(cleaned->at);
}

json_t *error_to_json(const struct error *err)
{
	const struct reason *reason = reason_find(err->code);

	return json_pack("{s:s, s:s, s:o, s:s}", "kind", error_policies[err->kind].name, "code", err->code, "message",
	                 error_message_to_json(err), "next", reason ? reason->next : "");
}

void error_from_json(const json_t *object, struct error *out)
{
	const char *kind = json_string_value(json_object_get(object, "kind"));
	const char *code = json_string_value(json_object_get(object, "code"));
	const char *message = json_string_value(json_object_get(object, "message"));
	enum error_kind found = ERROR_BUG;

	for (int i = ERROR_NONE + 1; kind && i < ERROR_KINDS; i++) {
		if (strcmp(error_policies[i].name, kind) == 0)
			found = (enum error_kind)i;
	}
	fail(out, found, code ? code : "bad_answer", "%s", message ? message : "the engine gave no message");
}

/* Bytes of the character at `at` that must not reach a terminal raw, though JSON allows them: DEL, C1 controls and bidi
 * marks; 0 if it is harmless. */
static size_t hostile_length(const unsigned char *at)
{
	if (at[0] == 0x7f)
		return 1;
	if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f)
		return 2;
	if (at[0] != 0xe2)
		return at[0] == 0xd8 && at[1] == 0x9c ? 2 : 0;
	if (at[1] == 0x80 && ((at[2] >= 0x8e && at[2] <= 0x8f) || (at[2] >= 0xa8 && at[2] <= 0xae)))
		return 3;
	return at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9 ? 3 : 0;
}

static unsigned code_point(const unsigned char *at, size_t length)
{
	if (length == 1)
		return at[0];
	if (length == 2)
		return ((at[0] & 0x1fu) << 6) | (at[1] & 0x3fu);
	return ((at[0] & 0x0fu) << 12) | ((at[1] & 0x3fu) << 6) | (at[2] & 0x3fu);
}

/* jansson escapes what JSON demands; the rest of what could play tricks on a terminal is done here. */
static char *escape_line(const char *dump)
{
	size_t room = strlen(dump);
	OWNED(text) out = text_new(room * 6 + 2);

	for (const unsigned char *at = (const unsigned char *)dump; *at;) {
		size_t length = hostile_length(at);

		if (length)
			text_add_format(out, "\\u%04x", code_point(at, length));
		else
			text_add_char(out, (char)*at);
		at += length ? length : 1;
	}
	text_add_char(out, '\n');
	return text_take(out);
}

char *json_line(const json_t *object)
{
	/* 0.1 is 0.1, not 0.10000000000000001. */
	char *dump = json_dumps(object, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	char *line;

	if (!dump)
		return NULL;
	line = escape_line(dump);
	free(dump);
	return line;
}

char *frame_print(const json_t *object)
{
	char *line = json_line(object);

	if (line && strlen(line) > FRAME_BYTES_MAX) {
		free(line);
		return NULL;
	}
	return line;
}
