/*
 * Places in the logs of databases that have one for each part (spec/types.md 8):
 * order by the cluster's own clock, or inside one shard.
 */
#include "transform/places.h"

enum reading place_mongodb(struct place *p, struct position *out)
{
	uint64_t ts_ms = 0, ord = 0;
	enum reading seconds = place_uint(p, FIELD_TS_MS, "ts_ms", &ts_ms);
	enum reading reading = place_uint(p, FIELD_ORD, "ord", &ord);

	if (seconds == READ_BAD || reading == READ_BAD)
		return READ_BAD;
	if (seconds == READ_ABSENT || reading == READ_ABSENT)
		return READ_ABSENT;
	out->a = ts_ms / 1000 << 32 | (ord & UINT32_MAX);
	if (p->e->is_snapshot)
		return READ_OK;
	reading = place_uint(p, FIELD_TOTAL_ORDER, "total_order", &out->b);
	/* All of a transaction has the cluster time of its commit. */
	if (reading == READ_ABSENT && !value_is_null(&p->e->fields[FIELD_TXN_NUMBER]))
		place_by_arrival(p, out);
	return reading == READ_BAD ? READ_BAD : READ_OK;
}

/* The commit's time is TrueTime, so it orders the whole database; then the record in its transaction, then the row. */
enum reading place_spanner(struct place *p, struct position *out)
{
	uint64_t mod = 0;
	enum reading reading = place_uint(p, FIELD_TS_US, "ts_us", &out->a);

	if (reading == READ_ABSENT) {
		reading = place_uint(p, FIELD_TS_MS, "ts_ms", &out->a);
		out->a *= 1000;
	}
	if (reading != READ_OK)
		return reading;
	if (place_uint(p, FIELD_SEQUENCE, "sequence", &out->b) == READ_BAD ||
	    place_uint(p, FIELD_MOD_NUMBER, "mod_number", &mod) == READ_BAD)
		return READ_BAD;
	out->c = mod + 1;
	return READ_OK;
}

/* "5" or "1-41": how many transactions. */
static bool range_count(struct span range, uint64_t *out)
{
	const char *dash = memchr(range.at, '-', range.len);
	size_t first_len = dash ? (size_t)(dash - range.at) : range.len;
	uint64_t first, last;

	if (!span_uint64(span_make(range.at, first_len), &first))
		return false;
	last = first;
	if (dash && (!span_uint64(span_make(dash + 1, range.len - first_len - 1), &last) || last < first))
		return false;
	*out = dash || first ? last - first + 1 : 0;
	return true;
}

static struct span part_cut(struct span *rest, char end)
{
	const char *at = rest->len ? memchr(rest->at, end, rest->len) : NULL;
	struct span part = { rest->at, at ? (size_t)(at - rest->at) : rest->len };

	*rest = at ? span_make(at + 1, rest->len - part.len - 1) : span_make(rest->at + rest->len, 0);
	return part;
}

/* "uuid:1-41:45,uuid:3" counts its transactions: a set that holds another counts more. */
static bool mysql_rank(struct span set, uint64_t *out)
{
	*out = 0;
	while (set.len) {
		struct span host = part_cut(&set, ',');

		part_cut(&host, ':');
		while (host.len) {
			struct span range = part_cut(&host, ':');
			uint64_t count;

			if (range_count(range, &count))
				*out += count;
			else if (!range.len || (range.at[0] >= '0' && range.at[0] <= '9'))
				return false; /* anything else is a tag */
		}
	}
	return *out > 0;
}

/* "0-1592148-45,1-7-3": domain, server, number in the domain. */
static bool mariadb_rank(struct span set, uint64_t *out)
{
	*out = 0;
	while (set.len) {
		struct span one = part_cut(&set, ',');
		uint64_t number;

		part_cut(&one, '-');
		part_cut(&one, '-');
		if (!span_uint64(one, &number))
			return false;
		*out += number;
	}
	return *out > 0;
}

static bool gtid_rank(struct span gtid, uint64_t *out)
{
	struct span flavour = part_cut(&gtid, '/');

	if (span_is(flavour, "MySQL56"))
		return mysql_rank(gtid, out);
	return span_is(flavour, "MariaDB") && mariadb_rank(gtid, out);
}

/* The entry of the event's own shard; where the source names none, the only entry there is. */
static uint32_t vgtid_entry(const struct json_doc *doc, struct span shard, struct arena *arena)
{
	uint32_t found = 0, count = 0;

	for (uint32_t at = 1; at < doc->tokens[0].next; at = doc->tokens[at].next, count++) {
		uint32_t name = json_is(doc, at, JSON_OBJECT) ? json_member(doc, at, SPAN("shard")) : 0;

		if (name && json_is(doc, name, JSON_STRING) && span_equal(json_text(doc, name, arena), shard))
			return at;
		found = at;
	}
	return !shard.len && count == 1 ? found : 0;
}

