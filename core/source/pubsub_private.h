/*
 * What the rooms of the Pub/Sub source share. Three threads meet here: the reader
 * (pull, mark), the writer (confirm), and the keeper, which has the streams, the
 * leases and all calls. What is not marked otherwise is the keeper's alone.
 */
#ifndef WEIR_SOURCE_PUBSUB_PRIVATE_H
#define WEIR_SOURCE_PUBSUB_PRIVATE_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/histogram.h"
#include "google/google.h"
#include "google/wait.h"
#include "source/backlog.h"
#include "source/pubsub_held.h"
#include "source/source.h"
#include "source/subscription.h"

#include <pthread.h>
#include <stdatomic.h>

/* What a job holds unconfirmed, all its subscriptions together: the batch that is being written, the one that is being
 * filled, and what may come meanwhile. More is no faster, and memory is what it costs. */
#define OUTSTANDING_MESSAGES 10000
#define OUTSTANDING_BYTES (24u << 20)
#define CHANNEL_MESSAGES_LEAST 1000
#define CHANNEL_BYTES_LEAST (1u << 20)

#define KEEP_ALIVE_MS 30000    /* the server ends a stream that says nothing for a minute */
#define KEEP_ALIVE_ANSWER_MS 15000
#define SETTLED_MS 800         /* a stream that has lived so long has worked */
#define WORDS_MS 1500          /* a stream that is back sooner was not worth a word */
#define SILENCE_MS 4000        /* a call without an answer for so long is */
#define UNKNOWN_DEADLINE_MS 60000 /* of a subscription that does not let itself be looked at */
#define EXACTLY_ONCE_LEASE_MS 60000
#define IDLE_END_MS 4000       /* --until-idle: nothing has come for so long */
#define CLOSE_MS 5000          /* last acknowledgements are waited for */
#define LOST_MORE_MS 2000      /* beyond its lease, until a message that was lost on its way comes again */
#define VIEW_MS 200            /* figures are copied so often at most */
#define IDS_SEEN 16384         /* newest message ids, of which a redelivery is told by */

struct pubsub;

/* One subscription, as it is read. */
struct channel {
	struct pubsub *of;
	uint32_t index;
	char name[PUBSUB_NAME_BYTES];
	const char *shown;             /* into `name` */
	char *params;

	struct grpc_call *stream;      /* NULL: none is open */
	uint64_t token;
	bool token_told;               /* the credentials know how the stream began */
	bool was_renewed;              /* its token was not taken once; another one is tried */
	bool has_answered;             /* this stream */
	int64_t opened_ms, pinged_ms, answered_ms;
	int64_t retry_ms;              /* when it is opened again */
	int64_t retry_utc_us;
	struct backoff wait;
	int64_t told_lease_ms;         /* to this stream */

	bool is_asked, is_known;       /* GetSubscription: on its way; answered, if only by a refusal */
	bool has_dead_letters;         /* or it is not known */
	bool is_exactly_once;
	struct lease lease;

	struct error failure;          /* kind NONE: it is read */
	int64_t down_ms, down_us;      /* since when it is not read (both clocks); 0: it is */
	int64_t up_ms;                 /* since when it is */
	int64_t received_ms;           /* when a message came last; 0: never */
	int64_t lost_until_ms;         /* what was on its way when a stream broke comes again by then */

	struct text *acks;             /* the next request to acknowledge */
	uint32_t ack_count;
	bool is_held_back;             /* by our own limit */

	struct error ack_failure;      /* why acknowledgements are not taken; kind NONE: they are */
	int64_t ack_failed_us, ack_failed_ms; /* since when: to be shown, to be counted from */

	uint64_t received, acknowledged, refused_acks, restarts;
	atomic_uint_fast64_t redelivered; /* the reader's */
	int64_t last_us;               /* wall clock of the last answer; 0: none yet */
	struct backlog backlog;        /* by Monitoring, at its own moment */
};

/* A unary call: on its way, or to be made again. */
enum errand_kind { ERRAND_ASK, ERRAND_ACK, ERRAND_EXTEND, ERRAND_HAND_BACK, ERRANDS };

enum { ERRAND_DEADLINE_MS = 60000 }; /* the longest */
enum { ERRAND_FIELD_ACK_IDS = 2 };   /* of AcknowledgeRequest */

struct errand {
	struct errand *next;
	enum errand_kind kind;
	uint64_t number;               /* from 1 */
	struct channel *of;
	struct grpc_call *call;        /* NULL: it waits for due_ms */
	struct grpc_message *answer;
	uint64_t token;
	struct text *request;
	uint32_t ids;
	int64_t begun_ms, sent_ms, due_ms, lease_ms, deadline_ms;
	struct backoff wait;
	bool was_renewed, is_over;
};

/* A message of the stream on its way to the reader, and then for as long as batches have messages that lie in it. */
struct arrival {
	struct arrival *next;
	atomic_uint holders;           /* the queue or the reader, and each batch */
	struct grpc_message *message;
	uint32_t channel;
	uint64_t first;                /* number of its first message */
	int64_t received_us;
};

struct pubsub {
	struct source source;
	struct google *google;
	struct channel *channels;
	size_t channel_count;
	char *identity;
	char client_id[40];
	bool is_followed, was_killed;
	void (*on_news)(void *context);
	void *context;
	void (*on_event)(void *event_context, const char *table, const char *code, const char *sentence);
	void *event_context;
	size_t record_bytes_max;

