/*
 * Opening a state file: a link is refused, a new file is made whole or not at
 * all, an old one is inspected and migrated before anybody sees it.
 *
 * The file is never opened by a descriptor of our own: closing it would drop
 * the POSIX locks that SQLite's other connections in this process hold.
 */
#include "store/store_private.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_MS 5000
#define LOOKASIDE_BYTES 256
#define LOOKASIDE_SLOTS 32

/* A job at rest holds half a dozen connections. SQLite would fill 100 KiB for each before it is needed, pages and small
 * pieces; of a hundred such jobs little else would be seen. */
static void library_configure(void)
{
	sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
	sqlite3_config(SQLITE_CONFIG_LOOKASIDE, LOOKASIDE_BYTES, LOOKASIDE_SLOTS);
	/* Sums that nobody reads: each piece of memory would wait for one lock of the whole process, and with many jobs at work
	 * its holder has mostly lost the processor. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	store_system_prepare();
	store_disk_prepare();
	store_frames_prepare();
}

static bool store_configure(struct store *store, struct error *err)
{
	sqlite3_extended_result_codes(store->db, 1);
	sqlite3_busy_timeout(store->db, BUSY_MS);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	/* None of these reads the schema: the file has not been inspected yet. */
	return store_exec(store, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0", err);
}

struct store *store_connect(const char *path, const char *real, enum store_mode mode, const struct store_kind *kind,
                            struct error *err)
{
	int flags = SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
	            (mode == STORE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct store *store = memory_zalloc(sizeof(*store));

	pthread_once(&once, library_configure);
	store->path = memory_string(path);
	store->kind = kind;
	if (sqlite3_open_v2(real, &store->db, flags, sqlite3_vfs_find(STORE_FRAMES) ? STORE_FRAMES : NULL) != SQLITE_OK) {
		store_fail(store, err, "opening");
		store_close(store);
		return NULL;
	}
	if (!store_configure(store, err)) {
		store_close(store);
		return NULL;
	}
	return store;
}

/* The folder's links are the owner's business, the file's own are not: SQLITE_OPEN_NOFOLLOW would refuse both. */
static char *real_path(const char *path, struct error *err)
{
	char *folder = path_folder(path);
	char *real = realpath(folder, NULL);
	const char *slash = strrchr(path, '/');
	char *joined = NULL;

	if (real)
		joined = path_join(real, slash ? slash + 1 : path);
	else if (errno == ENOENT || errno == ENOTDIR)
		fail(err, ERROR_CONFIG, "no_such_file", "opening '%s': its folder does not exist", path);
	else
		fail_errno(err, errno, "opening '%s'", path);
	free(real);
	free(folder);
	return joined;
}

static bool refuse_link(const char *path, const char *file, bool *out_exists, struct error *err)
{
	struct stat st;

	if (lstat(file, &st)) {
		if (errno != ENOENT)
			return fail_errno(err, errno, "opening '%s'", path);
		*out_exists = false;
		return true;
	}
	if (S_ISLNK(st.st_mode))
		return fail(err, ERROR_ACCESS, "no_permission", "'%s' is a link; only a plain file is allowed", file);
	if (!S_ISREG(st.st_mode))
		return fail(err, ERROR_CONFIG, "not_a_file", "'%s' is not a plain file", file);
	*out_exists = true;
	return true;
}

/* A file that was taken away without its log, or is not yet back: a new one would be filled with the old one's pages. */
static bool refuse_left_log(const char *path, const char *real, const struct store_kind *kind, struct error *err)
{
	char log[PATH_MAX];
	struct stat st;

	snprintf(log, sizeof(log), "%s-wal", real);
	if (lstat(log, &st) != 0 || st.st_size == 0)
		return true;
	return fail(err, ERROR_BUG, "ledger_mismatch", "the %s '%s' is missing, but its log '%s-wal' is there; put the file back, "
	            "or move the log away too", kind->what, path, path);
}

/* A planted link beside the file would lead SQLite's own writes elsewhere. */
static bool refuse_links(const char *path, const char *real, bool *out_exists, struct error *err)
{
	static const char *const companions[] = { "-wal", "-shm", "-journal" };
	bool is_there;

	for (size_t i = 0; i < sizeof(companions) / sizeof(companions[0]); i++) {
		char beside[PATH_MAX];

		if (snprintf(beside, sizeof(beside), "%s%s", real, companions[i]) >= (int)sizeof(beside))
			return fail(err, ERROR_CONFIG, "path_too_long", "the path '%.200s...' is too long; at most %d bytes are allowed",
			            path, PATH_MAX - 16);
		if (!refuse_link(path, beside, &is_there, err))
			return false;
	}
	return refuse_link(path, real, out_exists, err);
}

static bool store_tune(struct store *store, int64_t cache_bytes, int checkpoint_pages, struct error *err)
{
	char sql[64];

	if (cache_bytes > 0) {
		snprintf(sql, sizeof(sql), "PRAGMA cache_size=-%" PRId64, cache_bytes / 1024 ? cache_bytes / 1024 : 1);
		if (!store_exec(store, sql, err))
			return false;
	}
	if (checkpoint_pages > 0)
		sqlite3_wal_autocheckpoint(store->db, checkpoint_pages);
	return true;
}

/* Not every file system can do WAL; going on without it would mean other promises about durability. */
static bool store_use_wal(struct store *store, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(store, "PRAGMA journal_mode=WAL", err);
	bool has_row = false;
	bool is_wal;

	if (!stmt)
		return false;
	if (!store_step(store, stmt, &has_row, err)) {
		sqlite3_finalize(stmt);
		return false;
	}
	is_wal = has_row && span_is(store_text(stmt, 0), "wal");
	sqlite3_finalize(stmt);
	if (!is_wal)
		return fail(err, ERROR_CONFIG, "store_failed", "'%s' lies on a file system that cannot share memory "
		            "between processes (write-ahead log); a local disk is needed", store->path);
	return true;
}

/* SQLite opens a file without the right to write as read only and says nothing until the first write. */
static bool store_make_writable(struct store *store, struct error *err)
{
	if (sqlite3_db_readonly(store->db, "main") == 1)
		return fail(err, ERROR_ACCESS, "no_permission", "the %s '%s' may not be written", store->kind->what,
		            store->path);
	return store_use_wal(store, err) && store_exec(store, "PRAGMA synchronous=FULL", err);
}

static struct store *store_open_existing(const char *path, const char *real, enum store_mode mode,
                                         const struct store_kind *kind, struct error *err)
{
	struct store *store = store_connect(path, real, mode, kind, err);
	int32_t version = 0;

	if (!store)
		return NULL;
	if (store_inspect(store, &version, err) && (mode == STORE_READ || store_make_writable(store, err)) &&
	    store_migrate(store, real, version, err)) {
		store_share(store);
		return store;
	}
	store_close(store);
	return NULL;
}

struct store *store_open(const char *path, enum store_mode mode, const struct store_kind *kind, int64_t cache_bytes,
                         int checkpoint_pages, struct error *err)
{
	char *real = real_path(path, err);
	struct store *store = NULL;
	bool exists = false;

	if (real && refuse_links(path, real, &exists, err)) {
		if (!exists && mode == STORE_READ)
			fail(err, ERROR_CONFIG, "no_such_file", "there is no %s '%s'", kind->what, path);
		else if (exists || (refuse_left_log(path, real, kind, err) && store_create(path, real, kind, err)))
			store = store_open_existing(path, real, mode, kind, err);
	}
	free(real);
	if (store && !store_tune(store, cache_bytes, checkpoint_pages, err)) {
		store_close(store);
		return NULL;
	}
	return store;
}
