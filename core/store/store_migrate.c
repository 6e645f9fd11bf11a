/*
 * From one version of a state file to the next: a copy beside it (FILE.vN), then
 * one transaction. A new file goes through the same steps under another name and
 * gets its own when it is whole.
 */
#include "store/store_private.h"

#include "base/arena.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Says in one transaction what the file has become. */
static bool apply_step(struct store *store, int32_t version, struct error *err)
{
	char sql[64];

	if (!store_exec(store, store->kind->migrations[version], err))
		return false;
	snprintf(sql, sizeof(sql), "PRAGMA user_version=%" PRId32, version + 1);
	return store_exec(store, sql, err);
}

static bool folder_sync(const char *path, struct error *err)
{
	char *folder = path_folder(path);
	int fd = fd_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_synced = fd >= 0 && !fsync(fd);

	if (!is_synced)
		fail_errno(err, errno, "syncing folder '%s'", folder);
	if (fd >= 0)
		close(fd);
	free(folder);
	return is_synced;
}

/* An empty file 0600 for SQLite to fill; whatever stood there, a link too, goes first. */
static bool copy_prepare(const char *copy, struct error *err)
{
	int fd;

	if (unlink(copy) && errno != ENOENT)
		return fail_errno(err, errno, "replacing '%s'", copy);
	fd = fd_open(copy, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fail_errno(err, errno, "making '%s'", copy);
	close(fd);
	return true;
}

static bool copy_pages(struct store *from, struct store *to, struct error *err)
{
	sqlite3_backup *backup = sqlite3_backup_init(to->db, "main", from->db, "main");

	if (!backup)
		return store_fail(to, err, "copying before the migration");
	sqlite3_backup_step(backup, -1);
	if (sqlite3_backup_finish(backup) != SQLITE_OK)
		return store_fail(to, err, "copying before the migration");
	return true;
}

/* The caller holds the write lock; a second connection reads what is committed, the one that writes could not. */
static bool store_copy(struct store *store, const char *real, const char *copy, struct error *err)
{
	struct store *from = NULL;
	struct store *to = NULL;
	bool is_copied = copy_prepare(copy, err) && (from = store_connect(store->path, real, STORE_READ, store->kind, err)) &&
	                 (to = store_connect(copy, copy, STORE_WRITE, store->kind, err)) && copy_pages(from, to, err);

	store_close(to);
	store_close(from);
	return is_copied && folder_sync(copy, err);
}

/* Under the write lock the version is asked again: another process may have been here. */
static bool step_locked(struct store *store, const char *real, struct error *err)
{
	int64_t version = 0;
	char copy[PATH_MAX];

	if (!store_number(store, "PRAGMA user_version", &version, err))
		return false;
	if (version >= store->kind->version)
		return true;
	if (snprintf(copy, sizeof(copy), "%s.v%" PRId64, real, version) >= (int)sizeof(copy))
		return fail(err, ERROR_CONFIG, "path_too_long", "the path '%.200s...' is too long", real);
	return store_copy(store, real, copy, err) && apply_step(store, (int32_t)version, err);
}

static bool migrate_step(struct store *store, const char *real, struct error *err)
{
	if (!store_begin(store, err))
		return false;
	if (step_locked(store, real, err) && store_commit(store, err))
		return true;
	store_rollback(store);
	return false;
}

/* A reader cannot write, yet an old file is no reason to refuse it: a writer migrates, the reader sees the result. */
static bool migrate_for_reader(struct store *store, const char *real, struct error *err)
{
	struct store *writer = store_open(real, STORE_WRITE, store->kind, 0, 0, err);

	store_close(writer);
	return writer != NULL;
}

bool store_migrate(struct store *store, const char *real, int32_t version, struct error *err)
{
	if (version < store->kind->version && sqlite3_db_readonly(store->db, "main") == 1)
		return migrate_for_reader(store, real, err);
	for (; version < store->kind->version; version++)
		if (!migrate_step(store, real, err))
			return because(err, "migrating '%s' from version %" PRId32, store->path, version);
	return true;
}

static bool fill_new(struct store *store, struct error *err)
{
	char sql[64];

	/* The file is ours and was made just now: SQLite reads only what it could not open twice, for want of descriptors. */
	if (sqlite3_db_readonly(store->db, "main") == 1)
		return fail(err, ERROR_TRANSIENT, "io_error", "making the %s '%s': it could be opened to be read only",
		            store->kind->what, store->path);
	/* Must come before anything is written. */
	snprintf(sql, sizeof(sql), "PRAGMA page_size=%d", store->kind->page_bytes);
	if (store->kind->page_bytes && !store_exec(store, sql, err))
		return false;
	snprintf(sql, sizeof(sql), "PRAGMA application_id=%" PRId32, store->kind->application_id);
	if (!store_exec(store, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL", err) || !store_begin(store, err) ||
	    !store_exec(store, sql, err))
		return false;
	for (int32_t version = 0; version < store->kind->version; version++)
		if (!apply_step(store, version, err))
			return false;
	return store_commit(store, err);
}

/* link() refuses to replace: of two who make the same file one wins, and both use the winner's. Where the file system
 * has no links, rename() must do. */
static bool publish(const char *made, const char *real, struct error *err)
{
	if (!link(made, real) || errno == EEXIST) {
		unlink(made);
		return folder_sync(real, err);
	}
	if ((errno == EPERM || errno == ENOTSUP || errno == ENOSYS) && !rename(made, real))
		return folder_sync(real, err);
	fail_errno(err, errno, "making '%s'", real);
	unlink(made);
	return false;
}

/* Closing would do the same and say nothing of a full disk: the file would get its name without its content. */
static bool log_into_file(struct store *store, struct error *err)
{
	int in_log = 0, in_file = 0;

	if (sqlite3_wal_checkpoint_v2(store->db, "main", SQLITE_CHECKPOINT_TRUNCATE, &in_log, &in_file) != SQLITE_OK)
		return store_fail(store, err, "making");
	return true;
}

static bool make_at(const char *path, char *made, const struct store_kind *kind, struct error *err)
{
	int fd = fd_temporary(made);
	struct store *store;
	bool is_filled;

	if (fd < 0)
		return fail_errno(err, errno, "making '%s'", path);
	close(fd);
	store = store_connect(path, made, STORE_WRITE, kind, err);
	is_filled = store && fill_new(store, err) && log_into_file(store, err);
	/* Closing the only connection removes the log. */
	store_close(store);
	return is_filled;
}

bool store_create(const char *path, const char *real, const struct store_kind *kind, struct error *err)
{
	static const char *const parts[] = { "", "-wal", "-shm" };
	char made[PATH_MAX], part[PATH_MAX + 8];

	if (snprintf(made, sizeof(made), "%s.new-XXXXXX", real) >= (int)sizeof(made))
		return fail(err, ERROR_CONFIG, "path_too_long", "the path '%.200s...' is too long", path);
	if (make_at(path, made, kind, err))
		return publish(made, real, err);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(part, sizeof(part), "%s%s", made, parts[i]);
		unlink(part);
	}
	return false;
}
