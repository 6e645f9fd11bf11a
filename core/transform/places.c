/*
 * Places in the log of databases that have one (spec/types.md 8). Every message
 * of a snapshot has C = 0, so that nothing of the snapshot hides another part of
 * it.
 */
#include "transform/places.h"

#include "record/position.h"

#define DIGITS_SURE 19 /* fit 64 bits whatever they are */
#define ORACLE_SLACK_MS 60000 /* the time of a change, which a long transaction commits much later */

static enum reading place_text(struct place *p, enum field field, const char *name, struct span *out)
{
	enum reading reading = value_text(&p->e->fields[field], p->e->batch->arena, out);

	if (reading == READ_BAD)
		p->fault = name;
	return reading;
}

/* Of the log: the connector's, or where that has one for each database, the database's. Flattened rows may name no
 * connector, and a job may read several: then the database or the table stands for the log. */
static struct span log_name(struct place *p, bool is_by_database)
{
	struct arena *arena = p->e->batch->arena;
	struct span name = SPAN(""), db = SPAN(""), table = SPAN("");

	value_text(&p->e->fields[FIELD_NAME], arena, &name);
	if (name.len && !is_by_database)
		return name;
	value_text(&p->e->fields[FIELD_DB], arena, &db);
	if (!name.len && !db.len)
		value_text(&p->e->fields[FIELD_TABLE], arena, &table);
	return span_of(arena_printf(arena, "%.*s/%.*s%s%.*s", SPAN_ARG(name), SPAN_ARG(db), table.len ? "/" : "", SPAN_ARG(table)));
}

static void place_in_log(struct place *p, uint64_t mark, enum field clock, int64_t slack_ms, struct position *out)
{
	struct log_sign sign = { .name = log_name(p, false), .server_id = LOG_SERVER, .mark = mark, .slack_ms = slack_ms };

	place_in_history(p, &sign, clock, out);
}

/* "mysql-bin.000158" is 158: file names compare as numbers, or the roll to 1000000 would go backwards. */
enum reading place_binlog(struct place *p, struct position *out)
{
	struct span file;
	struct log_sign sign = { .slack_ms = CLOCK_SLACK_MS };
	uint64_t row = 0;
	enum reading reading = place_text(p, FIELD_FILE, "file", &file);

	if (reading != READ_OK)
		return reading;
	if (!position_file_number(file, &out->a)) {
		p->fault = "file";
		return READ_BAD;
	}
	reading = place_uint(p, FIELD_POS, "pos", &out->b);
	if (reading != READ_OK)
		return reading;
	if (place_uint(p, FIELD_ROW, "row", &row) == READ_BAD ||
	    place_uint(p, FIELD_SERVER_ID, "server_id", &sign.server_id) == READ_BAD)
		return READ_BAD;
	out->c = p->e->is_snapshot || row == UINT64_MAX ? 0 : row + 1;
	sign.name = log_name(p, false);
	sign.mark = out->a;
	sign.place = out->a << 32 | (out->b < UINT32_MAX ? out->b : UINT32_MAX);
	place_in_history(p, &sign, FIELD_TS_MS, out);
	return READ_OK;
}

/* Takes "\"123\"" or "null" off the front of the message's own text, escapes and all: nearly every event has one. */
static bool element_quick(const char **at, const char *end, uint64_t *out, enum reading *out_reading)
{
	uint64_t number = 0;
	const char *c = *at;

	*out_reading = READ_ABSENT;
	if (end - c > 4 && memcmp(c, "null", 4) == 0) {
		*at = c + 4;
		return true;
	}
	if (end - c < 5 || c[0] != '\\' || c[1] != '"')
		return false;
	for (c += 2; c < end && (unsigned char)(*c - '0') < 10; c++)
		number = number * 10 + (uint64_t)(*c - '0');
	if (c - *at < 3 || c - *at > 2 + DIGITS_SURE || end - c < 3 || c[0] != '\\' || c[1] != '"')
		return false;
	*at = c + 2;
	*out = number;
	*out_reading = READ_OK;
	return true;
}

