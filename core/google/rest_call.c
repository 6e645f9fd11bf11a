/* A call: copies of what was asked, wiped when it is freed; and its result. */
#include "google/rest_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <stdlib.h>

#define OR(value, fallback) ((value) ? (value) : (fallback))
#define ANSWER_BYTES ((size_t)32 << 20)

/* What may have been secret is not left in freed memory. */
static void wipe_free(char *bytes, size_t len)
{
	if (bytes)
		explicit_bzero(bytes, len);
	free(bytes);
}

void rest_call_free(struct rest_call *call)
{
	if (!call)
		return;
	if (call->before)
		call->before->after = call->after;
	else
		call->client->calls = call->after;
	if (call->after)
		call->after->before = call->before;
	if (call->state == REST_TRYING)
		curl_multi_remove_handle(call->client->multi, call->easy);
	curl_easy_cleanup(call->easy);
	for (struct curl_slist *h = call->headers; h; h = h->next)
		explicit_bzero(h->data, strlen(h->data));
	curl_slist_free_all(call->headers);
	explicit_bzero(call->answer->at, call->answer->len);
	text_free(call->answer);
	wipe_free(call->body_bytes, call->body.len);
	wipe_free(call->url, call->url ? strlen(call->url) : 0);
	free(call->what);
	free(call->method);
	free(call);
}

/* `line` without a value would take the header away; ours always have one. */
static void add_header(struct rest_call *call, const char *name, const char *value)
{
	size_t room = strlen(name) + strlen(value) + 3;
	char *line = memory_alloc(room);

	snprintf(line, room, "%s: %s", name, value);
	/* A value with a line break would be a header more. */
	if (!strpbrk(line, "\r\n"))
		call->headers = curl_slist_append(call->headers, line);
	wipe_free(line, room);
}

static void add_headers(struct rest_call *call, const struct rest_request *request)
{
	if (request->body.len)
		add_header(call, "Content-Type", OR(request->content_type, "application/json; charset=utf-8"));
	if (request->authorization && !request->is_local)
		add_header(call, "Authorization", request->authorization);
	for (size_t i = 0; i < request->header_count; i++)
		add_header(call, request->headers[i].name, request->headers[i].value);
	/* Waiting for "100 Continue" costs a second where a server does not know it. */
	call->headers = curl_slist_append(call->headers, "Expect:");
}

static void copy_request(struct rest_call *call, const struct rest_request *request)
{
	call->request = *request;
	call->request.authorization = NULL;
	call->request.headers = NULL;
	call->request.try_ms = OR(request->try_ms, 60000);
	call->request.deadline_ms = OR(request->deadline_ms, 600000);
	call->request.first_wait_ms = OR(request->first_wait_ms, 1000);
	call->request.answer_bytes = OR(request->answer_bytes, ANSWER_BYTES);
	call->what = memory_string(OR(request->what, "request"));
	call->method = memory_string(OR(request->method, "GET"));
	call->url = memory_string(request->url);
	call->body_bytes = memory_string_of(request->body);
	call->body = span_make(call->body_bytes, request->body.len);
}

struct rest_call *rest_start(struct rest_client *client, const struct rest_request *request)
{
	struct rest_call *call = memory_zalloc(sizeof(*call));

	call->client = client;
	copy_request(call, request);
	add_headers(call, request);
	call->answer = text_new(call->request.answer_bytes);
	call->deadline_at_ms = clock_mono_ms() + call->request.deadline_ms;
	call->easy = curl_easy_init();
	if (!call->easy)
		abort(); /* no memory: as memory_alloc */
	call->after = client->calls;
	if (client->calls)
		client->calls->before = call;
	client->calls = call;
	rest_try_prepare(call);
	rest_try_begin(call);
	return call;
}

const char *rest_header(struct rest_call *call, const char *name)
{
	struct curl_header *header;

	return curl_easy_header(call->easy, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK ? header->value : NULL;
}

bool rest_result(struct rest_call *call, struct rest_answer *out, struct error *err)
{
	*out = (struct rest_answer){ call->status, text_span(call->answer), call->tries, call->row };
	if (call->row->fate == ANSWER_FINE)
		return true;
	return answer_fail(err, call->row, call->what, span_of(call->said.message), call->retry_after_ms > 0 ? call->retry_after_ms : 0);
}
