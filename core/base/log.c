/* The log: its ring, its readers, and the same failure counted instead of told again. */
#include "base/log_private.h"

#include "base/arena.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define RING_LINES 10000
#define RING_BYTES ((size_t)8 << 20)
#define FILE_BYTES ((uint64_t)10 << 20)
#define FILE_COUNT 5
#define TAIL_BYTES ((size_t)256 << 10) /* what an earlier engine told last */

struct log {
	pthread_mutex_t lock;
	pthread_cond_t has_line;
	struct log_file file;
	enum log_level least;
	bool to_stderr;
	void (*on_line)(void *context, enum log_level level, const char *json);
	void *context;

	struct log_line *lines; /* ring: line n lies at n % ring_lines */
	size_t ring_lines, ring_bytes, bytes;
	uint64_t first, next; /* numbers; from 1, so that 0 is before everything */

	struct log_repeat repeats[REPEATS];
};

bool log_is_journaled(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat info;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &info) == 0 &&
	       (unsigned long long)info.st_dev == device && (unsigned long long)info.st_ino == inode;
}

/*
 * Ring
 */

static struct log_line *line_at(struct log *log, uint64_t seq)
{
	return &log->lines[seq % log->ring_lines];
}

static void forget_oldest(struct log *log)
{
	struct log_line *line = line_at(log, log->first++);

	log->bytes -= line->len;
	free(line->json);
	line->json = NULL;
}

static void ring_add_locked(struct log *log, enum log_level level, const char *job, struct span json)
{
	struct log_line *line;

	while (log->first < log->next &&
	       (log->next - log->first >= log->ring_lines || log->bytes + json.len > log->ring_bytes))
		forget_oldest(log);
	line = line_at(log, log->next);
	*line = (struct log_line){ .seq = log->next, .level = level, .len = json.len };
	snprintf(line->job, sizeof(line->job), "%s", job ? job : "");
	line->json = memory_string_of(json);
	log->bytes += json.len;
	log->next++;
	pthread_cond_broadcast(&log->has_line);
}

/* What is left of an earlier engine's lines: after a kill they are what one wants to read. */
static void ring_fill(struct log *log)
{
	size_t len = 0;
	char *tail = log_file_tail(&log->file, TAIL_BYTES, &len);
	char *at = tail, *newline;

	while (at && (newline = memchr(at, '\n', len - (size_t)(at - tail)))) {
		struct span json = span_make(at, (size_t)(newline - at));
		enum log_level level;
		char job[LOG_NAME_MAX];

		if (log_line_parse(json, &level, job))
			ring_add_locked(log, level, job, json);
		at = newline + 1;
	}
	free(tail);
}

struct log *log_open(const struct log_setup *setup)
{
	struct log *log = memory_zalloc(sizeof(*log));

	pthread_mutex_init(&log->lock, NULL);
	clock_cond_init(&log->has_line);
	log->least = setup->least;
	log->to_stderr = setup->to_stderr;
	log->on_line = setup->on_line;
	log->context = setup->context;
	log->ring_lines = setup->ring_lines ? setup->ring_lines : RING_LINES;
	log->ring_bytes = setup->ring_bytes ? setup->ring_bytes : RING_BYTES;
	log->lines = memory_zalloc(log->ring_lines * sizeof(*log->lines));
	log->first = log->next = 1;
	log->file = (struct log_file){
		.folder = memory_string(setup->folder),
		.fd = -1,
		.most = setup->file_bytes ? setup->file_bytes : FILE_BYTES,
		.count = setup->file_count ? setup->file_count : FILE_COUNT,
	};
	log_file_open(&log->file);
	ring_fill(log);
	return log;
}

/*
 * Writing
 */

static void write_locked(struct log *log, enum log_level level, const char *part, const char *job, const char *sentence,
                         const struct log_field *fields)
{
	OWNED(text) line = text_new(LOG_LINE_MAX);
	OWNED(text) words = text_new(LOG_LINE_MAX);

	if (!log_line_json(line, clock_utc_us(), level, part, job, sentence, fields)) {
		text_clear(line);
		log_line_json(line, clock_utc_us(), level, part, job, sentence, NULL);
	}
	ring_add_locked(log, level, job, text_span(line));
	if (log->on_line)
		log->on_line(log->context, level, line->at);
	if (text_add_char(line, '\n'))
		log_file_write(&log->file, text_span(line));
	if (log->to_stderr && log_line_journal(words, level, part, job, sentence, fields))
		fputs(words->at, stderr);
}

static void tell_count_locked(struct log *log, struct log_repeat *repeat, int64_t mono_ms)
{
	struct log_field fields[] = {
		FIELD_INT("again", (int64_t)repeat->count),
		FIELD_INT("seconds", (mono_ms - repeat->told_ms) / 1000),
		FIELD_TEXT("code", repeat->code),
		{ NULL, NULL, 0 },
	};

	if (!repeat->code[0])
		fields[2].name = NULL;
	write_locked(log, repeat->level, repeat->part, repeat->job, repeat->sentence, fields);
	repeat->count = 0;
	repeat->told_ms = mono_ms;
}

