/*
 * Publishing to one topic: batches, flow control, ordering keys, tries. A publisher
 * belongs to one thread; what it has under way moves when that thread adds, steps or
 * flushes. Each message is told of once, by its tag: published, or why not.
 *
 * Order: messages of a key go one request after the other. When one of them cannot be
 * published the key is paused: what waits behind it is told of as not published, and
 * what is added is refused, until publisher_resume. At least once: a request whose
 * answer was lost is made again.
 */
#ifndef WEIR_SOURCE_PUBLISHER_H
#define WEIR_SOURCE_PUBLISHER_H

#include "base/error.h"
#include "base/span.h"

struct google;
struct publisher;

#define PUBLISH_MESSAGES_MAX 1000     /* of one request */
#define PUBLISH_BYTES_MAX 9500000     /* the service takes 10 MB; the rest is its framing */
#define PUBLISH_MESSAGE_MAX 10000000  /* one message, with its attributes and framing */
#define PUBLISH_ATTRIBUTES_MAX 100
#define PUBLISH_KEY_MAX 1024          /* of an ordering key */

struct publish_pair {
	struct span name, value;
};

/* Lent for the call. */
struct publish_message {
	struct span data;
	const struct publish_pair *attributes;
	size_t attribute_count;
	struct span ordering_key;         /* empty: none */
	uint64_t tag;                     /* the caller's own */
};

/* Zeros mean the defaults. */
struct publisher_setup {
	struct google *google;            /* lent until close */
	const char *topic;                /* full name; copied */
	size_t batch_messages;            /* PUBLISH_MESSAGES_MAX */
	size_t batch_bytes;               /* PUBLISH_BYTES_MAX */
	int64_t delay_ms;                 /* 10: how long a request waits for more */
	size_t outstanding_messages;      /* 10,000: beyond either publisher_add waits */
	size_t outstanding_bytes;         /* 64 MiB */
	int64_t give_up_ms;               /* 600,000: so long one request is tried */
	/* Once a message; `why` NULL: published, as `id`. On the caller's thread, from within add, step, flush and close; it
	 * may not call the publisher. */
	void (*on_done)(void *context, uint64_t tag, struct span id, const struct error *why);
	void *context;
};

/* NULL: `no_descriptors`. Nothing is sent. */
struct publisher *publisher_open(const struct publisher_setup *setup, struct error *err);
/* What is under way is given up, and told of. NULL is fine. */
void publisher_close(struct publisher *publisher);

enum published { PUBLISH_TAKEN, PUBLISH_FULL, PUBLISH_REFUSED };
/* Waits at most `wait_ms` for room. PUBLISH_REFUSED with err: `message_too_large`, `ordering_key_paused`, `bad_message`; it
 * is not told of by on_done. */
enum published publisher_add(struct publisher *publisher, const struct publish_message *message, int64_t wait_ms,
                             struct error *err);
/* Sends what is due, takes answers; returns when something was answered, or after `wait_ms`. */
void publisher_step(struct publisher *publisher, int64_t wait_ms);
/* Sends all, and waits for all. False: `wait_ms` passed. */
bool publisher_flush(struct publisher *publisher, int64_t wait_ms);
/* The key goes on. */
void publisher_resume(struct publisher *publisher, struct span ordering_key);

struct publisher_counts {
	size_t outstanding_messages, outstanding_bytes; /* now */
	uint64_t published, failed, requests, retries;
};
struct publisher_counts publisher_counts(const struct publisher *publisher);

#endif
