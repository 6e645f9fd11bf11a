/*
 * Failing well in one line, and the one table that turns a kind of failure into
 * behaviour.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct error_policy error_policies[ERROR_KINDS] = {
	[ERROR_NONE]        = { "none",        BATCH_GOES_ON, JOB_GOES_ON,        0 },
	[ERROR_TRANSIENT]   = { "transient",   BATCH_RETRY,   JOB_GOES_ON,        69 },
	[ERROR_RECORD]      = { "record",      BATCH_SPLIT,   JOB_GOES_ON,        1 },
	[ERROR_USAGE]       = { "usage",       BATCH_KEEP,    JOB_NEEDS_OPERATOR, 2 },
	[ERROR_CONFIG]      = { "config",      BATCH_KEEP,    JOB_NEEDS_OPERATOR, 78 },
	[ERROR_ACCESS]      = { "access",      BATCH_KEEP,    JOB_NEEDS_OPERATOR, 77 },
	[ERROR_UNREACHABLE] = { "unreachable", BATCH_RETRY,   JOB_GOES_ON,        69 },
	[ERROR_CANCELLED]   = { "cancelled",   BATCH_KEEP,    JOB_STOPS,          1 },
	[ERROR_BUG]         = { "bug",         BATCH_KEEP,    JOB_NEEDS_OPERATOR, 70 },
};

/* What errno means to us; everything else is io_error. */
static const struct errno_row {
	int number;
	enum error_kind kind;
	const char *code;
} errno_rows[] = {
	{ ENOSPC, ERROR_TRANSIENT, "disk_full" },
	{ EDQUOT, ERROR_TRANSIENT, "disk_full" },
	{ EACCES, ERROR_ACCESS,    "no_permission" },
	{ EPERM,  ERROR_ACCESS,    "no_permission" },
	{ EROFS,  ERROR_ACCESS,    "no_permission" },
	{ ELOOP,  ERROR_ACCESS,    "no_permission" }, /* O_NOFOLLOW met a link */
	{ EMFILE, ERROR_TRANSIENT, "no_descriptors" },
	{ ENFILE, ERROR_TRANSIENT, "no_descriptors" },
	{ ENOMEM, ERROR_TRANSIENT, "out_of_memory" },
};

/* Copies what fits and never ends inside a character: messages are shown as UTF-8. */
static void text_fit(char *out, size_t room, const char *text)
{
	size_t len = strnlen(text, room);

	if (len == room) {
		len = room - 1;
		while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
	}
	memmove(out, text, len);
	out[len] = '\0';
}

/* Message and code may point into `err` itself, so both are made beside it. */
static void error_fill(struct error *err, enum error_kind kind, const char *code, const char *message)
{
	struct error filled = { .kind = kind };

	text_fit(filled.code, sizeof(filled.code), code);
	text_fit(filled.message, sizeof(filled.message), message);
	*err = filled;
}

bool fail(struct error *err, enum error_kind kind, const char *code, const char *format, ...)
{
	char message[2 * sizeof(err->message)];
	va_list args;

	if (!err)
		return false;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	error_fill(err, kind, code, message);
	return false;
}

/* Formats into `room` bytes; like all messages it ends between characters. */
__attribute__((format(printf, 3, 0)))
static void format_fit(char *out, size_t room, const char *format, va_list args)
{
	char whole[2 * sizeof(((struct error *)NULL)->message)];

	vsnprintf(whole, sizeof(whole), format, args);
	text_fit(out, room, whole);
}

/* However long the context is, the reason behind it must stay readable. */
#define CONTEXT_BYTES (sizeof(((struct error *)NULL)->message) / 2)

bool because(struct error *err, const char *format, ...)
{
	char context[CONTEXT_BYTES];
	char message[2 * sizeof(err->message)];
	va_list args;

	if (!err)
		return false;
	va_start(args, format);
	format_fit(context, sizeof(context), format, args);
	va_end(args);
	snprintf(message, sizeof(message), "%s: %s", context, err->message);
	text_fit(err->message, sizeof(err->message), message);
	return false;
}

static const struct errno_row *errno_row_find(int number)
{
	static const struct errno_row other = { 0, ERROR_TRANSIENT, "io_error" };

	for (size_t i = 0; i < sizeof(errno_rows) / sizeof(errno_rows[0]); i++) {
		if (errno_rows[i].number == number)
			return &errno_rows[i];
	}
	return &other;
}

bool fail_errno(struct error *err, int error_number, const char *format, ...)
{
	char context[sizeof(err->message) - 130];
	char message[2 * sizeof(err->message)];
	char reason[128];
	va_list args;

	if (!err)
		return false;
	va_start(args, format);
	format_fit(context, sizeof(context), format, args);
	va_end(args);

	const struct errno_row *row = errno_row_find(error_number);

	snprintf(message, sizeof(message), "%s: %s", context, strerror_r(error_number, reason, sizeof(reason)));
	error_fill(err, row->kind, row->code, message);
	return false;
}
