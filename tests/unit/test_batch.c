/* Batches and the ledger of what became of their messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "record/batch.h"
#include "record/kept.h"

#include <cmocka.h>

static int make(void **state)
{
	*state = batch_new();
	return 0;
}

static int drop(void **state)
{
	batch_free(*state);
	return 0;
}

/* A message of table 0 whose records have these verdicts. */
static struct message *add(struct batch *batch, size_t count, enum verdict first, enum verdict second)
{
	struct message *message = batch_add_message(batch);

	message->table = 0;
	if (count > 0)
		batch_add_record(batch, message)->verdict = first;
	if (count > 1)
		batch_add_record(batch, message)->verdict = second;
	return message;
}

static void each_message_counts_once(void **state)
{
	struct batch *batch = *state;
	struct ledger tables[2] = { { 0 } };

	add(batch, 1, VERDICT_WRITTEN, VERDICT_WRITTEN);
	add(batch, 2, VERDICT_WRITTEN, VERDICT_REFUSED);  /* one refused: a letter, the other row is written */
	add(batch, 2, VERDICT_PARKED, VERDICT_WRITTEN);
	add(batch, 2, VERDICT_REPEATED, VERDICT_REPEATED);
	add(batch, 2, VERDICT_REPEATED, VERDICT_WRITTEN); /* not wholly a repeat */
	add(batch, 1, VERDICT_PENDING, VERDICT_PENDING)->fate = MESSAGE_FILTERED; /* a DROP's record */
	add(batch, 2, VERDICT_PARKED, VERDICT_PARKED)->fate = MESSAGE_FILTERED;   /* one that waits for its table */
	add(batch, 1, VERDICT_REFUSED, VERDICT_REFUSED)->fate = MESSAGE_FILTERED; /* one that is refused */
	batch_add_message(batch)->fate = MESSAGE_REFUSED;
	assert_true(ledger_count(tables, 1, batch));

	assert_int_equal(tables[0].received, 8);
	assert_int_equal(tables[0].written, 3);
	assert_int_equal(tables[0].dead_lettered, 2);
	assert_int_equal(tables[0].parked, 2);
	assert_int_equal(tables[0].filtered, 1);
	assert_int_equal(tables[0].repeated, 1);
	assert_int_equal(tables[0].rows, 4);
	assert_int_equal(tables[1].received, 1);
	assert_int_equal(tables[1].dead_lettered, 1);
	assert_true(ledger_balances(&tables[0], 0));
	ledger_add(&tables[0], &tables[1]);
	assert_int_equal(tables[0].received, 9);
	assert_true(ledger_balances(&tables[0], 0));
	tables[0].received++;
	assert_false(ledger_balances(&tables[0], 0));
	assert_true(ledger_balances(&tables[0], 1));
}

static void schema_record(struct batch *batch, struct message *message, uint32_t table, enum operation operation, struct span json)
{
	struct record *record = batch_add_record(batch, message);

	record->table = table;
	record->operation = operation;
	record->verdict = VERDICT_PARKED;
	record->timestamp_ms = -17 - (int64_t)table;
	record->full_record = json;
	record->proto = SPAN("\x01proto");
	memset(record->position, (int)table, sizeof(record->position));
}

static void check_kept(const struct record *record, uint32_t table, enum operation operation, struct span json)
{
	unsigned char position[POSITION_BYTES];

	memset(position, (int)table, sizeof(position));
	assert_int_equal(record->table, table);
	assert_int_equal(record->operation, operation);
	assert_int_equal(record->timestamp_ms, -17 - (int64_t)table);
	assert_true(span_equal(record->full_record, json));
	assert_true(span_equal(record->proto, SPAN("\x01proto")));
	assert_memory_equal(record->position, position, sizeof(position));
}

static struct message *come_back(struct batch *batch, struct span kept)
{
	struct message *message = batch_add_message(batch);

	message->kept = kept;
	return message;
}

