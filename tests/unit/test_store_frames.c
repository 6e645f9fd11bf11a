/*
 * What waits before it goes into the log: nobody sees the difference. A connection
 * of ours with a small cache, beside one of SQLite's own that reads after each
 * commit and writes in between; and a disk that takes no more at any of its writes.
 */
#include "base/arena.h"
#include "store/store.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define ROWS 300
#define ROUNDS 120

static const char *const steps[] = { "CREATE TABLE things (id INTEGER PRIMARY KEY, bytes BLOB)" };
static const struct store_kind kind = { "store of tests", 0x54455354, 1, steps, 1024 };

struct place;

/* In the place of the C library's: how many writes there were, and how many more the disk takes (-1: all). */
static atomic_int writes;
static atomic_int room = -1;

/* What happens in front of the next write, once. */
static void (*on_write)(struct place *);
static struct place *whose;

static ssize_t write_at(int fd, const void *bytes, size_t count, off_t at)
{
	void (*now)(struct place *) = on_write;

	on_write = NULL;
	if (now)
		now(whose);
	atomic_fetch_add(&writes, 1);
	if (atomic_load(&room) == 0) {
		errno = ENOSPC;
		return -1;
	}
	if (atomic_load(&room) > 0)
		atomic_fetch_sub(&room, 1);
	return syscall(SYS_pwrite64, fd, bytes, count, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
	return write_at(fd, bytes, count, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t at)
{
	return write_at(fd, bytes, count, at);
}

struct place {
	char folder[64];
	char path[128];
	struct store *store; /* ours */
	sqlite3 *plain;      /* SQLite's own files */
};

static int place_make(void **state)
{
	struct place *place = memory_zalloc(sizeof(*place));
	struct error err = { 0 };

	snprintf(place->folder, sizeof(place->folder), "/tmp/weir-test-frames-XXXXXX");
	if (!mkdtemp(place->folder))
		return -1;
	snprintf(place->path, sizeof(place->path), "%s/a.db", place->folder);
	/* Few pages in memory, so that a transaction writes long before it commits; no checkpoint in between. */
	place->store = store_open(place->path, STORE_WRITE, &kind, 20 * 1024, 100000, &err);
	*state = place;
	return place->store && sqlite3_open(place->path, &place->plain) == SQLITE_OK ? 0 : -1;
}

static int place_remove(void **state)
{
	struct place *place = *state;
	char command[128];
	int status;

	atomic_store(&room, -1);
	store_close(place->store);
	sqlite3_close(place->plain);
	snprintf(command, sizeof(command), "rm -rf '%s'", place->folder);
	status = system(command);
	free(place);
	return status;
}

static void run_plain(struct place *place, const char *sql)
{
	if (sqlite3_exec(place->plain, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(place->plain));
}

static void run(struct place *place, const char *sql)
{
	struct error err = { 0 };

	if (!store_exec(place->store, sql, &err))
		fail_msg("%s: %s", sql, err.message);
}

/* What a connection sees: that the file is whole, and a sum over all rows. */
static void look(sqlite3 *db, char out[64])
{
	sqlite3_stmt *stmt;

	assert_int_equal(sqlite3_prepare_v2(db, "SELECT (SELECT * FROM pragma_integrity_check) || ' ' || count(*) || ' ' || "
	                                        "coalesce(sum(id * (length(bytes) + 1000 * unicode(bytes) + unicode(substr(bytes, -1)))), 0) FROM things", -1,
	                                    &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	snprintf(out, 64, "%s", (const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	assert_memory_equal(out, "ok ", 3);
}

static void both_see_the_same(struct place *place)
{
	char ours[64], plain[64];

	look(place->store->db, ours);
	look(place->plain, plain);
	assert_string_equal(ours, plain);
}

static void fill(struct place *place, char byte)
{
	char sql[200];

	snprintf(sql, sizeof(sql), "WITH n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT OR REPLACE INTO "
	         "things SELECT i, replace(hex(zeroblob(350)), '0', '%c') FROM n", ROWS, byte);
	run(place, sql);
}

static void transaction_is_seen_when_it_has_committed_and_whole(void **state)
{
	struct place *place = *state;
	char before[64], meanwhile[64], ours[64];

	fill(place, 'a');
	look(place->plain, before);
	run(place, "BEGIN IMMEDIATE");
	fill(place, 'b');
	look(place->plain, meanwhile);
	look(place->store->db, ours);
	assert_string_equal(before, meanwhile);
	assert_string_not_equal(before, ours);
	run(place, "COMMIT");
	look(place->plain, meanwhile);
	assert_string_equal(meanwhile, ours);
}

static int writes_of_a_fill(struct place *place, char byte)
{
	int before = atomic_load(&writes);

	fill(place, byte);
	return atomic_load(&writes) - before;
}

/* 300 rows of 700 bytes are some 300 pages of a kilobyte, each written once where rows take the place of as long ones. */
static void pages_go_out_together(void **state)
{
	fill(*state, 'a');
	assert_in_range(writes_of_a_fill(*state, 'b'), 1, 20);
}

static void one_page_is_not_held_back(void **state)
{
	struct place *place = *state;

	run(place, "PRAGMA synchronous=NORMAL");
	run(place, "INSERT INTO things VALUES (1, 'a')");
	both_see_the_same(place);
}

static void every_commit_is_seen_also_without_a_sync(void **state)
{
	struct place *place = *state;

	run(place, "PRAGMA synchronous=NORMAL");
	for (char byte = 'a'; byte < 'f'; byte++) {
		fill(place, byte);
		both_see_the_same(place);
	}
}

/* What was given up waits no more: its place in the log is the next writer's, who may be another. */
static void nothing_of_a_rollback_is_written_later(void **state)
{
	struct place *place = *state;

	fill(place, 'a');
	run(place, "BEGIN IMMEDIATE");
	fill(place, 'b');
	run(place, "ROLLBACK");
	run_plain(place, "UPDATE things SET bytes = 'c'");
	both_see_the_same(place);
	run(place, "BEGIN IMMEDIATE");
	run(place, "INSERT INTO things VALUES (1000, 'd')");
	run(place, "COMMIT");
	run(place, "PRAGMA wal_checkpoint(TRUNCATE)");
	both_see_the_same(place);
}

/*
 * At random
 */

static unsigned random_next(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16 & 0x7fff;
}

static void change_some(sqlite3 *db, unsigned *seed)
{
	static const char *const changes[] = {
		"INSERT OR REPLACE INTO things SELECT abs(random()) % 500, hex(randomblob(300)) FROM things LIMIT 60",
		"UPDATE things SET bytes = hex(randomblob(id)) WHERE id % 7 = 3",
		"DELETE FROM things WHERE id > 40 AND id % 9 = 1",
		"INSERT OR REPLACE INTO things VALUES (3, hex(randomblob(700)))",
		"SAVEPOINT s; UPDATE things SET bytes = hex(randomblob(200)); ROLLBACK TO s; RELEASE s",
	};
	const char *sql = changes[random_next(seed) % (sizeof(changes) / sizeof(changes[0]))];

	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static void transaction(sqlite3 *db, unsigned *seed)
{
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	for (unsigned i = random_next(seed) % 6; i-- > 0;)
		change_some(db, seed);
	assert_int_equal(sqlite3_exec(db, random_next(seed) % 4 ? "COMMIT" : "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
}

static void writers_in_turn_agree(void **state)
{
	struct place *place = *state;
	unsigned first = (unsigned)strtoul(getenv("WEIR_SEEDS") ? getenv("WEIR_SEEDS") : "1", NULL, 10), seed = first;

	print_message("WEIR_SEEDS=%u\n", first);
	run(place, "PRAGMA synchronous=NORMAL");
	fill(place, 'a');
	for (int i = 0; i < ROUNDS; i++) {
		transaction(random_next(&seed) % 3 ? place->store->db : place->plain, &seed);
		if (random_next(&seed) % 16 == 0)
			run(place, "PRAGMA wal_checkpoint(PASSIVE)");
		both_see_the_same(place);
	}
}

/* A full disk at each of the writes: the transaction is not there at all, and the next one is. */
static void full_disk_at_any_write_is_that_transactions(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	char before[64], after[64];
	int count = writes_of_a_fill(place, 'a');

	look(place->plain, before);
	for (int i = 0; i < count; i++) {
		run(place, "BEGIN IMMEDIATE");
		atomic_store(&room, i);
		if (store_exec(place->store, "UPDATE things SET bytes = bytes || 'x'", &err))
			store_exec(place->store, "COMMIT", &err);
		atomic_store(&room, -1);
		store_rollback(place->store);
		if (!*err.code)
			break;
		assert_string_equal(err.code, "disk_full");
		err = (struct error){ 0 };
		look(place->plain, after);
		assert_string_equal(before, after);
		both_see_the_same(place);
	}
	assert_true(atomic_load(&room) == -1 && count > 1);
	fill(place, 'b');
	look(place->plain, after);
	assert_string_not_equal(before, after);
	both_see_the_same(place);
}

static void move_all(const char *from, const char *to)
{
	static const char *const parts[] = { "", "-wal", "-shm" };
	char old[160], new[160];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(old, sizeof(old), "%s%s", from, parts[i]);
		snprintf(new, sizeof(new), "%s%s", to, parts[i]);
		assert_int_equal(rename(old, new), 0);
	}
}

static void put_back(struct place *place)
{
	char kept[128];

	snprintf(kept, sizeof(kept), "%s/kept", place->folder);
	move_all(kept, place->path);
}

/* A file that was taken away with its log, and comes back while what was made in its place is being closed: SQLite has
 * looked whether that is still there, and removes the log by its name. */
static void the_log_of_another_file_is_not_removed(void **state)
{
	struct place *place = *state;
	char kept[128], log[160], found[64];
	struct store *other;
	struct error err = { 0 };

	run(place, "INSERT INTO things VALUES (1, x'01')");
	snprintf(kept, sizeof(kept), "%s/kept", place->folder);
	move_all(place->path, kept);
	other = store_open(place->path, STORE_WRITE, &kind, 0, 0, &err);
	assert_non_null(other);
	assert_true(store_exec(other, "INSERT INTO things VALUES (2, x'02')", &err));
	on_write = put_back;
	whose = place;
	store_close(other);
	assert_null(on_write);
	snprintf(log, sizeof(log), "%s-wal", place->path);
	assert_int_equal(access(log, F_OK), 0);
	/* One row, of the first file. */
	look(place->plain, found);
	assert_memory_equal(found, "ok 1 ", 5);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, place_make, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(transaction_is_seen_when_it_has_committed_and_whole),
		TEST(pages_go_out_together),
		TEST(one_page_is_not_held_back),
		TEST(every_commit_is_seen_also_without_a_sync),
		TEST(nothing_of_a_rollback_is_written_later),
		TEST(writers_in_turn_agree),
		TEST(full_disk_at_any_write_is_that_transactions),
		TEST(the_log_of_another_file_is_not_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
