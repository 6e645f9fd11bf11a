/* Sessions, shared by accept.c, server.c (the loop), session.c (frames), session_call.c (calls) and events.c. */
#ifndef WEIR_ENGINE_SESSION_PRIVATE_H
#define WEIR_ENGINE_SESSION_PRIVATE_H

#include "engine/engine.h"
#include "engine/outbox_private.h"

#define SUBSCRIPTIONS_MAX 64
#define CANCELS_KEPT 16
#define LINE_WAIT_MS (60 * 1000) /* clients write whole lines */

struct subscription {
	enum topic_id topic;
	char argument[TOPIC_ARGUMENT_BYTES];
	char name[TOPIC_ARGUMENT_BYTES + 16]; /* "job:orders" */
	int64_t sent_ms;
	char *last;                 /* the event that was sent last, without its number; or NULL */

	/* of tables: the numbers of change that were sent */
	uint64_t *seen;
	size_t seen_count;
	uint64_t seen_run;          /* the job's run they are of; 0: none */

	/* of lines: where to read on; how many there have been, how many of them were sent or told of */
	uint64_t next;
	uint64_t base, told;
};

struct session {
	struct session *next;
	struct engine *engine;
	int fd;
	bool has_greeted, is_closing;
	bool has_ended_input;       /* the other end sends no more, but may still read */
	enum access access;
	bool is_other_version;      /* it may look, and end this engine: no more is sure to mean the same to both */
	bool only_looks;            /* by its own wish */
	struct peer peer;
	int64_t hello_until_ms;
	int64_t half_since_ms;      /* the rest of a line is waited for; 0: it is not */
	char *buffer;
	size_t used, room;
	size_t looked;              /* of `used`: lines that wait behind a call and were searched for a cancel */
	int64_t cancelled[CANCELS_KEPT]; /* calls that wait */
	size_t cancelled_count;
	int64_t closed_by_ms;       /* when a call of a session that closes is cut off; 0: not asked yet */
	struct outbox out;

	struct call *call;          /* running, or NULL */
	char name[64];              /* of the call */
	int64_t id;
	pthread_t thread;
	int left_out;               /* the call's thread's: objects of the answer that were too long */
	char left_out_first[256];
	atomic_bool call_has_ended;

	struct subscription *subscriptions;
	size_t subscription_count;
	uint64_t seq;               /* of the event sent last */
};

/* A session of its own; `fd` is taken. */
struct session *session_open(struct engine *engine, int fd, enum access access, const struct peer *peer);

/* What a peer may do. False: nothing, it is a stranger; `out_peer` is set as far as it is known. */
bool access_of_peer(const struct engine *engine, int fd, enum access *out, struct peer *out_peer);

/* Posts one object (the reference is taken). False: the session is behind by more than it may be. */
bool session_post(struct session *session, json_t *object);
void session_post_error(struct session *session, int64_t id, const struct error *err);

/* The same by the call's thread, which waits while the other end does not read. */
bool session_send(struct session *session, json_t *object);

/* Whole lines of the buffer, up to one that begins a call; behind a running call only cancels are taken. */
void session_take_lines(struct session *session);
/* Ends a session that began a line and does not end it: its place is somebody else's. */
void session_refuse_half(struct session *session, int64_t now_ms);
/* A frame with 'call': subscriptions are answered here, anything else in a thread of its own. */
void session_start_call(struct session *session, const json_t *frame);
/* Waits for the call's thread. */
void session_join_call(struct session *session);
/* The value of {"cancel":ID}. */
void session_take_cancel(struct session *session, const json_t *value);

/* subscribe, unsubscribe, sync: answered by the control thread. False: the call is none of these. */
bool events_call(struct session *session, const char *name, int64_t id, const json_t *args);
void events_forget(struct session *session);

/* By topic; under engine->lock. The result is a new reference, or NULL: nothing to say. */
extern json_t *(*const event_makers[TOPICS])(struct session *session, struct subscription *sub);
/* Their makers themselves know what is new. */
bool event_is_of_changes(enum topic_id topic);

#endif
