/*
 * State files: what is refused at the door, what survives a migration, and that
 * text from strangers comes back byte for byte.
 */
#include "base/arena.h"
#include "base/file.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ROWS 400

static const char *const steps[] = {
	"CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT, bytes BLOB)",
	"ALTER TABLE things ADD COLUMN colour TEXT; UPDATE things SET colour = 'red'",
};
static const char *const bad_steps[] = {
	"CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT, bytes BLOB)",
	"ALTER TABLE things ADD COLUMN colour TEXT; UPDATE nothing SET colour = 'red'",
};
static const struct store_kind first_kind = { "store of tests", 0x54455354, 1, steps };
static const struct store_kind second_kind = { "store of tests", 0x54455354, 2, steps };
static const struct store_kind bad_kind = { "store of tests", 0x54455354, 2, bad_steps };
static const struct store_kind other_kind = { "warehouse", 0x4f544852, 1, steps };

struct place {
	char folder[64];
	char path[128];
};

static int place_make(void **state)
{
	struct place *place = memory_zalloc(sizeof(*place));

	snprintf(place->folder, sizeof(place->folder), "/tmp/weir-test-store-XXXXXX");
	if (!mkdtemp(place->folder))
		return -1;
	snprintf(place->path, sizeof(place->path), "%s/a.db", place->folder);
	*state = place;
	return 0;
}

static int place_remove(void **state)
{
	struct place *place = *state;
	char command[128];
	int status;

	snprintf(command, sizeof(command), "rm -rf '%s'", place->folder);
	status = system(command);
	free(place);
	return status;
}

static struct store *open_fine(const char *path, enum store_mode mode, const struct store_kind *kind)
{
	struct error err = { 0 };
	struct store *store = store_open(path, mode, kind, 0, 0, &err);

	if (!store)
		fail_msg("%s: %s", err.code, err.message);
	return store;
}

static void open_fails(const char *path, enum store_mode mode, const struct store_kind *kind, enum error_kind error,
                       const char *code)
{
	struct error err = { 0 };
	struct store *store = store_open(path, mode, kind, 0, 0, &err);

	assert_null(store);
	assert_string_equal(err.code, code);
	assert_int_equal(err.kind, error);
	assert_non_null(strstr(err.message, "/a.db"));
}

static void add_rows(struct store *store, int count)
{
	struct error err = { 0 };
	sqlite3_stmt *insert = store_prepare(store, "INSERT INTO things (name, bytes) VALUES (?, zeroblob(200))", &err);

	assert_non_null(insert);
	assert_true(store_begin(store, &err));
	for (int i = 0; i < count; i++) {
		store_bind_text(insert, 1, SPAN("x"));
		assert_true(store_run(store, insert, &err));
	}
	assert_true(store_commit(store, &err));
	sqlite3_finalize(insert);
}

static int64_t number_of(struct store *store, const char *sql)
{
	struct error err = { 0 };
	sqlite3_stmt *stmt = store_prepare(store, sql, &err);
	bool has_row = false;
	int64_t number = -1;

	if (stmt && store_step(store, stmt, &has_row, &err) && has_row)
		number = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return number;
}

