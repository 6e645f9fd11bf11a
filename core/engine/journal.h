/*
 * The journal: who did what, from where and why, and what the system did by
 * itself, in one list; $WEIR_HOME/journal.jsonl, one JSON object a line, and
 * its older files behind it (journal_files.c). Lines are only ever appended;
 * the oldest are dropped a file at a time, which the event `journal_trimmed` tells. An act has a line before and one after it, both on the disk
 * before anything goes on: an act without an end was cut off. Events are not
 * synced, and never fail.
 *
 *   {"time","kind":"act","act":N,"phase":"before|after|failed|refused","who","uid","pid","ssh_as_client_said",
 *    "what","args","text","job","table","why","change":{"before","after"},"exit","code","message"}
 *   {"time","kind":"note","who","uid","pid","ssh_as_client_said","job","table","text"}
 *   {"time","kind":"event","who":"system","job","table","code","text"}
 */
#ifndef WEIR_ENGINE_JOURNAL_H
#define WEIR_ENGINE_JOURNAL_H

#include "base/error.h"

#include <jansson.h>

struct engine;
struct call;
struct command;
struct journal;

/* Never fails: a file that cannot be opened is tried again by each line. `on_line` (may be NULL) is lent each line that
 * was written, from whatever thread wrote it. */
struct journal *journal_open(const char *path, void (*on_line)(void *context, const json_t *line), void *context);
void journal_close(struct journal *journal);

/* One line; `line` is taken. With `is_synced` it is on the disk when this returns. */
bool journal_add(struct journal *journal, json_t *line, bool is_synced, struct error *err);

/*
 * What commands and jobs use.
 */

/* Around each operate and admin command, by call_dispatch. False: the line cannot be written, so the act must not
 * happen. */
bool journal_act_begin(struct call *call, const struct command *command, struct error *err);
void journal_act_end(struct call *call, const struct command *command, bool is_fine, const struct error *err);
/* A session that may not do this has tried. */
/* Writes down what was counted of refused tries: those whose minute is over, or all. */
void journal_refused_settle(struct journal *journal, bool all);
void journal_act_refused(struct call *call, const struct command *command, const struct error *err);
/* Inside an act: what it changed, for the line after it ("schemaChanges: add", "schemaChanges: reject"). NULLs: none. */
void journal_act_changed(struct call *call, const char *before, const char *after);
/* The same from lines "NAME: OLD -> NEW" (job_options_difference). */
void journal_act_difference(struct call *call, const char *lines);
/* Inside an act that names its job otherwise than by the argument "job" (a file). */
void journal_act_job(struct call *call, const char *job);

/* Something happened by itself; also a line of the log. `job` and `table` may be NULL. From any thread. */
void journal_event(struct engine *engine, const char *job, const char *table, const char *code, const char *sentence);

/*
 * Reading, newest first, without reading more of the file than is wanted.
 */
struct journal_filter {
	const char *job;   /* NULL: all */
	const char *table; /* "DATASET.TABLE": its lines and those that name no table; NULL: all */
	bool with_jobless; /* besides those of `job` also the lines that name no job */
	bool causes_only;  /* what may be the cause of something: acts and notes of people, changes of the table's schema, letters of
	                    * a new kind in it; an act is told by its end */
	const char *what;  /* a word in what, code, kind, who or text; NULL: all */
	int64_t since_us;  /* 0: from the beginning */
	int64_t until_us;  /* only lines before it; 0: all */
	size_t limit;        /* of lines that tell something: the beginning of an act that has ended is not counted */
	bool without_ended;  /* such beginnings do not come at all; else they come besides */
	size_t bytes_max; /* do not look further back than this; 0: all files */
};

/* The newest lines that fit, oldest of them first; a new array. An act's "before" whose end is among the lines seen has
 * "ended":true. */
json_t *journal_read(struct journal *journal, const struct journal_filter *filter, struct error *err);

/* "02:30", "2026-11-30", "2026-11-30T02:30:00Z", "90s", "15m", "2h", "7d": UTC, never in the future. */
bool journal_time(const char *text, int64_t now_us, int64_t *out_us, struct error *err);

#endif
