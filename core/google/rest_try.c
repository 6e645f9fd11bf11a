/* One try of a call: how libcurl is told, what comes back, and what that means. */
#include "google/rest_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <sys/socket.h>
#include <unistd.h>

/* Words of the transport for libcurl's results; all others are a connection that was lost. */
static const struct {
	CURLcode result;
	const char *reason;
} reasons_of[] = {
	{ CURLE_COULDNT_RESOLVE_HOST, "no_address" },
	{ CURLE_COULDNT_RESOLVE_PROXY, "no_address" },
	{ CURLE_COULDNT_CONNECT, "not_connected" },
	{ CURLE_OPERATION_TIMEDOUT, "deadline" },
	{ CURLE_PEER_FAILED_VERIFICATION, "tls_untrusted" },
	{ CURLE_SSL_CACERT_BADFILE, "tls_untrusted" },
	{ CURLE_SSL_CONNECT_ERROR, "tls_failed" },
	{ CURLE_WEIRD_SERVER_REPLY, "malformed" },
	{ CURLE_UNSUPPORTED_PROTOCOL, "malformed" },
	{ CURLE_OUT_OF_MEMORY, "too_large" }, /* libcurl's own limit of a header line */
	{ CURLE_FILESIZE_EXCEEDED, "too_large" },
};

static size_t on_body(char *at, size_t size, size_t count, void *context)
{
	struct rest_call *call = context;

	call->is_too_large = !text_add_span(call->answer, span_make(at, size * count));
	return call->is_too_large ? 0 : size * count;
}

static size_t on_header(char *at, size_t size, size_t count, void *context)
{
	struct rest_call *call = context;

	(void)at;
	call->header_bytes += size * count;
	if (call->header_bytes <= REST_HEADERS_MAX)
		return size * count;
	call->is_too_large = true;
	return 0;
}

