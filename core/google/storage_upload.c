/*
 * Cloud Storage: a large file goes up by a session, part after part (the resumable
 * protocol). Whenever nobody knows how much the service has, it is asked, and the
 * file goes on from there; a session that it knows no more is begun again.
 */
#include "google/storage_private.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "google/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_BYTES ((size_t)4 << 20) /* a multiple of 256 KiB, as all but the last must be */
#define FIRST_REST_MS 500
#define LONGEST_REST_MS 16000
#define LOOK_MS 100
#define SESSION_GOES_ON 308
#define SESSIONS_MAX 5 /* of a file; then its caller comes again later */

struct upload {
	struct storage *storage;
	const char *bucket, *name, *content_type;
	const char *path;
	int fd;
	uint64_t size_bytes;
	uint64_t taken_bytes;   /* the service has them */
	uint64_t most_bytes;    /* the most that it had of this session */
	bool knows_taken;
	unsigned sessions;
	struct text *session;   /* path of its address; empty: none */
	struct text *what;
	char *part;             /* what is on its way */
	struct backoff backoff;
	int64_t until_ms;       /* unless more is taken before */
};

enum step {
	STEP_ON,
	STEP_DONE,
	STEP_WAS_THERE,
	STEP_AGAIN,  /* it passes; `err` */
	STEP_FAILED, /* `err` */
};

static bool passes(const struct error *err)
{
	return err->kind == ERROR_TRANSIENT || err->kind == ERROR_UNREACHABLE;
}

static void count_anew(struct upload *up)
{
	backoff_reset(&up->backoff);
	up->until_ms = clock_mono_ms() + up->storage->setup.wait_ms;
}

/*
 * A session begins
 */

/* Where the Location leads is a matter of our own: the host that the job names gets the token and nobody else. */
static bool session_read(struct upload *up, struct rest_call *call, struct error *err)
{
	const char *location = rest_header(call, "Location"), *host = location ? strstr(location, "://") : NULL;
	const char *path = host ? strchr(host + strlen("://"), '/') : location;

	text_clear(up->session);
	if (path && *path == '/' && text_add(up->session, path))
		return true;
	text_clear(up->session);
	return fail(err, ERROR_TRANSIENT, "google_bad_answer", "%s: the answer names no session", up->what->at);
}

static enum step session_lost(struct upload *up, struct error *err)
{
	text_clear(up->session);
	fail(err, ERROR_TRANSIENT, "google_unavailable", "%s: the session was lost", up->what->at);
	return ++up->sessions < SESSIONS_MAX ? STEP_AGAIN : STEP_FAILED;
}

static enum step session_begin(struct upload *up, struct error *err)
{
	OWNED(text) url = text_new(STORAGE_PATH_BYTES);
	char size[24];
	struct rest_pair headers[] = { { "X-Upload-Content-Type", up->content_type }, { "X-Upload-Content-Length", size } };
	struct rest_request request = { .method = "POST", .what = up->what->at, .headers = headers, .header_count = 2, .body = SPAN("{}"),
		                            .goes_up = true, .try_count_max = 1, .answer_bytes = 1 << 20 };
	struct rest_call *call = NULL;
	struct rest_answer answer = { 0 };
	bool is_fine;

	snprintf(size, sizeof(size), "%" PRIu64, up->size_bytes);
	storage_path_add(url, up->bucket, NULL);
	text_add(url, "?uploadType=resumable&ifGenerationMatch=0&fields=generation&name=");
	storage_escape(url, up->name);
	request.url = url->at;
	storage_limit(up->storage, 0, &request);
	is_fine = storage_call(up->storage, &request, &call, &answer, err) && session_read(up, call, err);
	rest_call_free(call);
	up->taken_bytes = up->most_bytes = 0;
	up->knows_taken = is_fine;
	if (answer.status == 412)
		return STEP_WAS_THERE;
	if (!is_fine)
		storage_fail(up->storage, up->bucket, NULL, answer.status, err);
	return is_fine ? STEP_ON : passes(err) ? STEP_AGAIN : STEP_FAILED;
}

/*
 * A session goes on
 */

/* "bytes=0-N"; without it nothing was taken. False: more than we ever sent, or nothing that can be read. */
static bool taken_read(struct upload *up, const char *range)
{
	static const char head[] = "bytes=0-";
	char *end;
	unsigned long long last;

	up->taken_bytes = 0;
	if (!range)
		return true;
	if (strncmp(range, head, sizeof(head) - 1) != 0 || range[sizeof(head) - 1] < '0' || range[sizeof(head) - 1] > '9')
		return false;
	last = strtoull(range + sizeof(head) - 1, &end, 10);
	if (*end || last >= up->size_bytes)
		return false;
	up->taken_bytes = last + 1;
	return true;
}

static enum step session_goes_on(struct upload *up, struct rest_call *call, struct error *err)
{
	up->knows_taken = taken_read(up, rest_header(call, "Range"));
	if (!up->knows_taken)
		return session_lost(up, err);
	if (up->taken_bytes > up->most_bytes) {
		up->most_bytes = up->taken_bytes;
		count_anew(up);
		return STEP_ON;
	}
	fail(err, ERROR_TRANSIENT, "google_unavailable", "%s: nothing more is taken", up->what->at);
	return STEP_AGAIN;
}

