/*
 * REST over HTTP/1.1 on libcurl. A client belongs to one thread: several calls are
 * under way at once, and that thread moves them by waiting for the next that is done
 * (only rest_wake may come from another). What passes is tried again by the decision
 * table, with back-off, jitter and what the server asks for; what does not comes back
 * with its error.
 *
 * Nothing secret gets out: no header, query or body is ever handed to the log, copies
 * are wiped before they are freed, and redirections, which would carry the
 * token elsewhere, are answers like any other.
 */
#ifndef WEIR_GOOGLE_REST_H
#define WEIR_GOOGLE_REST_H

#include "google/status.h"

struct rest_client;
struct rest_call;

/* A try that is over, for the log. */
struct rest_try {
	const char *what;      /* the call in words */
	const char *method;
	const char *host;      /* with its port, if it is a special one */
	const char *path;      /* without the query */
	int status;            /* 0: no answer */
	const char *code;      /* reason code, "" fine */
	unsigned number;       /* 1: the first */
	int64_t took_ms;
	int64_t wait_ms;       /* until the next one; -1: it is the last */
	uint64_t sent_bytes, received_bytes;
};

/* Zeros mean the defaults; all is copied. */
struct rest_setup {
	const char *ca_file;   /* PEM: these are trusted instead of the system's; NULL */
	const char *proxy;     /* URL; NULL: the environment's (https_proxy, no_proxy); "": none */
	const char *user_agent;
	int64_t connect_ms;    /* 10,000 */
	void (*on_try)(void *context, const struct rest_try *over); /* on the client's thread */
	void *context;
};

struct rest_client *rest_open(const struct rest_setup *setup, struct error *err);
/* Ends what is under way. Calls that were handed out must have been freed. */
void rest_close(struct rest_client *client);

struct rest_pair {
	const char *name;
	const char *value;
};

/* Zeros mean the defaults; all is copied. */
struct rest_request {
	const char *what;          /* in words: "insert into p.d.t"; begins messages */
	const char *method;        /* NULL: GET */
	const char *url;
	const char *authorization; /* "Bearer ..."; NULL: none. Not for emulators */
	const struct rest_pair *headers;
	size_t header_count;
	const char *content_type;  /* of the body; NULL: application/json */
	struct span body;
	bool may_repeat;           /* doing it twice is doing it once; else only what was never begun is tried again */
	bool goes_up;              /* google_rest alone: to the service's address of uploads */
	bool is_from_root;         /* google_rest alone: `url` is a path of the service's host, as a Location has it */
	int ends_at;               /* this status is no reason to try again, whatever the table says: 412; 0: none */
	bool is_local;             /* an emulator: without proxy, and refused if its name leads elsewhere */
	int64_t try_ms;            /* 60,000: one try */
	int64_t deadline_ms;       /* 600,000: all of them, with the waits between */
	unsigned try_count_max;    /* 0: as many as the deadline has room for */
	int64_t first_wait_ms;     /* 1,000; five times that where a quota is the reason */
	size_t answer_bytes;       /* 32 MiB */
};

struct rest_call *rest_start(struct rest_client *client, const struct rest_request *request);
/* The next call that is done, which the caller frees; NULL: `wait_ms` passed (-1: for as long as there
 * are calls), or rest_wake. */
struct rest_call *rest_wait(struct rest_client *client, int64_t wait_ms);
/* Waits for this one; others that get done meanwhile are given by rest_wait later. */
void rest_finish(struct rest_client *client, struct rest_call *call);
/* From any thread: rest_wait returns. */
void rest_wake(struct rest_client *client);
/* Done or not: what is under way is given up. NULL is fine. */
void rest_call_free(struct rest_call *call);

struct rest_answer {
	int status;
	struct span body;              /* lent until the call is freed */
	unsigned tries;
	const struct answer_row *row;  /* what it means */
};
/* False: `err` says why by the decision table; *out is set also then, as far as there was an answer. */
bool rest_result(struct rest_call *call, struct rest_answer *out, struct error *err);
/* A header of the last answer (ETag, Location), lent until the call is freed; NULL: it had none. */
const char *rest_header(struct rest_call *call, const char *name);

/* One call and nothing else meanwhile: start and wait. The caller frees *out_call, which is set in any case. */
bool rest_do(struct rest_client *client, const struct rest_request *request, struct rest_call **out_call,
             struct rest_answer *out, struct error *err);

#endif