/* Where the name has led: an emulator's must be this machine. */
static curl_socket_t on_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct rest_call *call = context;

	(void)purpose;
	if (call->request.is_local && !address_is_local(&address->addr)) {
		call->is_not_local = true;
		return CURL_SOCKET_BAD;
	}
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_tls(struct rest_call *call)
{
	const struct rest_setup *setup = &call->client->setup;

	curl_easy_setopt(call->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(call->easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(call->easy, CURLOPT_SSL_VERIFYHOST, 2L);
	if (setup->ca_file) {
		curl_easy_setopt(call->easy, CURLOPT_CAINFO, setup->ca_file);
		curl_easy_setopt(call->easy, CURLOPT_CAPATH, NULL);
	}
}

static void set_limits(struct rest_call *call)
{
	curl_easy_setopt(call->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)call->client->setup.connect_ms);
	curl_easy_setopt(call->easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)call->request.answer_bytes);
	curl_easy_setopt(call->easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(call->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(call->easy, CURLOPT_HTTP09_ALLOWED, 0L);
	curl_easy_setopt(call->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(call->easy, CURLOPT_TCP_KEEPALIVE, 1L);
	/* libcurl 7.88 follows each stream of HTTP/2 by a reset that servers count (spec/transport.md 1.2): not worth it here. */
	curl_easy_setopt(call->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
}

static void set_body(struct rest_call *call)
{
	bool has_body = call->body.len > 0 || strcmp(call->method, "POST") == 0 || strcmp(call->method, "PUT") == 0 ||
	                strcmp(call->method, "PATCH") == 0;

	if (has_body) {
		curl_easy_setopt(call->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
		curl_easy_setopt(call->easy, CURLOPT_POSTFIELDS, call->body.len ? call->body.at : "");
	}
	if (strcmp(call->method, "GET") != 0 || has_body)
		curl_easy_setopt(call->easy, CURLOPT_CUSTOMREQUEST, call->method);
	curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
}

/* What stays the same for all tries. */
void rest_try_prepare(struct rest_call *call)
{
	const struct rest_setup *setup = &call->client->setup;

	curl_easy_setopt(call->easy, CURLOPT_URL, call->url);
	curl_easy_setopt(call->easy, CURLOPT_PRIVATE, call);
	curl_easy_setopt(call->easy, CURLOPT_USERAGENT, setup->user_agent);
	curl_easy_setopt(call->easy, CURLOPT_ERRORBUFFER, call->error);
	curl_easy_setopt(call->easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(call->easy, CURLOPT_WRITEDATA, call);
	curl_easy_setopt(call->easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(call->easy, CURLOPT_HEADERDATA, call);
	curl_easy_setopt(call->easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
	curl_easy_setopt(call->easy, CURLOPT_OPENSOCKETDATA, call);
	if (call->request.is_local)
		curl_easy_setopt(call->easy, CURLOPT_PROXY, "");
	else if (setup->proxy)
		curl_easy_setopt(call->easy, CURLOPT_PROXY, setup->proxy);
	set_tls(call);
	set_limits(call);
	set_body(call);
}

void rest_try_begin(struct rest_call *call)
{
	int64_t now_ms = clock_mono_ms(), left_ms = call->deadline_at_ms - now_ms;

	call->tries++;
	call->state = REST_TRYING;
	call->begun_ms = now_ms;
	call->header_bytes = 0;
	call->is_too_large = call->is_not_local = false;
	call->error[0] = '\0';
	text_clear(call->answer);
	if (left_ms > call->request.try_ms)
		left_ms = call->request.try_ms;
	curl_easy_setopt(call->easy, CURLOPT_TIMEOUT_MS, (long)(left_ms > 0 ? left_ms : 1));
	curl_multi_add_handle(call->client->multi, call->easy);
}

static const char *reason_of(const struct rest_call *call, CURLcode result)
{
	long proxy_status = 0;

	if (call->is_not_local)
		return "not_local";
	if (call->is_too_large)
		return "too_large";
	curl_easy_getinfo(call->easy, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
	if (proxy_status >= 400)
		return proxy_status < 500 ? "proxy_refused" : "not_connected";
	for (size_t i = 0; i < sizeof(reasons_of) / sizeof(reasons_of[0]); i++) {
		if (reasons_of[i].result == result)
			return reasons_of[i].reason;
	}
	return "lost";
}

static void read_retry_after(struct rest_call *call)
{
	const char *value = rest_header(call, "Retry-After"), *date = value ? rest_header(call, "date") : NULL;
	int64_t now_us = clock_utc_us(), server_s;

	/* A moment is one of the server's clock. */
	if (date && wait_read_date(span_of(date), now_us, &server_s))
		now_us = server_s * 1000000;
	call->retry_after_ms = call->said.retry_delay_ms;
	if (value)
		wait_read_retry_after(span_of(value), now_us, &call->retry_after_ms);
}

/* An error that says of itself what it is wins over the status. Answers that are fine are not looked into. */
static struct answer_facts facts_of(struct rest_call *call)
{
	if (call->status / 100 == 2 || !status_read_json(text_span(call->answer), &call->said))
		return (struct answer_facts){ .http_status = call->status, .code = GRPC_ANY, .reason = SPAN("") };
	return (struct answer_facts){ call->status, call->said.code, span_of(call->said.reason) };
}

void rest_try_judge(struct rest_call *call, CURLcode result)
{
	struct answer_facts facts = { .code = GRPC_ANY };
	long status = 0;

	curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	call->said = (struct google_status){ .code = GRPC_ANY, .retry_delay_ms = -1 };
	call->retry_after_ms = -1;
	call->status = result == CURLE_OK ? (int)status : 0;
	if (result == CURLE_OK) {
		facts = facts_of(call);
		read_retry_after(call);
	} else {
		facts.reason = span_of(reason_of(call, result));
		snprintf(call->said.message, sizeof(call->said.message), "%s",
		         call->error[0] ? call->error : curl_easy_strerror(result));
	}
	call->row = answer_judge(&facts);
}
