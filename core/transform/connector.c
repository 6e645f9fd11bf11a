/*
 * Which connector wrote an event, and with it where in the source's log the
 * event stands (places*.c). Where nothing tells, publish time is the order, and
 * then the line.
 */
#include "transform/places.h"

#include "base/hash.h"

#include <ctype.h>

enum reading place_uint(struct place *p, enum field field, const char *name, uint64_t *out)
{
	enum reading reading = value_uint(&p->e->fields[field], out);

	if (reading == READ_BAD)
		p->fault = name;
	return reading;
}

enum reading place_hex(struct place *p, enum field field, const char *name, char *digits, size_t room,
                       size_t *out_count)
{
	struct span text;
	size_t n = 0;
	enum reading reading = value_text(&p->e->fields[field], p->e->batch->arena, &text);

	for (size_t i = 0; reading == READ_OK && i < text.len; i++) {
		if (strchr(":.- x", text.at[i])) /* LogMiner writes " 0x00123f.00012345.0124 " */
			continue;
		if (!isxdigit((unsigned char)text.at[i]))
			reading = READ_BAD;
		else if (n < room)
			digits[n++] = text.at[i];
	}
	if (reading == READ_OK && !n)
		reading = READ_BAD;
	if (reading == READ_BAD)
		p->fault = name;
	*out_count = n;
	return reading;
}

uint64_t hex_number(const char *digits, size_t count)
{
	uint64_t number = 0;

	for (size_t i = 0; i < count; i++) {
		char c = digits[i];

		number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
	}
	return number;
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
	{ SPAN_ROW("db2"), FIELD_COMMIT_LSN, place_db2 },
	{ SPAN_ROW("oracle"), FIELD_SCN, place_oracle },
	{ SPAN_ROW("oracle"), FIELD_LCR_POSITION, place_oracle },
	{ SPAN_ROW("mongodb"), FIELD_ORD, place_mongodb },
	{ SPAN_ROW("vitess"), FIELD_VGTID, place_vitess },
	{ SPAN_ROW("spanner"), FIELD_MOD_NUMBER, place_spanner },
	{ SPAN_ROW(""), FIELD_SEQUENCE, place_postgresql },
};

/* `*out_is_named`: by its name. Else it is one that writes positions like this, or looks so. */
static const struct connector *connector_find(struct event *e, bool *out_is_named)
{
	size_t count = sizeof(connectors) / sizeof(connectors[0]);
	struct span name;

	*out_is_named = true;
	if (value_text(&e->fields[FIELD_CONNECTOR], e->batch->arena, &name) == READ_OK) {
		for (size_t i = 0; i < count; i++) {
			if (span_equal(name, connectors[i].name))
				return &connectors[i];
		}
		*out_is_named = false;
	}
	for (size_t i = 0; i < count; i++) {
		if (!value_is_null(&e->fields[connectors[i].mark]))
			return &connectors[i];
	}
	return NULL;
}

/* Arrival, as a number that a redelivery has again: the id if it counts, else its hash. */
uint64_t arrival_number(const struct message *message)
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

/* A feed's line where the id is no number: hashes have no order. */
void place_by_arrival(struct place *p, struct position *out)
{
	const struct message *message = p->e->message;
	uint64_t number;
	int64_t us;

	p->e->is_by_arrival = true;
	if (message_published(message, &us) && us > 0)
		out->b = (uint64_t)us;
	out->c = message->line && !span_uint64(message->id, &number) ? message->line : arrival_number(message);
}

void event_place_without_log(struct event *e)
{
	int64_t us;

	e->position = (struct position){ 0 };
	if (message_published(e->message, &us) && us >= 0) {
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
	bool is_named;
	const struct connector *connector = connector_find(e, &is_named);
	struct place place = { d, e, NULL };
	enum reading reading = connector ? connector->place(&place, &e->position) : READ_ABSENT;

	e->position_kind = POSITION_LOG;
	if (reading == READ_BAD && !is_named) /* a connector we do not know has a log of its own making */
		reading = READ_ABSENT;
	if (reading == READ_BAD)
		return REFUSE(e, "bad_position", NOTHING, NOTHING,
		              "the position in the source's log cannot be read: '%s' is not as connector %s writes it",
		              place.fault ? place.fault : "source", connector->name.len ? connector->name.at : "postgresql");
	if (reading == READ_ABSENT)
		event_place_without_log(e);
	return true;
}
