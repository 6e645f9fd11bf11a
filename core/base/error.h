/*
 * What went wrong, for three readers at once: the kind tells the engine what to
 * do, the code tells scripts, the message tells people. The code is a row of
 * base/reasons.def, which also holds the next step.
 */
#ifndef WEIR_BASE_ERROR_H
#define WEIR_BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

enum error_kind {
	ERROR_NONE,
	ERROR_TRANSIENT,   /* the same bytes may succeed later */
	ERROR_RECORD,      /* this record can never succeed */
	ERROR_USAGE,       /* the command line is wrong */
	ERROR_CONFIG,      /* the job or the set-up is wrong */
	ERROR_ACCESS,      /* credentials or permissions */
	ERROR_UNREACHABLE, /* the engine or a service does not answer */
	ERROR_CANCELLED,   /* we were asked to stop */
	ERROR_BUG,         /* our own mistake, or a damaged file of ours */
	ERROR_KINDS
};

struct error {
	enum error_kind kind;
	char code[40];          /* a row of reasons.def: "unknown_column" */
	char message[512];      /* lower case, no full stop: what failed, then why */
	int64_t retry_after_ms; /* what the other side asked for, or 0 */
};

enum batch_fate { BATCH_GOES_ON, BATCH_RETRY, BATCH_SPLIT, BATCH_KEEP };
enum job_fate { JOB_GOES_ON, JOB_NEEDS_OPERATOR, JOB_STOPS };

struct error_policy {
	const char *name;
	enum batch_fate batch;
	enum job_fate job;
	int exit_status; /* commands.md "Command line" */
};

extern const struct error_policy error_policies[ERROR_KINDS];

/* Fills `err` (which may be NULL) and returns false, so that failing is one line. */
bool fail(struct error *err, enum error_kind kind, const char *code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Puts context in front of the message: "opening job 'x': ..."; returns false. */
bool because(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* fail() for a system call: kind and code follow from errno (ENOSPC disk_full,
 * EACCES, EPERM and EROFS no_permission, EMFILE no_descriptors, ENOMEM out_of_memory, else io_error);
 * the message gets ": " and the text of errno. */
bool fail_errno(struct error *err, int error_number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
