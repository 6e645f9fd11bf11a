/*
 * What stands around a pipeline in a conversation: a source that delivers names, a
 * transform and a sink that do as they are told, and the real store of letters in
 * a temporary folder. The sink's memory is the warehouse: it outlives a kill.
 */
#ifndef WEIR_TESTS_WORLD_H
#define WEIR_TESTS_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "dlq/dlq.h"
#include "pipeline/pipeline.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* last, and without its macro fail: the fakes need our own */
#include <cmocka.h>
#undef fail

#define NAME_ROOM 24
#define MESSAGES_MOST 600
#define ROWS_MOST 1300
#define RULES_MOST 32
#define TABLES_MOST 4

/* "sink refuse b#1 row_too_large ..." and the like. */
struct rule {
	char who[NAME_ROOM], what[NAME_ROOM], name[NAME_ROOM], code[40], text[80];
	int ordinal; /* of the message's records; -1: all */
};

enum kill_moment { KILL_NEVER, KILL_BEFORE_COMMIT, KILL_AFTER_COMMIT };

/* What the destination holds for ever. */
struct stored {
	char rows[ROWS_MOST][NAME_ROOM];
	size_t row_count;
	struct source_position position; /* in world.arena */
	char incarnation[40];
	bool is_known;
	const struct table_schema *tables[TABLES_MOST];
	struct ledger ledgers[TABLES_MOST + 1]; /* the last one in use is that of "-" */
	size_t table_count;
};

struct world {
	struct job_options options; /* first: the parts find their world by it */
	struct home home;
	char folder[64], store[96];
	struct arena *arena;
	struct progress *progress;

	char names[MESSAGES_MOST][NAME_ROOM];
	size_t delivered;
	char source_failure[40];
	struct rule rules[RULES_MOST];
	size_t rule_count;

	struct stored stored, staged;
	const struct batch *writing;
	char write_failure[40], commit_failure[40]; /* the next one fails so, once */
	enum kill_moment kill;
	bool was_killed;

	struct pipeline *pipeline;
	struct batch *batch;
	size_t batch_messages;
	struct error err;     /* of the newest step, if it failed */
	int line;             /* of the script */
};

/* Says the line of the script. */
#define SAY_FAIL(world, ...)                                            \
	do {                                                             \
		print_error("line %d of the conversation: ", (world)->line); \
		print_error(__VA_ARGS__);                                \
		print_error("\n");                                       \
		_fail(__FILE__, __LINE__);                               \
	} while (0)

static inline struct world *world_of(const struct job_options *options)
{
	/* The options are the world's own first member, and the world is not const. */
	return (struct world *)(uintptr_t)options;
}

static inline const struct rule *rule_find(const struct world *world, const char *who, const char *what,
                                           struct span name, int ordinal)
{
	for (size_t i = 0; i < world->rule_count; i++) {
		const struct rule *rule = &world->rules[i];

		if (strcmp(rule->who, who) == 0 && strcmp(rule->what, what) == 0 && span_is(name, rule->name) &&
		    (rule->ordinal < 0 || ordinal < 0 || rule->ordinal == ordinal))
			return rule;
	}
	return NULL;
}

/* A cell of the store on disk as text, "" when there is none. The pipeline may have it open at the same time. */
static inline void store_cell(const struct world *world, const char *sql, const char *name, char *out, size_t room)
{
	sqlite3 *db;
	sqlite3_stmt *stmt;

	out[0] = '\0';
	assert_int_equal(sqlite3_open_v2(world->store, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	if (name)
		sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(stmt, 0);
		size_t len = strlen(out);

		snprintf(out + len, room - len, "%s%s", len ? " " : "", text ? text : "");
	}
	assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
	sqlite3_close(db);
}

static inline uint64_t store_number(const struct world *world, const char *sql, const char *name)
{
	char text[40];

	store_cell(world, sql, name, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

__attribute__((format(printf, 2, 3)))
static inline void shell(const struct world *world, const char *format, ...)
{
	char command[400];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command) != 0)
		SAY_FAIL(world, "'%s' failed", command);
}

/* The store as it is on disk now, and back again: what a kill at this moment leaves. */
static inline void store_keep(const struct world *world)
{
	shell(world, "cd '%s' && rm -rf kept && mkdir kept && cp talk.db* kept/", world->folder);
}

static inline void store_restore(const struct world *world)
{
	shell(world, "cd '%s' && rm -f talk.db* && cp kept/* .", world->folder);
}

static inline struct ledger stored_sum(const struct stored *stored)
{
	struct ledger sum = { 0 };

	for (size_t i = 0; i <= stored->table_count; i++)
		ledger_add(&sum, &stored->ledgers[i]);
	return sum;
}

#endif
