/*
 * Schema changes that reach rows: what an ALTER at a position makes of the rows
 * below it. A row is what its newest event says, changed by every ALTER above
 * that event, in the order of their positions: so the result does not depend on
 * when either arrived. Stored rows are changed at once, as the source did;
 * events that come later are changed on their way in.
 *
 *   move   values go from one column to another, all at the same time
 *   cast   then columns have another type (local_cast.c)
 *   set    then columns get a value
 *   fill   columns get one in rows that never had the column
 */
#include "sink/replica_private.h"

#include "base/crash.h"

#include <stdlib.h>

#define ALTERS_MAX 100000

struct alter {
	unsigned char position[POSITION_BYTES];
	struct span text;        /* the changelog's fullRecord */
	struct json_doc doc;
	bool is_applied;         /* to the stored rows */
	bool is_saved;
	int64_t rows;            /* stored rows that it changed */
	struct alter_way *way;   /* of an event below this one and not below the one before; NULL: not made yet */
};

struct alters {
	struct arena *arena;     /* texts */
	struct arena *ways;      /* as long as the columns are the same */
	struct alter *items;     /* by position */
	size_t count, room;
	bool has_late;
};

struct alters *alters_new(void)
{
	struct alters *alters = memory_zalloc(sizeof(*alters));

	alters->arena = arena_new(1024);
	alters->ways = arena_new(4096);
	return alters;
}

void alters_clear(struct alters *alters)
{
	for (size_t i = 0; i < alters->count; i++)
		json_doc_free(&alters->items[i].doc);
	alters->count = 0;
	alters->has_late = false;
	arena_reset(alters->arena);
	arena_reset(alters->ways);
}

void alters_free(struct alters *alters)
{
	if (!alters)
		return;
	alters_clear(alters);
	free(alters->items);
	arena_free(alters->arena);
	arena_free(alters->ways);
	free(alters);
}

void alters_forget_ways(struct alters *alters)
{
	for (size_t i = 0; i < alters->count; i++)
		alters->items[i].way = NULL;
	arena_reset(alters->ways);
}

/* How many stand at or below the position. */
static size_t alters_below(const struct alters *alters, const unsigned char *position)
{
	size_t count = alters->count;

	while (count && memcmp(alters->items[count - 1].position, position, POSITION_BYTES) > 0)
		count--;
	return count;
}

static bool alter_parse(struct replica *replica, struct alter *alter, struct error *err)
{
	size_t at;

	if (json_parse(&alter->doc, alter->text, &at) == JSON_FINE && json_is(&alter->doc, 0, JSON_OBJECT))
		return true;
	json_doc_free(&alter->doc);
	return fail(err, ERROR_BUG, "state_damaged", "a schema change of table '%.*s' is no JSON object",
	            SPAN_ARG(replica->name));
}

static bool alters_have_room(const struct replica *replica, struct error *err)
{
	if (replica->alters->count < ALTERS_MAX)
		return true;
	return fail(err, ERROR_CONFIG, "too_many_columns", "table '%.*s' has had more than %d schema changes",
	            SPAN_ARG(replica->name), ALTERS_MAX);
}

static uint32_t column_index(const struct replica *replica, struct span name)
{
	for (size_t i = 0; i < replica->schema.count; i++) {
		if (span_equal(replica->schema.columns[i].name, name))
			return (uint32_t)i;
	}
	return ALTER_GONE;
}

/* Rows may have the column already, and only their events tell which of them lack it. */
static bool fills_known_column(struct replica *replica, struct alter *alter)
{
	uint32_t object = json_member(&alter->doc, 0, SPAN("fill"));

	if (!object || !json_is(&alter->doc, object, JSON_OBJECT))
		return false;
	for (uint32_t at = object + 1; at < alter->doc.tokens[object].next; at = alter->doc.tokens[at + 1].next) {
		if (column_index(replica, json_text(&alter->doc, at, replica->alters->arena)) != ALTER_GONE)
			return true;
	}
	return false;
}

