/*
 * Where a change stands in its source's log, one function a connector
 * (spec/types.md 8). Every message of a snapshot has C = 0, so that nothing of
 * the snapshot hides another part of it.
 */
#include "transform/debezium_private.h"

#include "base/hash.h"

#include <ctype.h>

struct place {
	struct debezium *d;
	struct event *e;
	const char *fault; /* the field that cannot be read */
};

static enum reading place_uint(struct place *p, enum field field, const char *name, uint64_t *out)
{
	enum reading reading = value_uint(&p->e->fields[field], out);

	if (reading == READ_BAD)
		p->fault = name;
	return reading;
}

/* Hexadecimal digits, anything else between them left out, as many as fit into `digits`. */
static bool hex_digits(struct span text, char *digits, size_t room, size_t *out_count)
{
	size_t n = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.at[i] == ':' || text.at[i] == '.')
			continue;
		if (!isxdigit((unsigned char)text.at[i]))
			return false;
		if (n < room)
			digits[n++] = text.at[i];
	}
	*out_count = n;
	return n > 0;
}

static uint64_t hex_number(const char *digits, size_t count)
{
	uint64_t number = 0;

	for (size_t i = 0; i < count; i++) {
		char c = digits[i];

		number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
	}
	return number;
}

/* "mysql-bin.000158" is 158: file names compare as numbers, or the roll to 1000000 would go backwards. */
static bool file_number(struct span file, uint64_t *out)
{
	size_t at = file.len;

	while (at && file.at[at - 1] != '.')
		at--;
	return at && span_uint64(span_make(file.at + at, file.len - at), out);
}

static enum reading place_binlog(struct place *p, struct position *out)
{
	struct span file;
	uint64_t pos = 0, row = 0, server_id = 0;
	enum reading reading = value_text(&p->e->fields[FIELD_FILE], p->e->batch->arena, &file);

	if (reading == READ_ABSENT)
		return READ_ABSENT;
	if (reading == READ_BAD || !file_number(file, &out->a)) {
		p->fault = "file";
		return READ_BAD;
	}
	reading = place_uint(p, FIELD_POS, "pos", &pos);
	if (reading != READ_OK)
		return reading;
	if (place_uint(p, FIELD_ROW, "row", &row) == READ_BAD ||
	    place_uint(p, FIELD_SERVER_ID, "server_id", &server_id) == READ_BAD)
		return READ_BAD;
	out->b = pos;
	out->c = p->e->is_snapshot || row == UINT64_MAX ? 0 : row + 1;
	p->e->has_raised_epoch = history_place(&p->d->history, p->e, server_id, out->a, &out->epoch);
	return READ_OK;
}

/* The second element of ["<last commit lsn>","<lsn>"]. */
static enum reading sequence_lsn(struct place *p, uint64_t *out)
{
	struct json_doc *doc = &p->d->other_doc;
	struct span text;
	size_t at;
	enum reading reading = value_text(&p->e->fields[FIELD_SEQUENCE], p->e->batch->arena, &text);

	if (reading != READ_OK)
		return reading;
	if (json_parse(doc, text, &at) != JSON_FINE || !json_is(doc, 0, JSON_ARRAY) || doc->count != 3)
		return READ_BAD;
	return value_uint(&(struct value){ doc, 2 }, out);
}

static enum reading place_postgresql(struct place *p, struct position *out)
{
	enum reading reading = place_uint(p, FIELD_LSN, "lsn", &out->a);

	if (reading == READ_ABSENT) {
		reading = sequence_lsn(p, &out->a);
		if (reading == READ_BAD)
			p->fault = "sequence";
	}
	if (reading != READ_OK)
		return reading;
	if (p->e->is_snapshot)
		return READ_OK;
	out->b = 1;
	return place_uint(p, FIELD_TOTAL_ORDER, "total_order", &out->c) == READ_BAD ? READ_BAD : READ_OK;
}

static bool lsn_digits(struct place *p, enum field field, const char *name, char digits[20], enum reading *out)
{
	struct span text;
	size_t count = 0;

	*out = value_text(&p->e->fields[field], p->e->batch->arena, &text);
	if (*out == READ_OK && (!hex_digits(text, digits, 20, &count) || count != 20))
		*out = READ_BAD;
	if (*out == READ_BAD)
		p->fault = name;
	return *out == READ_OK;
}

static enum reading place_sqlserver(struct place *p, struct position *out)
{
	char commit[20], change[20];
	uint64_t serial = 0;
	enum reading reading;

	if (!lsn_digits(p, FIELD_COMMIT_LSN, "commit_lsn", commit, &reading))
		return reading;
	out->a = hex_number(commit, 16);
	out->b = hex_number(commit + 16, 4) << 48;
	if (p->e->is_snapshot)
		return READ_OK;
	if (!lsn_digits(p, FIELD_CHANGE_LSN, "change_lsn", change, &reading))
		return reading == READ_ABSENT ? READ_OK : READ_BAD;
	if (place_uint(p, FIELD_EVENT_SERIAL_NO, "event_serial_no", &serial) == READ_BAD)
		return READ_BAD;
	out->b |= hex_number(change, 12);
	out->c = hex_number(change + 12, 8) << 32 | (serial & UINT32_MAX);
	return READ_OK;
}

