/*
 * How long something took, many times: counts in buckets that grow by a fourth
 * of a power of two, so that a percentile is right within a fourth, from a
 * microsecond to years, in 2 KiB.
 */
#ifndef WEIR_BASE_HISTOGRAM_H
#define WEIR_BASE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BUCKETS 232

struct histogram {
	uint64_t count, sum_us, max_us;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* `weight` events that took `took_us` each; a clock that went backwards counts as nothing. */
void histogram_add(struct histogram *histogram, int64_t took_us, uint64_t weight);
void histogram_merge(struct histogram *to, const struct histogram *from);
/* The upper end of the bucket in which `percent` of the events lie, never above the longest; 0 when there is none. */
uint64_t histogram_percentile(const struct histogram *histogram, unsigned percent);
/* Events that took at most so long: whole buckets only. */
uint64_t histogram_below(const struct histogram *histogram, uint64_t limit_us);

#endif