/* What came of a call to the session. */
static enum step session_judge(struct upload *up, struct rest_call *call, const struct rest_answer *answer, struct error *err)
{
	up->knows_taken = false;
	if (answer->status == SESSION_GOES_ON)
		return session_goes_on(up, call, err);
	if (answer->status == 412)
		return STEP_WAS_THERE;
	if (answer->status == 404 || answer->status == 410)
		return session_lost(up, err);
	return passes(err) ? STEP_AGAIN : STEP_FAILED;
}

static enum step session_call(struct upload *up, struct span part, const char *range, struct error *err)
{
	struct rest_pair header = { "Content-Range", range };
	struct rest_request request = { .method = "PUT", .url = up->session->at, .what = up->what->at, .headers = &header, .header_count = 1,
		                            .content_type = up->content_type, .body = part, .is_from_root = true, .try_count_max = 1,
		                            .answer_bytes = 1 << 20 };
	struct rest_call *call = NULL;
	struct rest_answer answer = { 0 };
	enum step step = STEP_DONE;

	storage_limit(up->storage, part.len, &request);
	if (!storage_call(up->storage, &request, &call, &answer, err))
		step = session_judge(up, call, &answer, err);
	rest_call_free(call);
	return step;
}

/* How much is there? The answer may also be that all is. */
static enum step session_ask(struct upload *up, struct error *err)
{
	char range[40];
	enum step step;

	snprintf(range, sizeof(range), "bytes */%" PRIu64, up->size_bytes);
	step = session_call(up, SPAN(""), range, err);
	/* That it has no more than before is an answer, too. */
	return step == STEP_AGAIN && up->knows_taken ? STEP_ON : step;
}

static bool part_read(struct upload *up, size_t len, struct error *err)
{
	for (size_t got = 0; got < len;) {
		ssize_t more = pread(up->fd, up->part + got, len - got, (off_t)(up->taken_bytes + got));

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return fail_errno(err, errno, "cannot read '%s'", up->path);
		if (more == 0)
			return fail(err, ERROR_TRANSIENT, "io_error", "cannot read '%s': it has become shorter", up->path);
		got += (size_t)more;
	}
	return true;
}

static enum step session_send(struct upload *up, struct error *err)
{
	uint64_t left = up->size_bytes - up->taken_bytes, from = up->taken_bytes;
	size_t len = left < PART_BYTES ? (size_t)left : PART_BYTES;
	char range[80];

	if (!part_read(up, len, err))
		return STEP_FAILED;
	snprintf(range, sizeof(range), "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, from, from + len - 1, up->size_bytes);
	return session_call(up, span_make(up->part, len), range, err);
}

/*
 * All of it
 */

static bool rest_a_while(struct upload *up, const struct error *why, struct error *err)
{
	int64_t until_ms = clock_mono_ms() + backoff_next(&up->backoff, why->retry_after_ms);

	if (until_ms >= up->until_ms) {
		*err = *why;
		return false;
	}
	for (int64_t left_ms; (left_ms = until_ms - clock_mono_ms()) > 0;) {
		if (storage_should_end(up->storage))
			return storage_give_up(err);
		rest_wait(up->storage->client, left_ms < LOOK_MS ? left_ms : LOOK_MS);
	}
	return true;
}

static enum step next_step(struct upload *up, struct error *err)
{
	if (!up->session->len)
		return session_begin(up, err);
	return up->knows_taken && up->taken_bytes < up->size_bytes ? session_send(up, err) : session_ask(up, err);
}

static bool upload_all(struct upload *up, bool *out_was_there, struct error *err)
{
	for (count_anew(up);;) {
		struct error why = { 0 };
		enum step step = next_step(up, &why);

		if (step == STEP_DONE || step == STEP_WAS_THERE) {
			*out_was_there = step == STEP_WAS_THERE;
			return true;
		}
		if (step == STEP_FAILED) {
			*err = why;
			return false;
		}
		if (step == STEP_AGAIN && !rest_a_while(up, &why, err))
			return false;
	}
}

static bool upload_file(struct storage *storage, const char *bucket, const char *name, const char *content_type, const char *path,
                        uint64_t size_bytes, bool *out_was_there, struct error *err)
{
	OWNED(text) session = text_new(STORAGE_PATH_BYTES);
	OWNED(text) what = text_new(STORAGE_PATH_BYTES);
	struct upload up = { .storage = storage, .bucket = bucket, .name = name, .content_type = content_type, .path = path,
		                 .size_bytes = size_bytes, .session = session, .what = what,
		                 .backoff = BACKOFF(FIRST_REST_MS, LONGEST_REST_MS, 2) };
	bool is_fine;

	text_add_format(what, "writing 'gs://%s/%s'", bucket, name);
	up.fd = fd_open(path, O_RDONLY | O_CLOEXEC);
	if (up.fd < 0)
		return fail_errno(err, errno, "cannot open '%s'", path);
	up.part = memory_alloc(PART_BYTES);
	is_fine = upload_all(&up, out_was_there, err);
	free(up.part);
	close(up.fd);
	return is_fine;
}

bool storage_write_file(struct storage *storage, const char *bucket, const char *name, const char *content_type, const char *path,
                        bool *out_was_there, struct error *err)
{
	struct stat info;
	char *content;
	size_t len;
	bool is_fine;

	if (stat(path, &info) == 0 && (uint64_t)info.st_size > STORAGE_PART_BYTES)
		return upload_file(storage, bucket, name, content_type, path, (uint64_t)info.st_size, out_was_there, err);
	if (!file_read(path, STORAGE_PART_BYTES, &content, &len, err))
		return false;
	is_fine = storage_write(storage, bucket, name, content_type, span_make(content, len), out_was_there, err);
	free(content);
	return is_fine;
}
