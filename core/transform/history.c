/*
 * Epochs. Binlog positions of two servers cannot be compared, nor those of a
 * server whose log began anew. Each such stretch is a segment with an epoch of
 * its own, so that late events of the old server still sort below the new one.
 * Between stretches of one server the source's clock decides, never inside one.
 */
#include "transform/debezium_private.h"

#include <inttypes.h>

#define CLOCK_SLACK_MS 1000

static int64_t event_source_ms(const struct event *e)
{
	uint64_t ms;

	return value_uint(&e->fields[FIELD_TS_MS], &ms) == READ_OK && ms < INT64_MAX ? (int64_t)ms : 0;
}

/* The name stands in the kept text, so white space and colons in it become "_". */
static struct span event_name(const struct event *e)
{
	struct span name = SPAN("");

	if (value_text(&e->fields[FIELD_NAME], e->batch->arena, &name) != READ_OK ||
	    (!memchr(name.at, ' ', name.len) && !memchr(name.at, ':', name.len)))
		return name;
	char *at = arena_bytes(e->batch->arena, name.len);

	for (size_t i = 0; i < name.len; i++)
		at[i] = name.at[i] == ' ' || name.at[i] == ':' ? '_' : name.at[i];
	return span_make(at, name.len);
}

static struct segment *segment_newest(struct history *history, struct span name)
{
	for (size_t i = history->count; i--;) {
		if (span_equal(history->segments[i].name, name))
			return &history->segments[i];
	}
	return NULL;
}

/* The newest stretch of that server which had begun by then; else its first. */
static struct segment *segment_find(struct history *history, struct span name, uint64_t server_id, int64_t ms)
{
	struct segment *found = NULL;

	for (size_t i = 0; i < history->count; i++) {
		struct segment *segment = &history->segments[i];

		if (segment->server_id == server_id && span_equal(segment->name, name) &&
		    (!found || segment->first_ms <= ms))
			found = segment;
	}
	return found;
}

static struct segment *segment_begin(struct history *history, struct span name, uint64_t server_id, int64_t ms)
{
	const struct segment *newest = segment_newest(history, name);
	uint64_t epoch = newest ? newest->epoch + 1 : 0;
	struct span kept = newest ? newest->name : arena_copy(history->arena, name);

	if (history->count == SEGMENTS_MAX) /* only the late events of the oldest stretch suffer */
		memmove(&history->segments[0], &history->segments[1], --history->count * sizeof(history->segments[0]));
	struct segment *segment = &history->segments[history->count++];

	*segment = (struct segment){ .name = kept, .server_id = server_id, .epoch = epoch, .first_ms = ms,
		.last_ms = ms };
	history->version++;
	return segment;
}

/* Is this the newer log of a server that was away (fail-back), or whose log began anew? Both come after everything
 * seen so far; a late event does not. */
static bool segment_is_over(const struct segment *newest, const struct segment *segment, uint64_t file, int64_t ms)
{
	if (ms <= newest->last_ms + CLOCK_SLACK_MS)
		return false;
	return segment != newest || file < segment->last_file;
}

/* server_id 0 (MariaDB's snapshot) means unknown: it belongs to the newest stretch and never raises the epoch.
 * Snapshot rows carry the clock of the snapshot, so they never raise it for one server either. */
bool history_place(struct history *history, const struct event *e, uint64_t server_id, uint64_t file,
                   uint64_t *out_epoch)
{
	int64_t ms = event_source_ms(e);
	struct span name = event_name(e);
	struct segment *newest = segment_newest(history, name);
	bool is_raised = false;

	if (server_id == 0) {
		*out_epoch = newest ? newest->epoch : 0;
		return false;
	}
	struct segment *segment = segment_find(history, name, server_id, ms);

	if (!segment || (!e->is_snapshot && segment_is_over(newest, segment, file, ms))) {
		is_raised = newest != NULL;
		segment = segment_begin(history, name, server_id, ms);
	}
	if (ms > segment->last_ms)
		segment->last_ms = ms;
	if (file > segment->last_file)
		segment->last_file = file;
	*out_epoch = segment->epoch;
	return is_raised;
}

/* "name:server:epoch:first_ms ..." is what a table's schema keeps for the next run. */
struct span history_text(const struct history *history, struct arena *arena)
{
	struct text *out = text_new(SEGMENTS_MAX * (NAME_BYTES_MAX + 64));

	for (size_t i = 0; i < history->count; i++) {
		const struct segment *segment = &history->segments[i];

		text_add(out, i ? " " : "");
		text_add_span(out, segment->name);
		text_add_format(out, ":%" PRIu64 ":%" PRIu64 ":%" PRId64, segment->server_id, segment->epoch,
		                segment->first_ms);
	}
	struct span copy = arena_copy(arena, text_span(out));

	text_free(out);
	return copy;
}

/* Everything up to `end`, which is left out. */
static struct span part_take(struct span *rest, char end)
{
	const char *at = rest->len ? memchr(rest->at, end, rest->len) : NULL;
	struct span part = { rest->at, at ? (size_t)(at - rest->at) : rest->len };
	size_t used = part.len + (at ? 1 : 0);

	*rest = span_make(rest->at + used, rest->len - used);
	return part;
}

static bool history_knows(const struct history *history, const struct segment *segment)
{
	for (size_t i = 0; i < history->count; i++) {
		if (history->segments[i].epoch == segment->epoch && span_equal(history->segments[i].name, segment->name))
			return true;
	}
	return false;
}

/* Every table keeps the history as of its own last change; together they are what was known. */
void history_read(struct history *history, struct span text)
{
	while (text.len && history->count < SEGMENTS_MAX) {
		struct span one = part_take(&text, ' ');
		struct segment segment = { .name = part_take(&one, ':') };
		struct span server_id = part_take(&one, ':'), epoch = part_take(&one, ':');

		if (!span_uint64(server_id, &segment.server_id) || !span_uint64(epoch, &segment.epoch) ||
		    !span_int64(one, &segment.first_ms))
			return;
		if (history_knows(history, &segment))
			continue;
		size_t at = history->count++; /* in order of their epochs, for the newest stands last */

		for (; at && history->segments[at - 1].epoch > segment.epoch; at--)
			history->segments[at] = history->segments[at - 1];
		segment.name = arena_copy(history->arena, segment.name);
		segment.last_ms = segment.first_ms;
		history->segments[at] = segment;
	}
	history->version = history->count > 0;
}