static off_t make_file(const char *path)
{
	struct store *store = open_fine(path, STORE_WRITE, &first_kind);
	struct stat st;

	add_rows(store, ROWS);
	store_close(store);
	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

static void copy_file(const char *from, const char *to)
{
	struct error err = { 0 };
	char *bytes = NULL;
	size_t len = 0;

	assert_true(file_read(from, 16 << 20, &bytes, &len, &err));
	assert_true(file_replace(to, span_make(bytes, len), &err));
	free(bytes);
}

static void flip_byte(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	unsigned char byte;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0xff;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static void new_file_is_private_and_durable(void **state)
{
	struct place *place = *state;
	struct store *store = open_fine(place->path, STORE_WRITE, &first_kind);
	struct stat st;

	assert_int_equal(stat(place->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(number_of(store, "PRAGMA application_id"), 0x54455354);
	assert_int_equal(number_of(store, "PRAGMA user_version"), 1);
	assert_int_equal(number_of(store, "PRAGMA synchronous"), 2);
	assert_int_equal(number_of(store, "PRAGMA trusted_schema"), 0);
	assert_int_equal(number_of(store, "PRAGMA cell_size_check"), 1);
	assert_int_equal(number_of(store, "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"), 1);
	store_close(store);
}

static void nothing_else_is_left_in_the_folder(void **state)
{
	struct place *place = *state;
	char command[160];

	make_file(place->path);
	snprintf(command, sizeof(command), "test \"$(ls -A '%s')\" = a.db", place->folder);
	assert_int_equal(system(command), 0);
}

static void missing_file_is_not_made_by_a_reader(void **state)
{
	struct place *place = *state;

	open_fails(place->path, STORE_READ, &first_kind, ERROR_CONFIG, "no_such_file");
	assert_int_equal(access(place->path, F_OK), -1);
}

static void missing_folder_is_said(void **state)
{
	struct place *place = *state;
	char path[160];

	snprintf(path, sizeof(path), "%s/no/a.db", place->folder);
	open_fails(path, STORE_WRITE, &first_kind, ERROR_CONFIG, "no_such_file");
}

static void folder_in_its_place_is_refused(void **state)
{
	struct place *place = *state;

	assert_int_equal(mkdir(place->path, 0700), 0);
	open_fails(place->path, STORE_WRITE, &first_kind, ERROR_CONFIG, "not_a_file");
}

static void link_is_refused(void **state)
{
	struct place *place = *state;
	char target[160];

	snprintf(target, sizeof(target), "%s/b.db", place->folder);
	make_file(target);
	assert_int_equal(symlink(target, place->path), 0);
	open_fails(place->path, STORE_WRITE, &first_kind, ERROR_ACCESS, "no_permission");
	open_fails(place->path, STORE_READ, &first_kind, ERROR_ACCESS, "no_permission");
}

static void dangling_link_makes_no_file(void **state)
{
	struct place *place = *state;
	char target[160];

	snprintf(target, sizeof(target), "%s/b.db", place->folder);
	assert_int_equal(symlink(target, place->path), 0);
	open_fails(place->path, STORE_WRITE, &first_kind, ERROR_ACCESS, "no_permission");
	assert_int_equal(access(target, F_OK), -1);
}

static void link_in_place_of_the_log_is_refused(void **state)
{
	struct place *place = *state;
	char log[160];

	make_file(place->path);
	snprintf(log, sizeof(log), "%s-wal", place->path);
	assert_int_equal(symlink("/tmp/weir-test-victim", log), 0);
	open_fails(place->path, STORE_WRITE, &first_kind, ERROR_ACCESS, "no_permission");
}

static void linked_folder_is_fine(void **state)
{
	struct place *place = *state;
	char inner[160], by_link[160];
	struct store *store;

	snprintf(inner, sizeof(inner), "%s/inner", place->folder);
	snprintf(by_link, sizeof(by_link), "%s/link", place->folder);
	assert_int_equal(mkdir(inner, 0700), 0);
	assert_int_equal(symlink("inner", by_link), 0);
	snprintf(by_link, sizeof(by_link), "%s/link/a.db", place->folder);
	store = open_fine(by_link, STORE_WRITE, &first_kind);
	assert_int_equal(number_of(store, "SELECT count(*) FROM things"), 0);
	store_close(store);
}

static void newer_version_is_refused(void **state)
{
	struct place *place = *state;

	store_close(open_fine(place->path, STORE_WRITE, &second_kind));
	open_fails(place->path, STORE_WRITE, &first_kind, ERROR_CONFIG, "state_too_new");
	open_fails(place->path, STORE_READ, &first_kind, ERROR_CONFIG, "state_too_new");
}

static void file_of_another_kind_is_refused(void **state)
{
	struct place *place = *state;

	make_file(place->path);
	open_fails(place->path, STORE_WRITE, &other_kind, ERROR_BUG, "state_damaged");
}

static void text_file_is_refused(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };

	assert_true(file_replace(place->path, SPAN("this is no database, whatever its name says; it is longer than the "
	                                           "hundred bytes of a header, so that it is read"), &err));
	open_fails(place->path, STORE_WRITE, &first_kind, ERROR_BUG, "state_damaged");
}

static void truncated_file_is_damaged(void **state)
{
	struct place *place = *state;
	char whole[160];
	off_t size;

	snprintf(whole, sizeof(whole), "%s/whole.db", place->folder);
	size = make_file(whole);
	const off_t sizes[] = { 0, 1, 16, 99, 100, 101, 512, 4095, 4096, 8192, size / 2, size - 4096, size - 1 };

	assert_true(size > 16 * 4096);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		copy_file(whole, place->path);
		assert_int_equal(truncate(place->path, sizes[i]), 0);
		open_fails(place->path, STORE_WRITE, &first_kind, ERROR_BUG, "state_damaged");
		open_fails(place->path, STORE_READ, &first_kind, ERROR_BUG, "state_damaged");
	}
}

/* Some bytes of the header mean nothing to us. Whichever is spoiled: the file is refused, or all rows are there. */
static void spoiled_header_is_refused_or_harmless(void **state)
{
	struct place *place = *state;
	char whole[160];
	int refused = 0;

	snprintf(whole, sizeof(whole), "%s/whole.db", place->folder);
	make_file(whole);
	for (off_t at = 0; at < 100; at++) {
		struct error err = { 0 };
		struct store *store;

		copy_file(whole, place->path);
		flip_byte(place->path, at);
		store = store_open(place->path, STORE_WRITE, &first_kind, 0, 0, &err);
		if (store) {
			assert_int_equal(number_of(store, "SELECT count(*) FROM things WHERE name = 'x'"), ROWS);
			store_close(store);
			continue;
		}
		refused++;
		if (strcmp(err.code, "state_damaged") != 0)
			assert_string_equal(err.code, at >= 60 && at < 64 ? "state_too_new" : "state_damaged");
	}
	assert_in_range(refused, 60, 100);
}

static void spoiled_page_is_damaged_when_met(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	off_t size = make_file(place->path);
	struct store *store;
	sqlite3_stmt *stmt;
	bool has_row = true;
	bool is_fine = true;

	for (off_t at = 2 * 4096; at < size; at += 4096)
		flip_byte(place->path, at);
	store = open_fine(place->path, STORE_READ, &first_kind);
	stmt = store_prepare(store, "SELECT sum(length(bytes)) FROM things", &err);
	assert_non_null(stmt);
	is_fine = store_step(store, stmt, &has_row, &err);
	sqlite3_finalize(stmt);
	assert_false(is_fine);
	assert_string_equal(err.code, "state_damaged");
	store_close(store);
}

/* One bit in the name of a column is enough. */
static void tables_that_are_not_as_we_made_them_are_damage(void **state)
{
	static const char *const needs[] = {
		"SELECT colour FROM things", "SELECT id FROM thongs", "INSERT INTO things (id, colour) VALUES (1, 2)",
	};
	static const char *const makes[] = {
		"CREATE TABLE Things (id INTEGER)", "ALTER TABLE things ADD COLUMN ID TEXT", "DROP TABLE thongs",
	};
	struct place *place = *state;
	struct store *store = open_fine(place->path, STORE_WRITE, &first_kind);

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		struct error err = { 0 };

		assert_null(store_prepare(store, needs[i], &err));
		assert_string_equal(err.code, "state_damaged");
	}
	for (size_t i = 0; i < sizeof(makes) / sizeof(makes[0]); i++) {
		struct error err = { 0 };

		assert_false(store_exec(store, makes[i], &err));
		assert_string_equal(err.code, "state_damaged");
	}
	store_close(store);
}

/* A child adds rows and dies with all of them in the log. */
static void write_and_die(const char *path)
{
	struct store *store;
	pid_t child;
	int status;

	store_close(open_fine(path, STORE_WRITE, &first_kind));
	child = fork();
	if (child == 0) {
		store = store_open(path, STORE_WRITE, &first_kind, 0, 100000, NULL);
		store_begin(store, NULL);
		store_exec(store, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
		                  "INSERT INTO things SELECT i, 'x', zeroblob(200) FROM n", NULL);
		store_commit(store, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
}

static void kill_with_a_full_log_loses_nothing(void **state)
{
	struct place *place = *state;
	struct store *store;

	write_and_die(place->path);
	store = open_fine(place->path, STORE_READ, &first_kind);
	assert_int_equal(number_of(store, "SELECT count(*) FROM things"), ROWS);
	store_close(store);
}

/* The first page of the finished checkpoint, nothing else of it: the file is shorter than it says. */
static void interrupt_checkpoint(struct place *place, bool keeps_log)
{
	char old[160], log[160], old_log[160], page[4096];
	struct error err = { 0 };
	int fd;

	snprintf(old, sizeof(old), "%s/old", place->folder);
	snprintf(log, sizeof(log), "%s-wal", place->path);
	snprintf(old_log, sizeof(old_log), "%s/old-log", place->folder);
	write_and_die(place->path);
	copy_file(place->path, old);
	copy_file(log, old_log);
	store_close(open_fine(place->path, STORE_WRITE, &first_kind));
	fd = open(place->path, O_RDONLY);
	assert_int_equal(read(fd, page, sizeof(page)), sizeof(page));
	close(fd);
	copy_file(old, place->path);
	fd = open(place->path, O_WRONLY);
	assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	close(fd);
	if (keeps_log)
		copy_file(old_log, log);
	else
		assert_true(file_replace(log, SPAN("not the log that belongs to it"), &err));
}

static void kill_in_a_checkpoint_is_no_damage(void **state)
{
	struct place *place = *state;
	struct store *store;

	interrupt_checkpoint(place, true);
	store = open_fine(place->path, STORE_WRITE, &first_kind);
	assert_int_equal(number_of(store, "SELECT count(*) FROM things"), ROWS);
	store_close(store);
}

static void number_put(const char *path, off_t at, uint32_t number)
{
	unsigned char bytes[4] = { (unsigned char)(number >> 24), (unsigned char)(number >> 16), (unsigned char)(number >> 8),
		                   (unsigned char)number };
	int fd = open(path, O_WRONLY);

	assert_int_equal(pwrite(fd, bytes, sizeof(bytes), at), sizeof(bytes));
	close(fd);
}

/* A checkpoint begins with the first page. Page by page is not how a file is looked at that a job is writing to: the
 * spoiled page here would be found. */
static void checkpoint_under_way_is_no_damage_and_costs_no_look_at_every_page(void **state)
{
	struct place *place = *state;
	struct store *writer, *reader;
	struct error err = { 0 };

	make_file(place->path);
	writer = store_open(place->path, STORE_WRITE, &first_kind, 0, 100000, &err);
	assert_non_null(writer);
	assert_true(store_exec(writer, "INSERT INTO things VALUES (100000, 'x', zeroblob(20000))", &err));
	number_put(place->path, 28, 1000000);
	number_put(place->path, 4096 * 5, 0);
	reader = open_fine(place->path, STORE_READ, &first_kind);
	assert_int_equal(number_of(reader, "SELECT count(*) FROM things WHERE id = 100000"), 1);
	store_close(reader);
	store_close(writer);
}

static void short_file_with_a_log_of_no_use_is_damaged(void **state)
{
	struct place *place = *state;

	interrupt_checkpoint(place, false);
	open_fails(place->path, STORE_WRITE, &first_kind, ERROR_BUG, "state_damaged");
}

static void many_who_make_the_same_file_get_one(void **state)
{
	struct place *place = *state;
	struct store *store;
	char command[160];
	int status;

	for (int i = 0; i < 4; i++) {
		if (fork() == 0) {
			store = store_open(place->path, STORE_WRITE, &first_kind, 0, 0, NULL);
			_exit(store && store_exec(store, "INSERT INTO things (name) VALUES ('x')", NULL) ? 0 : 1);
		}
	}
	for (int i = 0; i < 4; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	store = open_fine(place->path, STORE_WRITE, &first_kind);
	assert_int_equal(number_of(store, "SELECT count(*) FROM things"), 4);
	store_close(store);
	snprintf(command, sizeof(command), "test \"$(ls -A '%s')\" = a.db", place->folder);
	assert_int_equal(system(command), 0);
}

static void migration_keeps_rows_and_a_copy(void **state)
{
	struct place *place = *state;
	char copy[160];
	struct store *store;
	struct stat st;

	make_file(place->path);
	store = open_fine(place->path, STORE_WRITE, &second_kind);
	assert_int_equal(number_of(store, "SELECT count(*) FROM things WHERE colour = 'red'"), ROWS);
	assert_int_equal(number_of(store, "PRAGMA user_version"), 2);
	store_close(store);

	snprintf(copy, sizeof(copy), "%s.v1", place->path);
	assert_int_equal(stat(copy, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	store = open_fine(copy, STORE_READ, &first_kind);
	assert_int_equal(number_of(store, "SELECT count(*) FROM things"), ROWS);
	store_close(store);
}

static void reader_sees_an_old_file_migrated(void **state)
{
	struct place *place = *state;
	struct store *store;

	make_file(place->path);
	store = open_fine(place->path, STORE_READ, &second_kind);
	assert_int_equal(number_of(store, "SELECT count(*) FROM things WHERE colour = 'red'"), ROWS);
	store_close(store);
}

static void failed_migration_changes_nothing(void **state)
{
	struct place *place = *state;
	struct store *store;

	make_file(place->path);
	open_fails(place->path, STORE_WRITE, &bad_kind, ERROR_BUG, "store_failed");
	store = open_fine(place->path, STORE_WRITE, &first_kind);
	assert_int_equal(number_of(store, "SELECT count(*) FROM things"), ROWS);
	assert_int_equal(number_of(store, "SELECT count(*) FROM pragma_table_info('things') WHERE name = 'colour'"), 0);
	store_close(store);
}

static void text_of_strangers_comes_back(void **state)
{
	static const char odd[] = "a\0b'\"\n\xff\xc3(";
	struct place *place = *state;
	struct error err = { 0 };
	struct store *store = open_fine(place->path, STORE_WRITE, &first_kind);
	sqlite3_stmt *insert = store_prepare(store, "INSERT INTO things (name, bytes) VALUES (?, ?)", &err);
	sqlite3_stmt *select;
	bool has_row = false;

	store_bind_text(insert, 1, SPAN(odd));
	store_bind_blob(insert, 2, SPAN(odd));
	assert_true(store_run(store, insert, &err));
	store_bind_text(insert, 1, span_make(NULL, 0));
	store_bind_blob(insert, 2, span_make(NULL, 0));
	assert_true(store_run(store, insert, &err));
	sqlite3_finalize(insert);

	select = store_prepare(store, "SELECT name, bytes FROM things ORDER BY id", &err);
	assert_true(store_step(store, select, &has_row, &err) && has_row);
	assert_true(span_equal(store_text(select, 0), SPAN(odd)));
	assert_true(span_equal(store_blob(select, 1), SPAN(odd)));
	assert_true(store_step(store, select, &has_row, &err) && has_row);
	assert_int_equal(sqlite3_column_type(select, 0), SQLITE_NULL);
	assert_int_equal(sqlite3_column_type(select, 1), SQLITE_BLOB);
	sqlite3_finalize(select);
	store_close(store);
}

/* Each time the reader prepares its statement, the other connection makes a table. */
static int make_a_table(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
	struct error err = { 0 };
	static int made;
	char sql[64];

	(void)a, (void)b, (void)c, (void)d;
	if (action != SQLITE_SELECT)
		return SQLITE_OK;
	snprintf(sql, sizeof(sql), "CREATE TABLE more%d (id)", made++);
	return store_exec(context, sql, &err) ? SQLITE_OK : SQLITE_DENY;
}

static void reader_gets_its_rows_while_tables_are_made(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	struct store *writer = open_fine(place->path, STORE_WRITE, &first_kind);
	struct store *reader = open_fine(place->path, STORE_READ, &first_kind);
	sqlite3_stmt *select;
	bool has_row = false;

	assert_true(store_exec(writer, "INSERT INTO things (id, name) VALUES (1, 'a'), (2, 'b')", &err));
	sqlite3_set_authorizer(reader->db, make_a_table, writer);
	assert_non_null(select = store_prepare(reader, "SELECT name FROM things ORDER BY id", &err));
	assert_true(store_step(reader, select, &has_row, &err) && has_row);
	assert_true(span_is(store_text(select, 0), "a"));
	assert_true(store_step(reader, select, &has_row, &err) && has_row);
	assert_true(store_step(reader, select, &has_row, &err) && !has_row);
	/* It holds no moment of the past: the next look sees what was written since. */
	assert_true(store_exec(writer, "INSERT INTO things (id, name) VALUES (0, 'c')", &err));
	assert_true(store_step(reader, select, &has_row, &err) && has_row);
	assert_true(span_is(store_text(select, 0), "c"));
	assert_string_equal(err.code, "");
	sqlite3_finalize(select);
	store_close(reader);
	store_close(writer);
}

static void held_lock_is_transient(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	struct store *holder = open_fine(place->path, STORE_WRITE, &first_kind);
	struct store *second = open_fine(place->path, STORE_WRITE, &first_kind);

	sqlite3_busy_timeout(second->db, 1);
	assert_true(store_begin(holder, &err));
	assert_false(store_begin(second, &err));
	assert_int_equal(err.kind, ERROR_TRANSIENT);
	assert_string_equal(err.code, "database_locked");
	store_rollback(holder);
	assert_true(store_begin(second, &err));
	store_rollback(second);
	store_close(second);
	store_close(holder);
}

/* How many of the next calls that let go of a lock have no memory for it; in the place of the C library's. */
static atomic_int unlocks_that_fail;

int fcntl(int fd, int what, ...)
{
	va_list args;
	void *arg;

	va_start(args, what);
	arg = va_arg(args, void *);
	va_end(args);
	if (what == F_SETLK && ((const struct flock *)arg)->l_type == F_UNLCK && atomic_load(&unlocks_that_fail) > 0) {
		atomic_fetch_sub(&unlocks_that_fail, 1);
		errno = ENOLCK;
		return -1;
	}
	return (int)syscall(SYS_fcntl, fd, what, arg);
}

static void lock_that_could_not_be_let_go_of_is_let_go_of_later(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	struct store *first = open_fine(place->path, STORE_WRITE, &first_kind);
	struct store *second = open_fine(place->path, STORE_WRITE, &first_kind);

	sqlite3_busy_timeout(second->db, 1);
	for (int fails = 1; fails <= 4; fails++) {
		assert_true(store_begin(first, &err));
		assert_true(store_exec(first, "INSERT INTO things (name) VALUES ('a')", &err));
		atomic_store(&unlocks_that_fail, fails);
		assert_true(store_commit(first, &err));
		assert_int_equal(atomic_load(&unlocks_that_fail), 0);
		assert_true(store_begin(second, &err));
		assert_true(store_exec(second, "INSERT INTO things (name) VALUES ('b')", &err));
		assert_true(store_commit(second, &err));
	}
	assert_int_equal(number_of(first, "SELECT count(*) FROM things"), 8);
	store_close(second);
	store_close(first);
}

static void full_disk_is_transient(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	struct store *store = open_fine(place->path, STORE_WRITE, &first_kind);

	assert_true(store_exec(store, "PRAGMA max_page_count=4", &err));
	assert_true(store_begin(store, &err));
	assert_false(store_exec(store, "INSERT INTO things (bytes) VALUES (zeroblob(100000))", &err));
	assert_int_equal(err.kind, ERROR_TRANSIENT);
	assert_string_equal(err.code, "disk_full");
	store_rollback(store);
	assert_int_equal(number_of(store, "SELECT count(*) FROM things"), 0);
	store_close(store);
}

/* Runs in a child that has given up root, which may do everything. */
static int open_as_nobody(const char *path, enum store_mode mode, struct error *out_err)
{
	int pipes[2], status;
	pid_t child;

	if (pipe(pipes))
		return -1;
	child = fork();
	if (child == 0) {
		struct error err = { 0 };

		if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
			_exit(3);
		_exit(store_open(path, mode, &first_kind, 0, 0, &err)
		              ? 1
		              : write(pipes[1], &err, sizeof(err)) == sizeof(err) ? 0 : 3);
	}
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	if (WEXITSTATUS(status) == 0 && read(pipes[0], out_err, sizeof(*out_err)) != sizeof(*out_err))
		return -1;
	close(pipes[0]);
	close(pipes[1]);
	return WEXITSTATUS(status);
}

static void read_only_folder_is_no_permission(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	int status;

	make_file(place->path);
	assert_int_equal(chmod(place->path, 0444), 0);
	assert_int_equal(chmod(place->folder, 0555), 0);
	status = open_as_nobody(place->path, STORE_WRITE, &err);
	assert_int_equal(chmod(place->folder, 0700), 0);
	if (status == 3) {
		print_message("skipped: root cannot become nobody here\n");
		skip();
	}
	assert_int_equal(status, 0);
	assert_int_equal(err.kind, ERROR_ACCESS);
	assert_string_equal(err.code, "no_permission");
}

static void new_file_in_a_read_only_folder_is_no_permission(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	int status;

	assert_int_equal(chmod(place->folder, 0555), 0);
	status = open_as_nobody(place->path, STORE_WRITE, &err);
	assert_int_equal(chmod(place->folder, 0700), 0);
	if (status == 3) {
		print_message("skipped: root cannot become nobody here\n");
		skip();
	}
	assert_int_equal(status, 0);
	assert_string_equal(err.code, "no_permission");
}

/* Who looks leaves no trace in the inodes: under many writers each of them would wait for the disk. */
static void looking_writes_nothing_into_the_inodes(void **state)
{
	struct place *place = *state;
	struct error err = { 0 };
	struct store *writer = open_fine(place->path, STORE_WRITE, &first_kind), *reader;
	const char *const names[] = { "", "-wal", "-shm" };
	struct stat before[3], after;
	char file[160];

	assert_true(store_exec(writer, "INSERT INTO things(name) VALUES('a')", &err));
	for (size_t i = 0; i < 3; i++) {
		snprintf(file, sizeof(file), "%s%s", place->path, names[i]);
		assert_int_equal(stat(file, &before[i]), 0);
	}
	reader = open_fine(place->path, STORE_READ, &first_kind);
	assert_true(store_exec(reader, "SELECT count(*) FROM things", &err));
	for (size_t i = 0; i < 3; i++) {
		snprintf(file, sizeof(file), "%s%s", place->path, names[i]);
		assert_int_equal(stat(file, &after), 0);
		assert_memory_equal(&after.st_ctim, &before[i].st_ctim, sizeof(after.st_ctim));
		assert_memory_equal(&after.st_atim, &before[i].st_atim, sizeof(after.st_atim));
	}
	store_close(reader);
	store_close(writer);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, place_make, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(looking_writes_nothing_into_the_inodes),
		TEST(new_file_is_private_and_durable),
		TEST(nothing_else_is_left_in_the_folder),
		TEST(missing_file_is_not_made_by_a_reader),
		TEST(missing_folder_is_said),
		TEST(folder_in_its_place_is_refused),
		TEST(link_is_refused),
		TEST(dangling_link_makes_no_file),
		TEST(link_in_place_of_the_log_is_refused),
		TEST(linked_folder_is_fine),
		TEST(newer_version_is_refused),
		TEST(file_of_another_kind_is_refused),
		TEST(text_file_is_refused),
		TEST(truncated_file_is_damaged),
		TEST(spoiled_header_is_refused_or_harmless),
		TEST(spoiled_page_is_damaged_when_met),
		TEST(tables_that_are_not_as_we_made_them_are_damage),
		TEST(kill_with_a_full_log_loses_nothing),
		TEST(kill_in_a_checkpoint_is_no_damage),
		TEST(checkpoint_under_way_is_no_damage_and_costs_no_look_at_every_page),
		TEST(short_file_with_a_log_of_no_use_is_damaged),
		TEST(many_who_make_the_same_file_get_one),
		TEST(migration_keeps_rows_and_a_copy),
		TEST(reader_sees_an_old_file_migrated),
		TEST(failed_migration_changes_nothing),
		TEST(text_of_strangers_comes_back),
		TEST(reader_gets_its_rows_while_tables_are_made),
		TEST(held_lock_is_transient),
		TEST(lock_that_could_not_be_let_go_of_is_let_go_of_later),
		TEST(full_disk_is_transient),
		TEST(read_only_folder_is_no_permission),
		TEST(new_file_in_a_read_only_folder_is_no_permission),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
