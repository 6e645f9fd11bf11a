/* Shared by the rooms of the journal. */
#ifndef WEIR_ENGINE_JOURNAL_PRIVATE_H
#define WEIR_ENGINE_JOURNAL_PRIVATE_H

#include "engine/journal.h"

#include <pthread.h>

#define JOURNAL_LINE_MAX (256 << 10)
/* 128 MiB: a start and its end take about 1 KB. */
#define JOURNAL_FILE_BYTES (INT64_C(8) << 20)
#define JOURNAL_FILES 16

/* Refused tries of the last minute (journal_refused.c); 256 are ten users with every command there is. */
#define REFUSED_TRIES 256
struct refused_try {
	const char *what;     /* of the command table */
	char who[64];
	int64_t uid;
	int64_t until_ms;     /* those that come before are counted */
	uint64_t more;
};
struct refused_tries {
	struct refused_try of[REFUSED_TRIES];
	uint64_t others;      /* for which there was no place */
};

struct journal {
	pthread_mutex_t lock;
	char *path;
	int fd;       /* -1: not open; else the same number until the end */
	bool is_torn; /* the file ends inside a line */
	int64_t file_bytes;  /* one that would become larger moves back (journal_files.c); a test has it smaller */
	int files;           /* with the one that grows; at least 2 */
	uint64_t turns;      /* how often they have moved */
	int64_t turn_again_bytes; /* 0, or how large it has to be before it is tried again */
	bool is_stuck_told;       /* that the last file cannot be dropped */
	bool is_aside_told;       /* that the lines are dropped of the file that still lies aside */
	int64_t last_act;
	struct refused_tries refused;
	void (*on_line)(void *context, const json_t *line);
	void *context;
};

/* A line without a time, which is taken, at the end of the file that grows. */
bool journal_append_locked(struct journal *journal, json_t *line, struct error *err);
/* With so many bytes more the file that grows would be too large: it makes room for a new one, which is to be opened. False: it
 * goes on growing. */
bool journal_turn_locked(struct journal *journal, size_t more_bytes);
/* Opened for reading; see journal_files.c. */
int journal_open_older(struct journal *journal, uint64_t turns, int number);

/* A number for an act: larger than those before, also than those of engines before. */
int64_t journal_next_act(struct journal *journal);

struct call;

/* True: the same user has been refused the same command within a minute, so it is counted instead of written. */
bool journal_refused_counts(struct journal *journal, const struct call *call, const char *what);

/* Arguments of a call as the journal keeps them: nothing secret, nothing long. A new reference. */
json_t *journal_args(const json_t *args);
/* A text of that name: hidden if it looks like a secret, cut if it is long. A new reference. */
json_t *journal_safe_text(const char *name, const char *text);
/* The command as one would type it. Caller frees. */
char *journal_command_text(const struct command *command, const json_t *args);

#endif
