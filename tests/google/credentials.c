/* Credentials against the token servers: many threads that call with the one token that they share. */
#include "drive.h"

#include "base/arena.h"
#include "base/clock.h"
#include "google/answer.h"
#include "google/rest.h"
#include "google/token_rest.h"
#include "google/wait.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 64

struct run {
	struct credentials *credentials;
	const char *url;                 /* of a call that needs a token */
	int64_t until_ms, calls;         /* of each thread; 0: until then */
	atomic_llong fine, failed, tokens_missing;
	pthread_mutex_t lock;
	json_t *codes;                   /* of failures, counted */
};

static struct credentials *open_credentials(struct token_rest *rest)
{
	static const char *const allowed[] = { "127.0.0.1", NULL };
	struct credentials_setup setup = {
		.file = given("file"),
		.wants_token_call = given_number("token_call", 1) != 0,
		.allowed_hosts = given_number("allowed", 1) ? allowed : NULL,
		.exchange = token_exchange_rest,
		.context = rest,
	};
	struct error err = { 0 };
	struct credentials *credentials = credentials_open(&setup, &err);

	must(credentials != NULL, "%s: %s", err.code, err.message);
	return credentials;
}

static void count_failure(struct run *run, const struct error *err)
{
	json_int_t count;

	pthread_mutex_lock(&run->lock);
	count = json_integer_value(json_object_get(run->codes, err->code));
	json_object_set_new(run->codes, err->code, json_integer(count + 1));
	pthread_mutex_unlock(&run->lock);
}

static int64_t date_of(struct rest_call *call)
{
	const char *date = rest_header(call, "date");
	int64_t utc_s = 0;

	return date && wait_read_date(span_of(date), clock_utc_us(), &utc_s) ? utc_s : 0;
}

/* One call with a token; *out_again: another token is worth a try. */
static bool call_once(struct run *run, struct rest_client *client, bool *out_again, struct error *err)
{
	struct rest_request request = { .what = "call", .url = run->url, .try_count_max = 1 };
	struct token_lease lease;
	struct rest_answer answer;
	struct rest_call *call;
	char header[8192];
	bool is_fine;

	*out_again = false;
	if (!credentials_token(run->credentials, &lease, err)) {
		atomic_fetch_add(&run->tokens_missing, 1);
		return false;
	}
	snprintf(header, sizeof(header), "Bearer %.*s", (int)secret_length(lease.value), (const char *)secret_look(lease.value));
	request.authorization = header;
	is_fine = rest_do(client, &request, &call, &answer, err);
	if (is_fine)
		credentials_accepted(run->credentials, lease.number);
	else if (answer.row->may_renew_token)
		*out_again = credentials_refused(run->credentials, lease.number, date_of(call));
	rest_call_free(call);
	token_lease_free(&lease);
	return is_fine;
}

static void *call_main(void *context)
{
	struct run *run = context;
	struct rest_setup setup = { .proxy = "" };
	struct rest_client *client = rest_open(&setup, NULL);

	for (int64_t i = 0; run->calls ? i < run->calls : clock_mono_ms() < run->until_ms; i++) {
		struct error err = { 0 };
		bool again, is_fine = call_once(run, client, &again, &err);

		if (!is_fine && again) {
			err = (struct error){ 0 };
			is_fine = call_once(run, client, &again, &err);
		}
		atomic_fetch_add(is_fine ? &run->fine : &run->failed, 1);
		if (!is_fine) {
			count_failure(run, &err);
			clock_sleep_ms(20);
		}
	}
	rest_close(client);
	return NULL;
}

static json_t *run_report(struct run *run)
{
	struct credentials_view view;
	OWNED(text) sentence = text_new(2000);

	credentials_look(run->credentials, &view);
	credentials_sentence(&view, sentence);
	return json_pack("{s:I, s:I, s:I, s:O, s:I, s:s, s:s, s:b, s:b, s:I}", "fine", (json_int_t)run->fine, "failed",
	                 (json_int_t)run->failed, "tokens_missing", (json_int_t)run->tokens_missing, "codes", run->codes, "fetches",
	                 (json_int_t)view.fetches, "source", view.source, "sentence", sentence->at, "has_failed", view.has_failed,
	                 "has_token", view.has_token, "clock_behind_s", (json_int_t)view.clock_behind_s);
}

/* threads=, calls= each, or ms= long; url= of the call; file=, token_call=, allowed=. */
static json_t *credentials(void)
{
	struct token_rest rest = { .proxy = "" };
	struct run run = { .credentials = open_credentials(&rest), .url = given("url"), .calls = given_number("calls", 0),
		           .until_ms = clock_mono_ms() + given_number("ms", 0), .codes = json_object() };
	int64_t count = given_number("threads", 1);
	pthread_t threads[THREADS_MAX];
	json_t *report;

	must(count <= THREADS_MAX, "at most %d threads", THREADS_MAX);
	pthread_mutex_init(&run.lock, NULL);
	for (int64_t i = 0; i < count; i++)
		must(pthread_create(&threads[i], NULL, call_main, &run) == 0, "no thread");
	for (int64_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	report = run_report(&run);
	pthread_mutex_destroy(&run.lock);
	json_decref(run.codes);
	credentials_close(run.credentials);
	return report;
}

const struct scenario credential_scenarios[] = { { "credentials", credentials }, { NULL, NULL } };
