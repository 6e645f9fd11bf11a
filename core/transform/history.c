/*
 * Epochs. Positions in the logs of two servers cannot be compared, nor those of
 * a log that began anew (another timeline, a restored database). Each such
 * stretch is a segment with an epoch of its own, so that late events of the old
 * log still sort below the new one. Between stretches the source's clock
 * decides, never inside one.
 */
#include "transform/places.h"

#include <inttypes.h>

/* The name stands in the kept text, so white space and colons in it become "_". */
static struct span name_plain(struct span name, struct arena *arena)
{
	if (!name.len || (!memchr(name.at, ' ', name.len) && !memchr(name.at, ':', name.len)))
		return name;
	char *at = arena_bytes(arena, name.len);

	for (size_t i = 0; i < name.len; i++)
		at[i] = name.at[i] == ' ' || name.at[i] == ':' ? '_' : name.at[i];
	return span_make(at, name.len);
}

void place_in_history(struct place *p, const struct log_sign *told, enum field clock, struct position *out)
{
	struct event *e = p->e;
	struct log_sign sign = *told;
	struct span snapshot = SPAN("");
	uint64_t ms;

	sign.name = name_plain(told->name, e->batch->arena);
	sign.ms = value_uint(&e->fields[clock], &ms) == READ_OK && ms < INT64_MAX ? (int64_t)ms : 0;
	sign.is_snapshot = e->is_snapshot;
	if (e->is_snapshot)
		value_text(&e->fields[FIELD_SNAPSHOT], e->batch->arena, &snapshot);
	sign.is_first = span_is(snapshot, "first");
	e->is_in_history = true;
	e->has_raised_epoch = history_place(&p->d->history, &sign, &out->epoch);
}

static struct segment *segment_newest(struct history *history, struct span name)
{
	for (size_t i = history->count; i--;) {
		if (span_equal(history->segments[i].name, name))
			return &history->segments[i];
	}
	return NULL;
}

static bool segment_has(const struct segment *segment, uint64_t server_id)
{
	for (size_t i = 0; i < segment->server_count; i++) {
		if (segment->servers[i] == server_id)
			return true;
	}
	return false;
}

/* The newest stretch of that server which had begun by then; else its first. */
static struct segment *segment_find(struct history *history, struct span name, uint64_t server_id, int64_t ms)
{
	struct segment *found = NULL;

	for (size_t i = 0; i < history->count; i++) {
		struct segment *segment = &history->segments[i];

		if (segment_has(segment, server_id) && span_equal(segment->name, name) &&
		    (!found || segment->first_ms <= ms))
			found = segment;
	}
	return found;
}

/* The next stretch of the server, if the event belongs there though it was made before its first that was seen: behind
 * all that came before that stretch, and not where its own log had got then. */
static struct segment *segment_after(struct history *history, const struct segment *segment, const struct log_sign *sign)
{
	int64_t last_ms = segment->last_ms;
	bool is_other = false;

	for (size_t i = 0; i < history->count; i++) {
		struct segment *next = &history->segments[i];

		if (next->epoch <= segment->epoch || !span_equal(next->name, sign->name))
			continue;
		if (segment_has(next, sign->server_id))
			return sign->ms > last_ms + sign->slack_ms && (is_other || !sign->mark || sign->mark < segment->last_mark)
			       ? next : NULL;
		is_other = true;
		last_ms = next->last_ms > last_ms ? next->last_ms : last_ms;
	}
	return NULL;
}

bool history_has(const struct history *history, struct span name)
{
	for (size_t i = 0; i < history->count; i++) {
		if (span_equal(history->segments[i].name, name))
			return true;
	}
	return false;
}

static struct segment *segment_begin(struct history *history, const struct log_sign *sign)
{
	const struct segment *newest = segment_newest(history, sign->name);
	uint64_t epoch = newest ? newest->epoch + 1 : sign->least_epoch;
	struct span kept = newest ? newest->name : arena_copy(history->arena, sign->name);

	if (history->count == SEGMENTS_MAX) /* only the late events of the oldest stretch suffer */
		memmove(&history->segments[0], &history->segments[1], --history->count * sizeof(history->segments[0]));
	struct segment *segment = &history->segments[history->count++];

	*segment = (struct segment){ .name = kept, .servers = { sign->server_id }, .server_count = 1, .epoch = epoch, .first_ms = sign->ms,
		.last_ms = sign->ms };
	history->version++;
	history->has_grown = true;
	return segment;
}

/* Is this the newer log of a server that was away (fail-back), or whose log began anew? Both come after everything
 * seen so far; a late event does not. Rows of a snapshot carry the clock of the snapshot: only the first tells. */
static bool segment_is_over(const struct segment *newest, const struct segment *segment, const struct log_sign *sign)
{
	if ((sign->is_snapshot && !sign->is_first) || sign->ms <= newest->last_ms + sign->slack_ms)
		return false;
	return segment != newest || (sign->mark && sign->mark < segment->last_mark);
}

static void segment_grow(struct history *history, struct segment *segment, int64_t ms, uint64_t mark, uint64_t place)
{
	if (ms <= segment->last_ms && mark <= segment->last_mark && place <= segment->last_place)
		return;
	if (ms > segment->last_ms)
		segment->last_ms = ms;
	if (mark > segment->last_mark)
		segment->last_mark = mark;
	if (place > segment->last_place)
		segment->last_place = place;
	history->has_grown = true;
}

/* A replica's log has changes of several servers in turn. One that follows on the last place is of that log, whoever
 * made it; and one that is not later than all that was seen is no fail-over. */
