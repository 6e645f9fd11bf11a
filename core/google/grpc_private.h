/*
 * What the rooms of gRPC share. Everything of a call and of the client's lists is
 * under the client's lock. A connection belongs to the client's thread; its session
 * is only touched with the lock held, since nghttp2's callbacks touch calls.
 */
#ifndef WEIR_GOOGLE_GRPC_PRIVATE_H
#define WEIR_GOOGLE_GRPC_PRIVATE_H

#include "google/grpc.h"
#include "google/wait.h"

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>

#define PREFIX_BYTES 5            /* of each message: compressed or not, length */
#define HEADERS_BYTES_MAX 65536   /* of one answer, as HTTP/2 counts them */
#define HELD_BYTES_MAX (1U << 20) /* of messages already sent, for beginning a call again */
#define RESTARTS_MAX 3
#define READ_BYTES (256U << 10)
#define WRITE_BYTES (64U << 10)   /* what is gathered before it is written */
#define TEXT_BYTES 512
#define GIVEN_UP "given_up" /* reason of a call that we have cancelled: no answer, so no row of answers.def */

/*
 * A call. It stands in one of the client's lists until it has ended.
 */
struct call_list {
	struct grpc_call *first, *last; /* in the order in which they came */
};

struct grpc_call {
	struct grpc_client *client;
	struct call_list *list;           /* NULL: it has ended */
	struct grpc_call *before, *after; /* in the list */
	struct grpc_call *next_kicked;
	bool is_kicked;                   /* the client's thread is to look at it */
	pthread_cond_t changed;
	unsigned waiters;
	struct grpc_call *next_changed;
	bool is_changed;                  /* whoever waits is told when the lock is given back */
	void (*on_ready)(void *context);
	void *context;

	/* The request, as it is sent. */
	char *headers;                    /* owns the texts of `pairs` */
	struct grpc_pair *pairs;
	size_t pair_count;
	const char *path;
	int64_t deadline_at_ms;           /* 0: none */
	size_t message_bytes, unsent_limit;

	/* Out: messages with their prefixes. The first ones may be sent already and held. */
	struct grpc_message *out_first, *out_last, *out_next;
	size_t out_offset, unsent_bytes, held_bytes;
	bool is_finished;                 /* by the caller */
	bool is_committed;                /* nothing is held: it cannot be begun again */
	unsigned restarts;

	/* In: whole messages, and the one that is coming. */
	struct grpc_message *in_first, *in_last, *partial;
	size_t in_bytes;                  /* of whole messages, with prefixes */
	unsigned char prefix[PREFIX_BYTES];
	size_t prefix_len, partial_len;
	size_t whole_len;                 /* of the newest message that is whole */
	uint64_t unreturned_bytes;        /* of the stream's window, not given back yet */
	uint64_t return_bytes;            /* of these, what the caller has made room for */

	/* The stream; of the client's thread. */
	struct grpc_connection *connection;
	int32_t stream;
	bool is_deferred;                 /* its session asks no more until it is resumed */
	bool is_unsent;                   /* its headers could not be written any more */

	/* The answer. */
	int http_status;
	bool is_informational;            /* the headers under way are those of a 1xx */
	bool is_grpc;                     /* by its content-type */
	bool has_encoding;
	bool has_status;
	size_t header_bytes;
	enum grpc_code code;
	const char *reason;
	char message[TEXT_BYTES];
	char *details;
	bool was_begun;

	bool is_cancelled, is_abandoned, has_ended;
};

/*
 * A connection.
 */
enum connection_state {
	CONNECTION_LOOKING_UP,
	CONNECTION_CONNECTING,
	CONNECTION_HANDSHAKING,
	CONNECTION_OPENING, /* waits for the server's SETTINGS */
	CONNECTION_READY,
	CONNECTION_DEAD,    /* freed at the end of the round */
};

struct grpc_connection {
	struct grpc_client *client;
	struct grpc_connection *next;
	enum connection_state state;
	bool is_draining;          /* GOAWAY came: no new calls */
	int fd;
	bool wants_write;          /* epoll is told */
	bool is_deaf;              /* the peer takes nothing any more; what it has said is still read */
	bool has_more;             /* bytes that are decrypted or not yet handed over wait: no sleep */
	SSL *ssl;                  /* NULL: plain */
	struct grpc_lookup *lookup;
	const struct addrinfo *address; /* tried now; of the lookup */
	nghttp2_session *session;
	char *out;                 /* WRITE_BYTES and a frame */
	size_t out_len, out_sent, out_room;
	size_t active;             /* streams */
	int64_t open_by_ms, heard_ms, ping_ms; /* ping_ms 0: none under way */
	int64_t next_address_ms;   /* then the next address of the name is tried; 0: this is the last */
	char goaway[TEXT_BYTES];   /* what the server said when it went */
};

struct grpc_client {
	struct grpc_setup setup;
	char *ca_file, *user_agent;
	SSL_CTX *tls;
	pthread_t thread;
	int epoll, wake;
	char *read_buffer;