bool replica_alter_add(struct replica *replica, const unsigned char *position, struct span text, bool is_new,
                       bool *out_repeat, struct error *err)
{
	struct alters *alters = replica->alters;
	struct alter alter = { .text = arena_copy(alters->arena, text), .is_applied = !is_new, .is_saved = !is_new };
	size_t at = alters_below(alters, position);

	*out_repeat = at && memcmp(alters->items[at - 1].position, position, POSITION_BYTES) == 0;
	if (*out_repeat)
		return true;
	memcpy(alter.position, position, POSITION_BYTES);
	if (!alters_have_room(replica, err) || !alter_parse(replica, &alter, err))
		return false;
	if (alters->count == alters->room) {
		alters->room = alters->room ? alters->room * 2 : 8;
		alters->items = memory_grow(alters->items, alters->room * sizeof(*alters->items));
	}
	memmove(&alters->items[at + 1], &alters->items[at], (alters->count - at) * sizeof(*alters->items));
	alters->items[at] = alter;
	alters->count++;
	alters->has_late |= is_new && replica->source.dataset && fills_known_column(replica, &alters->items[at]);
	/* Rows that are stored have been changed by a later one already. Without a changelog they stay as they are. */
	if (at + 1 < alters->count && alters->items[at + 1].is_applied) {
		alters->has_late |= is_new && replica->source.dataset;
		alters->items[at].is_applied = alters->items[at].is_applied || !replica->source.dataset;
	}
	alters_forget_ways(alters);
	return true;
}

void replica_alters_expect(struct replica *replica)
{
	for (size_t i = 0; i < replica->alters->count; i++) {
		replica->alters->items[i].is_applied = true;
		replica->alters->items[i].is_saved = false;
	}
	replica->alters->has_late = false;
}

bool replica_has_late_alter(const struct replica *replica)
{
	return replica->alters->has_late;
}

/*
 * Ways: what becomes of an event's columns
 */

/* Calls for each member of the part: its column, and the token of its value. */
static void part_each(struct replica *replica, struct alter *alter, const char *part,
                      void (*each)(struct alter_way *way, uint32_t column, struct replica *replica, struct alter *alter,
                                   uint32_t token),
                      struct alter_way *way)
{
	uint32_t object = json_member(&alter->doc, 0, span_of(part));

	if (!object || !json_is(&alter->doc, object, JSON_OBJECT))
		return;
	for (uint32_t at = object + 1; at < alter->doc.tokens[object].next; at = alter->doc.tokens[at + 1].next) {
		uint32_t column = column_index(replica, json_text(&alter->doc, at, replica->alters->ways));

		if (column != ALTER_GONE)
			each(way, column, replica, alter, at + 1);
	}
}

static void way_leave(struct alter_way *way, uint32_t column, struct replica *replica, struct alter *alter, uint32_t token)
{
	(void)replica, (void)alter, (void)token;
	way->places[column] = (struct alter_place){ .from = ALTER_GONE };
}

static void way_move(struct alter_way *way, uint32_t column, struct replica *replica, struct alter *alter, uint32_t token)
{
	uint32_t to = column_index(replica, json_text(&alter->doc, token, replica->alters->ways));

	if (to != ALTER_GONE)
		way->places[to] = way->before[column];
}

static void way_cast(struct alter_way *way, uint32_t column, struct replica *replica, struct alter *alter, uint32_t token)
{
	struct alter_cast **end = &way->places[column].casts;
	struct span spec = json_text(&alter->doc, token, replica->alters->ways);

	if (!json_is(&alter->doc, token, JSON_STRING) || !cast_is_fine(spec))
		return;
	while (*end)
		end = &(*end)->next;
	*end = arena_zalloc(replica->alters->ways, sizeof(**end));
	(*end)->spec = arena_copy(replica->alters->ways, spec);
}

static void way_set(struct alter_way *way, uint32_t column, struct replica *replica, struct alter *alter, uint32_t token)
{
	(void)replica;
	way->places[column] = (struct alter_place){ .from = ALTER_GONE, .doc = &alter->doc, .token = token };
}

static void way_fill(struct alter_way *way, uint32_t column, struct replica *replica, struct alter *alter, uint32_t token)
{
	struct alter_place *place = &way->places[column];

	(void)replica;
	if (place->doc)
		return;
	place->doc = &alter->doc;
	place->token = token;
}

static void way_pass(struct replica *replica, struct alter_way *way, struct alter *alter)
{
	memcpy(way->before, way->places, replica->schema.count * sizeof(*way->places));
	part_each(replica, alter, "move", way_leave, way);
	part_each(replica, alter, "move", way_move, way);
	part_each(replica, alter, "cast", way_cast, way);
	part_each(replica, alter, "set", way_set, way);
	part_each(replica, alter, "fill", way_fill, way);
}

