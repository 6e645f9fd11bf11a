/* The client of `weir bench grpc_echo`: the same work as tests/emulators/bench.go, so that both can be compared. */
#include "drive.h"

#include "base/arena.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

struct stream {
	struct grpc_client *client;
	int64_t count, ahead;
	size_t size;
};

static double cpu_s(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void receive_one(struct grpc_call *call, size_t size)
{
	struct grpc_message *answer = NULL;

	must(grpc_receive(call, &answer, -1) == GRPC_DONE, "the stream ended: %s", grpc_result(call).message);
	must(value_of(answer).len == size, "an answer has another length");
	grpc_message_free(answer);
}

/* Like the other one: a message is sent for each that came, `ahead` are under way. */
static void *stream_main(void *argument)
{
	struct stream *stream = argument;
	struct grpc_request request = { .path = "/weir.test.Echo/Bidi" };
	struct grpc_call *call = grpc_start(stream->client, &request);
	char *bytes = memory_alloc(stream->size);
	OWNED(text) message = text_new(stream->size + 20);

	pattern_fill(bytes, stream->size, 1);
	for (int64_t i = 0; i < stream->count + stream->ahead; i++) {
		if (i >= stream->ahead)
			receive_one(call, stream->size);
		if (i >= stream->count)
			continue;
		value_put(message, span_make(bytes, stream->size));
		grpc_send(call, text_span(message), i == stream->count - 1, -1);
	}
	free(bytes);
	grpc_call_free(call);
	return NULL;
}

/* port=, count=, size=, streams=, ahead= */
json_t *bench_run(void)
{
	size_t streams = (size_t)given_number("streams", 4);
	int64_t count = given_number("count", 1000000) / (int64_t)streams;
	double begun_s = now_s(), begun_cpu_s = cpu_s();
	struct grpc_client *client = client_open();
	struct stream work = { client, count, given_number("ahead", 100), (size_t)given_number("size", 1024) };
	pthread_t *threads = memory_alloc(streams * sizeof(*threads));

	for (size_t i = 0; i < streams; i++)
		must(pthread_create(&threads[i], NULL, stream_main, &work) == 0, "no thread");
	for (size_t i = 0; i < streams; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	grpc_close(client);
	return json_pack("{s:I, s:f, s:f, s:I}", "messages", (json_int_t)(count * (int64_t)streams), "wall_s", now_s() - begun_s,
	                 "cpu_s", cpu_s() - begun_cpu_s, "most_kib", (json_int_t)memory_most_kib());
}