static bool sequence_quick(struct span raw, uint32_t element, uint64_t *out, enum reading *out_reading)
{
	const char *at = raw.at + 1, *end = raw.at + raw.len;
	uint64_t numbers[2] = { 0, 0 };
	enum reading readings[2];

	if (raw.len < 4 || raw.at[0] != '[' || !element_quick(&at, end, &numbers[0], &readings[0]) || *at++ != ',' ||
	    !element_quick(&at, end, &numbers[1], &readings[1]) || at + 1 != end || *at != ']')
		return false;
	*out = numbers[element];
	*out_reading = readings[element];
	return true;
}

/* ["<last commit lsn>","<lsn>"], either of which may be null. */
static enum reading sequence_lsn(struct place *p, uint32_t element, uint64_t *out)
{
	const struct value *value = &p->e->fields[FIELD_SEQUENCE];
	struct json_doc *doc = &p->d->other_doc;
	struct span text;
	size_t at;
	enum reading reading = READ_ABSENT;

	if (value_is(value, JSON_STRING) && sequence_quick(json_raw(value->doc, value->token), element, out, &reading))
		return reading;
	reading = value_text(value, p->e->batch->arena, &text);
	if (reading == READ_OK && (json_parse(doc, text, &at) != JSON_FINE || !json_is(doc, 0, JSON_ARRAY) || doc->count != 3))
		reading = READ_BAD;
	if (reading == READ_OK)
		reading = value_uint(&(struct value){ doc, element + 1 }, out);
	if (reading == READ_BAD)
		p->fault = "sequence";
	return reading;
}

/* Rows stand in the order of their writing, not of their commits: only the commit before this one tells that the log
 * goes on. The first row of a snapshot tells by itself. */
static void place_wal(struct place *p, struct position *out)
{
	uint64_t mark = 0;

	if (p->e->is_snapshot)
		mark = out->a;
	else if (sequence_lsn(p, 0, &mark) != READ_OK)
		mark = 0;
	place_in_log(p, mark, FIELD_TS_MS, CLOCK_SLACK_MS, out);
}

enum reading place_postgresql(struct place *p, struct position *out)
{
	enum reading reading = place_uint(p, FIELD_LSN, "lsn", &out->a);

	if (reading == READ_ABSENT)
		reading = sequence_lsn(p, 1, &out->a);
	if (reading != READ_OK)
		return reading;
	if (!p->e->is_snapshot) {
		out->b = 1;
		if (place_uint(p, FIELD_TOTAL_ORDER, "total_order", &out->c) == READ_BAD)
			return READ_BAD;
	}
	place_wal(p, out);
	p->fault = NULL;
	return READ_OK;
}

/* The change's own number inside the commit: 20 digits, of which B takes the first 12 behind the commit's last 4. */
static enum reading sqlserver_change(struct place *p, struct position *out)
{
	char change[20];
	uint64_t serial = 0;
	size_t count;
	enum reading reading = place_hex(p, FIELD_CHANGE_LSN, "change_lsn", change, sizeof(change), &count);

	if (reading != READ_OK)
		return reading == READ_ABSENT ? READ_OK : READ_BAD;
	if (count != 20) {
		p->fault = "change_lsn";
		return READ_BAD;
	}
	if (place_uint(p, FIELD_EVENT_SERIAL_NO, "event_serial_no", &serial) == READ_BAD)
		return READ_BAD;
	out->b |= hex_number(change, 12);
	out->c = hex_number(change + 12, 8) << 32 | (serial & UINT32_MAX);
	return READ_OK;
}

enum reading place_sqlserver(struct place *p, struct position *out)
{
	char commit[32];
	size_t count;
	enum reading reading = place_hex(p, FIELD_COMMIT_LSN, "commit_lsn", commit, sizeof(commit), &count);

	if (reading != READ_OK)
		return reading;
	if (count == 32 && value_is_null(&p->e->fields[FIELD_CONNECTOR])) /* a flattened row does not name its connector */
		return place_db2(p, out);
	if (count != 20) {
		p->fault = "commit_lsn";
		return READ_BAD;
	}
	out->a = hex_number(commit, 16);
	out->b = hex_number(commit + 16, 4) << 48;
	if (!p->e->is_snapshot && sqlserver_change(p, out) == READ_BAD)
		return READ_BAD;
	struct log_sign sign = { .name = log_name(p, true), .server_id = LOG_SERVER, .mark = out->a, .slack_ms = CLOCK_SLACK_MS };

