/*
 * The least that anybody must do for a row, measured beside it: of `encode` to read the feed out of the system's memory, to copy
 * each body once and to look at each byte of what changes from message to message; of what is written to a disk to wait for it.
 */
#include "base/file.h"
#include "bench/bench_private.h"
#include "record/json.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_BYTES ((size_t)256 << 10) /* as the feed source reads */
#define SYNCS 64
#define SYNCED_BYTES ((size_t)64 << 10)
#define MS_A_S 1e3

/* CPU seconds of reading a whole file; -1 if it cannot be read. */
static double read_all_s(const char *path)
{
	char *bytes = memory_alloc(READ_BYTES);
	int fd = fd_open(path, O_RDONLY | O_CLOEXEC);
	double begun_s = bench_cpu_s();
	ssize_t got;

	do {
		got = fd < 0 ? -1 : read(fd, bytes, READ_BYTES);
	} while (got > 0);
	if (fd >= 0)
		close(fd);
	free(bytes);
	return got < 0 ? -1 : bench_cpu_s() - begun_s;
}

struct handling {
	struct json_doc doc;
	struct span *changing; /* of each message of a batch: its body, without a schema block */
	size_t room;
	struct text *copy;
	double scan_s, copy_s;
};

/* The reader of JSON without anything that it could know from messages before. */
static void scan_batch(struct handling *handling, size_t count)
{
	double begun_s = bench_cpu_s();
	size_t at;

	for (size_t i = 0; i < count; i++)
		json_parse(&handling->doc, handling->changing[i], &at);
	handling->scan_s += bench_cpu_s() - begun_s;
}

static void copy_batch(struct handling *handling, const struct batch *batch)
{
	double begun_s = bench_cpu_s();

	for (size_t i = 0; i < batch->message_count; i++) {
		handling->copy->len = 0;
		text_add_span(handling->copy, batch->messages[i].body);
	}
	handling->copy_s += bench_cpu_s() - begun_s;
}

static struct span without_block(struct json_doc *doc, struct span body)
{
	size_t at;
	uint32_t payload;

	if (json_parse(doc, body, &at) != JSON_FINE || !json_is(doc, 0, JSON_OBJECT) || !json_member(doc, 0, SPAN("schema")))
		return body;
	payload = json_member(doc, 0, SPAN("payload"));
	return payload ? json_slice(doc, payload) : body;
}

static void handle_batch(void *context, const struct batch *batch)
{
	struct handling *handling = context;

	if (batch->message_count > handling->room) {
		handling->room = batch->message_count;
		handling->changing = memory_grow(handling->changing, handling->room * sizeof(*handling->changing));
	}
	for (size_t i = 0; i < batch->message_count; i++)
		handling->changing[i] = without_block(&handling->doc, batch->messages[i].body);
	scan_batch(handling, batch->message_count);
	copy_batch(handling, batch);
}

bool bench_limits_encode(struct bench *bench, const struct bench_job *job, double value, json_t **out, struct error *err)
{
	struct handling handling = { .copy = text_new((size_t)job->options->max_record_bytes) };
	struct pass pass = { .bench = bench, .options = job->options, .on_batch = handle_batch, .context = &handling };
	bool is_fine = pass_read(&pass, err) && pass.messages;
	double a_million = is_fine ? 1e6 / (double)pass.messages : 0;
	double read_cpu = is_fine ? read_all_s(job->feed) * a_million : 0;
	double limit = read_cpu + (handling.scan_s + handling.copy_s) * a_million;

	if (is_fine && read_cpu >= 0 && limit > 0)
		*out = json_pack("{s:f, s:f, s:f, s:f, s:f}", "limit_cpu_s_per_million", limit, "limit_read", read_cpu, "limit_copy",
		                 handling.copy_s * a_million, "limit_scan", handling.scan_s * a_million, "times_limit", value / limit);
	text_free(handling.copy);
	json_doc_free(&handling.doc);
	free(handling.changing);
	return is_fine;
}

/* The mean of some appends of 64 KiB, each on the disk before the next. */
double bench_limits_sync_ms(const struct bench *bench)
{
	char *path = path_join(bench->folder, "synced"), *bytes = memory_zalloc(SYNCED_BYTES);
	int fd = fd_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC), done = 0;
	double begun_s = bench_now_s(), took_s;

	while (fd >= 0 && done < SYNCS && write(fd, bytes, SYNCED_BYTES) == (ssize_t)SYNCED_BYTES && fdatasync(fd) == 0)
		done++;
	took_s = bench_now_s() - begun_s;
	if (fd >= 0)
		close(fd);
	unlink(path);
	free(path);
	free(bytes);
	return done ? took_s / done * MS_A_S : 0;
}
