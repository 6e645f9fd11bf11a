/* What the warehouse says of dead letters: is something newer there, and which row is in a letter's place. */
#include "engine/letter_replica.h"

#include "base/arena.h"
#include "base/clean.h"
#include "sink/sink.h"

#include <stdlib.h>

#define ROW_SHOWN_MAX ((size_t)128 << 10) /* beside a payload, in a line of the socket */

/* What cannot be told is unknown: a list is not the place to fail for it. */
void letters_ask_newer(void *context, struct span table, struct letter_question *questions, size_t count)
{
	const struct sink_setup *setup = context;
	struct newer_question *asked = memory_zalloc(count * sizeof(*asked));
	char *name = memory_string_of(table);
	const char *dot = strchr(name, '.');
	struct error ignored = { 0 };

	for (size_t i = 0; i < count; i++)
		asked[i] = (struct newer_question){ .key = questions[i].key, .position = questions[i].position, .record = (uint32_t)i };
	bool is_told = dot && warehouse_ask_newer(setup, dot + 1, asked, count, &ignored);

	for (size_t i = 0; i < count; i++) {
		questions[i].is_unknown = !is_told;
		if (is_told)
			questions[asked[i].record].is_newer = asked[i].is_newer;
	}
	free(name);
	free(asked);
}

static void add_answer(struct text *out, const struct row_answer *answer)
{
	char place[POSITION_TEXT_BYTES];
	struct position position;

	if (!answer->is_found) {
		text_add(out, "{\"row\":null}");
		return;
	}
	position_unpack(answer->position, &position);
	position_text(&position, place);
	if (answer->is_too_long)
		text_add_format(out, "{\"row\":null,\"cut\":true,\"position\":\"%s\"}", place);
	else
		text_add_format(out, "{\"row\":%s,\"position\":\"%s\"}", answer->row->at, place);
}

/* {"row","position"}: a row of NULL is none, or with "key_unknown" one that cannot be looked for; NULL for all of it: no replica. What fails says so in its place. */
void letter_add_row(void *context, struct span table, struct span key, struct span json_key, struct text *out)
{
	const struct sink_setup *setup = context;
	char *name = memory_string_of(table);
	const char *dot = strchr(name, '.');
	OWNED(text) row = text_new(ROW_SHOWN_MAX);
	struct row_question question = { .key = key, .json_key = json_key };
	struct row_answer answer = { .row = row };
	struct error err = { 0 };

	if (dot && !warehouse_row(setup, dot + 1, &question, &answer, &err)) {
		text_add(out, "{\"problem\":");
		json_quote(out, span_of(err.message));
		text_add_char(out, '}');
	} else if (!dot || !answer.has_replica) {
		text_add(out, "null");
	} else if (!key.len && !json_key.len) {
		text_add(out, "{\"row\":null,\"key_unknown\":true}");
	} else {
		add_answer(out, &answer);
	}
	free(name);
}