	pthread_t keeper;
	int bell;                      /* eventfd: rings the keeper */
	atomic_bool is_rung, is_ending;
	atomic_uint_fast64_t confirmed; /* all messages with smaller numbers are safe; the writer's */

	/* the keeper's */
	struct held held;
	struct errand *errands;
	uint64_t errand_number;
	size_t extending;              /* calls that extend, on their way */
	struct histogram extend_times;
	int64_t latency_ms;            /* of calls that extend: the longest of late, falling slowly */
	struct backlog_watch *watch;   /* NULL: Monitoring is not asked */
	struct error backlog_failure;  /* why it gave no figures; kind NONE: it did */
	bool is_untold;                /* something was done since */
	int64_t told_ms;               /* when figures and words were last brought up to date */
	struct arrival *fresh, **fresh_end; /* of this round */
	size_t fresh_bytes;

	/* behind the lock: keeper and reader */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct arrival *first, *last;
	size_t queued_bytes;
	bool is_waited_for;            /* the reader sleeps */
	bool has_ended;                /* nothing more will come: not followed, and idle */
	struct error trouble;          /* the worst of the channels that is worth a word; kind NONE: none */
	struct source_view view;

	/* the reader's */
	struct arrival *current;
	const struct batch *lent_to;   /* the newest batch that holds it; NULL: none yet */
	struct proto_reader cursor;
	uint64_t next_number;          /* behind the last message pulled */
	uint64_t *ids_seen;            /* NULL: nothing has come yet */
	int64_t publish_second;        /* whose text is kept */
	char publish_text[CLOCK_TEXT_BYTES];
};

void pubsub_ring(struct pubsub *pubsub);
void pubsub_on_ready(void *pubsub);

/* A ReceivedMessage; its spans lie in the stream's message. */
struct received {
	struct span ack_id, message;
	int32_t attempt;               /* from 1; 0: nobody counts */
};
/* False: broken, and so is the outer one. Keeper and reader go by it alike, so their numbers agree. */
bool received_read(struct proto_reader *outer, const struct proto_field *field, struct received *out);

/*
 * Bytes that are looked at soon, asked for now: a thread meets a message in the memory of the one before it, and waits
 * for that longer than it works. Beyond the end is no harm, nothing is read.
 */
#define MEMORY_LINE 64
static inline void look_ahead(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i += MEMORY_LINE)
		__builtin_prefetch(at + i);
}

/* The reader's part (pubsub_message.c): the next message of the current delivery. False: it has no more. */
bool arrival_next(struct pubsub *pubsub, struct batch *into);
/* One holder less; whoever is the last frees it. From any thread; NULL is fine. */
void arrival_drop(void *arrival);

/* Streams (pubsub_stream.c, pubsub_take.c). */
void channel_begin(struct channel *channel, struct pubsub *of, uint32_t index, const char *name, const char *project);
void channel_end(struct channel *channel);
void channel_step(struct channel *channel, int64_t now_ms);
/* When it is to be looked at next, if nothing rings before. */
int64_t channel_due_ms(const struct channel *channel);
void channel_fail(struct channel *channel, const struct error *failure, int64_t now_ms);
int64_t channel_lease_ms(const struct channel *channel);
void channel_stop(struct channel *channel);
/* A message that came: ids, numbers, and on to the reader. False: it cannot be read. */
bool channel_take(struct channel *channel, struct grpc_message *message, int64_t now_ms);

/* Calls (pubsub_errand.c). */
void errand_ask(struct channel *channel, int64_t now_ms);
void errand_send_acks(struct channel *channel, int64_t now_ms);
void channel_acknowledge(struct channel *channel, struct span ids, uint32_t count, int64_t now_ms);
void errands_extend(struct pubsub *pubsub, int64_t now_ms);
void errands_hand_back(struct pubsub *pubsub, int64_t now_ms);
void errands_step(struct pubsub *pubsub, int64_t now_ms);
int64_t errands_due_ms(const struct pubsub *pubsub);
/* Acknowledgements that are not answered yet; and since when the oldest of them waits (0: none). */
size_t errands_open(const struct pubsub *pubsub, int64_t *out_since_ms);
void errands_drop(struct pubsub *pubsub);
/* A request that names the subscription, to be filled. */
struct text *errand_request(const struct channel *channel);
/* To be made again after its wait, or the server's if that is longer. */
void errand_again_later(struct errand *errand, int64_t asked_ms, int64_t now_ms);

/* What answers mean (pubsub_answer.c). */
void errand_worked(struct errand *errand, int64_t now_ms);
void errand_failed(struct errand *errand, const struct error *failure, int64_t now_ms);
/* Exactly once, by the answer's details: ids that they do not name were taken. True: the errand goes on with those that may
   be taken later, if there are any. */
bool errand_sort_ids(struct errand *errand, struct span details, int64_t now_ms);

/* What waits there, by Monitoring (pubsub_backlog.c). */
void backlog_begin(struct pubsub *pubsub, int64_t now_ms);
void backlog_step(struct pubsub *pubsub, int64_t now_ms);
int64_t backlog_due_ms(const struct pubsub *pubsub);
void backlog_end(struct pubsub *pubsub);

/* The keeper's thread (pubsub_keeper.c), and what it tells (pubsub_look.c). */
void *keeper_main(void *pubsub);
void keeper_tell(struct pubsub *pubsub, int64_t now_ms);
bool failure_passes(const struct error *failure);

#endif
