/*
 * Any bytes as a line from the socket, either way: reading never crashes, what is
 * printed again is one clean line that means the same, and an answer can be shown
 * to people whatever is missing in it. Reaches core/control: frames, errors, words.
 */
#include "base/clean.h"
#include "control/control.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* Nothing that a terminal would obey, but the newline at the end. */
static void check_clean(const char *line)
{
	size_t len = strlen(line);

	assert(len && line[len - 1] == '\n');
	for (size_t i = 0; i + 1 < len; i++) {
		const unsigned char *at = (const unsigned char *)line + i;

		assert(at[0] >= 0x20 && at[0] != 0x7f);
		assert(!(at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f));
		assert(!(at[0] == 0xe2 && at[1] == 0x80 && at[2] >= 0xaa && at[2] <= 0xae));
	}
}

/* Numbers are written with fifteen digits, so it is what was written that is compared. */
static void frame_reads_back(const json_t *frame)
{
	char *line = frame_print(frame), *once_more;
	json_t *again;

	if (!line)
		return;
	check_clean(line);
	again = json_loads(line, JSON_DECODE_ANY, NULL);
	assert(again);
	once_more = frame_print(again);
	assert(once_more && strcmp(once_more, line) == 0);
	json_decref(again);
	free(once_more);
	free(line);
}

static void error_is_shown(const json_t *object)
{
	struct error err = { 0 };
	char *line;

	error_from_json(object, &err);
	assert(err.kind != ERROR_NONE && err.kind < ERROR_KINDS);
	line = error_line(&err, "weir", true);
	assert(line);
	check_clean(line);
	free(line);
	line = error_line(&err, "weir", false);
	assert(line);
	free(line);
}

static void result_is_shown(const json_t *object)
{
	OWNED(text) out = text_new(1 << 20);

	run_result_text(object, 60, out);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	json_t *frame = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);

	if (!frame)
		return 0;
	frame_reads_back(frame);
	error_is_shown(frame);
	error_is_shown(json_object_get(frame, "error"));
	result_is_shown(frame);
	json_decref(frame);
	return 0;
}