static enum reading vitess_rank(struct place *p, struct span *shard, uint64_t *out)
{
	struct json_doc *doc = &p->d->other_doc;
	struct arena *arena = p->e->batch->arena;
	struct span text;
	size_t at;
	enum reading reading = value_text(&p->e->fields[FIELD_VGTID], arena, &text);

	if (reading == READ_ABSENT)
		return READ_ABSENT;
	p->fault = "vgtid";
	if (reading == READ_BAD || json_parse(doc, text, &at) != JSON_FINE || !json_is(doc, 0, JSON_ARRAY))
		return READ_BAD;
	uint32_t entry = vgtid_entry(doc, *shard, arena);
	uint32_t gtid = entry && json_is(doc, entry, JSON_OBJECT) ? json_member(doc, entry, SPAN("gtid")) : 0;
	uint32_t name = entry && json_is(doc, entry, JSON_OBJECT) ? json_member(doc, entry, SPAN("shard")) : 0;

	if (!gtid || !json_is(doc, gtid, JSON_STRING) || !gtid_rank(json_text(doc, gtid, arena), out))
		return READ_BAD;
	if (!shard->len && name && json_is(doc, name, JSON_STRING))
		*shard = json_text(doc, name, arena);
	p->fault = NULL;
	return READ_OK;
}

/* Of "40-80" the first or the second bound, of which none stands for the end of all keys. Other names are all keys. */
static struct span shard_bound(struct span shard, bool is_end)
{
	const char *dash = shard.len ? memchr(shard.at, '-', shard.len) : NULL;
	size_t first = dash ? (size_t)(dash - shard.at) : 0;

	if (!dash)
		return SPAN("");
	return is_end ? span_make(dash + 1, shard.len - first - 1) : span_make(shard.at, first);
}

/* Bounds are left-aligned: 8 is 80. */
static bool begins_before(struct span start, struct span end)
{
	size_t most = start.len > end.len ? start.len : end.len;

	if (!end.len)
		return true;
	for (size_t i = 0; i < most; i++) {
		char x = i < start.len ? start.at[i] : '0', y = i < end.len ? end.at[i] : '0';

		if (x != y)
			return x < y;
	}
	return false;
}

static bool shards_overlap(struct span a, struct span b)
{
	return begins_before(shard_bound(a, false), shard_bound(b, true)) &&
	       begins_before(shard_bound(b, false), shard_bound(a, true));
}

/* A shard whose keys another has had takes over from it: its epoch is higher. */
static uint64_t epoch_after(const struct history *history, struct span connector, struct span shard)
{
	uint64_t epoch = 0;

	for (size_t i = 0; i < history->count; i++) {
		const struct segment *segment = &history->segments[i];

		if (segment->name.len <= connector.len || segment->name.at[connector.len] != '/' ||
		    !span_equal(span_make(segment->name.at, connector.len), connector))
			continue;
		struct span other = { segment->name.at + connector.len + 1, segment->name.len - connector.len - 1 };

		if (segment->epoch >= epoch && shards_overlap(other, shard))
			epoch = segment->epoch + 1;
	}
	return epoch;
}

/* Positions of two shards do not compare: a shard is a log of its own, and its name says which keys it has. */
static enum reading vitess_shard(struct place *p, struct span shard, struct position *out)
{
	struct log_sign sign = { .server_id = LOG_SERVER, .slack_ms = CLOCK_SLACK_MS };
	struct span connector = SPAN("");
	enum reading reading = vitess_rank(p, &shard, &sign.mark);

	if (reading != READ_OK)
		return reading;
	value_text(&p->e->fields[FIELD_NAME], p->e->batch->arena, &connector);
	sign.name = span_of(arena_printf(p->e->batch->arena, "%.*s/%.*s", SPAN_ARG(connector), SPAN_ARG(shard)));
	if (!history_has(&p->d->history, sign.name))
		sign.least_epoch = epoch_after(&p->d->history, connector, shard);
	out->a = sign.mark;
	place_in_history(p, &sign, FIELD_TS_MS, out);
	return READ_OK;
}

/* Where the connector orders transactions itself (transaction_epoch, transaction_rank), its word is taken. */
enum reading place_vitess(struct place *p, struct position *out)
{
	struct span shard = SPAN("");
	enum reading reading = place_uint(p, FIELD_TRANSACTION_RANK, "transaction_rank", &out->a);

	if (reading == READ_OK)
		reading = place_uint(p, FIELD_TRANSACTION_EPOCH, "transaction_epoch", &out->epoch);
	if (reading == READ_ABSENT) {
		value_text(&p->e->fields[FIELD_SHARD], p->e->batch->arena, &shard);
		reading = vitess_shard(p, shard, out);
	}
	if (reading != READ_OK || p->e->is_snapshot)
		return reading;
	out->b = 1;
	reading = place_uint(p, FIELD_TOTAL_ORDER, "total_order", &out->c);
	if (reading == READ_ABSENT) /* all of a transaction has one VGTID */
		place_by_arrival(p, out);
	return reading == READ_BAD ? READ_BAD : READ_OK;
}