static struct alter_way *way_make(struct replica *replica, size_t first)
{
	struct alters *alters = replica->alters;
	size_t count = replica->schema.count;
	struct alter_way *way = arena_zalloc(alters->ways, sizeof(*way));

	way->places = arena_zalloc(alters->ways, (count + 1) * sizeof(*way->places));
	way->before = arena_zalloc(alters->ways, (count + 1) * sizeof(*way->before));
	way->targets = arena_zalloc(alters->ways, (count + 1) * sizeof(*way->targets));
	way->is_bound = arena_zalloc(alters->ways, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		way->places[i].from = i;
		way->targets[i] = ALTER_GONE;
	}
	for (size_t i = first; i < alters->count; i++)
		way_pass(replica, way, &alters->items[i]);
	for (uint32_t i = 0; i < count; i++) {
		if (way->places[i].from != ALTER_GONE)
			way->targets[way->places[i].from] = i;
	}
	return way;
}

void replica_bind_cast(struct replica *replica, size_t column, const struct alter_cast *casts, const struct json_doc *doc,
                       uint32_t token)
{
	const struct bq_type *type = &replica->schema.columns[column].type;
	struct span text;

	if (!casts || !json_is(doc, token, JSON_STRING) || strcmp(bq_type_local(type), "BLOB") == 0) {
		value_bind(replica->reader, replica->upsert, (int)column + 1, type, doc, token, replica->scratch);
		return;
	}
	text = json_text(doc, token, replica->scratch);
	for (; casts; casts = casts->next)
		text = cast_text(casts->spec, text, replica->scratch);
	store_bind_text(replica->upsert, (int)column + 1, text.at ? text : SPAN(""));
}

void replica_way_count(struct replica *replica, const unsigned char *position)
{
	struct alters *alters = replica->alters;

	for (size_t i = alters_below(alters, position); i < alters->count; i++) {
		alters->items[i].rows++;
		alters->items[i].is_saved = false;
	}
}

struct alter_way *replica_way(struct replica *replica, const unsigned char *position)
{
	struct alters *alters = replica->alters;
	size_t first;

	if (!alters->count || memcmp(position, alters->items[alters->count - 1].position, POSITION_BYTES) >= 0)
		return NULL;
	first = alters_below(alters, position);
	if (!alters->items[first].way)
		alters->items[first].way = way_make(replica, first);
	return alters->items[first].way;
}

/*
 * Rows that are stored
 */

struct alter_sql {
	struct replica *replica;
	struct alter *alter;
	struct text *sql;
	bool has_any;
};

/* A column gets the value of `place`: another column's, or a parameter. */
static void add_assignment(struct alter_sql *a, size_t column, const struct alter_place *place)
{
	const struct table_schema *schema = &a->replica->schema;

	text_add(a->sql, a->has_any ? ", " : " SET ");
	sql_name(a->sql, schema->columns[column].name);
	text_add(a->sql, place->casts ? "=weir_cast(" : "=");
	if (place->doc)
		text_add_format(a->sql, "?%zu", column + 2);
	else if (place->from == ALTER_GONE)
		text_add(a->sql, "NULL");
	else
		replica_add_converted(a->sql, &schema->columns[place->from], &schema->columns[column]);
	if (place->casts)
		text_add_format(a->sql, ", '%.*s')", SPAN_ARG(place->casts->spec));
	a->has_any = true;
}

static struct alter_way *way_of_one(struct replica *replica, struct alter *alter)
{
	struct alters one = *replica->alters, *all = replica->alters;
	struct alter_way *way;

	one.items = alter;
	one.count = 1;
	replica->alters = &one;
	way = way_make(replica, 0);
	replica->alters = all;
	return way;
}

static sqlite3_stmt *update_prepare(struct replica *replica, struct alter *alter, const struct alter_way *way,
                                    struct error *err)
{
	struct alter_sql a = { .replica = replica, .alter = alter, .sql = sql_new("UPDATE ") };

	sql_name(a.sql, replica->name);
	for (size_t i = 0; i < replica->schema.count; i++) {
		/* The key is that of the row's own events, under whichever name. */
		if (!replica->schema.columns[i].key_ordinal && (way->places[i].from != i || way->places[i].doc ||
		                                               way->places[i].casts))
			add_assignment(&a, i, &way->places[i]);
	}
	text_add(a.sql, " WHERE _weir_position < ?1");
	if (!a.has_any)
		text_clear(a.sql), text_add(a.sql, "SELECT 1 WHERE 0");
	return sql_prepare(a.sql, replica->store, err);
}

