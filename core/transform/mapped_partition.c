/*
 * JSON rows whose table name is that of a partition, "orders$20240131": insertAll
 * takes rows for daily partitions, the Storage Write API for tables alone. The
 * table is the one without the sign; the day goes with the row.
 */
#include "transform/mapped_private.h"

static bool is_day(struct span text)
{
	static const int days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int year = 0, month, day;

	for (size_t i = 0; i < 4; i++)
		year = year * 10 + text.at[i] - '0';
	month = (text.at[4] - '0') * 10 + text.at[5] - '0';
	day = (text.at[6] - '0') * 10 + text.at[7] - '0';
	if (year < 1 || month < 1 || month > 12 || day < 1 || day > days[month - 1])
		return false;
	return month != 2 || day < 29 || (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
}

/* Digits behind the sign: what may be a partition, of whichever kind. */
static bool has_partition(struct span name, struct span *out_table, struct span *out_partition)
{
	const char *sign = name.len ? memchr(name.at, '$', name.len) : NULL;

	if (!sign)
		return false;
	*out_table = span_make(name.at, (size_t)(sign - name.at));
	*out_partition = span_make(sign + 1, name.len - out_table->len - 1);
	for (size_t i = 0; i < out_partition->len; i++) {
		if (out_partition->at[i] < '0' || out_partition->at[i] > '9')
			return false;
	}
	return out_partition->len > 0;
}

bool mapped_take_partition(struct debezium *d, struct event *e, struct span *inout_name)
{
	const struct job_options *options = d->options;
	struct span name = *inout_name, table, day;

	if (!has_partition(name, &table, &day) || !name_is_allowed(NAME_TABLE, table))
		return true;
	if (options->use_storage_write_api)
		return REFUSE_MAP(e, "bad_destination", NOTHING, NOTHING, "outputTableNameTemplate: '%.*s' is a partition, and the Storage Write "
		                  "API writes into tables; use insertAll (useStorageWriteApi=false)", SPAN_ARG(name));
	if (day.len != 8 || !is_day(day) || (options->partition != PARTITION_NONE && options->partition != PARTITION_DAY))
		return REFUSE_MAP(e, "bad_destination", NOTHING, NOTHING, "outputTableNameTemplate: '%.*s' is no daily partition (TABLE$YYYYMMDD), "
		                  "and insertAll takes rows for no others", SPAN_ARG(name));
	*inout_name = table;
	e->partition = day;
	return true;
}
