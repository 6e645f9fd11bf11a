/* One exchange with whoever gives tokens: tried again while that helps, judged by the decision table, taken apart. */
#include "google/credentials_private.h"

#include "base/clock.h"
#include "google/answer.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 3
#define TRY_WAIT_MS 10000
#define CLOCK_SLACK_S 60       /* what nobody minds */
#define LIFE_LEAST_MS 1000
#define LIFE_MOST_S 43200      /* the longest that an organisation may allow */

json_t *json_load_secret(struct span text, size_t flags, json_error_t *where)
{
	json_t *root;

	secret_copies_begin();
	root = json_loadb(text.at, text.len, flags, where);
	secret_copies_end();
	return root;
}

/* jansson has no way to take texts out of memory; these are nobody else's. */
void json_wipe(json_t *root)
{
	const char *name;
	json_t *value;
	size_t i;

	if (json_is_string(root)) {
		sodium_memzero((char *)json_string_value(root), json_string_length(root));
	} else if (json_is_object(root)) {
		json_object_foreach(root, name, value)
			json_wipe(json_incref(value));
	} else if (json_is_array(root)) {
		json_array_foreach(root, i, value)
			json_wipe(json_incref(value));
	}
	json_decref(root);
}

/* {"error":"invalid_grant","error_description":".."} of token servers, {"error":{..}} of APIs. What is lent is of `root`. */
static void read_refusal(const json_t *root, int http_status, struct answer_facts *out, struct span *out_text)
{
	const json_t *error = json_object_get(root, "error");
	const char *text = json_string_value(json_object_get(root, "error_description"));
	const char *status = json_string_value(json_object_get(error, "status"));

	*out = (struct answer_facts){ .http_status = http_status, .code = GRPC_ANY, .reason = span_of("") };
	if (json_is_string(error))
		out->reason = span_of(json_string_value(error));
	if (status)
		out->code = grpc_code_find(span_of(status));
	if (json_is_object(error))
		text = json_string_value(json_object_get(error, "message"));
	*out_text = span_of(text ? text : json_is_string(error) ? json_string_value(error) : "");
}

static bool answer_is_fine(const struct token_answer *answer, const char *what, const struct answer_row **out_row,
                           struct error *err)
{
	json_t *root = json_load_secret(span_make((const char *)secret_look(answer->body), secret_length(answer->body)), 0, NULL);
	struct answer_facts facts;
	struct span text;

	read_refusal(root, answer->http_status, &facts, &text);
	*out_row = answer_judge(&facts);
	if ((*out_row)->fate != ANSWER_FINE)
		answer_fail(err, *out_row, what, text, 0);
	json_wipe(root);
	return (*out_row)->fate == ANSWER_FINE;
}

/* How far our clock is behind, as seen by an answer. */
static void learn_clock(struct fetcher *fetcher, const struct token_answer *answer)
{
	int64_t behind_s = answer->server_utc_s - clock_utc_us() / 1000000;

	if (!answer->server_utc_s)
		return;
	if (behind_s > -CLOCK_SLACK_S && behind_s < CLOCK_SLACK_S)
		behind_s = 0;
	fetcher->has_learned_clock = behind_s != fetcher->clock_behind_s;
	fetcher->clock_behind_s = behind_s;
}

static bool try_once(struct fetcher *fetcher, const struct token_request *request, const char *what,
                     struct token_answer *out, bool *out_helps, struct error *err)
{
	struct token_request limited = *request;
	int64_t left_ms = fetcher->until_ms - clock_mono_ms();
	const struct answer_row *row;

	*out = (struct token_answer){ 0 };
	*out_helps = true;
	limited.wait_ms = left_ms < TRY_WAIT_MS ? left_ms : TRY_WAIT_MS;
	if (request->wait_ms && request->wait_ms < limited.wait_ms)
		limited.wait_ms = request->wait_ms;
	if (left_ms <= 0)
		return fail(err, ERROR_TRANSIENT, "google_timeout", "%s: no answer in time", what);
	if (!fetcher->exchange(fetcher->context, &limited, out, err)) {
		*out_helps = err->kind == ERROR_TRANSIENT || err->kind == ERROR_UNREACHABLE;
		return because(err, "%s", what);
	}
	learn_clock(fetcher, out);
	if (answer_is_fine(out, what, &row, err))
		return true;
	*out_helps = row->fate == ANSWER_RETRY || row->fate == ANSWER_WAIT;
	secret_free(out->body);
	out->body = NULL;
	return false;
}

bool token_call(struct fetcher *fetcher, const struct token_request *request, const char *what, struct token_answer *out,
                struct error *err)
{
	struct backoff backoff = BACKOFF(500, 4000, 2);
	struct error failure;
	bool helps = true;

	for (int i = 0; i < TRIES && helps; i++) {
		int64_t wait_ms = i ? backoff_next(&backoff, 0) : 0;

		if (i && clock_mono_ms() + wait_ms >= fetcher->until_ms)
			break;
		if (i)
			clock_sleep_ms(wait_ms);
		failure = (struct error){ 0 };
		if (try_once(fetcher, request, what, out, &helps, &failure))
			return true;
	}
	*err = failure;
	return false;
}

/* A number, or digits as text. */
static int64_t seconds_of(const json_t *value)
{
	const char *text = json_string_value(value);
	double number = json_number_value(value);
	int64_t seconds = 0;

	if (number >= LIFE_MOST_S)
		return LIFE_MOST_S; /* what is beyond an integer has no defined value as one */
	if (json_is_number(value))
		return number > 0 ? (int64_t)number : 0;
	for (; text && *text >= '0' && *text <= '9' && seconds < LIFE_MOST_S; text++)
		seconds = seconds * 10 + (*text - '0');
	return text && !*text ? seconds : 0;
}

/* "2026-01-01T00:00:00Z", with any fraction. */
static int64_t time_of(const char *text)
{
	struct tm tm = { 0 };
	const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	return end && strchr("Z.", *end) && *end ? (int64_t)timegm(&tm) : 0;
}

static bool is_token(const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (!len || len > 16384)
		return false;
	for (; *text; text++) {
		if (*text <= ' ' || *text > '~')
			return false;
	}
	return true;
}

bool token_of_answer(const struct secret *body, int64_t now_utc_s, const char *what, struct token *out, struct error *err)
{
	json_t *root = json_load_secret(span_make((const char *)secret_look(body), secret_length(body)), JSON_REJECT_DUPLICATES, NULL);
	const char *token = json_string_value(json_object_get(root, "access_token"));
	int64_t life_s = seconds_of(json_object_get(root, "expires_in"));

	if (!token) {
		token = json_string_value(json_object_get(root, "accessToken"));
		life_s = time_of(json_string_value(json_object_get(root, "expireTime"))) - now_utc_s;
	}
	if (is_token(token) && life_s > 0) {
		if (life_s > LIFE_MOST_S)
			life_s = LIFE_MOST_S;
		out->value = secret_take((char *)token, strlen(token));
		out->life_ms = life_s * 1000 > LIFE_LEAST_MS ? life_s * 1000 : LIFE_LEAST_MS;
	} else {
		fail(err, ERROR_TRANSIENT, "google_bad_answer", "%s: the answer holds no token that is good for a while", what);
	}
	json_wipe(root);
	return out->value != NULL;
}
