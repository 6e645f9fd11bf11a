/*
 * Members of objects whose meaning we know, found without looking names up:
 * they come in the order in which they came last time.
 */
#include "transform/debezium_private.h"

#include "base/hash.h"

const struct field_name envelope_fields[] = {
	{ "before", FIELD_BEFORE },
	{ "after", FIELD_AFTER },
	{ "source", FIELD_SOURCE },
	{ "op", FIELD_OP },
	{ "ts_ms", FIELD_TS_MS },
	{ "transaction", FIELD_TRANSACTION },
	{ "schema", FIELD_SCHEMA_BLOCK },
	{ "payload", FIELD_PAYLOAD },
	{ "status", FIELD_STATUS },
	{ "id", FIELD_ID },
	{ "event_count", FIELD_EVENT_COUNT },
	{ "tableChanges", FIELD_TABLE_CHANGES },
	{ "ddl", FIELD_DDL },
	{ "specversion", FIELD_SPECVERSION },
	{ "aggregate_type", FIELD_AGGREGATE_TYPE },
	{ "__op", FIELD_DELETED }, /* any of them: a flattened row */
	{ "__table", FIELD_DELETED },
	{ "__deleted", FIELD_DELETED },
	{ NULL, FIELD_NONE },
};

const struct field_name source_fields[] = {
	{ "connector", FIELD_CONNECTOR },
	{ "name", FIELD_NAME },
	{ "db", FIELD_DB },
	{ "schema", FIELD_SCHEMA },
	{ "table", FIELD_TABLE },
	{ "tbl", FIELD_TABLE },
	{ "collection", FIELD_TABLE },
	{ "snapshot", FIELD_SNAPSHOT },
	{ "sequence", FIELD_SEQUENCE },
	{ "ts_ms", FIELD_TS_MS },
	{ "ts_us", FIELD_TS_US },
	{ "commit_ts_ms", FIELD_COMMIT_TS_MS },
	{ "server_id", FIELD_SERVER_ID },
	{ "file", FIELD_FILE },
	{ "pos", FIELD_POS },
	{ "row", FIELD_ROW },
	{ "lsn", FIELD_LSN },
	{ "commit_lsn", FIELD_COMMIT_LSN },
	{ "change_lsn", FIELD_CHANGE_LSN },
	{ "event_serial_no", FIELD_EVENT_SERIAL_NO },
	{ "scn", FIELD_SCN },
	{ "commit_scn", FIELD_COMMIT_SCN },
	{ "txSeq", FIELD_TX_SEQ },
	{ "ssn", FIELD_SSN },
	{ "rs_id", FIELD_RS_ID },
	{ "lcr_position", FIELD_LCR_POSITION },
	{ "ord", FIELD_ORD },
	{ "total_order", FIELD_TOTAL_ORDER },
	{ "transaction_epoch", FIELD_TRANSACTION_EPOCH },
	{ "transaction_rank", FIELD_TRANSACTION_RANK },
	{ "txnNumber", FIELD_TXN_NUMBER },
	{ "keyspace", FIELD_KEYSPACE },
	{ "shard", FIELD_SHARD },
	{ "vgtid", FIELD_VGTID },
	{ "mod_number", FIELD_MOD_NUMBER },
	{ "value_capture_type", FIELD_VALUE_CAPTURE_TYPE },
	{ "op", FIELD_OP },
	{ "deleted", FIELD_DELETED },
	{ NULL, FIELD_NONE },
};

static enum field field_lookup(const struct field_name *names, struct span name)
{
	for (; names->name; names++) {
		if (span_is(name, names->name))
			return names->field;
	}
	return FIELD_NONE;
}

/* Long names have no row of their own: length 0 is never met, so they are looked up each time. */
static void order_remember(struct member_order *order, size_t i, struct span raw, enum field field)
{
	if (i >= ORDER_ROWS)
		return;
	order->rows[i].len = raw.len <= ORDER_NAME_BYTES ? (uint8_t)raw.len : 0;
	order->rows[i].field = (uint8_t)field;
	if (order->rows[i].len)
		memcpy(order->rows[i].name, raw.at, raw.len);
	order->count = i + 1;
}

struct member_order *order_choose(struct member_order *orders, const struct json_doc *doc, uint32_t object)
{
	if (doc->tokens[object].next == object + 1)
		return &orders[0];
	struct span first = json_raw(doc, object + 1);

	return &orders[first.len ? (first.len * 7 + (unsigned char)first.at[0]) % ROOT_ORDERS : 0];
}

