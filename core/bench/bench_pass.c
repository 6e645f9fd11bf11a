/* One pass over a feed without a destination: what reading, decoding and encoding cost by themselves. */
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "bench/bench_private.h"
#include "source/source.h"
#include "transform/transform.h"

#include <sodium.h>
#include <stdlib.h>

/* Pulls until the batch is full or the feed ends. The mark ends the batch for the source, too: it may still hold bytes
 * in the batch's arena. */
static bool fill(struct pass *pass, struct source *source, struct transform *transform, struct batch *batch,
                 struct error *err)
{
	int64_t until_ms = clock_mono_ms() + BATCH_AGE_MS, received_us = 0;

	while (!batch_is_full(batch)) {
		enum pulled pulled = source->ops->pull(source, batch, until_ms, err);
		struct message *message;

		if (pulled == PULLED_FAILED)
			return false;
		if (pulled != PULLED_MESSAGE) {
			batch->is_last = true;
			break;
		}
		message = &batch->messages[batch->message_count - 1];
		/* As often as the pipeline asks the clock. */
		if (batch->message_count % 64 == 1)
			received_us = clock_utc_us();
		message->received_us = received_us;
		if (transform && message->fate == MESSAGE_OPEN)
			transform->ops->apply(transform, batch, message);
		message->json = NULL;
	}
	source->ops->mark(source, batch);
	return bench_cancelled(pass->bench, err);
}

static bool all_batches(struct pass *pass, struct source *source, struct transform *transform, struct error *err)
{
	struct batch *batch = batch_new();
	bool is_fine = true;

	while (is_fine && !batch->is_last) {
		batch_reset(batch);
		is_fine = fill(pass, source, transform, batch, err);
		if (!is_fine)
			break;
		pass->messages += batch->message_count;
		pass->records += batch->record_count;
		pass->on_batch(pass->context, batch);
	}
	batch_free(batch);
	return is_fine;
}

static bool run_pass(struct pass *pass, struct transform *transform, struct error *err)
{
	const struct source_ops *ops = source_choose(pass->options, err);
	char *big = path_join(pass->bench->folder, "big");
	struct source_setup setup = { .options = pass->options, .big_folder = big };
	struct source *source = ops ? ops->open(&setup, err) : NULL;
	bool is_fine = source && all_batches(pass, source, transform, err);

	if (source)
		source->ops->close(source);
	free(big);
	return is_fine;
}

bool pass_read(struct pass *pass, struct error *err)
{
	return run_pass(pass, NULL, err);
}

bool pass_encode(struct pass *pass, struct error *err)
{
	const struct transform_ops *ops = transform_choose(pass->options, err);
	struct transform_setup setup = { .options = pass->options, .wants_proto = true };
	struct transform *transform = ops ? ops->open(&setup, err) : NULL;
	bool is_fine = transform && run_pass(pass, transform, err);

	if (transform)
		transform->ops->close(transform);
	return is_fine;
}

/* Four bytes of length, little-endian, before each row: rows cannot be cut differently with the same sum. */
static void hash_batch(void *context, const struct batch *batch)
{
	crypto_hash_sha256_state *hash = context;

	for (size_t i = 0; i < batch->record_count; i++) {
		struct span proto = batch->records[i].proto;
		unsigned char length[4];

		if (!proto.len)
			continue;
		for (int byte = 0; byte < 4; byte++)
			length[byte] = (unsigned char)(proto.len >> 8 * byte);
		crypto_hash_sha256_update(hash, length, sizeof(length));
		crypto_hash_sha256_update(hash, (const unsigned char *)proto.at, proto.len);
	}
}

bool pass_checksum(struct bench *bench, const struct job_options *options, json_t **out, struct error *err)
{
	crypto_hash_sha256_state hash;
	unsigned char sum[SHA256_BYTES];
	char text[SHA256_TEXT_BYTES];
	struct pass pass = { .bench = bench, .options = options, .on_batch = hash_batch, .context = &hash };

	crypto_hash_sha256_init(&hash);
	if (!pass_encode(&pass, err))
		return false;
	crypto_hash_sha256_final(&hash, sum);
	sha256_text(sum, text);
	*out = json_pack("{s:I, s:s}", "messages", (json_int_t)pass.messages, "checksum", text);
	return true;
}

bool bench_describe_feed(struct bench *bench, const struct bench_job *job, struct bench_result *out, struct error *err)
{
	json_t *feed;

	if (!pass_checksum(bench, job->options, &feed, err))
		return false;
	if (!out->more)
		out->more = json_object();
	json_object_update(out->more, feed);
	json_decref(feed);
	return true;
}