static void records_that_are_made_once_come_back_with_their_message(void **state)
{
	struct batch *batch = *state;
	struct message *filtered = batch_add_message(batch), *open, *back;
	struct span kept;

	filtered->fate = MESSAGE_FILTERED;
	schema_record(batch, filtered, 3, OP_RENAME, SPAN("{\"from\":\"a\"}"));
	schema_record(batch, filtered, 4, OP_DROP, SPAN(""));
	kept = kept_pack(batch, filtered, VERDICT_PARKED);
	open = batch_add_message(batch);
	schema_record(batch, open, 5, OP_ALTER, SPAN("{}"));
	batch_add_record(batch, open)->operation = OP_INSERT; /* the transform makes it again */

	back = come_back(batch, kept);
	assert_true(kept_unpack(batch, back));
	assert_int_equal(back->fate, MESSAGE_FILTERED);
	assert_int_equal(back->record_count, 2);
	check_kept(&batch->records[back->first_record], 3, OP_RENAME, SPAN("{\"from\":\"a\"}"));
	check_kept(&batch->records[back->first_record + 1], 4, OP_DROP, SPAN(""));
	back = come_back(batch, kept_pack(batch, open, VERDICT_PARKED));
	assert_true(kept_unpack(batch, back));
	assert_int_equal(back->fate, MESSAGE_OPEN);
	assert_int_equal(back->record_count, 1);
	check_kept(&batch->records[back->first_record], 5, OP_ALTER, SPAN("{}"));
	/* Of a letter only what was refused. */
	batch->records[filtered->first_record].verdict = VERDICT_REFUSED;
	back = come_back(batch, kept_pack(batch, filtered, VERDICT_REFUSED));
	assert_true(kept_unpack(batch, back));
	assert_int_equal(back->record_count, 1);
	check_kept(&batch->records[back->first_record], 3, OP_RENAME, SPAN("{\"from\":\"a\"}"));
}

static void kept_records_that_are_cut_are_damaged(void **state)
{
	struct batch *batch = *state;
	struct message *message = batch_add_message(batch), *row = add(batch, 1, VERDICT_PARKED, VERDICT_PARKED);
	struct span kept;

	assert_int_equal(kept_pack(batch, row, VERDICT_PARKED).len, 0);
	message->fate = MESSAGE_FILTERED;
	schema_record(batch, message, 1, OP_ALTER, SPAN("{\"move\":{}}"));
	kept = kept_pack(batch, message, VERDICT_PARKED);
	for (size_t len = 2; len < kept.len; len++)
		assert_false(kept_unpack(batch, come_back(batch, span_make(kept.at, len))));
}

static void nothing_is_counted_while_a_verdict_is_open(void **state)
{
	struct batch *batch = *state;
	struct ledger tables[2] = { { 0 } };

	add(batch, 1, VERDICT_WRITTEN, VERDICT_WRITTEN);
	add(batch, 2, VERDICT_WRITTEN, VERDICT_PENDING);
	assert_false(ledger_count(tables, 1, batch));
	assert_int_equal(tables[0].received, 0);
	batch_reset(batch);
	add(batch, 0, VERDICT_WRITTEN, VERDICT_WRITTEN); /* open, but without a record */
	assert_false(ledger_count(tables, 1, batch));
}

static void a_batch_is_full_at_5000_messages(void **state)
{
	struct batch *batch = *state;

	assert_false(batch_is_full(batch));
	for (size_t i = 0; i < BATCH_RECORDS_MAX; i++) {
		assert_false(batch_is_full(batch));
		add(batch, 2, VERDICT_WRITTEN, VERDICT_WRITTEN);
	}
	assert_true(batch_is_full(batch));
	assert_int_equal(batch->record_count, 2 * BATCH_RECORDS_MAX);
	assert_int_equal(batch->records[9999].message, 4999);
	batch_reset(batch);
	assert_false(batch_is_full(batch));
}

static void a_batch_is_full_at_8_mib_but_never_empty(void **state)
{
	struct batch *batch = *state;

	arena_bytes(batch->arena, BATCH_BYTES_MAX);
	assert_false(batch_is_full(batch));
	batch_add_message(batch);
	assert_true(batch_is_full(batch));
}

static void a_new_message_is_empty_and_without_a_table(void **state)
{
	struct batch *batch = *state;
	struct message *message = add(batch, 1, VERDICT_WRITTEN, VERDICT_WRITTEN);

	message->body = SPAN("old");
	batch_reset(batch);
	message = batch_add_message(batch);
	assert_int_equal(message->body.len, 0);
	assert_int_equal(message->table, TABLE_NONE);
	assert_int_equal(message->fate, MESSAGE_OPEN);
	assert_int_equal(message->record_count, 0);
}

