/*
 * Pub/Sub without its memory, for speed: StreamingPull that gives each message once, to whoever has room, and unary
 * calls that only count. Messages are numbered bodies of 1 KiB, or the bodies of a feed, each with one attribute.
 *
 *   fast_pubsub [COUNT [PER_RESPONSE [FEED [RATE]]]]     COUNT 0: without end, or all lines of the feed; FEED "": bodies of its own
 *
 * RATE: messages a second from the first one on, as far as they are taken; 0: as fast as they are. At the end it says what it has counted, as one line of JSON.
 */
#include "fast.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BODY_BYTES 1024
#define LINE_BYTES_MAX (1u << 20)
#define ACK_ID_BYTES 180      /* about what the service's have */
#define PULLERS 64
#define PER_RESPONSE_MAX 1000
#define MESSAGE_ROOM (ACK_ID_BYTES + 128) /* around a body */

/* A stream that pulls; the first two digits of its ack ids are its place in the table. */
struct puller {
	struct fast_stream *stream;   /* NULL: the place is free */
	uint64_t held, held_max;      /* messages; 0 no limit */
};

static struct {
	struct puller pullers[PULLERS];
	uint64_t count, per_response;
	const uint8_t *feed, *feed_end;
	uint8_t *response;
	size_t response_room;
	uint8_t body[BODY_BYTES];
	char ack_id[ACK_ID_BYTES + 1];
	int64_t now_s, begun_ns;      /* begun_ns 0: nothing was sent yet */
	uint64_t rate;
	uint64_t sent, acked, extended, handed_back, ack_calls, extend_calls;
} server;

/*
 * Protobuf, as much as is needed
 */

static uint8_t *put_varint(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

static uint8_t *put_bytes(uint8_t *at, unsigned field, const void *bytes, size_t len)
{
	at = put_varint(at, field << 3 | 2);
	at = put_varint(at, len);
	memcpy(at, bytes, len);
	return at + len;
}

static size_t varint_bytes(uint64_t value)
{
	size_t bytes = 1;

	for (; value >= 0x80; value >>= 7)
		bytes++;
	return bytes;
}

struct field {
	unsigned number;
	uint64_t value;        /* of a number; of bytes their count */
	const uint8_t *bytes;  /* NULL: it is a number */
};

static bool take_varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
	uint64_t value = 0;

	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*out = value;
			return true;
		}
	}
	return false;
}

/* The next field that is a number or bytes; false at the end. */
static bool take_field(const uint8_t **at, const uint8_t *end, struct field *out)
{
	uint64_t tag;

	if (!take_varint(at, end, &tag) || !take_varint(at, end, &out->value))
		return false;
	out->number = (unsigned)(tag >> 3);
	out->bytes = NULL;
	if ((tag & 7) == 0)
		return true;
	if ((tag & 7) != 2 || out->value > (uint64_t)(end - *at))
		return false;
	out->bytes = *at;
	*at += out->value;
	return true;
}

/*
 * Messages
 */

/* Of an envelope as `weir bench` writes them (members in this order) only what is in it. */
static void open_envelope(const uint8_t **line, size_t *len)
{
	static const char begin[] = "{\"id\":", data[] = ",\"data\":";
	const uint8_t *at;

	if (*len < sizeof(begin) || memcmp(*line, begin, sizeof(begin) - 1) != 0)
		return;
	at = memmem(*line, *len, data, sizeof(data) - 1);
	if (!at)
		return;
	at += sizeof(data) - 1;
	*len -= (size_t)(at - *line) + 1;
	*line = at;
}

/* The body of the next message; false: there is none left. */
static bool next_body(const uint8_t **out, size_t *out_len)
{
	if (server.count && server.sent == server.count)
		return false;
	if (!server.feed) {
		char number[24];

		memcpy(server.body, number, (size_t)snprintf(number, sizeof(number), "%020" PRIu64, server.sent));
		*out = server.body;
		*out_len = BODY_BYTES;
		return true;
	}
	const uint8_t *newline = memchr(server.feed, '\n', (size_t)(server.feed_end - server.feed));

	if (!newline || newline - server.feed > (ptrdiff_t)LINE_BYTES_MAX)
		return false;
	*out = server.feed;
	*out_len = (size_t)(newline - server.feed);
	open_envelope(out, out_len);
	server.feed = newline + 1;
	return true;
}

