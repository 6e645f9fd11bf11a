/*
 * How long to wait before the next try: what the other side asks for
 * (Retry-After, RetryInfo), and a back-off with jitter where it asks for nothing.
 */
#ifndef WEIR_GOOGLE_WAIT_H
#define WEIR_GOOGLE_WAIT_H

#include "base/span.h"

#define WAIT_LONGEST_MS INT64_C(86400000) /* what is asked for beyond a day is a day */

/* The value of Retry-After: seconds ("120"), or an HTTP date in any of its three forms. A moment that is over is 0.
 * False: neither. */
bool wait_read_retry_after(struct span value, int64_t now_utc_us, int64_t *out_ms);
/* An HTTP date (RFC 9110 5.6.7): "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
 * "Sun Nov  6 08:49:37 1994". Two digits of a year mean the one nearest to now, at most 50 years ahead. */
bool wait_read_date(struct span value, int64_t now_utc_us, int64_t *out_utc_s);
/* protobuf's Duration as JSON writes it: "3.5s". Negative ones are 0. */
bool wait_read_duration(struct span value, int64_t *out_ms);

/* A back-off: each wait is a random part of a growing bound, so that many who failed together come back apart. Not for
 * two threads at once. */
struct backoff {
	int64_t first_ms, most_ms;
	double factor;
	int64_t bound_ms;   /* of the next wait; 0: first */
	uint64_t random;    /* state; 0: seeded at first use */
};
#define BACKOFF(first, most, times) { .first_ms = (first), .most_ms = (most), .factor = (times) }

/* The next wait: between half of the bound and the bound, at least `asked_ms` (with up to a tenth more, for the same
 * reason). */
int64_t backoff_next(struct backoff *backoff, int64_t asked_ms);
void backoff_reset(struct backoff *backoff); /* after a success */

#endif
