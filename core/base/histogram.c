/* Histograms: bucket 0..3 hold 0..3 us, then four buckets for each power of two. */
#include "base/histogram.h"

#include <stdbool.h>

static size_t bucket_of(uint64_t took_us)
{
	unsigned power;
	size_t bucket;

	if (took_us < 4)
		return (size_t)took_us;
	power = 63u - (unsigned)__builtin_clzll(took_us);
	bucket = (power - 1) * 4 + ((took_us >> (power - 2)) & 3);
	return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

/* The largest value that falls into a bucket. */
static uint64_t bucket_end(size_t bucket)
{
	size_t power = bucket / 4 + 1;

	if (bucket < 4)
		return bucket;
	return ((uint64_t)(4 + bucket % 4 + 1) << (power - 2)) - 1;
}

void histogram_add(struct histogram *histogram, int64_t took_us, uint64_t weight)
{
	uint64_t took = took_us > 0 ? (uint64_t)took_us : 0;

	histogram->count += weight;
	histogram->sum_us += took * weight;
	if (took > histogram->max_us && weight)
		histogram->max_us = took;
	histogram->buckets[bucket_of(took)] += weight;
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
	to->count += from->count;
	to->sum_us += from->sum_us;
	if (from->max_us > to->max_us)
		to->max_us = from->max_us;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->buckets[i] += from->buckets[i];
}

uint64_t histogram_percentile(const struct histogram *histogram, unsigned percent)
{
	uint64_t rank = (histogram->count * percent + 99) / 100, seen = 0;

	for (size_t i = 0; histogram->count && i < HISTOGRAM_BUCKETS; i++) {
		seen += histogram->buckets[i];
		if (seen >= rank && seen)
			return bucket_end(i) < histogram->max_us ? bucket_end(i) : histogram->max_us;
	}
	return 0;
}

uint64_t histogram_below(const struct histogram *histogram, uint64_t limit_us)
{
	uint64_t count = 0;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS && bucket_end(i) <= limit_us; i++)
		count += histogram->buckets[i];
	return count;
}
