/* The journal's file that grows: append a line, whole or not at all; and events, which go to the log as well. */
#include "engine/journal_private.h"

#include "base/clean.h"
#include "base/file.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct journal *journal_open(const char *path, void (*on_line)(void *context, const json_t *line), void *context)
{
	struct journal *journal = memory_zalloc(sizeof(*journal));

	pthread_mutex_init(&journal->lock, NULL);
	journal->path = memory_string(path);
	journal->fd = -1;
	journal->file_bytes = JOURNAL_FILE_BYTES;
	journal->files = JOURNAL_FILES;
	journal->on_line = on_line;
	journal->context = context;
	return journal;
}

void journal_close(struct journal *journal)
{
	if (!journal)
		return;
	journal_refused_settle(journal, true);
	if (journal->fd >= 0)
		close(journal->fd);
	free(journal->path);
	pthread_mutex_destroy(&journal->lock);
	free(journal);
}

/* A new file takes the old one's number, so that somebody who syncs meanwhile has a file of ours in any case. */
static bool open_locked(struct journal *journal, struct error *err)
{
	int fd = fd_open(journal->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW);
	struct stat info;
	char last = '\n';

	if (fd < 0)
		return fail_errno(err, errno, "cannot open the journal '%s'", journal->path);
	if (fstat(fd, &info) == 0 && info.st_size > 0 && pread(fd, &last, 1, info.st_size - 1) != 1)
		last = '\n';
	journal->is_torn = last != '\n';
	if (journal->fd < 0) {
		journal->fd = fd;
		return true;
	}
	dup3(fd, journal->fd, O_CLOEXEC);
	close(fd);
	return true;
}