size_t fields_read(struct member_order *order, const struct field_name *names, const struct json_doc *doc,
                   uint32_t object, struct value out[FIELDS], struct arena *arena, bool *out_new_order)
{
	uint32_t end = doc->tokens[object].next;
	size_t i = 0, known = order->count;

	*out_new_order = false;
	for (uint32_t at = object + 1; at < end; at = doc->tokens[at + 1].next, i++) {
		struct span raw = json_raw(doc, at);
		enum field field;

		if (i < known && order->rows[i].len == raw.len && raw.len &&
		    bytes_equal(order->rows[i].name, raw.at, raw.len)) {
			field = order->rows[i].field;
		} else {
			*out_new_order = true;
			field = field_lookup(names, json_text(doc, at, arena));
			order_remember(order, i, raw, field);
			known = order->count;
		}
		/* The first of two stands: whoever cares refuses the object. */
		if (field != FIELD_NONE && !out[field].doc)
			out[field] = (struct value){ doc, at + 1 };
	}
	if (i != order->count)
		*out_new_order = true;
	return i;
}

struct field_plan *field_plan_choose(struct field_plan *plans, const struct json_doc *doc)
{
	return &plans[doc->trail % FIELD_PLANS];
}

size_t field_plan_read(const struct field_plan *plan, const struct json_doc *doc, uint32_t object,
                       struct value out[FIELDS])
{
	if (!doc->trail || plan->trail != doc->trail || doc->places[plan->object] != object + 2)
		return 0;
	for (uint32_t i = 0; i < plan->count; i++)
		out[plan->rows[i].field] = (struct value){ doc, doc->places[plan->rows[i].place] };
	return plan->members;
}

/* Where in doc->places, which ascend, the token is; place_count: nowhere. */
static uint32_t place_find(const struct json_doc *doc, uint32_t token)
{
	uint32_t place = 0;

	while (place < doc->place_count && doc->places[place] != token)
		place++;
	return place;
}

/* Only of objects whose members were met before in this order: so no duplicate hides in them. */
void field_plan_make(struct field_plan *plan, const struct json_doc *doc, uint32_t object, size_t members,
                     const struct value out[FIELDS])
{
	struct field_plan made = { .trail = doc->trail, .members = (uint32_t)members };
	uint32_t end = doc->tokens[object].next;

	made.object = place_find(doc, object + 2);
	if (!doc->trail || !members || made.object == doc->place_count)
		return;
	for (uint16_t field = 0; field < FIELDS; field++) {
		if (!out[field].doc || out[field].token <= object || out[field].token >= end)
			continue;
		uint32_t place = place_find(doc, out[field].token);

		if (made.count == FIELD_PLAN_ROWS || place == doc->place_count)
			return;
		made.rows[made.count].field = field;
		made.rows[made.count++].place = (uint16_t)place;
	}
	*plan = made;
}

bool object_duplicate(const struct json_doc *doc, uint32_t object, struct arena *arena, struct span *out_name)
{
	uint32_t end = doc->tokens[object].next;
	size_t room = 16, count = 0;

	for (uint32_t at = object + 1; at < end; at = doc->tokens[at + 1].next)
		count++;
	while (room < count * 2)
		room *= 2;
	struct span *seen = arena_zalloc(arena, room * sizeof(*seen));

	for (uint32_t at = object + 1; at < end; at = doc->tokens[at + 1].next) {
		struct span name = json_text(doc, at, arena);
		size_t slot = hash_bytes(name) & (room - 1);

		for (; seen[slot].at; slot = (slot + 1) & (room - 1)) {
			if (span_equal(seen[slot], name)) {
				*out_name = name;
				return true;
			}
		}
		seen[slot] = name.at ? name : SPAN("");
	}
	return false;
}

enum reading value_uint(const struct value *value, uint64_t *out)
{
	if (value_is_null(value))
		return READ_ABSENT;
	if (!value_is(value, JSON_NUMBER) && !value_is(value, JSON_STRING))
		return READ_BAD;
	int64_t number;

	if (json_int64(value->doc, value->token, &number)) { /* digits that were checked before */
		*out = (uint64_t)number;
		return number >= 0 ? READ_OK : READ_BAD;
	}
	if (value_is(value, JSON_STRING) && json_raw(value->doc, value->token).len == 0)
		return READ_ABSENT;
	return span_uint64(json_raw(value->doc, value->token), out) ? READ_OK : READ_BAD;
}

enum reading value_text_any(const struct value *value, struct arena *arena, struct span *out)
{
	if (!value_is(value, JSON_STRING))
		return READ_BAD;
	*out = json_text(value->doc, value->token, arena);
	return out->len ? READ_OK : READ_ABSENT;
}
