/*
 * Dead letters to a topic (letters_out.c): each is published with its exact bytes and its reason as attributes. How far it got
 * stands in the store: what was not confirmed is published again.
 */
#include "base/arena.h"
#include "dlq/dlq.h"
#include "google/google.h"
#include "runner/letters_out_private.h"
#include "source/publisher.h"

#include <jansson.h>
#include <unistd.h>

#define PAGE_LETTERS 200
#define FLUSH_MS 30000
#define VALUE_BYTES 1024      /* of an attribute */

/*
 * One letter as a message
 */

static bool add_piece(void *context, struct span piece)
{
	return text_add_span(context, piece);
}

static size_t add_pair(struct publish_pair *pairs, size_t count, const char *name, const char *value)
{
	struct span cut = span_of(value);

	if (!cut.len || count == PUBLISH_ATTRIBUTES_MAX)
		return count;
	cut.len = cut.len > VALUE_BYTES ? VALUE_BYTES : cut.len;
	/* Not in the middle of a character. */
	while (cut.len == VALUE_BYTES && cut.len && (cut.at[cut.len] & 0xc0) == 0x80)
		cut.len--;
	pairs[count] = (struct publish_pair){ span_of(name), cut };
	return count + 1;
}

static const char *text_of(const json_t *letter, const char *name)
{
	const char *text = json_string_value(json_object_get(letter, name));

	return text ? text : "";
}

/* Ours first: they say what it is; then the message's own as far as there is room. */
static size_t attributes_of(const json_t *letter, const char *job, const char *number, struct publish_pair *pairs)
{
	static const char *const members[][2] = {
		{ "weir_code", "code" }, { "weir_reason", "message" }, { "weir_table", "table" }, { "weir_stage", "stage" },
		{ "weir_publish", "publish" }, { "weir_ordering_key", "ordering_key" },
	};
	size_t count = add_pair(pairs, add_pair(pairs, 0, "weir_job", job), "weir_letter", number);
	const char *name;
	json_t *value;

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		count = add_pair(pairs, count, members[i][0], text_of(letter, members[i][1]));
	count = add_pair(pairs, count, "weir_message_id", text_of(json_object_get(letter, "source"), "message_id"));
	json_object_foreach(json_object_get(letter, "attrs"), name, value)
		count = add_pair(pairs, count, name, json_string_value(value));
	return count;
}

static bool is_wanted(const json_t *letter)
{
	return strcmp(text_of(letter, "state"), "discarded") != 0;
}

/* False: the topic takes nothing now. A letter that no topic ever takes stays in the store, and is told of. */
static bool publish_one(struct letters_out *out, struct dlq *dlq, struct publisher *publisher, const json_t *letter)
{
	int64_t id = json_integer_value(json_object_get(letter, "id"));
	struct publish_pair pairs[PUBLISH_ATTRIBUTES_MAX];
	struct publish_message message = { .attributes = pairs, .tag = (uint64_t)id };
	OWNED(text) body = text_new(PUBLISH_MESSAGE_MAX + 1);
	struct error why = { 0 };
	char number[24];
	enum published taken;

	snprintf(number, sizeof(number), "%lld", (long long)id);
	if (!dlq_bytes(dlq, id, out->paths.big, add_piece, body, &why) && !body->is_full) {
		out->failure = why;
		return false;
	}
	if (body->is_full) {
		letters_out_unfit(out, id, "it is larger than a topic takes (10 MB)");
		return true;
	}
	message.data = text_span(body);
	message.attribute_count = attributes_of(letter, out->setup->options->name, number, pairs);
	taken = publisher_add(publisher, &message, FLUSH_MS, &why);
	if (taken == PUBLISH_REFUSED && why.kind == ERROR_RECORD) {
		letters_out_unfit(out, id, why.message);
		return true;
	}
	return taken == PUBLISH_TAKEN;
}

static void on_done(void *context, uint64_t tag, struct span id, const struct error *why)
{
	struct letters_out *out = context;

	(void)id;
	if (!why)
		return;
	if (!out->failed_letter || (int64_t)tag < out->failed_letter)
		out->failed_letter = (int64_t)tag;
	out->failure = *why;
}

/*
 * A page of them
 */

static bool keep_line(void *context, const char *json)
{
	struct letters_out *out = context;
	json_error_t ignored;

	json_array_append_new(out->page, json_loads(json, JSON_ALLOW_NUL, &ignored)); /* a key may have one */
	return json_array_size(out->page) < PAGE_LETTERS;
}

static bool publish_page(struct letters_out *out, struct dlq *dlq, struct publisher *publisher, int64_t *cursor)
{
	int64_t last = *cursor;
	const json_t *letter;
	bool goes_on = true;
	size_t i;

	json_array_foreach(out->page, i, letter) {
		if (is_wanted(letter) && !(goes_on = publish_one(out, dlq, publisher, letter)))
			break;
		last = json_integer_value(json_object_get(letter, "id"));
	}
	goes_on = publisher_flush(publisher, FLUSH_MS) && goes_on && !out->failed_letter;
	/* All below the first that failed are there. */
	if (out->failed_letter && out->failed_letter <= last)
		last = out->failed_letter - 1;
	if (!publisher_counts(publisher).outstanding_messages)
		*cursor = last;
	return goes_on;
}

/* False with out->failure: what is left is tried again. */
static bool publish_all(struct letters_out *out, struct dlq *dlq, struct publisher *publisher)
{
	struct dlq_filter filter = { .job = out->setup->options->name };
	int64_t cursor = 0, before;
	bool goes_on = true;

	if (!dlq_published(dlq, out->target, &cursor, &out->failure))
		return false;
	do {
		out->page = json_array();
		out->failed_letter = 0;
		filter.after = before = cursor;
		goes_on = dlq_list(dlq, &filter, keep_line, out, &out->failure) && publish_page(out, dlq, publisher, &cursor);
		json_decref(out->page);
		if (cursor != before && !dlq_set_published(dlq, out->target, cursor, &out->failure))
			return false;
	} while (goes_on && cursor != before);
	return goes_on;
}

bool letters_topic_round(struct letters_out *out)
{
	struct publisher_setup setup = { .google = out->setup->google, .topic = out->target, .give_up_ms = FLUSH_MS,
		                             .on_done = on_done, .context = out };
	struct publisher *publisher;
	struct dlq *dlq;
	bool is_fine = false;

	if (access(out->paths.store, F_OK) != 0)
		return true; /* no letter yet */
	dlq = dlq_open(out->paths.store, DLQ_WRITE, &out->failure);
	publisher = dlq ? publisher_open(&setup, &out->failure) : NULL;
	if (publisher)
		is_fine = publish_all(out, dlq, publisher);
	publisher_close(publisher);
	dlq_close(dlq);
	return is_fine;
}
