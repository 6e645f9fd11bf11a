/*
 * BigQuery's limits on calls, kept on our side: a call that would be refused waits
 * here instead, and says so.
 */
#include "sink/bigquery_table_private.h"

/* `calls` in `window_ms`, together or spread. Below what BigQuery allows, since others of the project call too. Source:
 * BigQuery's page "Quotas and limits"; a test server's clock may run faster, ours never does. */
static const struct quota_row {
	int64_t calls, window_ms;
	const char *words;
} quota_rows[QUOTAS] = {
	[QUOTA_TABLE_GET] = { 80, 1000, "80 look-ups of tables in a second" },
	[QUOTA_TABLE_INSERT] = { 10, 1000, "10 tables made in a second" },
	[QUOTA_TABLE_UPDATE] = { 5, 10000, "5 changes of one table in 10 seconds" },
	[QUOTA_STREAM_CREATE] = { 40, 1000, "40 write streams made in a second" },
	[QUOTA_STREAM_GET] = { 40, 1000, "40 look-ups of write streams in a second" },
	[QUOTA_INSERT_ALL] = { 80, 1000, "80 insertAll calls in a second" },
};

const char *quota_words(enum quota quota)
{
	return quota_rows[quota].words;
}

/* Each call uses up its part of the window; all of a window may be used at once. */
bool limiter_take(struct limiter *limiter, enum quota quota, int64_t now_ms, int64_t *out_until_ms)
{
	const struct quota_row *row = &quota_rows[quota];
	int64_t part_us = row->window_ms * 1000 / row->calls, now_us = now_ms * 1000;
	int64_t from_us = limiter->used_us > now_us ? limiter->used_us : now_us;
	int64_t free_us = from_us + part_us - row->window_ms * 1000;

	if (free_us > now_us) {
		*out_until_ms = (free_us + 999) / 1000;
		return false;
	}
	limiter->used_us = from_us + part_us;
	return true;
}