static void a_refusal_copies_its_words(void **state)
{
	struct batch *batch = *state;
	struct message *bare = batch_add_message(batch), *half;
	char column[] = "price";

	assert_false(message_refuse(batch, bare, "map", "type_mismatch", span_of(column), SPAN("after.price"), "row %d", 7));
	column[0] = 'X';
	assert_int_equal(bare->fate, MESSAGE_REFUSED);
	assert_string_equal(bare->refusal->message, "row 7");
	assert_string_equal(bare->refusal->code, "type_mismatch");
	assert_true(span_is(bare->refusal->column, "price"));

	half = add(batch, 2, VERDICT_PENDING, VERDICT_PENDING);
	message_refuse(batch, half, "map", "type_mismatch", SPAN(""), SPAN(""), "second");
	assert_int_equal(half->fate, MESSAGE_OPEN);
	assert_int_equal(batch->records[0].verdict, VERDICT_PENDING);
	assert_int_equal(batch->records[1].verdict, VERDICT_REFUSED);
	assert_string_equal(batch->records[1].refusal->message, "second");
	message_refuse(batch, half, "map", "type_mismatch", SPAN(""), SPAN(""), "third");
	assert_string_equal(half->refusal->message, "second");
}

static void schema_changes_stand_before_their_record(void **state)
{
	struct batch *batch = *state;
	struct table_schema schema = { .name = { "t", 1 }, .version = 2 };

	batch_add_change(batch, 0, &schema, "new table");
	add(batch, 1, VERDICT_PENDING, VERDICT_PENDING);
	batch_add_change(batch, 0, NULL, "dropped");
	assert_int_equal(batch->changes->before, 0);
	assert_int_equal(batch->changes->schema->version, 2);
	assert_ptr_not_equal(batch->changes->schema, &schema);
	assert_int_equal(batch->changes->next->before, 1);
	assert_null(batch->changes->next->schema);
	assert_string_equal(batch->changes->next->why, "dropped");
	assert_null(batch->changes->next->next);
}

static void notes_of_one_kind_add_up(void **state)
{
	struct batch *batch = *state;

	batch_add_note(batch, 0, SPAN("until"), "value_not_representable", 1, "stored as NULL");
	batch_add_note(batch, 0, SPAN("from"), "value_not_representable", 1, "stored as NULL");
	batch_add_note(batch, 0, SPAN("until"), "value_not_representable", 2, "stored as %s", "NULL");
	assert_int_equal(batch->notes->count, 3);
	assert_string_equal(batch->notes->text, "stored as NULL");
	assert_int_equal(batch->notes->next->count, 1);
	assert_null(batch->notes->next->next);
}

static void attributes_by_name(void **state)
{
	static const struct attribute attrs[] = { { { "a", 1 }, { "1", 1 } }, { { "b", 1 }, { "", 0 } }, { { "a", 1 }, { "2", 1 } } };
	struct message *message = batch_add_message(*state);
	bool is_found;

	message->attrs = attrs;
	message->attr_count = 3;
	assert_true(span_is(message_attribute(message, "a", &is_found), "1"));
	assert_true(is_found);
	assert_int_equal(message_attribute(message, "b", &is_found).len, 0);
	assert_true(is_found);
	assert_int_equal(message_attribute(message, "c", &is_found).len, 0);
	assert_false(is_found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_message_counts_once, make, drop),
		cmocka_unit_test_setup_teardown(records_that_are_made_once_come_back_with_their_message, make, drop),
		cmocka_unit_test_setup_teardown(kept_records_that_are_cut_are_damaged, make, drop),
		cmocka_unit_test_setup_teardown(nothing_is_counted_while_a_verdict_is_open, make, drop),
		cmocka_unit_test_setup_teardown(a_batch_is_full_at_5000_messages, make, drop),
		cmocka_unit_test_setup_teardown(a_batch_is_full_at_8_mib_but_never_empty, make, drop),
		cmocka_unit_test_setup_teardown(a_new_message_is_empty_and_without_a_table, make, drop),
		cmocka_unit_test_setup_teardown(a_refusal_copies_its_words, make, drop),
		cmocka_unit_test_setup_teardown(schema_changes_stand_before_their_record, make, drop),
		cmocka_unit_test_setup_teardown(notes_of_one_kind_add_up, make, drop),
		cmocka_unit_test_setup_teardown(attributes_by_name, make, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
