/* Shared by the rooms of credentials. */
#ifndef WEIR_GOOGLE_CREDENTIALS_PRIVATE_H
#define WEIR_GOOGLE_CREDENTIALS_PRIVATE_H

#include "google/credentials.h"
#include "google/wait.h"

#include <jansson.h>
#include <pthread.h>

#define CREDENTIAL_FILE_MAX 65536
#define TOKEN_BODY_MAX 65536
#define DELEGATES_MAX 20
#define SOURCE_HEADERS_MAX 20
#define TOKEN_LIFE_S 3600

enum credential_id {
#define CREDENTIAL(id, type, words) CREDENTIAL_##id,
#include "google/credentials.def"
#undef CREDENTIAL
	CREDENTIAL_KINDS
};

/* A file of credentials as it was read. Texts are lent by `root`, NULL where it has none. */
struct credential {
	enum credential_id id;
	json_t *root;                     /* owned; what it holds is wiped with it */
	const char *account, *key_id, *private_key;
	const char *client_id, *client_secret, *refresh_token;
	const char *token_url, *audience, *subject_token_type, *workforce_project;
	const char *subject_file, *subject_url, *subject_field; /* field NULL: the text itself */
	const json_t *subject_headers;
	const char *impersonation_url;
	const json_t *delegates;
	int64_t lifetime_s;
	const char *quota_project, *project, *universe;
	struct credential *source;        /* whom impersonation asks as; owned */
};

/* credentials_file.c. `name` stands in messages. */
struct credential *credential_read(struct span text, const char *name, const char *const *allowed_hosts,
                                   struct error *err);
/* A file that others cannot change or read: `credentials_exposed`. */
struct credential *credential_load(const char *path, const char *const *allowed_hosts, struct error *err);
struct credential *credential_of_metadata(void);
void credential_free(struct credential *credential);
/* May a token, or what gets one, be sent there? Google's by https, or allowed by name; plain only to this machine, unless
 * nothing of ours is sent (`may_be_plain`): `credential_host_refused`. */
bool credential_host_is_fine(const char *url, bool may_be_plain, const char *const *allowed_hosts, const char *name,
                             struct error *err);

struct credentials {
	struct credentials_setup setup;    /* texts and content are its own copies */
	char *quota_project, *project, *universe;

	pthread_mutex_t lock;
	pthread_cond_t changed;            /* monotonic */
	char source[256];
	struct secret *token;              /* NULL: none */
	uint64_t number;                   /* of the token */
	int64_t ends_ms, renew_ms;         /* monotonic */
	bool is_fetching;
	int refusals;                      /* since a token was taken */
	struct error failure;              /* kind NONE: all is well */
	int64_t failed_since_us;
	struct backoff backoff;
	int64_t try_after_ms;              /* no fetch before */
	int64_t clock_behind_s;
	uint64_t fetches;
};

/* credentials_open.c: "service account weir@acme.iam.gserviceaccount.com, vault:prod". */
void credential_describe(const struct credential *credential, const char *name, char *out, size_t room);
/* credentials.c: is it good for another moment? Under the lock. */
bool token_lasts(const struct credentials *credentials, int64_t now_ms);

/* What a fetch needs. */
struct fetcher {
	token_exchange exchange;
	void *context;
	const struct credentials_setup *setup;
	int64_t until_ms;                 /* monotonic: no call begins or lasts beyond */
	int64_t clock_behind_s;           /* added to our clock for what we sign; set from answers */
	bool has_learned_clock;           /* by this fetch */
};

struct token {
	struct secret *value;             /* NULL: none */
	int64_t life_ms;
};

/* Whose tokens the metadata server gives; asked once, false: it does not say. */
#define ACCOUNT_BYTES 200
bool metadata_account(struct fetcher *fetcher, char out[ACCOUNT_BYTES]);
/* credentials_kinds.c: a token of that credential for the scope. */
bool credential_fetch(struct fetcher *fetcher, const struct credential *credential, const char *scope, struct token *out,
                      struct error *err);

/* By way of others (credentials_foreign.c). */
bool fetch_impersonated(struct fetcher *fetcher, const struct credential *credential, const char *scope,
                        struct token *out, struct error *err);
bool fetch_external(struct fetcher *fetcher, const struct credential *credential, const char *scope, struct token *out,
                    struct error *err);

/*
 * Forms (token_form.c). A form is wiped when it was sent.
 */
#define FORM_BYTES_MAX 65536
void add_escaped(struct text *out, const char *at, size_t len);
void form_add(struct text *out, const char *name, const char *value); /* NULL: nothing */
void form_add_bytes(struct text *out, const char *name, const char *at, size_t len);
bool post_form(struct fetcher *fetcher, const char *url, struct text *form, const struct token_header *headers,
               size_t header_count, struct token *out, struct error *err);
/* The value of a header with client_id and client_secret; given back with free_secret_text. */
char *basic_of(const struct credential *credential);
void free_secret_text(char *text);

/* token_call.c: one exchange, tried up to three times while that helps. `what` in words: "the token server". */
bool token_call(struct fetcher *fetcher, const struct token_request *request, const char *what, struct token_answer *out,
                struct error *err);
/* Takes apart {"access_token","expires_in"} or {"accessToken","expireTime"}; `google_bad_answer`. */
bool token_of_answer(const struct secret *body, int64_t now_utc_s, const char *what, struct token *out, struct error *err);
/* json_loadb of what holds secrets: the parser's own copies are wiped. */
json_t *json_load_secret(struct span text, size_t flags, json_error_t *where);
/* Wipes every text of a JSON value that is nobody else's, and gives it back. */
void json_wipe(json_t *root);

/* jwt.c: a signed claim (RS256). The claims are a new reference, which is taken. NULL with `bad_credentials`. */
struct secret *jwt_sign(const char *private_key_pem, const char *key_id, json_t *claims, struct error *err);

/* credentials_chain.c: the first of the default chain that is there; `no_credentials` says what was looked at. */
struct credential *chain_find(const struct credentials_setup *setup, char *name, size_t name_room, struct error *err);
/* `no_credentials`: nothing of the chain is there, and why the last of it is not. Always false. */
bool chain_fail(const struct credentials_setup *setup, const char *and_why, struct error *err);
const char *setup_variable(const struct credentials_setup *setup, const char *name);

#endif