static enum reading place_xstream(struct place *p, struct position *out)
{
	char digits[48];
	struct span text;
	size_t count;
	enum reading reading = value_text(&p->e->fields[FIELD_LCR_POSITION], p->e->batch->arena, &text);

	if (reading == READ_ABSENT)
		return READ_ABSENT;
	if (reading == READ_BAD || !hex_digits(text, digits, sizeof(digits), &count)) {
		p->fault = "lcr_position";
		return READ_BAD;
	}
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
	struct span text;
	size_t count;

	if (value_text(&p->e->fields[FIELD_RS_ID], p->e->batch->arena, &text) != READ_OK ||
	    !hex_digits(text, digits, sizeof(digits), &count) || count < 12)
		return ssn;
	return hex_number(digits + count - 12, 12) << 16 | (ssn & 0xffff);
}

static enum reading place_oracle(struct place *p, struct position *out)
{
	uint64_t ssn = 0;
	enum reading reading = place_xstream(p, out);

	if (reading != READ_ABSENT)
		return reading;
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
	if (p->e->is_snapshot)
		return READ_OK;
	reading = place_uint(p, FIELD_TX_SEQ, "txSeq", &out->c);
	if (reading != READ_ABSENT)
		return reading;
	if (place_uint(p, FIELD_SSN, "ssn", &ssn) == READ_BAD)
		return READ_BAD;
	out->c = oracle_order(p, ssn);
	return READ_OK;
}

static enum reading place_mongodb(struct place *p, struct position *out)
{
	uint64_t ts_ms = 0, ord = 0;
	enum reading seconds = place_uint(p, FIELD_TS_MS, "ts_ms", &ts_ms);
	enum reading reading = place_uint(p, FIELD_ORD, "ord", &ord);

	if (seconds == READ_BAD || reading == READ_BAD)
		return READ_BAD;
	if (seconds == READ_ABSENT || reading == READ_ABSENT)
		return READ_ABSENT;
	out->a = ts_ms / 1000 << 32 | (ord & UINT32_MAX);
	if (!p->e->is_snapshot && place_uint(p, FIELD_TOTAL_ORDER, "total_order", &out->b) == READ_BAD)
		return READ_BAD;
	return READ_OK;
}

#define SPAN_ROW(literal) { (literal), sizeof(literal) - 1 }

/* `mark`: the field that tells the connector where none is named (flattened rows). */
static const struct connector {
	struct span name;
	enum field mark;
	enum reading (*place)(struct place *, struct position *);
} connectors[] = {
	{ SPAN_ROW("postgresql"), FIELD_LSN, place_postgresql },
	{ SPAN_ROW("mysql"), FIELD_FILE, place_binlog },
	{ SPAN_ROW("mariadb"), FIELD_FILE, place_binlog },
	{ SPAN_ROW("sqlserver"), FIELD_COMMIT_LSN, place_sqlserver },
	{ SPAN_ROW("oracle"), FIELD_SCN, place_oracle },
	{ SPAN_ROW("oracle"), FIELD_LCR_POSITION, place_oracle },
	{ SPAN_ROW("mongodb"), FIELD_ORD, place_mongodb },
	{ SPAN_ROW(""), FIELD_SEQUENCE, place_postgresql },
};

static const struct connector *connector_find(struct event *e)
{
	size_t count = sizeof(connectors) / sizeof(connectors[0]);
	struct span name;

	if (value_text(&e->fields[FIELD_CONNECTOR], e->batch->arena, &name) == READ_OK) {
		for (size_t i = 0; i < count; i++) {
			if (span_equal(name, connectors[i].name))
				return &connectors[i];
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (!value_is_null(&e->fields[connectors[i].mark]))
			return &connectors[i];
	}
	return NULL;
}

/* Arrival, as a number that a redelivery has again: the id if it counts, else its hash. */
static uint64_t arrival_number(const struct message *message)
{
	unsigned char hash[SHA256_BYTES];
	uint64_t number = 0;

	if (message->id.len == 0)
		return message->line;
	if (span_uint64(message->id, &number))
		return number;
	sha256(message->id, hash);
	for (size_t i = 0; i < 8; i++)
		number = number << 8 | hash[i];
	return number;
}

static void event_place_without_log(struct event *e)
{
	int64_t us;

	e->position = (struct position){ 0 };
	if (e->message->publish.len && publish_parse(e->message->publish, &us) && us >= 0) {
		e->position_kind = POSITION_BY_TIME;
		e->position.a = (uint64_t)us;
		e->position.c = arrival_number(e->message);
		return;
	}
	e->position_kind = POSITION_BY_LINE;
	e->position.a = e->message->line;
}

bool event_locate(struct debezium *d, struct event *e)
{
	const struct connector *connector = connector_find(e);
	struct place place = { d, e, NULL };
	enum reading reading = connector ? connector->place(&place, &e->position) : READ_ABSENT;

	e->position_kind = POSITION_LOG;
	if (reading == READ_BAD)
		return REFUSE(e, "bad_position", NOTHING, NOTHING,
		              "the position in the source's log cannot be read: '%s' is not as connector %s writes it",
		              place.fault ? place.fault : "source", connector->name.len ? connector->name.at : "postgresql");
	if (reading == READ_ABSENT)
		event_place_without_log(e);
	return true;
}
