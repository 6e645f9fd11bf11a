/*
 * The token that all connections share: fetched by one caller while the others wait or go on with the old one, renewed
 * ahead of its end, dropped when it is refused.
 */
#include "google/credentials_private.h"

#include "base/clock.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#define RENEW_AHEAD_MS 225000  /* what Google's own clients leave */
#define LAST_MOMENT_MS 10000   /* a token that ends sooner is not handed out any more */
#define REFUSALS_MAX 2         /* of tokens one after the other */

/*
 * Fetching, without the lock
 */

struct fetched {
	struct token token;
	char source[256];
	int64_t clock_behind_s;
};

/* Where nothing else was there, a metadata server that never answered means that there are none. */
static bool explain_chain(const struct credentials *credentials, struct error *err)
{
	char why[200];

	snprintf(why, sizeof(why), "and the metadata server does not answer: %.150s", err->message);
	return chain_fail(&credentials->setup, why, err);
}

/* The metadata server's tokens are somebody's, too. */
static void name_account(const struct credentials *credentials, struct fetcher *fetcher, struct fetched *out)
{
	char account[ACCOUNT_BYTES], name[32];

	if (strchr(credentials->source, '@')) {
		memcpy(out->source, credentials->source, sizeof(out->source));
	} else if (metadata_account(fetcher, account)) {
		snprintf(name, sizeof(name), "%.30s", out->source);
		snprintf(out->source, sizeof(out->source), "service account %.199s, %.30s", account, name);
	}
}

static bool fetch(struct credentials *credentials, struct fetched *out, struct error *err)
{
	struct fetcher fetcher = { .exchange = credentials->setup.exchange, .context = credentials->setup.context,
		                   .setup = &credentials->setup, .until_ms = clock_mono_ms() + TOKEN_WAIT_MS,
		                   .clock_behind_s = out->clock_behind_s };
	char name[300];
	struct credential *credential = chain_find(&credentials->setup, name, sizeof(name), err);
	bool is_fetched;

	if (!credential)
		return false;
	credential_describe(credential, name, out->source, sizeof(out->source));
	is_fetched = credential_fetch(&fetcher, credential, credentials->setup.scope, &out->token, err);
	if (!is_fetched && credential->id == CREDENTIAL_METADATA && err->kind == ERROR_UNREACHABLE && !credentials->fetches)
		explain_chain(credentials, err);
	if (is_fetched && credential->id == CREDENTIAL_METADATA)
		name_account(credentials, &fetcher, out);
	out->clock_behind_s = fetcher.clock_behind_s;
	credential_free(credential);
	return is_fetched;
}

/*
 * Under the lock
 */

static void note_failure(struct credentials *credentials, const struct error *failure)
{
	if (credentials->failure.kind == ERROR_NONE)
		credentials->failed_since_us = clock_utc_us();
	credentials->failure = *failure;
	credentials->try_after_ms = clock_mono_ms() + backoff_next(&credentials->backoff, 0);
}

static void note_success(struct credentials *credentials)
{
	credentials->failure = (struct error){ 0 };
	credentials->failed_since_us = 0;
	credentials->try_after_ms = 0;
	backoff_reset(&credentials->backoff);
}

/* Not all processes at once: up to a third earlier. */
static int64_t renew_ahead(int64_t life_ms)
{
	int64_t ahead = life_ms / 4 < RENEW_AHEAD_MS ? life_ms / 4 : RENEW_AHEAD_MS;

	return ahead + (int64_t)randombytes_uniform((uint32_t)(ahead / 3) + 1);
}

static void take_token(struct credentials *credentials, struct fetched *fetched, int64_t now_ms)
{
	secret_free(credentials->token);
	credentials->token = fetched->token.value;
	credentials->number++;
	credentials->fetches++;
	credentials->ends_ms = now_ms + fetched->token.life_ms;
	credentials->renew_ms = credentials->ends_ms - renew_ahead(fetched->token.life_ms);
	/* That servers take it again is for them to say. */
	if (!credentials->refusals)
		note_success(credentials);
}

bool token_lasts(const struct credentials *credentials, int64_t now_ms)
{
	int64_t life_left_ms = credentials->ends_ms - now_ms;

	return credentials->token && life_left_ms > 0 && (life_left_ms > LAST_MOMENT_MS || now_ms < credentials->renew_ms);
}