static void put_hex(char *at, uint64_t value, unsigned digits)
{
	while (digits--) {
		at[digits] = "0123456789abcdef"[value & 15];
		value >>= 4;
	}
}

/* A ReceivedMessage, field 1 of the response. */
static uint8_t *put_message(uint8_t *at, unsigned place, const uint8_t *body, size_t len)
{
	static const uint8_t attribute[] = { 0x12, 0x0f, 0x0a, 6, 's', 'o', 'u', 'r', 'c', 'e', 0x12, 5, 'b', 'e', 'n', 'c', 'h' };
	char id[24];
	size_t id_len = (size_t)snprintf(id, sizeof(id), "%" PRIu64, UINT64_C(15000000000000000) + server.sent);
	size_t time_len = 1 + varint_bytes((uint64_t)server.now_s);
	size_t inner = 1 + varint_bytes(len) + len + sizeof(attribute) + 2 + id_len + 2 + time_len;

	put_hex(server.ack_id, place, 2);
	put_hex(server.ack_id + 2, server.sent, 16);
	at = put_varint(at, 1 << 3 | 2);
	at = put_varint(at, 1 + varint_bytes(ACK_ID_BYTES) + ACK_ID_BYTES + 1 + varint_bytes(inner) + inner);
	at = put_bytes(at, 1, server.ack_id, ACK_ID_BYTES);
	at = put_varint(put_varint(at, 2 << 3 | 2), inner);
	at = put_bytes(at, 1, body, len);
	memcpy(at, attribute, sizeof(attribute));
	at = put_bytes(at + sizeof(attribute), 3, id, id_len);
	at = put_varint(put_varint(at, 4 << 3 | 2), time_len);
	return put_varint(put_varint(at, 1 << 3), (uint64_t)server.now_s);
}

