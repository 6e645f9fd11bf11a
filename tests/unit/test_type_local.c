/*
 * The values of tests/fixtures/types.def through the transform into a local replica
 * and out of it again, each in a table of its own; what its column cannot hold under
 * every word of onUnrepresentable.
 */
#include "base/hash.h"
#include "local_help.h"
#include "transform_help.h"
#include "type_cases.h"

#include <math.h>

/* All that is wrong is said in one run. */
static size_t faults;

static void say(const char *word, const struct table_case *c, const char *what, struct span got, struct span meant)
{
	faults++;
	print_error("%s: %s into %s: %s: %s: '%.*s', not '%.*s'\n", word, c->node, c->column, c->value, what, (int)got.len,
	            got.at, (int)meant.len, meant.at);
}

/* Rows of the type table that no schema node names: encodings are the owner's word, ours are values without a block. */
static bool is_encoding(const char *node)
{
	return *node != '{' && strncmp(node, "weir.", 5) != 0;
}

static bool is_told(const struct table_case *c)
{
	return *c->node == '{';
}

/* With "=" the block decides, and the column may become text; else columnTypes does, and it may not. */
static bool is_fixed(const struct table_case *c)
{
	return *c->column != '=' || is_encoding(c->node);
}

static void add_override(struct text *out, size_t i)
{
	const struct table_case *c = &table_cases[i];

	if (c->outcome == IS_SUBJECT || c->outcome == IS_UNREAD || !is_fixed(c))
		return;
	text_add_format(out, "%s\"t%zu.v\":", out->len ? "," : "", i);
	if (is_encoding(c->node))
		text_add_format(out, "{\"type\":\"%s\",\"encoding\":\"%s\"}", case_column(c), c->node);
	else
		text_add_format(out, "\"%s\"", case_column(c));
}

static const char *make_body(struct rig *rig, size_t i)
{
	const struct table_case *c = &table_cases[i];
	struct arena *arena = rig->batch->arena;
	const char *node = is_told(c) ? c->node : "{\"type\":\"string\"}";
	const char *event = arena_printf(arena, "{\"op\":\"c\",\"before\":null,\"after\":{\"id\":1,\"v\":%s},"
	                                 "\"source\":{\"connector\":\"postgresql\",\"db\":\"shop\",\"schema\":\"public\",\"table\":\"t%zu\","
	                                 "\"lsn\":%zu,\"ts_ms\":1700000000000},\"ts_ms\":1700000000123}", c->value, i, i + 1);

	if (!is_told(c) && !is_encoding(c->node))
		return event;
	return arena_printf(arena, "{\"schema\":{\"type\":\"struct\",\"name\":\"t%zu.Envelope\",\"fields\":[{\"field\":\"after\","
	                    "\"type\":\"struct\",\"fields\":[{\"type\":\"int32\",\"field\":\"id\"},{\"field\":\"v\",%s]}]},"
	                    "\"payload\":%s}", i, node + 1, event);
}

/* What is stored, as canonical text: SQLite's own kinds are 0 and 1 for BOOL, doubles, and blobs. */
static struct span stored_text(sqlite3_stmt *stmt, const struct table_case *c, struct arena *arena)
{
	struct span bytes = { sqlite3_column_blob(stmt, 0), (size_t)sqlite3_column_bytes(stmt, 0) };
	char *text;

	switch (sqlite3_column_type(stmt, 0)) {
	case SQLITE_NULL:
		return SPAN("NULL");
	case SQLITE_FLOAT:
		return span_of(arena_printf(arena, "%.17g", sqlite3_column_double(stmt, 0)));
	case SQLITE_BLOB:
		text = arena_bytes(arena, base64_room(bytes.len) + 1);
		return span_make(text, base64_encode(bytes, text));
	case SQLITE_INTEGER:
		if (strcmp(case_column(c), "BOOL") == 0)
			return sqlite3_column_int(stmt, 0) ? SPAN("true") : SPAN("false");
		break;
	default:
		break;
	}
	bytes.at = (const char *)sqlite3_column_text(stmt, 0);
	bytes.len = (size_t)sqlite3_column_bytes(stmt, 0);
	return arena_copy(arena, bytes);
}

static bool same(struct span got, struct span meant, const struct table_case *c, struct arena *arena)
{
	if (span_equal(got, meant))
		return true;
	return strcmp(case_column(c), "FLOAT64") == 0 &&
	       strtod(arena_string(arena, got), NULL) == strtod(arena_string(arena, meant), NULL);
}

/* What onUnrepresentable makes of a value; NULL: it is refused. */
static const struct span *outcome_of(const struct table_case *c, const char *word)
{
	static const struct span null = { "NULL", 4 };
	bool is_open = strstr(c->node, "VariableScale") || (strstr(c->node, ".Decimal") && !strstr(c->node, "precision"));

	if (c->outcome == IS_FINE)
		return &c->text;
	if (c->outcome != IS_OUT)
		return NULL;
	if (strcmp(word, "null") == 0)
		return &null;
	if (strcmp(word, "clamp") == 0)
		return &c->text;
	return !is_fixed(c) && (strcmp(word, "text") == 0 || is_open) ? &c->beyond : NULL;
}

