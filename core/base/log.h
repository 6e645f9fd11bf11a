/*
 * The log of the engine: structured lines in a ring in memory (the logs screen)
 * and in files that rotate by size. A line is time, level, part, job, sentence
 * and fields. The sentence stays the same each time; what varies is a field, so
 * that the same failure can be counted instead of told again. Whoever owns a
 * thread logs: engine and runner. Libraries return errors. No secret has a way
 * in: fields are numbers and short texts that the caller names one by one,
 * payloads only ever appear as the number of their letter.
 */
#ifndef WEIR_BASE_LOG_H
#define WEIR_BASE_LOG_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum log_level {
	LEVEL_DEBUG, /* for us */
	LEVEL_INFO,  /* a state a person would tell a colleague */
	LEVEL_WARN,  /* it went wrong and we handled it */
	LEVEL_ERROR, /* somebody must act */
	LOG_LEVELS
};

const char *log_level_name(enum log_level level);
bool log_level_find(const char *name, enum log_level *out);

struct log_field {
	const char *name; /* NULL: the end of the list */
	const char *text; /* NULL: the number counts */
	int64_t number;
};

#define FIELD_INT(name, number) { (name), NULL, (number) }
#define FIELD_TEXT(name, text) { (name), (text), 0 }

/* Zeros mean the defaults; tests shrink them. */
struct log_setup {
	const char *folder;   /* of weird.log, made when missing; NULL: memory only */
	enum log_level least; /* what is less than this is dropped; 0 is LEVEL_DEBUG */
	size_t ring_lines;    /* 10,000 */
	size_t ring_bytes;    /* 8 MiB */
	uint64_t file_bytes;  /* 10 MiB, then weird.log becomes weird.log.1 */
	int file_count;       /* 5, with the one that is written */
	bool to_stderr;       /* with the priorities that systemd's journal reads */
	/* Lent each new line while the log is locked: it must not wait, nor log. NULL: nobody listens. */
	void (*on_line)(void *context, enum log_level level, const char *json);
	void *context;
};

struct log;

/* Never fails: without a file the ring goes on, and the file is tried again. Lines that an earlier engine left at the end
 * of the file are in the ring, too. */
struct log *log_open(const struct log_setup *setup);
void log_close(struct log *log);

/* Is our standard error connected to systemd's journal (JOURNAL_STREAM)? */
bool log_is_journaled(void);

/* From any thread. `job` may be NULL. A NULL log takes nothing. A warning or error that is told again within a minute is
 * only counted; log_tick tells the count. */
void log_add(struct log *log, enum log_level level, const char *part, const char *job, const char *sentence,
             const struct log_field *fields);
#define LOG_FIELDS(...) ((const struct log_field[]){ __VA_ARGS__ __VA_OPT__(,) { NULL, NULL, 0 } })
#define log_debug(log, part, job, sentence, ...) log_add(log, LEVEL_DEBUG, part, job, sentence, LOG_FIELDS(__VA_ARGS__))
#define log_info(log, part, job, sentence, ...) log_add(log, LEVEL_INFO, part, job, sentence, LOG_FIELDS(__VA_ARGS__))
#define log_warn(log, part, job, sentence, ...) log_add(log, LEVEL_WARN, part, job, sentence, LOG_FIELDS(__VA_ARGS__))
#define log_error(log, part, job, sentence, ...) log_add(log, LEVEL_ERROR, part, job, sentence, LOG_FIELDS(__VA_ARGS__))

/* Now and then: tells what was counted, opens a file that was taken away. */
void log_tick(struct log *log, int64_t mono_ms);

/*
 * Reading. A reader keeps the number of the last line it has seen.
 */
struct log_filter {
	enum log_level least;
	const char *job; /* NULL: all */
};

/* The number behind which the newest `limit` lines follow. */
uint64_t log_back(struct log *log, const struct log_filter *filter, size_t limit);
/* The next line behind *seq as a JSON object, or NULL; the caller frees. *seq moves on; *out_skipped counts lines that
 * left the ring unread. */
char *log_next(struct log *log, const struct log_filter *filter, uint64_t *seq, uint64_t *out_skipped);
/* Waits for any line behind `seq`. False: `wait_ms` passed. */
bool log_wait(struct log *log, uint64_t seq, int64_t wait_ms);

#endif