	pthread_mutex_t lock;
	bool is_closing, is_asleep;
	struct call_list waiting;  /* without a stream */
	struct call_list placed;
	struct grpc_call *kicked, *changed;
	size_t call_count;
	int64_t next_deadline_ms;  /* none is earlier; may be that of a call that has ended */
	struct grpc_connection *connections;
	struct grpc_counts counts;
	struct backoff backoff;
	int64_t dial_after_ms;
	const char *failure_reason; /* of the last dial; NULL: it succeeded */
	char failure[TEXT_BYTES];
};

/* The thread and its lists (grpc_client.c). */
/* Gives the lock back, and wakes those who wait for calls that have changed meanwhile: once, however many messages came,
 * and not before they can have the lock. */
void client_unlock(struct grpc_client *client);
void client_wake_locked(struct grpc_client *client);
void client_kick_locked(struct grpc_call *call);
void client_expire_locked(struct grpc_client *client, int64_t now_ms);

/* Calls on their way through the client's thread (grpc_flow.c). */
void calls_kicked_locked(struct grpc_client *client);
void calls_place_locked(struct grpc_client *client, int64_t now_ms);
void calls_fail_waiting_locked(struct grpc_client *client);

/* A call and its end (grpc_call.c). Ends a call once; `message` NULL keeps what the server said. The stream is for the
 * caller to reset. */
void call_end_locked(struct grpc_call *call, enum grpc_code code, const char *reason, const char *message);
void call_free_locked(struct grpc_call *call);
void call_list_move(struct grpc_call *call, struct call_list *to); /* to its end; NULL: out of all */
void call_changed_locked(struct grpc_call *call);
/* Takes its stream away, and resets it by `error` unless it is closed already. */
void call_detach_locked(struct grpc_call *call, bool is_closed, uint32_t error);

/* What goes out (grpc_out.c). */
void out_commit(struct grpc_call *call); /* forgets what is held */
void out_drop(struct grpc_call *call);
bool out_rewind(struct grpc_call *call); /* back to the first message; false: it is not held any more */
ssize_t out_read(nghttp2_session *session, int32_t stream, uint8_t *at, size_t room, uint32_t *flags,
                 nghttp2_data_source *source, void *context);

/* What comes in (grpc_in.c). False: the call has been ended. */
bool in_data(struct grpc_call *call, const uint8_t *at, size_t len);
void in_drop(struct grpc_call *call);
/* Gives room of the window back that nobody needs to be kept. */
void in_return(struct grpc_call *call);

/* Streams and their frames (grpc_session.c). */
nghttp2_session *session_new(struct grpc_connection *connection);
bool session_submit(struct grpc_connection *connection, struct grpc_call *call, int64_t now_ms);

/* Headers and trailers (grpc_headers.c). */
int headers_on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
                      const uint8_t *value, size_t value_len, uint8_t flags, void *context);
void headers_check(struct grpc_call *call); /* behind the first ones: ends a call that is none of gRPC */

/* Exactly one message and then OK: anything else is no answer to a unary call (grpc_result.c). */
bool grpc_take_only(struct grpc_call *call, const char *what, struct grpc_message **out, struct error *err);

/* Connections (grpc_connection.c; bytes: grpc_bytes.c). */
void connection_dial_locked(struct grpc_client *client, int64_t now_ms);
void connection_event(struct grpc_connection *connection, uint32_t events);
void connection_watch(struct grpc_connection *connection, bool wants_write); /* tells epoll */
void connection_read(struct grpc_connection *connection);
void connection_write(struct grpc_connection *connection);
void connection_tick_locked(struct grpc_connection *connection, int64_t now_ms);
int64_t connection_next_ms(const struct grpc_connection *connection);
/* Ends it and its calls with UNAVAILABLE and this reason. */
void connection_lost_locked(struct grpc_connection *connection, const char *reason, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void connection_free(struct grpc_connection *connection);
bool connection_is_open(const struct grpc_connection *connection);
void connection_opened_locked(struct grpc_connection *connection); /* the server's SETTINGS came */

/* Looking up a name in a thread of its own, since it may take long (grpc_lookup.c). */
struct grpc_lookup;
struct grpc_lookup *lookup_start(const char *host, uint16_t port, int wake_fd);
/* False: not yet. Else *out is lent until lookup_free; NULL with the reason in words. */
bool lookup_done(struct grpc_lookup *lookup, const struct addrinfo **out, const char **out_why);
void lookup_free(struct grpc_lookup *lookup);

/* TLS (grpc_tls.c). */
SSL_CTX *tls_new(const char *ca_file, struct error *err);
SSL *tls_begin(SSL_CTX *context, const char *host, int fd);
/* Why the handshake failed: a word of answers.def, and text. */
const char *tls_failure(SSL *ssl, char *text, size_t room);
bool tls_speaks_http2(SSL *ssl);

#endif
