/*
 * Days, times of day and instants as numbers and texts. The calendar is the
 * proleptic Gregorian one, years 1 to 9999.
 */
#ifndef WEIR_RECORD_TYPE_TIME_PRIVATE_H
#define WEIR_RECORD_TYPE_TIME_PRIVATE_H

#include "record/type_private.h"

#define DAYS_LEAST INT64_C(-719162)
#define DAYS_MOST INT64_C(2932896)
#define HOUR_US INT64_C(3600000000)
#define DAY_US INT64_C(86400000000)
#define STAMP_LEAST (DAYS_LEAST * DAY_US)
#define STAMP_MOST ((DAYS_MOST + 1) * DAY_US - 1)

struct civil {
	int64_t year;
	unsigned month, day;
};

int64_t civil_days(const struct civil *civil); /* since 1970-01-01 */
struct civil civil_from_days(int64_t days);    /* DAYS_LEAST..DAYS_MOST */
unsigned civil_month_days(int64_t year, unsigned month);

char *date_print(int64_t days, char *at);
char *clock_print(int64_t us, char *at);
/* ":04:05.123456", what stands behind the hour. Fractions have six digits or none. */
char *minutes_print(int64_t us, char *at);

enum time_fault { TIME_FINE, TIME_SYNTAX, TIME_BELOW, TIME_ABOVE };

/* Text of a DATE, TIME, DATETIME or TIMESTAMP. Below or above the range *out is the near end. */
enum time_fault time_parse(enum bq_kind kind, struct span text, int64_t *out);
/* Only 2017-09-15T04:05:11.789Z, as nearly every instant is written: with any fraction or none. */
bool time_parse_plain(struct span text, int64_t *out_us);
/* A number into the range of a temporal kind. */
enum time_fault time_clamp(enum bq_kind kind, int64_t *number);
/* From `unit` in a second to microseconds; nanoseconds are cut as their text would be, toward the past. False: beyond
 * 64 bits. */
bool time_to_micro(int64_t *number, int64_t unit);
enum convert_result reading_time(struct reading *r, enum bq_kind kind, enum time_fault fault);

struct interval {
	int64_t months, days, us;
};

/* P1Y2M3DT4H5M6.78S or Y-M D H:M:S.F. */
enum time_fault interval_parse(struct span text, struct interval *out);
/* sum + amount * unit; once at an end of 64 bits it stays there. */
int64_t interval_add(int64_t sum, int64_t amount, int64_t unit);
enum time_fault interval_clamp(struct interval *interval);
#define INTERVAL_TEXT_BYTES 64
char *interval_print(const struct interval *interval, char *at);
enum convert_result reading_interval(struct reading *r, const struct interval *interval, enum time_fault fault,
                                     struct cell *out);

#endif
