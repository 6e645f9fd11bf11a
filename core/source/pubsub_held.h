/*
 * What the source holds of the server: the ids with which messages are acknowledged,
 * and the leases under which they are ours. Messages that came together lie in one
 * parcel: their ids are packed one behind the other and they share a lease, so that
 * a message costs no allocation. Everything here is arithmetic; the clock is handed in.
 */
#ifndef WEIR_SOURCE_PUBSUB_HELD_H
#define WEIR_SOURCE_PUBSUB_HELD_H

#include "base/text.h"

#define LEASE_LEAST_MS 10000
#define LEASE_MOST_MS 600000
#define PARCEL_MESSAGES 2500          /* what one request takes; */
#define REQUEST_BYTES (500u << 10)    /* the server's limit is 512 KiB */
#define HELD_LONG_MS 3600000         /* after so long official clients give a message up */
#define ACK_ID_BYTES_MAX 16000        /* Google's have some two hundred */

struct parcel {
	struct parcel *next;
	uint32_t channel;                 /* of which subscription */
	uint32_t count, gone;             /* messages; `gone` of them, from the front, are confirmed */
	uint64_t first;                   /* number of the first; they are numbered in the order in which they came */
	int64_t received_ms;
	int64_t until_ms;                 /* the lease lasts at least so long */
	int64_t due_ms;                   /* when it is to be extended */
	uint64_t errand;                  /* the last call that is to extend it; 0: none yet */
	bool has_expired;
	size_t bytes;                     /* of its messages */
	char *ids;                        /* length (one or two bytes), id, length, id .. */
	size_t len, room, gone_len;
};

struct held {
	struct parcel *first, *last;
	uint64_t next_number;             /* of the next message that comes */
	uint64_t count;                   /* messages that are not confirmed */
	size_t bytes;                     /* of the parcels they are in */
	uint64_t expired;                 /* messages whose lease ran out, so far */
	bool is_long;                     /* the oldest is held beyond HELD_LONG_MS, and that was told */
	int64_t due_ms;                   /* the first moment at which one is to be extended; INT64_MAX: none */
};

void held_begin(struct held *held, uint64_t first_number);
void held_clear(struct held *held);

/* A message came; gives its number. `lease_ms` is what the server was told. */
uint64_t held_add(struct held *held, uint32_t channel, struct span id, size_t bytes, int64_t lease_ms, int64_t now_ms);

/* All messages with smaller numbers than `behind` are safe: their ids are handed on, parcel by parcel, as they are packed, and
 * forgotten here. `held_ms`: since they came. */
typedef void (*held_ids)(void *context, uint32_t channel, struct span ids, uint32_t count, int64_t held_ms);
void held_confirm(struct held *held, uint64_t behind, int64_t now_ms, held_ids on_ids, void *context);

/* Collects ids of one channel whose lease is to be extended, longest held first, into a request, each behind `tag`: whose
 * parcels these were is remembered under `errand`. Gives how many ids; 0: nothing is due. */
uint32_t held_collect(struct held *held, uint32_t channel, char tag, uint64_t errand, int64_t lease_ms, int64_t now_ms,
                      struct text *request);
/* A channel with a lease that is due. False: none is. */
bool held_due_channel(struct held *held, int64_t now_ms, uint32_t *out_channel);
/* The call that extends them was answered: it was sent at `sent_ms` and asked for `lease_ms`; `latency_ms` is how long such
 * calls take. It failed: they are due again at `again_ms`. */
void held_extended(struct held *held, uint64_t errand, int64_t sent_ms, int64_t lease_ms, int64_t latency_ms);
void held_not_extended(struct held *held, uint64_t errand, int64_t again_ms);
/* Counts what ran out; cheap while nothing is due. */
void held_look(struct held *held, int64_t now_ms);

/* True once when the oldest has been held beyond HELD_LONG_MS; again when that was over meanwhile. */
bool held_long(struct held *held, int64_t now_ms);

/* Ids packed as above, each behind a tag of protobuf. False: no more room. */
bool ids_put(struct text *request, struct span ids, char tag);

/*
 * How long a lease should be: the 99th percentile of how long messages are held, and long enough for slow calls.
 */
#define LEASE_STEPS 12
struct lease {
	int64_t least_ms;                 /* the subscription's own deadline, and what exactly-once asks for */
	uint64_t steps[LEASE_STEPS];      /* messages that were held at most so long */
	uint64_t count;
};
void lease_learn(struct lease *lease, int64_t held_ms, uint32_t messages);
int64_t lease_wanted_ms(const struct lease *lease, int64_t latency_ms);

#endif
