/* Up to which letter a topic has all of them. Letters are numbered as they come, so one number says it. */
#include "dlq/dlq_private.h"

#include <stdio.h>

#define NAME_BYTES 480

bool dlq_published(struct dlq *dlq, const char *topic, int64_t *out_letter, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PUBLISHED_GET, err);
	char name[NAME_BYTES];
	bool has_row = false;

	if (!stmt)
		return false;
	snprintf(name, sizeof(name), "published %s", topic);
	store_bind_text(stmt, 1, span_of(name));
	if (!dlq_row(dlq, stmt, &has_row, err))
		return false;
	*out_letter = has_row ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_reset(stmt);
	return true;
}

bool dlq_set_published(struct dlq *dlq, const char *topic, int64_t letter, struct error *err)
{
	sqlite3_stmt *stmt = dlq_statement(dlq, PUBLISHED_SET, err);
	char name[NAME_BYTES];

	if (!stmt)
		return false;
	snprintf(name, sizeof(name), "published %s", topic);
	store_bind_text(stmt, 1, span_of(name));
	sqlite3_bind_int64(stmt, 2, letter);
	return dlq_run(dlq, stmt, err);
}