static bool fetch_for_all(struct credentials *credentials, struct error *err)
{
	struct fetched fetched = { .clock_behind_s = credentials->clock_behind_s };
	struct error failure = { 0 };
	int64_t began_ms = clock_mono_ms();
	bool is_fetched;

	credentials->is_fetching = true;
	pthread_mutex_unlock(&credentials->lock);
	is_fetched = fetch(credentials, &fetched, &failure);
	pthread_mutex_lock(&credentials->lock);
	credentials->is_fetching = false;
	credentials->clock_behind_s = fetched.clock_behind_s;
	if (*fetched.source)
		memcpy(credentials->source, fetched.source, sizeof(credentials->source));
	if (is_fetched)
		take_token(credentials, &fetched, began_ms);
	/* One that is over when it comes would be asked for again at once, for ever. */
	if (is_fetched && !token_lasts(credentials, clock_mono_ms()))
		is_fetched = fail(&failure, ERROR_TRANSIENT, "google_bad_answer", "tokens of the %.200s are over when they come",
		                  credentials->source);
	if (!is_fetched)
		note_failure(credentials, &failure);
	pthread_cond_broadcast(&credentials->changed);
	*err = failure;
	return is_fetched;
}

/* False: it was in vain. */
static bool wait_for_other(struct credentials *credentials, int64_t until_ms, struct error *err)
{
	struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };

	if (pthread_cond_timedwait(&credentials->changed, &credentials->lock, &until) != ETIMEDOUT)
		return true;
	return fail(err, ERROR_TRANSIENT, "google_timeout", "no access token in time");
}

/* True: there is a token to hand out. */
static bool settle(struct credentials *credentials, struct error *err)
{
	int64_t until_ms = clock_mono_ms() + TOKEN_WAIT_MS;

	for (;;) {
		int64_t now_ms = clock_mono_ms();
		bool lasts = token_lasts(credentials, now_ms), may_try = now_ms >= credentials->try_after_ms;

		if (lasts && (now_ms < credentials->renew_ms || credentials->is_fetching || !may_try))
			return true;
		if (credentials->is_fetching) {
			if (!wait_for_other(credentials, until_ms, err))
				return false;
		} else if (!may_try) {
			*err = credentials->failure;
			err->retry_after_ms = credentials->try_after_ms - now_ms;
			return false;
		} else if (!fetch_for_all(credentials, err) && !lasts) {
			return false;
		}
	}
}

bool credentials_token(struct credentials *credentials, struct token_lease *out, struct error *err)
{
	struct error failure = { 0 };
	bool is_there;

	pthread_mutex_lock(&credentials->lock);
	is_there = settle(credentials, &failure);
	if (is_there)
		*out = (struct token_lease){ secret_copy(credentials->token), credentials->number };
	pthread_mutex_unlock(&credentials->lock);
	if (!is_there && err)
		*err = failure;
	return is_there;
}

void token_lease_free(struct token_lease *lease)
{
	secret_free(lease->value);
	*lease = (struct token_lease){ 0 };
}

static void drop_token(struct credentials *credentials)
{
	secret_free(credentials->token);
	credentials->token = NULL;
}

/* What our clock signs, a server with another clock refuses; what was learned goes with a clock that was put right. */
static void learn_from_refusal(struct credentials *credentials, int64_t server_utc_s)
{
	int64_t behind_s = server_utc_s - clock_utc_us() / 1000000;

	if (server_utc_s)
		credentials->clock_behind_s = behind_s >= 60 || behind_s <= -60 ? behind_s : 0;
}

bool credentials_refused(struct credentials *credentials, uint64_t number, int64_t server_utc_s)
{
	struct error failure = { 0 };
	bool is_worth_it = true;

	pthread_mutex_lock(&credentials->lock);
	/* An older one was refused after a newer was fetched: nothing is known of that yet. */
	if (number == credentials->number && credentials->token) {
		drop_token(credentials);
		learn_from_refusal(credentials, server_utc_s);
		if (++credentials->refusals >= REFUSALS_MAX) {
			fail(&failure, ERROR_ACCESS, "auth_failed", "tokens of the %.200s are refused, new ones too", credentials->source);
			note_failure(credentials, &failure);
			is_worth_it = false;
		}
	}
	pthread_mutex_unlock(&credentials->lock);
	return is_worth_it;
}

void credentials_accepted(struct credentials *credentials, uint64_t number)
{
	pthread_mutex_lock(&credentials->lock);
	if (number == credentials->number && credentials->refusals) {
		credentials->refusals = 0;
		note_success(credentials);
	}
	pthread_mutex_unlock(&credentials->lock);
}
