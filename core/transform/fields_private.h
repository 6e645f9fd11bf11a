/*
 * Known fields of a message's objects, as tokens: what the rooms of the Debezium
 * transform read envelopes and source blocks with.
 */
#ifndef WEIR_TRANSFORM_FIELDS_PRIVATE_H
#define WEIR_TRANSFORM_FIELDS_PRIVATE_H

#include "record/json.h"

#include <string.h>

#define ORDER_ROWS 64
#define ORDER_NAME_BYTES 40

/*
 * Objects whose meaning we know (envelope, source block, SMT fields) become
 * tokens by field. Their members nearly always come in the order of last time.
 */
enum field {
	FIELD_NONE, /* a member we do not look at */
	FIELD_BEFORE, FIELD_AFTER, FIELD_SOURCE, FIELD_OP, FIELD_TRANSACTION, FIELD_SCHEMA_BLOCK, FIELD_PAYLOAD,
	FIELD_STATUS, FIELD_ID, FIELD_EVENT_COUNT, FIELD_TABLE_CHANGES, FIELD_DDL, FIELD_SPECVERSION,
	FIELD_AGGREGATE_TYPE, FIELD_DELETED, FIELD_CONNECTOR, FIELD_DB, FIELD_SCHEMA, FIELD_TABLE, FIELD_SNAPSHOT,
	FIELD_SEQUENCE, FIELD_TS_MS, FIELD_SERVER_ID, FIELD_FILE, FIELD_POS, FIELD_ROW, FIELD_LSN, FIELD_COMMIT_LSN,
	FIELD_CHANGE_LSN, FIELD_EVENT_SERIAL_NO, FIELD_SCN, FIELD_COMMIT_SCN, FIELD_TX_SEQ, FIELD_SSN, FIELD_RS_ID,
	FIELD_LCR_POSITION, FIELD_ORD, FIELD_TOTAL_ORDER, FIELD_NAME, FIELD_TS_US, FIELD_CLOCK_MS, FIELD_COMMIT_TS_MS,
	FIELD_KEYSPACE, FIELD_SHARD, FIELD_VGTID, FIELD_TRANSACTION_EPOCH, FIELD_TRANSACTION_RANK, FIELD_MOD_NUMBER,
	FIELD_VALUE_CAPTURE_TYPE, FIELD_TXN_NUMBER, FIELDS
};

struct value {
	const struct json_doc *doc; /* NULL: not there */
	uint32_t token;
};

struct field_name {
	const char *name;
	enum field field;
};

struct member_order {
	size_t count;
	struct {
		uint8_t len, field;
		char name[ORDER_NAME_BYTES];
	} rows[ORDER_ROWS];
};

/* The same by the text's trail (record/json.h): where the known fields of one object are. */
#define FIELD_PLANS 512
#define FIELD_PLAN_ROWS 20

struct field_plan {
	uint32_t trail;    /* 0: none yet */
	uint32_t object;   /* place of the first member */
	uint32_t members;
	uint32_t count;
	struct {
		uint16_t field, place;
	} rows[FIELD_PLAN_ROWS];
};

extern const struct field_name envelope_fields[], source_fields[];

/* The order of the kind of object this seems to be. */
struct member_order *order_choose(struct member_order *orders, const struct json_doc *doc, uint32_t object);

/* The plan of this object among `plans`, used up to now or not. */
struct field_plan *field_plan_choose(struct field_plan *plans, const struct json_doc *doc);
/* Reads by the plan; 0: it is none for this object, fields_read must be asked and field_plan_make told. */
size_t field_plan_read(const struct field_plan *plan, const struct json_doc *doc, uint32_t object,
                       struct value out[FIELDS]);
void field_plan_make(struct field_plan *plan, const struct json_doc *doc, uint32_t object, size_t members,
                     const struct value out[FIELDS]);

/* Fills out[field] for every member known to `names`. `*out_new_order`: not the order of last time, so
 * that duplicates must be looked for. Returns how many members there are. */
size_t fields_read(struct member_order *order, const struct field_name *names, const struct json_doc *doc,
                   uint32_t object, struct value out[FIELDS], struct arena *arena, bool *out_new_order);
bool object_duplicate(const struct json_doc *doc, uint32_t object, struct arena *arena, struct span *out_name);

static inline bool value_is(const struct value *value, int kind)
{
	return value->doc && value->doc->tokens[value->token].kind == kind;
}

static inline bool value_is_null(const struct value *value)
{
	return !value->doc || value->doc->tokens[value->token].kind == JSON_NULL;
}

enum reading { READ_ABSENT, READ_OK, READ_BAD };
enum reading value_uint(const struct value *value, uint64_t *out); /* digits as number or text */
enum reading value_text_any(const struct value *value, struct arena *arena, struct span *out);

/* "" counts as absent. A text without escapes, as nearly all are, is not worth a call. */
static inline enum reading value_text(const struct value *value, struct arena *arena, struct span *out)
{
	if (value_is_null(value))
		return READ_ABSENT;
	const struct json_token *t = &value->doc->tokens[value->token];

	if (t->kind != JSON_STRING || t->flags & JSON_HAS_ESCAPES)
		return value_text_any(value, arena, out);
	*out = json_raw(value->doc, value->token);
	return out->len ? READ_OK : READ_ABSENT;
}

#endif