	place_in_history(p, &sign, FIELD_TS_MS, out);
	return READ_OK;
}

/* Db2's numbers have up to 32 digits; of the change's the last 16 count, for they differ inside one commit only. */
enum reading place_db2(struct place *p, struct position *out)
{
	char commit[32], change[32];
	size_t count, change_count;
	enum reading reading = place_hex(p, FIELD_COMMIT_LSN, "commit_lsn", commit, sizeof(commit), &count);

	if (reading != READ_OK)
		return reading;
	size_t low = count < 16 ? count : 16;

	out->a = hex_number(commit, count - low);
	out->b = hex_number(commit + count - low, low);
	if (!p->e->is_snapshot) {
		reading = place_hex(p, FIELD_CHANGE_LSN, "change_lsn", change, sizeof(change), &change_count);
		if (reading == READ_BAD)
			return READ_BAD;
		low = reading == READ_ABSENT ? 0 : change_count < 16 ? change_count : 16;
		out->c = low ? hex_number(change + change_count - low, low) : 0;
	}
	place_in_log(p, out->a << 32 | out->b >> 32, FIELD_TS_MS, CLOCK_SLACK_MS, out);
	return READ_OK;
}

/* XStream's positions compare as bytes. */
static enum reading place_xstream(struct place *p, struct position *out)
{
	char digits[48];
	size_t count;
	enum reading reading = place_hex(p, FIELD_LCR_POSITION, "lcr_position", digits, sizeof(digits), &count);

	if (reading != READ_OK)
		return reading;
	memset(digits + count, '0', sizeof(digits) - count);
	out->a = hex_number(digits, 16);
	out->b = hex_number(digits + 16, 16);
	out->c = hex_number(digits + 32, 16);
	return READ_OK;
}

/* Without txSeq: the low 12 digits of rs_id, then ssn as 4. */
static uint64_t oracle_order(struct place *p, uint64_t ssn)
{
	char digits[32];
	size_t count;

	if (place_hex(p, FIELD_RS_ID, "rs_id", digits, sizeof(digits), &count) != READ_OK || count < 12) {
		p->fault = NULL;
		return ssn;
	}
	return hex_number(digits + count - 12, 12) << 16 | (ssn & 0xffff);
}

static enum reading oracle_change(struct place *p, struct position *out)
{
	uint64_t ssn = 0;
	enum reading reading = place_uint(p, FIELD_TX_SEQ, "txSeq", &out->c);

	if (reading != READ_ABSENT)
		return reading;
	if (place_uint(p, FIELD_SSN, "ssn", &ssn) == READ_BAD)
		return READ_BAD;
	out->c = oracle_order(p, ssn);
	return READ_OK;
}

static enum reading place_logminer(struct place *p, struct position *out)
{
	enum reading scn = place_uint(p, FIELD_SCN, "scn", &out->b);
	enum reading commit = place_uint(p, FIELD_COMMIT_SCN, "commit_scn", &out->a);

	if (scn == READ_BAD || commit == READ_BAD)
		return READ_BAD;
	if (scn == READ_ABSENT && commit == READ_ABSENT)
		return READ_ABSENT;
	if (commit == READ_ABSENT) { /* a snapshot: as of this SCN, before all that commits later */
		out->a = out->b;
		out->b = 0;
	}
	return p->e->is_snapshot ? READ_OK : oracle_change(p, out);
}

/* Redo threads share one SCN, so commits of several instances compare. */
enum reading place_oracle(struct place *p, struct position *out)
{
	bool has_commit_time = !value_is_null(&p->e->fields[FIELD_COMMIT_TS_MS]);
	enum reading reading = place_xstream(p, out);

	if (reading == READ_ABSENT)
		reading = place_logminer(p, out);
	if (reading == READ_OK)
		place_in_log(p, out->a, has_commit_time ? FIELD_COMMIT_TS_MS : FIELD_TS_MS,
		             has_commit_time ? CLOCK_SLACK_MS : ORACLE_SLACK_MS, out);
	return reading;
}
