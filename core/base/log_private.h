/* Shared by the rooms of the log: the form of a line, the files, what is counted. */
#ifndef WEIR_BASE_LOG_PRIVATE_H
#define WEIR_BASE_LOG_PRIVATE_H

#include "base/log.h"

#define LOG_LINE_MAX 16384 /* of one JSON line: a sentence and some fields, each of limited length */
#define LOG_SENTENCE_MAX 1024
#define LOG_FIELD_MAX 512
#define LOG_NAME_MAX 64 /* job names have at most 63 bytes */
#define REPEATS 64      /* different failures that are counted at the same time */
#define REPEAT_MS 60000

struct log_line {
	uint64_t seq;
	enum log_level level;
	char job[LOG_NAME_MAX];
	char *json; /* owned, without newline */
	size_t len;
};

/* A JSON object; fields may be NULL. False: it does not fit. */
bool log_line_json(struct text *out, int64_t utc_us, enum log_level level, const char *part, const char *job,
                   const char *sentence, const struct log_field *fields);
/* The same for systemd's journal, with its priority in front and a newline. */
bool log_line_journal(struct text *out, enum log_level level, const char *part, const char *job, const char *sentence,
                      const struct log_field *fields);
/* Reads level and job back from a line of ours. False: it is none. */
bool log_line_parse(struct span json, enum log_level *out_level, char out_job[LOG_NAME_MAX]);

struct log_file {
	char *folder; /* NULL: no file */
	int fd;       /* -1: not open */
	uint64_t size, most;
	int count;
	uint64_t unwritten; /* lines since the last one that could be written */
};

void log_file_open(struct log_file *file);
void log_file_close(struct log_file *file);
/* A line with its newline. */
void log_file_write(struct log_file *file, struct span line);
/* Opens again what was renamed or deleted by others, or could not be opened. */
void log_file_tick(struct log_file *file);
/* At most `most` bytes off the end of the file, from the beginning of a line; the caller frees. */
char *log_file_tail(const struct log_file *file, size_t most, size_t *out_len);

/* A failure that was told, and how often it came since. */
struct log_repeat {
	bool is_used;
	uint64_t count;
	int64_t told_ms;
	enum log_level level;
	char part[LOG_NAME_MAX], job[LOG_NAME_MAX], code[LOG_NAME_MAX];
	char sentence[LOG_SENTENCE_MAX];
};

#endif
