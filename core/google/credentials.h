/*
 * Access tokens: from where, and one for all connections.
 *
 * Credentials are one source of tokens for one set of scopes: a service account's
 * key, a user's login, the metadata server, another account that may be impersonated,
 * a foreign identity (workload identity federation), or none, for emulators. They are
 * found as Google's own clients find them (application default credentials), or named
 * by the job: a file, or a secret of the vault.
 *
 * A token is fetched once for everybody: who comes meanwhile waits for it, or goes on
 * with the old one while that is good. It is renewed ahead of its end, at a moment
 * that differs from process to process. What a server refuses is dropped, fetched
 * again, and tried once more; after that `auth failed since ..` stands until a fetch
 * succeeds, which is tried again and again, ever more slowly. Files are read anew for
 * each fetch, so that one that was replaced is taken.
 *
 * Format and calls: google-auth-library (file types, search order, grants), RFC 7519,
 * 7523, 8693; all in one place in credentials_kinds.c.
 */
#ifndef WEIR_GOOGLE_CREDENTIALS_H
#define WEIR_GOOGLE_CREDENTIALS_H

#include "base/error.h"
#include "base/secret.h"
#include "base/text.h"

#define SCOPE_CLOUD_PLATFORM "https://www.googleapis.com/auth/cloud-platform"
#define TOKEN_WAIT_MS 30000 /* for a fetch, all its calls together */

/*
 * How tokens are asked for: one HTTP exchange. rest.c does it in the engine, tests do it themselves.
 */
struct token_header {
	const char *name, *value;
};

struct token_request {
	const char *url;
	const char *content_type;         /* of the body */
	const struct secret *body;        /* NULL: GET; else POST */
	const struct token_header *headers;
	size_t header_count;
	bool is_direct;                   /* never through a proxy: the metadata server */
	int64_t wait_ms;
};

struct token_answer {
	int http_status;
	struct secret *body;              /* at most 64 KiB; the receiver frees */
	int64_t server_utc_s;             /* of its Date; 0: it did not say */
	bool is_metadata_server;          /* it said Metadata-Flavor: Google */
};

/* False: no answer, with err by the decision table (`google_unreachable`, `tls_untrusted`...). */
typedef bool (*token_exchange)(void *context, const struct token_request *request, struct token_answer *out,
                               struct error *err);

/* All is copied but `exchange`'s context. */
struct credentials_setup {
	const char *file;                 /* path; NULL */
	const struct secret *content;     /* of such a file, as the vault keeps it; NULL. Neither: the default chain */
	const char *content_name;         /* in messages: "vault:prod-key" */
	const char *scope;                /* NULL: SCOPE_CLOUD_PLATFORM */
	bool wants_token_call;            /* service accounts: a token of the token server, not one they sign themselves */
	const char *const *allowed_hosts; /* besides Google's: for token, STS and impersonation calls; ends with NULL, or NULL */
	token_exchange exchange;
	void *context;
	const char *(*variable)(void *context, const char *name); /* NULL: getenv */
};

struct credentials;

/* Reads what there is, so that a file that is missing or broken is said at once: `no_credentials`,
 * `bad_credentials`, `credentials_exposed`, `credential_host_refused`, `credentials_not_supported`. Nothing is sent. */
struct credentials *credentials_open(const struct credentials_setup *setup, struct error *err);
/* The same without opening them: would they open now? `exchange` is not needed. */
bool credentials_check(const struct credentials_setup *setup, struct error *err);
void credentials_close(struct credentials *credentials);

/* A token that is good now. */
struct token_lease {
	struct secret *value;   /* the token alone; the caller frees */
	uint64_t number;        /* for credentials_refused */
};
/* Waits at most TOKEN_WAIT_MS. False: `auth_failed`, `credentials_refused`, or why the token server cannot be reached. From
 * any thread. */
bool credentials_token(struct credentials *credentials, struct token_lease *out, struct error *err);
void token_lease_free(struct token_lease *lease);
/* A server did not take it (answer_row.may_renew_token). True: the call is worth one more try with another token.
 * `server_utc_s`: what its answer said of the time, or 0. */
bool credentials_refused(struct credentials *credentials, uint64_t number, int64_t server_utc_s);

/* A server took it: what stood as failed is over. Cheap; after each call that was answered. */
void credentials_accepted(struct credentials *credentials, uint64_t number);

/* For the header x-goog-user-project; lent, NULL: none. And the project that the source names. */
const char *credentials_quota_project(const struct credentials *credentials);
const char *credentials_project(const struct credentials *credentials);
/* The domain of all services: "googleapis.com". Lent. */
const char *credentials_universe(const struct credentials *credentials);

/* What a screen says. */
struct credentials_view {
	char source[256];       /* "service account weir@acme.iam.gserviceaccount.com, key of /etc/weir/key.json" */
	bool has_token, has_failed;
	int64_t left_ms;        /* of the token */
	int64_t renew_ms;       /* until it is renewed */
	int64_t failed_since_us;/* wall clock, of the first failure without a success since */
	struct error failure;
	uint64_t fetches;       /* that gave a token, since it was opened */
	int64_t clock_behind_s; /* of ours against the servers'; 0 within a minute */
};
void credentials_look(struct credentials *credentials, struct credentials_view *out);
/* "auth failed since 02:14:07Z: ...", or "token of .. good for 41m"; false: the text is full. */
bool credentials_sentence(const struct credentials_view *view, struct text *out);
/* Whose it is as IAM names it: "serviceAccount:weir@acme.iam.gserviceaccount.com", "user:..". False: not known. */
#define MEMBER_BYTES 320
bool credentials_member(const struct credentials_view *view, char out[MEMBER_BYTES]);

#endif