static bool segment_goes_on(const struct segment *newest, const struct log_sign *sign)
{
	uint64_t file = sign->place >> 32, last_file = newest->last_place >> 32;

	if (!sign->place || !newest->last_place || file + 1 < last_file || file > last_file + 1)
		return false;
	return (sign->place > newest->last_place && sign->ms >= newest->first_ms) ||
	       (sign->place < newest->last_place && sign->ms <= newest->last_ms && sign->ms + sign->slack_ms >= newest->first_ms);
}

static struct segment *segment_join(struct history *history, struct segment *segment, uint64_t server_id)
{
	if (!segment_has(segment, server_id) && segment->server_count < SERVERS_MAX) {
		segment->servers[segment->server_count++] = server_id;
		history->version++;
	}
	return segment;
}

/* Server 0 (MariaDB's snapshot) means unknown: it belongs to the newest stretch and never raises the epoch. */
bool history_place(struct history *history, const struct log_sign *sign, uint64_t *out_epoch)
{
	struct segment *newest = segment_newest(history, sign->name);
	bool is_raised = false;

	if (sign->server_id == 0) {
		*out_epoch = newest ? newest->epoch : 0;
		return false;
	}
	struct segment *segment = segment_find(history, sign->name, sign->server_id, sign->ms);
	struct segment *next = segment && !sign->is_snapshot ? segment_after(history, segment, sign) : NULL;

	if (next) {
		segment = next;
		segment->first_ms = sign->ms;
		history->version++;
	}
	if (segment != newest && newest && segment_goes_on(newest, sign))
		segment = segment_join(history, newest, sign->server_id);
	if (!segment || segment_is_over(newest, segment, sign)) {
		is_raised = newest || sign->least_epoch;
		segment = segment_begin(history, sign);
	}
	segment_grow(history, segment, sign->ms, sign->mark, sign->place);
	*out_epoch = segment->epoch;
	return is_raised;
}

/* A log whose server has no number, and of which nothing has happened, is what every run begins with. */
static bool segment_is_plain(struct history *history, const struct segment *segment)
{
	return segment->servers[0] == LOG_SERVER && segment->epoch == 0 &&
	       segment_newest(history, segment->name) == segment;
}

/* "name:server,server:epoch:first_ms ...", and of logs ":last_ms:last_mark:last_place" behind each. */
struct span history_text(struct history *history, enum history_part part, struct arena *arena)
{
	struct text *out = text_new(SEGMENTS_MAX * (NAME_BYTES_MAX + 128));

	for (size_t i = 0; i < history->count; i++) {
		const struct segment *segment = &history->segments[i];

		if (part == HISTORY_EPOCHS && segment_is_plain(history, segment))
			continue;
		text_add(out, out->len ? " " : "");
		text_add_span(out, segment->name);
		for (size_t k = 0; k < segment->server_count; k++)
			text_add_format(out, "%c%" PRIu64, k ? ',' : ':', segment->servers[k]);
		text_add_format(out, ":%" PRIu64 ":%" PRId64, segment->epoch, segment->first_ms);
		if (part == HISTORY_LOGS)
			text_add_format(out, ":%" PRId64 ":%" PRIu64 ":%" PRIu64, segment->last_ms, segment->last_mark,
			                segment->last_place);
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

static bool servers_read(struct span list, struct segment *out)
{
	while (list.len && out->server_count < SERVERS_MAX) {
		if (!span_uint64(part_take(&list, ','), &out->servers[out->server_count++]))
			return false;
	}
	return out->server_count > 0;
}

static bool segment_read(struct span one, struct segment *out)
{
	*out = (struct segment){ .name = part_take(&one, ':') };
	struct span servers = part_take(&one, ':'), epoch = part_take(&one, ':'), first_ms = part_take(&one, ':');
	struct span last_ms = part_take(&one, ':'), last_mark = part_take(&one, ':');

	if (!servers_read(servers, out) || !span_uint64(epoch, &out->epoch) || !span_int64(first_ms, &out->first_ms))
		return false;
	out->last_ms = out->first_ms;
	return !last_ms.len || (span_int64(last_ms, &out->last_ms) && span_uint64(last_mark, &out->last_mark) &&
	                        span_uint64(one, &out->last_place));
}

static struct segment *segment_known(struct history *history, const struct segment *segment)
{
	for (size_t i = 0; i < history->count; i++) {
		if (history->segments[i].epoch == segment->epoch && span_equal(history->segments[i].name, segment->name))
			return &history->segments[i];
	}
	return NULL;
}

/* Every table keeps the history as of its own last change; together they are what was known. */
void history_read(struct history *history, struct span text)
{
	struct segment segment;

	while (text.len && history->count < SEGMENTS_MAX && segment_read(part_take(&text, ' '), &segment)) {
		struct segment *known = segment_known(history, &segment);

		if (known) {
			segment_grow(history, known, segment.last_ms, segment.last_mark, segment.last_place);
			for (size_t i = 0; i < segment.server_count; i++)
				segment_join(history, known, segment.servers[i]);
			if (segment.first_ms < known->first_ms)
				known->first_ms = segment.first_ms;
			continue;
		}
		size_t at = history->count++; /* in order of their epochs, for the newest stands last */

		for (; at && history->segments[at - 1].epoch > segment.epoch; at--)
			history->segments[at] = history->segments[at - 1];
		segment.name = arena_copy(history->arena, segment.name);
		history->segments[at] = segment;
	}
	history->version = history->count > 0;
}
