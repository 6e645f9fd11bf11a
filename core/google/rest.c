/* The client: calls under way, waits between tries, and the end of a call. */
#include "google/rest_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>

#define OR(value, fallback) ((value) ? (value) : (fallback))
#define LONGEST_WAIT_MS 60000
#define QUOTA_TIMES 5
#define LONGEST_POLL_MS 60000

static pthread_once_t begun = PTHREAD_ONCE_INIT;

static void begin_library(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

struct rest_client *rest_open(const struct rest_setup *setup, struct error *err)
{
	struct rest_client *client = memory_zalloc(sizeof(*client));

	pthread_once(&begun, begin_library);
	client->setup = *setup;
	client->setup.connect_ms = OR(setup->connect_ms, 10000);
	client->setup.ca_file = client->ca_file = memory_string(setup->ca_file);
	client->setup.proxy = client->proxy = memory_string(setup->proxy);
	client->setup.user_agent = client->user_agent = memory_string(OR(setup->user_agent, "weir"));
	client->multi = curl_multi_init();
	if (client->multi)
		return client;
	rest_close(client);
	fail(err, ERROR_TRANSIENT, "no_descriptors", "cannot begin a connection: no more files may be opened");
	return NULL;
}

void rest_close(struct rest_client *client)
{
	if (!client)
		return;
	while (client->calls)
		rest_call_free(client->calls);
	curl_multi_cleanup(client->multi);
	free(client->ca_file);
	free(client->proxy);
	free(client->user_agent);
	free(client);
}

void rest_wake(struct rest_client *client)
{
	atomic_store(&client->is_woken, true);
	curl_multi_wakeup(client->multi);
}

/* Was the request looked at at all? A 429 says that it was not. */
static bool was_begun(const struct rest_call *call)
{
	static const char *const before[] = { "no_address", "not_connected", "tls_failed" };

	if (call->status == 429)
		return false;
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		if (!call->status && strcmp(call->row->reason, before[i]) == 0)
			return false;
	}
	return true;
}

/* How long until the next try; -1: there is none. */
static int64_t next_wait(struct rest_call *call)
{
	bool is_quota = call->row->fate == ANSWER_WAIT;
	int64_t first_ms = call->request.first_wait_ms * (is_quota ? QUOTA_TIMES : 1), wait_ms;

	if ((call->row->fate != ANSWER_RETRY && !is_quota) || (call->status && call->status == call->request.ends_at))
		return -1;
	if (!call->request.may_repeat && was_begun(call))
		return -1;
	if (call->request.try_count_max && call->tries >= call->request.try_count_max)
		return -1;
	if (!call->backoff.first_ms)
		call->backoff = (struct backoff)BACKOFF(first_ms, LONGEST_WAIT_MS, 2);
	wait_ms = backoff_next(&call->backoff, call->retry_after_ms);
	return clock_mono_ms() + wait_ms < call->deadline_at_ms ? wait_ms : -1;
}

/* Host and path of the URL, for the log: neither a query nor a password can be in them. */
static void tell(struct rest_call *call, int64_t wait_ms)
{
	const struct rest_setup *setup = &call->client->setup;
	const char *begin = strstr(call->url, "://"), *host = begin ? begin + 3 : call->url;
	const char *name = memrchr(host, '@', strcspn(host, "/?#"));

	host = name ? name + 1 : host;
	size_t host_len = strcspn(host, "/?#"), path_len = strcspn(host + host_len, "?#");
	char host_text[REST_TEXT_BYTES], path_text[REST_TEXT_BYTES];
	curl_off_t sent = 0, received = 0;

	if (!setup->on_try)
		return;
	snprintf(host_text, sizeof(host_text), "%.*s", (int)host_len, host);
	snprintf(path_text, sizeof(path_text), "%.*s", (int)path_len, host + host_len);
	curl_easy_getinfo(call->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
	curl_easy_getinfo(call->easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
	setup->on_try(setup->context, &(struct rest_try){
		.what = call->what, .method = call->method, .host = host_text, .path = path_text, .status = call->status,
		.code = call->row->error_code, .number = call->tries, .took_ms = clock_mono_ms() - call->begun_ms,
		.wait_ms = wait_ms, .sent_bytes = (uint64_t)sent, .received_bytes = (uint64_t)received,
	});
}

static void try_over(struct rest_call *call, CURLcode result)
{
	int64_t wait_ms;

	curl_multi_remove_handle(call->client->multi, call->easy);
	rest_try_judge(call, result);
	wait_ms = next_wait(call);
	call->state = wait_ms < 0 ? REST_DONE : REST_RESTING;
	call->next_try_ms = clock_mono_ms() + wait_ms;
	tell(call, wait_ms);
}

/* Tries whose wait is over begin. */
static void begin_rested(struct rest_client *client)
{
	int64_t now_ms = clock_mono_ms();

	for (struct rest_call *call = client->calls; call; call = call->after) {
		if (call->state == REST_RESTING && call->next_try_ms <= now_ms)
			rest_try_begin(call);
	}
}

/* How long nothing but sockets has to be looked at. */
static int poll_ms(const struct rest_client *client, int64_t until_ms)
{
	int64_t now_ms = clock_mono_ms(), next_ms = now_ms + LONGEST_POLL_MS;

	if (until_ms >= 0 && until_ms < next_ms)
		next_ms = until_ms;
	for (const struct rest_call *call = client->calls; call; call = call->after) {
		if (call->state == REST_RESTING && call->next_try_ms < next_ms)
			next_ms = call->next_try_ms;
	}
	return next_ms <= now_ms ? 0 : (int)(next_ms - now_ms);
}

static void collect(struct rest_client *client)
{
	struct CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(client->multi, &left))) {
		struct rest_call *call = NULL;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
		try_over(call, message->data.result);
	}
}

static struct rest_call *take_done(struct rest_client *client)
{
	for (struct rest_call *call = client->calls; call; call = call->after) {
		if (call->state == REST_DONE) {
			call->state = REST_TAKEN;
			return call;
		}
	}
	return NULL;
}

static void turn(struct rest_client *client)
{
	int running;

	begin_rested(client);
	curl_multi_perform(client->multi, &running);
	collect(client);
}

struct rest_call *rest_wait(struct rest_client *client, int64_t wait_ms)
{
	int64_t until_ms = wait_ms < 0 ? -1 : clock_mono_ms() + wait_ms;

	for (;;) {
		struct rest_call *done;
		bool is_over, is_woken;

		turn(client);
		done = take_done(client);
		is_woken = atomic_exchange(&client->is_woken, false);
		is_over = until_ms >= 0 ? clock_mono_ms() >= until_ms : !client->calls;
		if (done || is_woken || is_over)
			return done;
		curl_multi_poll(client->multi, NULL, 0, poll_ms(client, until_ms), NULL);
	}
}

void rest_finish(struct rest_client *client, struct rest_call *call)
{
	for (turn(client); call->state != REST_DONE; turn(client))
		curl_multi_poll(client->multi, NULL, 0, poll_ms(client, -1), NULL);
	call->state = REST_TAKEN;
}

bool rest_do(struct rest_client *client, const struct rest_request *request, struct rest_call **out_call,
             struct rest_answer *out, struct error *err)
{
	*out_call = rest_start(client, request);
	rest_finish(client, *out_call);
	return rest_result(*out_call, out, err);
}