void log_close(struct log *log)
{
	if (!log)
		return;
	for (int i = 0; i < REPEATS; i++) {
		if (log->repeats[i].count)
			tell_count_locked(log, &log->repeats[i], clock_mono_ms());
	}
	log_file_close(&log->file);
	while (log->first < log->next)
		forget_oldest(log);
	free(log->file.folder);
	free(log->lines);
	pthread_cond_destroy(&log->has_line);
	pthread_mutex_destroy(&log->lock);
	free(log);
}

static const char *field_code(const struct log_field *fields)
{
	for (; fields && fields->name; fields++) {
		if (fields->text && strcmp(fields->name, "code") == 0)
			return fields->text;
	}
	return "";
}

static bool is_same(const struct log_repeat *a, const struct log_repeat *b)
{
	return a->is_used && a->level == b->level && strcmp(a->part, b->part) == 0 && strcmp(a->job, b->job) == 0 &&
	       strcmp(a->code, b->code) == 0 && strcmp(a->sentence, b->sentence) == 0;
}

/* The slot of this failure, or a free one, or the one that was told longest ago. */
static struct log_repeat *find_repeat(struct log *log, const struct log_repeat *wanted)
{
	struct log_repeat *oldest = &log->repeats[0];

	for (int i = 0; i < REPEATS; i++) {
		struct log_repeat *repeat = &log->repeats[i];

		if (is_same(repeat, wanted))
			return repeat;
		if (!repeat->is_used || (oldest->is_used && repeat->told_ms < oldest->told_ms))
			oldest = repeat;
	}
	return oldest;
}

/* True: it was told less than a minute ago, and is counted. */
static bool is_counted_locked(struct log *log, enum log_level level, const char *part, const char *job,
                              const char *sentence, const struct log_field *fields)
{
	struct log_repeat wanted = { .is_used = true, .level = level, .told_ms = clock_mono_ms() };
	struct log_repeat *repeat;

	if (level < LEVEL_WARN)
		return false;
	snprintf(wanted.part, sizeof(wanted.part), "%s", part);
	snprintf(wanted.job, sizeof(wanted.job), "%s", job ? job : "");
	snprintf(wanted.code, sizeof(wanted.code), "%s", field_code(fields));
	snprintf(wanted.sentence, sizeof(wanted.sentence), "%s", sentence);
	repeat = find_repeat(log, &wanted);
	if (is_same(repeat, &wanted) && wanted.told_ms - repeat->told_ms < REPEAT_MS) {
		repeat->count++;
		return true;
	}
	if (repeat->is_used && repeat->count)
		tell_count_locked(log, repeat, wanted.told_ms);
	*repeat = wanted;
	return false;
}

void log_add(struct log *log, enum log_level level, const char *part, const char *job, const char *sentence,
             const struct log_field *fields)
{
	if (!log || level < log->least)
		return;
	pthread_mutex_lock(&log->lock);
	if (!is_counted_locked(log, level, part, job, sentence, fields))
		write_locked(log, level, part, job, sentence, fields);
	pthread_mutex_unlock(&log->lock);
}

void log_tick(struct log *log, int64_t mono_ms)
{
	if (!log)
		return;
	pthread_mutex_lock(&log->lock);
	log_file_tick(&log->file);
	for (int i = 0; i < REPEATS; i++) {
		struct log_repeat *repeat = &log->repeats[i];

		if (!repeat->is_used || mono_ms - repeat->told_ms < REPEAT_MS)
			continue;
		if (repeat->count)
			tell_count_locked(log, repeat, mono_ms);
		else
			repeat->is_used = false;
	}
	pthread_mutex_unlock(&log->lock);
}

/*
 * Reading
 */

static bool is_wanted(const struct log_line *line, const struct log_filter *filter)
{
	return line->level >= filter->least && (!filter->job || strcmp(line->job, filter->job) == 0);
}

uint64_t log_back(struct log *log, const struct log_filter *filter, size_t limit)
{
	uint64_t seq;

	pthread_mutex_lock(&log->lock);
	seq = log->next - 1;
	while (seq >= log->first && limit) {
		limit -= is_wanted(line_at(log, seq), filter);
		seq--;
	}
	pthread_mutex_unlock(&log->lock);
	return seq;
}

char *log_next(struct log *log, const struct log_filter *filter, uint64_t *seq, uint64_t *out_skipped)
{
	char *json = NULL;

	*out_skipped = 0;
	pthread_mutex_lock(&log->lock);
	if (*seq + 1 < log->first) {
		*out_skipped = log->first - 1 - *seq;
		*seq = log->first - 1;
	}
	while (!json && *seq + 1 < log->next) {
		const struct log_line *line = line_at(log, ++*seq);

		if (is_wanted(line, filter))
			json = memory_string_of(span_make(line->json, line->len));
	}
	pthread_mutex_unlock(&log->lock);
	return json;
}

bool log_wait(struct log *log, uint64_t seq, int64_t wait_ms)
{
	struct timespec until;
	bool has_line;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += wait_ms / 1000;
	until.tv_nsec += wait_ms % 1000 * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&log->lock);
	while (!(has_line = seq + 1 < log->next)) {
		if (pthread_cond_timedwait(&log->has_line, &log->lock, &until) != 0)
			break;
	}
	pthread_mutex_unlock(&log->lock);
	return has_line;
}
