/*
 * gRPC over HTTP/2. A client is one endpoint, its connections, and the one thread
 * that reads and writes them; a call is a stream of one of them. Callers are other
 * threads: what they do with a call waits for that call alone, at most as long as
 * they say.
 *
 * Flow control reaches the caller: a message that is not received yet keeps its room
 * in the stream's window, so a slow reader slows its own server and nobody else. A
 * call whose request the server never began (it goes away, it refuses the stream)
 * is begun again on another connection without anybody noticing, as long as its
 * messages are still held; everything else ends the call with a code, and whether
 * to try again is the caller's to say (answer.h).
 */
#ifndef WEIR_GOOGLE_GRPC_H
#define WEIR_GOOGLE_GRPC_H

#include "google/endpoint.h"
#include "google/status.h"

struct grpc_client;
struct grpc_call;

/* Zeros mean the defaults; all is copied. */
struct grpc_setup {
	struct endpoint endpoint;
	const char *ca_file;            /* PEM: these are trusted instead of the system's; NULL */
	const char *user_agent;         /* NULL: grpc-c-weir */
	uint32_t stream_window_bytes;   /* 8 MiB: what one call may hold unread */
	uint32_t connection_window_bytes; /* 16 MiB, given back at once */
	size_t connection_count_max;    /* 8: another one is opened when all have as many streams as their server takes */
	int64_t connect_ms;             /* 20,000: look-up, connection, TLS and the server's first word */
	int64_t silence_ms;             /* 300,000: with calls open and nothing heard for so long a PING is sent */
	int64_t ping_ms;                /* 20,000 without an answer to it: the connection is dead */
};

/* NULL: `err` says why (the CA file, no descriptors). Nothing is connected before the first call. */
struct grpc_client *grpc_open(const struct grpc_setup *setup, struct error *err);
/* All calls must have been freed. */
void grpc_close(struct grpc_client *client);

struct grpc_counts {
	uint64_t dials;    /* connections begun since the client was opened */
	uint64_t restarts; /* calls that were begun again on another connection */
	size_t connections, calls; /* now */
};
struct grpc_counts grpc_counts(struct grpc_client *client);

#define GRPC_PAIRS_MAX 32
struct grpc_pair {
	const char *name; /* lower case; "-bin": the value is base64 */
	const char *value;
};

/* Zeros mean the defaults; all is copied, the metadata too. */
struct grpc_request {
	const char *path;               /* "/google.pubsub.v1.Publisher/Publish" */
	const struct grpc_pair *metadata; /* at most GRPC_PAIRS_MAX */
	size_t metadata_count;
	int64_t deadline_ms;            /* from now; 0: none */
	size_t message_bytes;           /* 20 MiB: largest message that is received */
	size_t unsent_bytes;            /* 1 MiB: beyond it grpc_send waits */
	/* Called whenever there may be something to receive, to send again, or the end. It runs on the client's thread and
	 * holds its lock: it may wake somebody, never wait, never call grpc_*. NULL: nobody listens. */
	void (*on_ready)(void *context);
	void *context;
};

/* Never fails: what cannot be reached ends the call. The caller owns it. */
struct grpc_call *grpc_start(struct grpc_client *client, const struct grpc_request *request);
/* Cancels what has not ended. NULL is fine. */
void grpc_call_free(struct grpc_call *call);
void grpc_call_freep(struct grpc_call **call);

enum grpc_outcome {
	GRPC_DONE,
	GRPC_TIMEOUT, /* `wait_ms` passed */
	GRPC_ENDED,   /* the call has ended: grpc_result */
};

struct grpc_message {
	struct grpc_message *next; /* the queue's */
	size_t len;
	size_t room;
	char bytes[];
};
void grpc_message_free(struct grpc_message *message);

/* Copies the message and returns; waits (-1: for ever, 0: not) while more than unsent_bytes are unsent. `is_last` ends
 * our half of the call. */
enum grpc_outcome grpc_send(struct grpc_call *call, struct span message, bool is_last, int64_t wait_ms);
/* The same without the copy: room for a message of that many bytes, filled in by the caller and then handed over, sent or not. */
struct grpc_message *grpc_message_make(size_t bytes, char **out_bytes);
enum grpc_outcome grpc_send_made(struct grpc_call *call, struct grpc_message *message, bool is_last, int64_t wait_ms);
/* Ends our half without another message. */
void grpc_finish(struct grpc_call *call);
/* The next message, which the caller frees. What came before the end is given before GRPC_ENDED. */
enum grpc_outcome grpc_receive(struct grpc_call *call, struct grpc_message **out, int64_t wait_ms);
void grpc_cancel(struct grpc_call *call);

/* How a call ended; valid behind GRPC_ENDED. */
struct grpc_result {
	enum grpc_code code;
	int http_status;         /* 0: no headers came */
	const char *reason;      /* a word of the transport (answers.def), "" the server spoke for itself */
	const char *message;     /* grpc-message, or what happened; lent until the call is freed */
	bool was_begun;          /* false: the server did not look at it, so it may be repeated whatever it does */
	struct span details;     /* grpc-status-details-bin as it came, "" none; lent likewise */
};
struct grpc_result grpc_result(struct grpc_call *call);
/* The same as a status with its details (code and message are the call's own). */
void grpc_status(struct grpc_call *call, struct google_status *out);
/* True for code OK; else `err` by the decision table. `what` is the call in words. */
bool grpc_check(struct grpc_call *call, const char *what, struct error *err);

/* One message there, one back, which the caller frees. */
bool grpc_unary(struct grpc_client *client, const struct grpc_request *request, const char *what, struct span message,
                struct grpc_message **out, struct error *err);

#endif