static void check_message(const char *word, const struct table_case *c, const struct message *message)
{
	bool is_refused = message->fate == MESSAGE_REFUSED;

	if (is_refused != !outcome_of(c, word))
		say(word, c, "fate", span_of(is_refused ? message->refusal->message : "written"),
		    span_of(is_refused ? "written" : "refused"));
	if (is_refused && c->code && strcmp(message->refusal->code, c->code) != 0)
		say(word, c, "reason", span_of(message->refusal->code), span_of(c->code));
}

static void check_stored(const char *word, struct world *world, size_t i)
{
	const struct table_case *c = &table_cases[i];
	const struct span *meant = outcome_of(c, word);
	struct arena *arena = arena_new(4096);
	sqlite3 *db;
	sqlite3_stmt *stmt = NULL;

	assert_int_equal(sqlite3_open_v2(arena_printf(arena, "%s/r.db", world->folder), &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, arena_printf(arena, "SELECT v FROM t%zu", i), -1, &stmt, NULL) != SQLITE_OK ||
	    sqlite3_step(stmt) != SQLITE_ROW) {
		if (meant)
			say(word, c, "replica", span_of(sqlite3_errmsg(db)), *meant);
	} else {
		struct span got = stored_text(stmt, c, arena);

		if (!meant || !same(got, *meant, c, arena))
			say(word, c, "replica", got, meant ? *meant : SPAN("no row"));
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	arena_free(arena);
}

/* One step of a feed: all messages in one batch. */
static void write_all(struct rig *rig, struct world *world)
{
	struct source_position position = { .identity = SPAN("feed"), .offset = 100, .line = rig->line };
	struct sink_state state;
	struct ledger *added;
	struct error err = { 0 };

	if (!world->sink->ops->write(world->sink, rig->batch, &err))
		fail_msg("write: %s %s", err.code, err.message);
	world->sink->ops->state(world->sink, &state);
	added = calloc(state.table_count + 1, sizeof(*added));
	assert_true(ledger_count(added, state.table_count, rig->batch));
	if (!world->sink->ops->commit(world->sink, &position, added, state.table_count, &err))
		fail_msg("commit: %s %s", err.code, err.message);
	free(added);
	batch_reset(rig->batch);
}

static void world_of(struct world *world, struct rig *rig)
{
	struct error err = { 0 };

	memset(world, 0, sizeof(*world));
	snprintf(world->folder, sizeof(world->folder), "/tmp/weir-types-XXXXXX");
	assert_non_null(mkdtemp(world->folder));
	world->setup = (struct sink_setup){ .options = rig->options, .warehouse = world->folder, .incarnation = "first",
	                                     .cache_bytes = 4 << 20 };
	world->batch = batch_new();
	world->sink = sink_local.open(&world->setup, &err);
	if (!world->sink)
		fail_msg("open: %s", err.message);
}

static bool is_wanted(const struct table_case *c, bool all)
{
	return c->outcome == IS_OUT || (all && (c->outcome == IS_FINE || c->outcome == IS_BAD));
}

static void check_word(const char *word, bool all)
{
	struct text *overrides = text_new(1 << 20), *parameters = text_new(1 << 20);
	struct world world;
	struct rig rig;

	for (size_t i = 0; i < TABLE_CASES; i++)
		add_override(overrides, i);
	text_add_format(parameters, ",\"onUnrepresentable\":\"%s\",\"primaryKey\":[\"id\"],\"columnTypes\":{%s}", word, overrides->at);
	rig_open(&rig, parameters->at);
	world_of(&world, &rig);
	for (size_t i = 0; i < TABLE_CASES; i++) {
		if (is_wanted(&table_cases[i], all))
			check_message(word, &table_cases[i], rig_send(&rig, make_body(&rig, i), "{\"id\":1}"));
	}
	write_all(&rig, &world);
	merge_all(&world);
	for (size_t i = 0; i < TABLE_CASES; i++) {
		if (is_wanted(&table_cases[i], all))
			check_stored(word, &world, i);
	}
	world_end(&world);
	rig_close(&rig);
	text_free(overrides);
	text_free(parameters);
	assert_int_equal(faults, 0);
}

static void each_value_is_in_the_replica_as_it_was_in_the_source(void **state)
{
	(void)state;
	check_word("dead_letter", true);
}

static void what_no_column_holds_is_null(void **state)
{
	(void)state;
	check_word("null", false);
}

static void what_no_column_holds_is_the_nearest_value(void **state)
{
	(void)state;
	check_word("clamp", false);
}

static void what_no_column_holds_is_text(void **state)
{
	(void)state;
	check_word("text", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_is_in_the_replica_as_it_was_in_the_source),
		cmocka_unit_test(what_no_column_holds_is_null),
		cmocka_unit_test(what_no_column_holds_is_the_nearest_value),
		cmocka_unit_test(what_no_column_holds_is_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
