/*
 * Any bytes from a client, in pieces as they may come: hello, frames, calls, cancels, subscriptions, through the functions
 * that serve a session, over a pair of sockets. Whatever comes, every line that goes back is one JSON object of the
 * protocol, events count up, nobody below admin changes a job or ends the engine, and the session ends when its client goes.
 *
 * Byte 0: bit 0 may act, bit 1 begins with a hello, the rest is the length of pieces. The other bytes are the client's.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/regex.h"
#include "dlq/dlq.h"
#include "engine/session_private.h"
#include "pipeline/pipeline.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINES_KEPT (FRAME_BYTES_MAX + 65536)
#define JOURNAL_EVERY 500 /* inputs; what refused acts leave there is not what is looked for */
#define FOLLOW_MS 30      /* a call that follows something is cancelled then */

static const char greeting[] = "{\"hello\":{\"protocol\":1,\"program\":\"fuzz\",\"ssh\":\"1.2.3.4 5 6.7.8.9 22\"}}\n";
static const char job_file[] = "{\"name\":\"shop\",\"template\":\"Cdc_To_BigQuery_Template\",\"parameters\":{\"warehouse\":\"local\","
                               "\"inputFile\":\"/nonexistent/feed\",\"changeLogDataset\":\"shop_log\",\"replicaDataset\":\"shop\"}}";

static struct engine engine;
static struct home *home;
static char folder[64];
static char answers[LINES_KEPT];
static size_t answers_used;
static json_int_t last_seq;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void remove_home(void)
{
	OWNED(text) command = text_new(256);

	text_add_format(command, "rm -rf '%s'", folder);
	if (system(command->at) != 0)
		perror(folder);
}

static void add_job(void)
{
	char *path = path_join(home->jobs_config, "shop.json");
	struct error err = { 0 };

	assert(file_replace(path, span_of(job_file), &err));
	free(path);
}