/* Moved or taken away: who looks for the journal looks at its path. */
static bool is_open_locked(const struct journal *journal)
{
	struct stat ours, there;

	return journal->fd >= 0 && fstat(journal->fd, &ours) == 0 && lstat(journal->path, &there) == 0 &&
	       ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

/* Half a line is taken back; where that is not allowed the next line begins on one of its own. */
static bool write_locked(struct journal *journal, struct span line, struct error *err)
{
	off_t size = lseek(journal->fd, 0, SEEK_END);
	size_t put = fd_write_all(journal->fd, line);
	int why = errno;

	if (put == line.len) {
		journal->is_torn = false;
		return true;
	}
	if (put > 0 && (size < 0 || ftruncate(journal->fd, size) != 0))
		journal->is_torn = true;
	return fail_errno(err, why, "cannot write the journal '%s'", journal->path);
}

static bool put_locked(struct journal *journal, const char *line, struct error *err)
{
	OWNED(text) whole = text_new(JOURNAL_LINE_MAX + 2);

	if ((journal->is_torn && !text_add_char(whole, '\n')) || !text_add(whole, line))
		return fail(err, ERROR_USAGE, "frame_too_long", "a line of the journal is longer than %d bytes",
		            JOURNAL_LINE_MAX);
	return write_locked(journal, text_span(whole), err);
}

/* The time is that of the writing, so that lines of several threads stand in the order of their times. */
static char *stamped_locked(json_t *line)
{
	char time[CLOCK_TEXT_BYTES];
	json_t *rest;

	if (!line)
		return NULL;
	if (json_object_get(line, "time"))
		return json_line(line);
	clock_text(clock_utc_us(), time);
	rest = json_copy(line);
	json_object_clear(line);
	json_object_set_new(line, "time", json_string(time)); /* first, as people read it */
	json_object_update(line, rest);
	json_decref(rest);
	return json_line(line);
}

bool journal_append_locked(struct journal *journal, json_t *line, struct error *err)
{
	char *text = stamped_locked(line);
	bool is_fine = text && put_locked(journal, text, err);

	json_decref(line);
	free(text);
	return is_fine;
}

static bool append_locked(struct journal *journal, const char *line, struct error *err)
{
	if (!is_open_locked(journal) && !open_locked(journal, err))
		return false;
	if (journal_turn_locked(journal, strlen(line)) && !open_locked(journal, err))
		return false;
	return put_locked(journal, line, err);
}

bool journal_add(struct journal *journal, json_t *line, bool is_synced, struct error *err)
{
	char *text;
	bool is_fine;
	int fd;

	pthread_mutex_lock(&journal->lock);
	text = stamped_locked(line);
	is_fine = text ? append_locked(journal, text, err)
	               : fail(err, ERROR_USAGE, "bad_argument", "a line of the journal is no UTF-8");
	fd = journal->fd;
	pthread_mutex_unlock(&journal->lock);
	free(text);
	if (is_fine && journal->on_line)
		journal->on_line(journal->context, line);
	json_decref(line);
	/* Outside of the lock: a job that tells an event does not wait for the disk. */
	if (is_fine && is_synced && fdatasync(fd) != 0)
		return fail_errno(err, errno, "cannot sync the journal '%s'", journal->path);
	return is_fine;
}

int64_t journal_next_act(struct journal *journal)
{
	int64_t now_us = clock_utc_us(), act;

	pthread_mutex_lock(&journal->lock);
	act = now_us > journal->last_act ? now_us : journal->last_act + 1;
	journal->last_act = act;
	pthread_mutex_unlock(&journal->lock);
	return act;
}

/*
 * Events
 */

/* How loud an event is in the log, and who it comes from; all others are plain news of the system. */
static const struct event_row {
	const char *code;
	const char *who;
	enum log_level level;
} event_rows[] = {
	{ "job_needs_you", "system", LEVEL_ERROR },    { "job_waiting", "system", LEVEL_WARN },
	{ "out_of_memory", "system", LEVEL_ERROR },
	{ "engine_was_killed", "system", LEVEL_WARN }, { "dlq_group", "system", LEVEL_WARN },
	{ "message_held_long", "system", LEVEL_WARN }, { "subscription_shared", "system", LEVEL_WARN },
	{ "schema_changed", "source", LEVEL_INFO },    { "replica_lost", "system", LEVEL_ERROR },
	{ "table_needs_you", "system", LEVEL_ERROR },  { "table_waiting", "system", LEVEL_WARN },
};

static struct event_row event_find(const char *code)
{
	for (size_t i = 0; i < sizeof(event_rows) / sizeof(event_rows[0]); i++) {
		if (strcmp(event_rows[i].code, code) == 0)
			return event_rows[i];
	}
	return (struct event_row){ code, "system", LEVEL_INFO };
}

/* A sentence may end inside a character where it was cut. */
static json_t *text_json(const char *text)
{
	json_t *value = json_string(text);
	OWNED(text) quoted = text_new(JOURNAL_LINE_MAX);

	if (value)
		return value;
	json_quote(quoted, span_of(text));
	return json_loads(quoted->at, JSON_DECODE_ANY, NULL);
}

void journal_event(struct engine *engine, const char *job, const char *table, const char *code, const char *sentence)
{
	struct event_row row = event_find(code);
	struct error err = { 0 };
	json_t *line;

	if (table)
		log_add(engine->log, row.level, "job", job, sentence,
		        LOG_FIELDS(FIELD_TEXT("code", code), FIELD_TEXT("table", table)));
	else
		log_add(engine->log, row.level, job ? "job" : "engine", job, sentence,
		        LOG_FIELDS(FIELD_TEXT("code", code)));
	if (!engine->journal)
		return;
	line = json_pack("{s:s, s:s, s:s*, s:o*, s:s, s:o}", "kind", "event", "who", row.who, "job",
	                 job, "table", table ? text_json(table) : NULL, "code", code, "text", text_json(sentence));
	if (!journal_add(engine->journal, line, false, &err))
		log_warn(engine->log, "journal", NULL, "a line could not be written", FIELD_TEXT("code", err.code),
		         FIELD_TEXT("message", err.message));
}