static void literals_bind(struct replica *replica, sqlite3_stmt *stmt, const struct alter_way *way)
{
	for (size_t i = 0; i < replica->schema.count; i++) {
		if (way->places[i].doc && !replica->schema.columns[i].key_ordinal)
			value_bind(replica->reader, stmt, (int)i + 2, &replica->schema.columns[i].type, way->places[i].doc,
			           way->places[i].token, replica->scratch);
	}
}

static bool alter_apply(struct replica *replica, struct alter *alter, uint64_t *out_rows, struct error *err)
{
	struct alter_way *way = way_of_one(replica, alter);
	sqlite3_stmt *stmt = update_prepare(replica, alter, way, err);
	int64_t before = sqlite3_total_changes64(replica->store->db);
	bool is_fine;

	if (!stmt)
		return false;
	if (sqlite3_bind_parameter_count(stmt))
		store_bind_blob(stmt, 1, span_make((const char *)alter->position, POSITION_BYTES));
	literals_bind(replica, stmt, way);
	is_fine = store_run(replica->store, stmt, err);
	sqlite3_finalize(stmt);
	arena_reset(replica->scratch);
	alter->rows = sqlite3_total_changes64(replica->store->db) - before;
	alter->is_applied = is_fine;
	*out_rows += (uint64_t)alter->rows;
	return is_fine;
}

bool replica_alters_apply(struct replica *replica, uint64_t *out_rows, struct error *err)
{
	struct alters *alters = replica->alters;

	for (size_t i = 0; i < alters->count; i++) {
		if (alters->items[i].is_applied)
			continue;
		if (!alter_apply(replica, &alters->items[i], out_rows, err))
			return false;
		crash_point(rows_altered);
	}
	return true;
}

/*
 * What is remembered of them
 */

static bool alters_read(struct replica *replica, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(replica->store, "SELECT position, change, row_count FROM _weir_altered WHERE table_name=?1 "
	                                                   "ORDER BY position", err);
	bool has_row = false, is_fine, is_repeat;

	if (!stmt)
		return false;
	store_bind_text(stmt, 1, replica->name);
	while ((is_fine = store_step(replica->store, stmt, &has_row, err)) && has_row) {
		struct span position = store_blob(stmt, 0);

		is_fine = position.len == POSITION_BYTES ||
		          fail(err, ERROR_BUG, "state_damaged", "the warehouse '%s' has a schema change without a position",
		               replica->store->path);
		if (!is_fine || !replica_alter_add(replica, (const unsigned char *)position.at, store_text(stmt, 1), false,
		                                   &is_repeat, err)) {
			is_fine = false;
			break;
		}
		/* In order, so it is the last. */
		replica->alters->items[replica->alters->count - 1].rows = sqlite3_column_int64(stmt, 2);
	}
	sqlite3_finalize(stmt);
	return is_fine;
}

bool replica_alters_read(struct replica *replica, struct error *err)
{
	bool has_table;

	/* A file of an earlier version that is only read. */
	if (!sql_has_table(replica->store, SPAN("_weir_altered"), &has_table, err))
		return false;
	return !has_table || alters_read(replica, err);
}

static bool alter_save(struct replica *replica, sqlite3_stmt *stmt, struct alter *alter, struct error *err)
{
	store_bind_text(stmt, 1, replica->name);
	store_bind_blob(stmt, 2, span_make((const char *)alter->position, POSITION_BYTES));
	store_bind_text(stmt, 3, alter->text);
	sqlite3_bind_int64(stmt, 4, alter->rows);
	alter->is_saved = store_run(replica->store, stmt, err);
	return alter->is_saved;
}

bool replica_alters_save(struct replica *replica, struct error *err)
{
	struct alters *alters = replica->alters;
	sqlite3_stmt *stmt = NULL;
	bool is_fine = true;

	for (size_t i = 0; is_fine && i < alters->count; i++) {
		if (alters->items[i].is_saved)
			continue;
		if (!stmt)
			stmt = store_prepare(replica->store, "INSERT OR REPLACE INTO _weir_altered(table_name, position, change, "
			                                     "row_count) VALUES(?1,?2,?3,?4)", err);
		is_fine = stmt && alter_save(replica, stmt, &alters->items[i], err);
	}
	sqlite3_finalize(stmt);
	return is_fine;
}
