/* Bytes and times of a batch, read off once it is committed. */
#include "pipeline/measure_private.h"

#include "base/arena.h"
#include "base/clock.h"
#include "transform/transform.h"

#include <stdlib.h>
#include <string.h>

void measure_free(struct measure *measure)
{
	free(measure->bytes);
	free(measure->oldest_us);
}

static void make_room(struct measure *measure, size_t table_count)
{
	if (!measure->bytes || table_count > measure->table_count) {
		measure->bytes = memory_grow(measure->bytes, (table_count + 1) * sizeof(*measure->bytes));
		measure->oldest_us = memory_grow(measure->oldest_us, (table_count + 1) * sizeof(*measure->oldest_us));
	}
	measure->table_count = table_count;
	memset(measure->bytes, 0, (table_count + 1) * sizeof(*measure->bytes));
	memset(measure->oldest_us, 0, (table_count + 1) * sizeof(*measure->oldest_us));
	measure->sample_count = 0;
}

/* When the source committed it; 0: it does not say. */
static int64_t source_us(const struct batch *batch, const struct message *message)
{
	return message->record_count ? batch->records[message->first_record].timestamp_ms * 1000 : 0;
}

static uint64_t body_bytes(const struct message *message)
{
	return message->big ? message->big->size : message->body.len;
}

static size_t table_of(const struct measure *measure, const struct message *message)
{
	return message->table < measure->table_count ? message->table : measure->table_count;
}

static void count_message(struct measure *measure, const struct batch *batch, const struct message *message)
{
	size_t table = table_of(measure, message);
	int64_t at_us = source_us(batch, message);

	measure->bytes[table] += body_bytes(message);
	if (at_us > 0 && (!measure->oldest_us[table] || at_us < measure->oldest_us[table]))
		measure->oldest_us[table] = at_us;
}

struct stretch {
	size_t table;
	int64_t from_us, to_us;
	uint64_t weight;
};

static void add_sample(struct measure *measure, enum latency which, struct stretch stretch)
{
	if (stretch.from_us > 0 && stretch.to_us > 0)
		measure->samples[measure->sample_count++] = (struct latency_sample){ which, stretch.table,
			                                                             stretch.to_us - stretch.from_us, stretch.weight };
}

static void sample_message(struct measure *measure, const struct batch *batch, const struct message *message,
                           int64_t committed_us, uint64_t weight)
{
	size_t table = table_of(measure, message);
	int64_t at_us = source_us(batch, message), published_us = 0;

	if (!message_published(message, &published_us))
		published_us = 0;
	add_sample(measure, LATENCY_PUBLISH, (struct stretch){ table, at_us, published_us, weight });
	add_sample(measure, LATENCY_RECEIVE, (struct stretch){ table, published_us, message->received_us, weight });
	add_sample(measure, LATENCY_CHANGELOG, (struct stretch){ table, message->received_us, committed_us, weight });
	add_sample(measure, LATENCY_LAG, (struct stretch){ table, at_us, committed_us, weight });
}

static void sample_batch(struct measure *measure, const struct batch *batch, int64_t committed_us)
{
	size_t step = batch->message_count / MEASURE_SAMPLES + 1;

	for (size_t i = 0; i < batch->message_count; i += step) {
		size_t left = batch->message_count - i;

		sample_message(measure, batch, &batch->messages[i], committed_us, left < step ? left : step);
	}
	/* opened_ms is of the clock that never jumps. */
	if (batch->message_count && batch->opened_ms)
		add_sample(measure, LATENCY_BATCH,
		           (struct stretch){ measure->table_count, 1, 1 + (clock_mono_ms() - batch->opened_ms) * 1000, 1 });
}

/* Mostly all of it was written, and no message is looked at again. */
static uint64_t written_bytes(const struct measure *measure, const struct batch *batch, const struct ledger *sum)
{
	uint64_t bytes = 0;

	for (size_t i = 0; sum->written == sum->received && i <= measure->table_count; i++)
		bytes += measure->bytes[i];
	for (size_t i = 0; sum->written != sum->received && i < batch->message_count; i++) {
		if (message_is_written(batch, &batch->messages[i]))
			bytes += body_bytes(&batch->messages[i]);
	}
	return bytes;
}

void measure_batch(struct measure *measure, const struct batch *batch, size_t table_count, const struct ledger *sum,
                   struct batch_times *out)
{
	int64_t committed_us = clock_utc_us(), oldest_us = 0;

	make_room(measure, table_count);
	for (size_t i = 0; i < batch->message_count; i++)
		count_message(measure, batch, &batch->messages[i]);
	sample_batch(measure, batch, committed_us);
	for (size_t i = 0; i <= table_count; i++) {
		if (measure->oldest_us[i] && (!oldest_us || measure->oldest_us[i] < oldest_us))
			oldest_us = measure->oldest_us[i];
	}
	*out = (struct batch_times){
		.committed_us = committed_us,
		.lag_us = oldest_us ? committed_us - oldest_us : -1,
		.written_bytes = written_bytes(measure, batch, sum),
		.bytes = measure->bytes,
		.oldest_us = measure->oldest_us,
		.table_count = table_count,
		.samples = measure->samples,
		.sample_count = measure->sample_count,
	};
}
