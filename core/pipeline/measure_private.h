/*
 * What a committed batch tells about bytes and times, by the writer, once a
 * batch. Bytes and the oldest change of each table are exact; for the histograms
 * at most MEASURE_SAMPLES messages stand for all, evenly spread, the first and
 * with it the longest wait always among them.
 */
#ifndef WEIR_PIPELINE_MEASURE_PRIVATE_H
#define WEIR_PIPELINE_MEASURE_PRIVATE_H

#include "pipeline/progress.h"

#define MEASURE_SAMPLES 64

struct measure {
	uint64_t *bytes;     /* table_count + 1 */
	int64_t *oldest_us;
	size_t table_count;
	struct latency_sample samples[(MEASURE_SAMPLES + 1) * LATENCIES];
	size_t sample_count;
};

void measure_free(struct measure *measure);
/* `sum`: what the batch added to the ledger. The result is lent until the next call. */
void measure_batch(struct measure *measure, const struct batch *batch, size_t table_count, const struct ledger *sum,
                   struct batch_times *out);

#endif
