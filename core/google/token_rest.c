/* The exchange of tokens as the engine has it: one call of REST on a client of its own, since it comes once an hour. */
#include "google/token_rest.h"

#include "base/arena.h"
#include "base/clock.h"
#include "google/answer.h"
#include "google/rest.h"
#include "google/wait.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define HEADERS_MAX 24
#define ANSWER_BYTES_MAX 65536

/* A header whose value is a secret goes where REST wipes it. */
static void take_headers(const struct token_request *from, struct rest_request *into, struct rest_pair pairs[HEADERS_MAX])
{
	into->headers = pairs;
	for (size_t i = 0; i < from->header_count; i++) {
		if (strcmp(from->headers[i].name, "Authorization") == 0)
			into->authorization = from->headers[i].value;
		else if (into->header_count < HEADERS_MAX)
			pairs[into->header_count++] = (struct rest_pair){ from->headers[i].name, from->headers[i].value };
	}
}

/* What answers with a failure has answered: token_call.c judges it. */
static bool take_answer(struct rest_call *call, const struct rest_answer *answer, struct token_answer *out)
{
	const char *date = rest_header(call, "date"), *flavor = rest_header(call, "metadata-flavor");
	char *copy = memory_string_of(answer->body);

	*out = (struct token_answer){ .http_status = answer->status, .body = secret_take(copy, answer->body.len),
		                      .is_metadata_server = flavor && strcmp(flavor, "Google") == 0 };
	if (date && !wait_read_date(span_of(date), clock_utc_us(), &out->server_utc_s))
		out->server_utc_s = 0;
	free(copy);
	return true;
}

bool token_exchange_rest(void *context, const struct token_request *request, struct token_answer *out, struct error *err)
{
	const struct token_rest *rest = context;
	struct rest_setup setup = { .ca_file = rest->ca_file, .proxy = request->is_direct ? "" : rest->proxy };
	struct rest_client *client = rest_open(&setup, err);
	struct rest_pair pairs[HEADERS_MAX];
	struct rest_request call = { .what = "ask for a token", .method = request->body ? "POST" : "GET", .url = request->url,
		                     .content_type = request->content_type, .try_ms = request->wait_ms,
		                     .deadline_ms = request->wait_ms, .try_count_max = 1, .answer_bytes = ANSWER_BYTES_MAX };
	struct rest_call *done;
	struct rest_answer answer;
	bool has_answered;

	if (!client)
		return false;
	take_headers(request, &call, pairs);
	if (request->body)
		call.body = span_make((const char *)secret_look(request->body), secret_length(request->body));
	has_answered = rest_do(client, &call, &done, &answer, err) || answer.status;
	if (has_answered)
		has_answered = take_answer(done, &answer, out);
	rest_call_free(done);
	rest_close(client);
	return has_answered;
}
