/*
 * Retry-After, HTTP dates and durations: what is read lies within a day and inside
 * the calendar, and a date that was read is the one that the C library prints.
 */
#include "google/wait.h"

#include <stdlib.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition) do { if (!(condition)) abort(); } while (0)
#define NOW_US INT64_C(1764504000000000)

static void check_date(int64_t utc_s)
{
	time_t moment = (time_t)utc_s;
	char text[64];
	struct tm utc;
	int64_t again;

	MUST(utc_s >= INT64_C(-62200000000) && utc_s <= INT64_C(253402300800));
	MUST(gmtime_r(&moment, &utc));
	if (utc.tm_year + 1900 < 1000)
		return; /* strftime pads no year */
	MUST(strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &utc) > 0);
	MUST(wait_read_date(span_of(text), NOW_US, &again) && again == utc_s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = { (const char *)data, size };
	int64_t number;

	if (wait_read_retry_after(text, NOW_US, &number))
		MUST(number >= 0 && number <= WAIT_LONGEST_MS);
	if (wait_read_duration(text, &number))
		MUST(number >= 0 && number <= WAIT_LONGEST_MS);
	if (wait_read_date(text, NOW_US, &number))
		check_date(number);
	return 0;
}