static void make_room(size_t used, size_t more)
{
	if (used + more <= server.response_room)
		return;
	server.response_room = (used + more) * 2;
	server.response = realloc(server.response, server.response_room);
	if (!server.response)
		abort();
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* How many may be sent by now. */
static uint64_t due(void)
{
	if (!server.rate)
		return UINT64_MAX;
	if (!server.begun_ns)
		server.begun_ns = now_ns();
	return (uint64_t)((double)(now_ns() - server.begun_ns) / 1e9 * (double)server.rate);
}

static void wake_pullers(void)
{
	for (struct puller *puller = server.pullers; puller < server.pullers + PULLERS; puller++) {
		if (puller->stream)
			fast_wake(puller->stream);
	}
}

static void pull_more(struct fast_stream *stream, void *context)
{
	struct puller *puller = context;
	unsigned place = (unsigned)(puller - server.pullers);
	const uint8_t *body;
	size_t used = 0, len;
	uint64_t most = due();

	for (uint64_t i = 0; i < server.per_response && server.sent < most && (!puller->held_max || puller->held < puller->held_max); i++) {
		if (!next_body(&body, &len))
			break;
		make_room(used, len + MESSAGE_ROOM);
		used = (size_t)(put_message(server.response + used, place, body, len) - server.response);
		server.sent++;
		puller->held++;
	}
	if (used)
		fast_send(stream, server.response, used);
}

static void puller_close(void *context)
{
	*(struct puller *)context = (struct puller){ 0 };
}

/* The first request opens it; an empty one later is a keep-alive, which is answered. */
static void on_pull(struct fast_stream *stream, const uint8_t *at, size_t len)
{
	const uint8_t *end = at + len;
	struct puller *puller = server.pullers;
	struct field field;

	for (; puller < server.pullers + PULLERS; puller++) {
		if (puller->stream == stream) {
			fast_send(stream, at, 0);
			return;
		}
	}
	for (puller = server.pullers; puller < server.pullers + PULLERS && puller->stream;)
		puller++;
	if (puller == server.pullers + PULLERS) {
		fast_finish(stream, 8); /* RESOURCE_EXHAUSTED */
		return;
	}
	*puller = (struct puller){ .stream = stream };
	while (take_field(&at, end, &field)) {
		if (field.number == 7)
			puller->held_max = (int64_t)field.value > 0 ? field.value : 0;
	}
	fast_feed(stream, &(struct fast_feeder){ pull_more, puller_close, puller });
}

static void on_end(struct fast_stream *stream)
{
	fast_finish(stream, 0);
}

/*
 * Calls with one answer
 */

static unsigned hex_digit(uint8_t c)
{
	return c <= '9' ? (unsigned)(c - '0') & 15 : (unsigned)(c - 'a' + 10) & 15;
}

/* Each id makes room for another message on its stream. */
static uint64_t release_all(const uint8_t *at, size_t len, unsigned number)
{
	const uint8_t *end = at + len;
	struct field field;
	uint64_t count = 0;

	while (take_field(&at, end, &field)) {
		if (field.number != number || !field.bytes || field.value != ACK_ID_BYTES)
			continue;
		struct puller *puller = &server.pullers[(hex_digit(field.bytes[0]) << 4 | hex_digit(field.bytes[1])) % PULLERS];

		puller->held -= puller->held > 0;
		count++;
	}
	wake_pullers();
	return count;
}

static void on_ack(struct fast_stream *stream, const uint8_t *at, size_t len)
{
	server.ack_calls++;
	server.acked += release_all(at, len, 2);
	fast_send(stream, at, 0);
}

/* 0 seconds hand back. That a message handed back comes again is the Go stand-in's trade: here it is only counted. */
static void on_modify(struct fast_stream *stream, const uint8_t *at, size_t len)
{
	const uint8_t *from = at, *end = at + len;
	uint64_t ids = 0, seconds = 0;
	struct field field;

	while (take_field(&from, end, &field)) {
		ids += field.number == 4 && field.bytes;
		if (field.number == 3)
			seconds = field.value;
	}
	server.extend_calls++;
	server.extended += seconds ? ids : 0;
	server.handed_back += seconds ? 0 : release_all(at, len, 4);
	fast_send(stream, at, 0);
}

/* A pull subscription of that name, with leases of a minute. */
static void on_get(struct fast_stream *stream, const uint8_t *at, size_t len)
{
	const uint8_t *end = at + len;
	uint8_t answer[600], *to = answer;
	struct field field;

	while (take_field(&at, end, &field)) {
		if (field.number == 1 && field.bytes && field.value < 400)
			to = put_bytes(to, 1, field.bytes, (size_t)field.value);
	}
	to = put_bytes(to, 2, "projects/bench/topics/bench", 27);
	to = put_varint(put_varint(to, 5 << 3), 60);
	to = put_varint(put_varint(to, 19 << 3), 1);
	fast_send(stream, answer, (size_t)(to - answer));
}

static const struct fast_service services[] = {
	{ "/google.pubsub.v1.Subscriber/StreamingPull", on_pull, on_end },
	{ "/google.pubsub.v1.Subscriber/Acknowledge", on_ack, on_end },
	{ "/google.pubsub.v1.Subscriber/ModifyAckDeadline", on_modify, on_end },
	{ "/google.pubsub.v1.Subscriber/GetSubscription", on_get, on_end },
	{ NULL, NULL, NULL },
};

/* Mapped to the end of the process. */
static bool feed_open(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat facts;
	void *at = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &facts) == 0 && facts.st_size > 0)
		at = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED) {
		perror(name);
		return false;
	}
	close(fd);
	server.feed = at;
	server.feed_end = server.feed + facts.st_size;
	return true;
}

int main(int count, char **arguments)
{
	int status;

	server.count = count > 1 ? strtoull(arguments[1], NULL, 10) : 0;
	server.per_response = count > 2 ? strtoull(arguments[2], NULL, 10) : 100;
	if (server.per_response < 1 || server.per_response > PER_RESPONSE_MAX || (count > 3 && *arguments[3] && !feed_open(arguments[3])))
		return 2;
	server.rate = count > 4 ? strtoull(arguments[4], NULL, 10) : 0;
	if (server.rate)
		fast_every_ms(1, wake_pullers);
	server.now_s = time(NULL);
	memset(server.body, 'x', sizeof(server.body));
	memset(server.ack_id, 'A', ACK_ID_BYTES);
	status = fast_serve(services);
	free(server.response);
	printf("{\"sent\":%" PRIu64 ",\"acked\":%" PRIu64 ",\"extended\":%" PRIu64 ",\"handed_back\":%" PRIu64 ",\"ack_calls\":%" PRIu64
	       ",\"extend_calls\":%" PRIu64 "}\n", server.sent, server.acked, server.extended, server.handed_back, server.ack_calls,
	       server.extend_calls);
	return status;
}
