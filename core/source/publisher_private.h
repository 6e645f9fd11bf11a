/* Shared by the rooms of the publisher. */
#ifndef WEIR_SOURCE_PUBLISHER_PRIVATE_H
#define WEIR_SOURCE_PUBLISHER_PRIVATE_H

#include "base/text.h"
#include "google/google.h"
#include "google/wait.h"
#include "source/publisher.h"
#include "source/subscription.h"

#define PUBLISH_CALL_MS 60000
#define PUBLISH_CALLS_MAX 4 /* under way at once; of a key one */

/* A request: being filled, waiting, under way, or waiting for its next try. */
struct publish_batch {
	struct publish_batch *next;
	struct text *request;
	uint64_t *tags;
	size_t count, bytes;
	int64_t opened_ms, begun_ms, due_ms;
	struct grpc_call *call; /* NULL: not under way */
	uint64_t token;
	bool was_renewed;       /* a token was not taken once */
	struct backoff wait;
};

/* What keeps its order: an ordering key, or all messages without one, which have no order among themselves. */
struct publish_lane {
	struct publish_lane *next;
	char *key;
	size_t key_len;
	struct publish_batch *first, *last; /* in order; the last may still be filled */
	bool is_paused;
};

struct publisher {
	struct publisher_setup setup;
	char topic[PUBSUB_NAME_BYTES];
	struct text *params;
	int bell;               /* eventfd: an answer came */
	struct publish_lane *lanes;
	size_t calls;           /* under way */
	struct publisher_counts counts;
};

/* Sends, receives, judges (publisher_send.c): one look at everything. True: something was answered. */
bool publisher_move(struct publisher *publisher, int64_t now_ms, bool sends_all);
/* When something is due by itself; INT64_MAX: nothing is. */
int64_t publisher_due_ms(const struct publisher *publisher);
void publish_batch_free(struct publish_batch *batch);
/* Each message of the batch is told of as not published, and the batch is freed. */
void publish_batch_fail(struct publisher *publisher, struct publish_batch *batch, const struct error *why);

#endif
