/*
 * The baseline of databases: plain SQLite, prepared statements, one thread. It
 * is given decoded values in transactions of the same size and runs with the
 * durability, caches and checkpoints of the engine.
 */
#include "bench/bench_private.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATEMENTS_MAX 2000

struct player {
	sqlite3 *files[BASELINE_FILES];
	sqlite3_stmt *statements[STATEMENTS_MAX];
	size_t count;
	const char *at;
};

static void take(struct player *player, void *out, size_t size)
{
	memcpy(out, player->at, size);
	player->at += size;
}

static bool prepare(struct player *player, uint8_t file)
{
	uint32_t len;
	const char *sql;

	take(player, &len, sizeof(len));
	sql = player->at;
	player->at += len;
	return player->count < STATEMENTS_MAX &&
	       sqlite3_prepare_v3(player->files[file], sql, (int)len, SQLITE_PREPARE_PERSISTENT,
	                          &player->statements[player->count++], NULL) == SQLITE_OK;
}

static void bind(struct player *player, sqlite3_stmt *stmt, int index)
{
	char kind = *player->at++;
	int64_t number;
	double real;
	uint32_t len;

	if (kind == 'N') {
		sqlite3_bind_null(stmt, index);
	} else if (kind == 'I') {
		take(player, &number, sizeof(number));
		sqlite3_bind_int64(stmt, index, number);
	} else if (kind == 'F') {
		take(player, &real, sizeof(real));
		sqlite3_bind_double(stmt, index, real);
	} else {
		take(player, &len, sizeof(len));
		if (kind == 'T')
			sqlite3_bind_text(stmt, index, player->at, (int)len, SQLITE_STATIC);
		else
			sqlite3_bind_blob(stmt, index, player->at, (int)len, SQLITE_STATIC);
		player->at += len;
	}
}

static bool run(struct player *player)
{
	uint16_t statement, count;

	take(player, &statement, sizeof(statement));
	take(player, &count, sizeof(count));
	for (int i = 1; i <= count; i++)
		bind(player, player->statements[statement], i);
	return sqlite3_step(player->statements[statement]) == SQLITE_DONE &&
	       sqlite3_reset(player->statements[statement]) == SQLITE_OK;
}

static bool step(struct player *player)
{
	char what = *player->at++;

	if (what == 'R')
		return run(player);
	uint8_t file = (uint8_t)*player->at++;

	if (what == 'P')
		return prepare(player, file);
	return sqlite3_exec(player->files[file], what == 'B' ? "BEGIN IMMEDIATE" : "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

static bool open_file(struct player *player, const struct baseline *baseline, size_t i)
{
	char sql[160];

	/* The second file is the replica: derived, as the engine's. */
	snprintf(sql, sizeof(sql), "PRAGMA journal_mode=WAL; PRAGMA synchronous=%s; PRAGMA mmap_size=0; "
	         "PRAGMA cache_size=-%lld; PRAGMA wal_autocheckpoint=%d", i ? "NORMAL" : "FULL",
	         (long long)baseline->cache_bytes[i] / 1024, baseline->checkpoint_pages[i]);
	return sqlite3_open_v2(baseline->files[i], &player->files[i], SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ==
	       SQLITE_OK && sqlite3_exec(player->files[i], sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* From opening to closing, as the engine's run is measured: closing writes the last checkpoint. */
static bool play(const struct baseline *baseline, const char *script, size_t len, struct error *err)
{
	struct player player = { .at = script };
	bool is_fine = true;

	for (size_t i = 0; i < baseline->file_count && is_fine; i++)
		is_fine = open_file(&player, baseline, i);
	while (is_fine && player.at < script + len && !atomic_load(baseline->is_cancelled))
		is_fine = step(&player);
	if (!is_fine)
		fail(err, ERROR_BUG, "bench_failed", "the baseline failed: %s; %s", sqlite3_errmsg(player.files[0]),
		     player.files[1] ? sqlite3_errmsg(player.files[1]) : "no replica");
	for (size_t i = 0; i < player.count; i++)
		sqlite3_finalize(player.statements[i]);
	for (size_t i = 0; i < BASELINE_FILES; i++)
		sqlite3_close(player.files[i]);
	return is_fine;
}

bool baseline_play(const struct baseline *baseline, struct bench_run *out, struct error *err)
{
	struct stat info;
	int fd = open(baseline->script, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &info) != 0)
		return fail_errno(err, errno, "cannot read '%s'", baseline->script);
	char *script = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);

	close(fd);
	if (script == MAP_FAILED)
		return fail_errno(err, errno, "cannot map '%s'", baseline->script);
	bench_settle();
	double begun_s = bench_now_s(), begun_cpu_s = bench_cpu_s();
	bool is_fine = play(baseline, script, (size_t)info.st_size, err);

	if (is_fine)
		*out = (struct bench_run){
			.wall_s = bench_now_s() - begun_s, .cpu_s = bench_cpu_s() - begun_cpu_s, .rows = baseline->rows,
		};
	munmap(script, (size_t)info.st_size);
	return is_fine;
}
