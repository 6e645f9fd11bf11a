/*
 * The cheap look at a state file before it is trusted: the fields of SQLite's
 * header (the "Database File Format" page of its manual) that our own files
 * always have, size against page count, identity, version, readable schema.
 * What this cannot see is met later and reported as `state_damaged` too.
 */
#include "store/store_private.h"

#include <inttypes.h>
#include <sys/stat.h>

#define HEADER_BYTES 100

static uint32_t header_u32(const unsigned char *header, size_t at)
{
	return (uint32_t)header[at] << 24 | (uint32_t)header[at + 1] << 16 | (uint32_t)header[at + 2] << 8 |
	       header[at + 3];
}

static uint32_t header_page_size(const unsigned char *header)
{
	uint32_t size = (uint32_t)header[16] << 8 | header[17];

	return size == 1 ? 65536 : size;
}

/* NULL when nothing is wrong, else what is. */
static const char *header_fault(const unsigned char *header, int64_t file_bytes)
{
	uint32_t page_size = header_page_size(header);
	uint32_t pages = header_u32(header, 28);

	if (memcmp(header, "SQLite format 3", 16))
		return "it does not begin like a database";
	if (page_size < 512 || (page_size & (page_size - 1)))
		return "its page size is impossible";
	if (header[18] < 1 || header[18] > 2 || header[19] < 1 || header[19] > 2 || header[20] != 0)
		return "its format numbers are impossible";
	if (header[21] != 64 || header[22] != 32 || header[23] != 32)
		return "its payload fractions are impossible";
	if (header_u32(header, 24) != header_u32(header, 92))
		return "its change counters differ";
	if (header_u32(header, 44) != 4 || header_u32(header, 56) != 1)
		return "its schema format or text encoding is not ours";
	if (header_u32(header, 52) != 0 || header_u32(header, 64) != 0)
		return "its vacuum settings are not ours";
	if (header_u32(header, 32) > pages || (header_u32(header, 36) && header_u32(header, 36) >= pages))
		return "its list of free pages is impossible";
	if (pages == 0 || (int64_t)pages * page_size > file_bytes)
		return "it is shorter than its page count says";
	return NULL;
}

/* Reads through SQLite's own descriptor; see store_open.c. */
static bool header_read(struct store *store, unsigned char header[HEADER_BYTES], int64_t *out_bytes,
                        struct error *err)
{
	sqlite3_file *file = NULL;
	sqlite3_int64 bytes = 0;

	sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
	if (!file || !file->pMethods || file->pMethods->xFileSize(file, &bytes) != SQLITE_OK)
		return fail(err, ERROR_TRANSIENT, "io_error", "the size of '%s' cannot be read", store->path);
	if (bytes < HEADER_BYTES)
		return store_damaged(store, err, "it has only %" PRId64 " bytes", (int64_t)bytes);
	if (file->pMethods->xRead(file, header, HEADER_BYTES, 0) != SQLITE_OK)
		return fail(err, ERROR_TRANSIENT, "io_error", "the head of '%s' cannot be read", store->path);
	*out_bytes = bytes;
	return true;
}

static bool has_log(struct store *store)
{
	struct stat st;
	const char *log = sqlite3_filename_wal(sqlite3_db_filename(store->db, "main"));

	return !stat(log, &st) && st.st_size > 0;
}

/* In the middle of a checkpoint a file is complete only with its log. That is so all the time while somebody here writes
 * much, who has found it sound. A kill leaves it so as well: nothing cheap can tell that from damage, so this rare case
 * is looked at page by page. */
static bool check_pages(struct store *store, const char *fault, struct error *err)
{
	sqlite3_stmt *stmt = store_prepare(store, "PRAGMA quick_check(1)", err);
	bool has_row = false;
	bool is_fine = stmt && store_step(store, stmt, &has_row, err);

	if (is_fine && (!has_row || !span_is(store_text(stmt, 0), "ok")))
		is_fine = store_damaged(store, err, "%s", fault);
	sqlite3_finalize(stmt);
	return is_fine;
}

static bool check_header(struct store *store, struct error *err)
{
	unsigned char header[HEADER_BYTES];
	int64_t bytes = 0;
	const char *fault;

	if (!header_read(store, header, &bytes, err))
		return false;
	fault = header_fault(header, bytes);
	if (!fault)
		return true;
	if (has_log(store))
		return store_is_shared(store) || check_pages(store, fault, err);
	return store_damaged(store, err, "%s", fault);
}

static bool check_identity(struct store *store, struct error *err)
{
	int64_t id = 0;

	if (!store_number(store, "PRAGMA application_id", &id, err))
		return false;
	if (id != store->kind->application_id)
		return store_damaged(store, err, "its application id is %" PRId64 ", a %s has %" PRId32, id,
		                     store->kind->what, store->kind->application_id);
	return true;
}

static bool check_version(struct store *store, int32_t *out_version, struct error *err)
{
	int64_t version = 0;

	if (!store_number(store, "PRAGMA user_version", &version, err))
		return false;
	if (version < 1 || version > STORE_VERSION_MAX)
		return store_damaged(store, err, "it says version %" PRId64, version);
	if (version > store->kind->version)
		return fail(err, ERROR_CONFIG, "state_too_new", "the %s '%s' has version %" PRId64
		            "; this weir knows versions up to %" PRId32, store->kind->what, store->path, version,
		            store->kind->version);
	*out_version = (int32_t)version;
	return true;
}

bool store_inspect(struct store *store, int32_t *out_version, struct error *err)
{
	int64_t entries = 0;
	int32_t version = 0;

	if (!check_header(store, err) || !check_identity(store, err) || !check_version(store, &version, err) ||
	    !store_number(store, "SELECT count(*) FROM sqlite_schema", &entries, err))
		return false;
	if (entries == 0)
		return store_damaged(store, err, "it has no tables");
	*out_version = version;
	return true;
}