/* One to list, to show and to search. */
static void add_letter(void)
{
	static const struct refusal why = { "map", "type_mismatch", "text where a number is meant", { "n", 1 }, { "after.n", 7 } };
	static char body[REGEX_TEXT_BYTES_MAX];
	struct dlq_origin origin = { "feed", "/nonexistent/feed", span_of("feed"), folder };
	struct batch *batch = batch_new();
	struct message *message = batch_add_message(batch);
	struct job_paths paths;
	struct error err = { 0 };
	struct dlq *dlq;

	memset(body, 'a', sizeof(body));
	memcpy(body, "{\"n\":\"\xc3\xa9\xff ", 10);
	*message = (struct message){ .body = span_make(body, sizeof(body)), .offset = 1, .line = 1, .fate = MESSAGE_REFUSED, .refusal = &why };
	job_paths_make(&paths, home, "shop");
	dlq = dlq_open(paths.store, DLQ_WRITE, &err);
	assert(dlq);
	dlq_set_origin(dlq, &origin);
	assert(dlq_begin(dlq, &err) && dlq_keep(dlq, batch, message, "shop.t", &err) && dlq_commit(dlq, &err));
	dlq_close(dlq);
	job_paths_clear(&paths);
	batch_free(batch);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct error err = { 0 };

	(void)argc;
	(void)argv;
	/* In memory where there is such a folder: acts are synced to the disk. */
	snprintf(folder, sizeof(folder), "%s/weir-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	assert(mkdtemp(folder) && setenv("WEIR_HOME", folder, 1) == 0);
	atexit(remove_home);
	home = home_find(&err);
	assert(home && home_make(home, &err));
	add_job();
	add_letter();
	/* engine_open without lock, socket and signals: the fuzzer wants its own. */
	engine = (struct engine){ .home = home, .lock_fd = -1, .listen_fd = -1, .signal_fd = -1, .wake_fd = eventfd(0, EFD_NONBLOCK),
		                  .settings = { .operator_names = json_array() } };
	pthread_mutex_init(&engine.lock, NULL);
	pthread_cond_init(&engine.job_ended, NULL);
	events_open(&engine);
	secrets_open(&engine);
	records_open(&engine);
	return 0;
}

/*
 * What comes back
 */

static void check_answer(const char *line, size_t len)
{
	json_t *object = json_loadb(line, len, JSON_ALLOW_NUL, NULL);

	assert(json_is_object(object));
	assert(!memchr(line, 0x1b, len) && !memchr(line, 0x7f, len));
	if (json_object_get(object, "event")) {
		json_int_t seq = json_integer_value(json_object_get(object, "seq"));

		assert(seq == last_seq + 1);
		last_seq = seq;
	} else {
		assert(json_object_get(object, "hello") || json_object_get(object, "error") || json_is_integer(json_object_get(object, "id")));
	}
	json_decref(object);
}

static void take_answers(void)
{
	char *at = answers, *newline;

	while ((newline = memchr(at, '\n', answers_used - (size_t)(at - answers)))) {
		check_answer(at, (size_t)(newline - at));
		at = newline + 1;
	}
	answers_used -= (size_t)(at - answers);
	memmove(answers, at, answers_used);
	assert(answers_used <= FRAME_BYTES_MAX);
}

static void drain(int client)
{
	ssize_t n;

	while ((n = recv(client, answers + answers_used, LINES_KEPT - answers_used, MSG_DONTWAIT)) > 0) {
		answers_used += (size_t)n;
		take_answers();
	}
}

/*
 * The loop's part
 */

static void sweep(void)
{
	server_sweep(&engine, clock_mono_ms());
}

/* Until no call runs; lines behind one are taken when it has ended. */
static void settle(int client)
{
	int64_t until_ms = clock_mono_ms() + FOLLOW_MS;

	while (engine.sessions && engine.sessions->call) {
		struct pollfd wake = { .fd = engine.wake_fd, .events = POLLIN };

		uint64_t count;

		if (!atomic_load(&engine.sessions->call_has_ended) && poll(&wake, 1, 1) > 0)
			assert(read(engine.wake_fd, &count, sizeof(count)) == sizeof(count));
		if (clock_mono_ms() > until_ms)
			atomic_store(&engine.sessions->call->is_cancelled, true);
		drain(client);
		sweep();
	}
	sweep();
	drain(client);
}

static void serve(short events, int client)
{
	if (engine.sessions && !engine.sessions->is_closing)
		server_serve(engine.sessions, events);
	settle(client);
}

static void send_all(int client, const char *bytes, size_t len)
{
	while (len && engine.sessions && !engine.sessions->is_closing) {
		ssize_t n = send(client, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		} else if (errno != EAGAIN) {
			return;
		}
		serve(POLLIN, client);
	}
}

static void check_job(void)
{
	char *path = path_join(home->jobs_config, "shop.json"), *text;
	struct error err = { 0 };
	size_t len;

	assert(file_read(path, 4096, &text, &len, &err));
	assert(len == sizeof(job_file) - 1 && memcmp(text, job_file, len) == 0);
	assert(!atomic_load(&engine.is_stopping));
	free(text);
	free(path);
}

static void forget_journal(void)
{
	static unsigned inputs;
	char *path;

	if (++inputs % JOURNAL_EVERY)
		return;
	path = path_join(home->state, "journal.jsonl");
	if (truncate(path, 0) != 0)
		perror(path);
	free(path);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct peer peer = { .uid = 65534, .pid = 1 };
	size_t piece = size ? (size_t)(data[0] >> 2) * 16 + 1 : 1;
	int ends[2];

	forget_journal();
	answers_used = 0;
	last_seq = 0;
	assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	session_open(&engine, ends[0], size && data[0] & 1 ? OPERATE : VIEW, &peer);
	if (size && data[0] & 2)
		send_all(ends[1], greeting, sizeof(greeting) - 1);
	for (size_t at = 1; at < size; at += piece)
		send_all(ends[1], (const char *)data + at, size - at < piece ? size - at : piece);
	events_tick(&engine, clock_mono_ms() + 1000);
	serve(POLLOUT, ends[1]);
	/* What it sent last without a newline, and its end. */
	shutdown(ends[1], SHUT_WR);
	serve(POLLIN, ends[1]);
	close(ends[1]);
	serve(POLLHUP, ends[1]);
	sweep();
	assert(!engine.sessions && engine.session_count == 0);
	check_job();
	return 0;
}
