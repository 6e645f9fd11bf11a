/* Reading the journal from its end, file after file: the newest lines are the wanted ones. */
#include "engine/journal_private.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)65536)
#define JUMP_US (INT64_C(3600) * 1000000) /* a clock set back puts newer times before older ones */

struct reading {
	const struct journal_filter *filter;
	json_t *found; /* newest first */
	size_t told;   /* of these: an act that has ended is told by its end, and its beginning counts for nothing */
	json_t *ended; /* numbers of acts whose end was seen */
	bool goes_on;  /* older ones are wanted */
	off_t bytes_left; /* how much further back to look */
};

static const char *member(const json_t *line, const char *name)
{
	const char *text = json_string_value(json_object_get(line, name));

	return text ? text : "";
}

static bool has_word(const json_t *line, const char *word)
{
	static const char *const members[] = { "what", "code", "kind", "who", "text", "why" };

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (strcasestr(member(line, members[i]), word))
			return true;
	}
	return false;
}

/* "shop.orders" is the same table as "orders", as one types it. */
static bool is_of_table(const char *table, const char *wanted)
{
	const char *dot = strchr(wanted, '.');

	return !*table || strcmp(table, wanted) == 0 || (dot && strcmp(table, dot + 1) == 0);
}

/* Events that name no table are of others here. */
static bool is_cause(const json_t *line)
{
	const char *kind = member(line, "kind"), *code = member(line, "code");

	if (strcmp(kind, "event") != 0)
		return !json_is_true(json_object_get(line, "ended"));
	return *member(line, "table") && (strcmp(code, "schema_changed") == 0 || strcmp(code, "dlq_group") == 0);
}

static bool is_wanted(const json_t *line, const struct journal_filter *filter, int64_t time_us)
{
	const char *job = member(line, "job");

	if (time_us < filter->since_us || (filter->until_us && time_us >= filter->until_us))
		return false;
	if (filter->job && strcmp(job, filter->job) != 0 && (*job || !filter->with_jobless))
		return false;
	if (filter->table && !is_of_table(member(line, "table"), filter->table))
		return false;
	if (filter->causes_only && !is_cause(line))
		return false;
	return !filter->what || has_word(line, filter->what);
}

/* Newest first, so an act's end comes before its beginning. */
static void mark_ended(struct reading *reading, json_t *line)
{
	char act[32];

	if (strcmp(member(line, "kind"), "act") != 0)
		return;
	snprintf(act, sizeof(act), "%lld", (long long)json_integer_value(json_object_get(line, "act")));
	if (strcmp(member(line, "phase"), "before") != 0)
		json_object_set_new(reading->ended, act, json_true());
	else if (json_object_get(reading->ended, act))
		json_object_set_new(line, "ended", json_true());
}

static void add_found(struct reading *reading, json_t *line)
{
	bool has_ended = json_is_true(json_object_get(line, "ended"));

	if (has_ended && reading->filter->without_ended)
		return;
	json_array_append(reading->found, line);
	reading->told += !has_ended;
}

/* False: nothing older is wanted. A line that cannot be read, half written when the power went, is none. */
static bool take_line(struct reading *reading, struct span text)
{
	json_t *line = text.len ? json_loadb(text.at, text.len, 0, NULL) : NULL;
	int64_t time_us = 0;
	bool goes_on = true;

	if (json_is_object(line) && journal_time(member(line, "time"), 0, &time_us, NULL)) {
		goes_on = time_us + JUMP_US >= reading->filter->since_us;
		mark_ended(reading, line);
		if (is_wanted(line, reading->filter, time_us))
			add_found(reading, line);
	}
	json_decref(line);
	return goes_on && reading->told < reading->filter->limit;
}

/* Hands out whole lines of bytes[0..used), last one first; gives how many bytes at the front are not handed out. */
static size_t take_lines(struct reading *reading, const char *bytes, size_t used, bool is_begin, bool *out_goes_on)
{
	const char *newline;

	while (*out_goes_on && used && (newline = memrchr(bytes, '\n', used))) {
		size_t at = (size_t)(newline - bytes) + 1;

		*out_goes_on = take_line(reading, span_make(bytes + at, used - at));
		used = at - 1;
	}
	if (*out_goes_on && is_begin && used)
		*out_goes_on = take_line(reading, span_make(bytes, used));
	return used;
}

static bool read_backwards(struct reading *reading, int fd, off_t at, struct error *err)
{
	char *bytes = NULL;
	size_t used = 0;
	off_t least = at > reading->bytes_left ? at - reading->bytes_left : 0;

	reading->bytes_left -= at - least;
	while (at > least && reading->goes_on) {
		size_t more = at < (off_t)BLOCK_BYTES ? (size_t)at : BLOCK_BYTES;

		/* No line of ours is that long: what stands there is not the journal's. */
		if (used > JOURNAL_LINE_MAX * 2)
			used = 0;
		bytes = memory_grow(bytes, used + more);
		memmove(bytes + more, bytes, used);
		at -= (off_t)more;
		if (pread(fd, bytes, more, at) != (ssize_t)more) {
			free(bytes);
			return fail_errno(err, errno ? errno : EIO, "cannot read the journal");
		}
		/* A block more than asked for does no harm. */
		used = take_lines(reading, bytes, used + more, at == 0, &reading->goes_on);
	}
	free(bytes);
	return true;
}

/* One that is not there, or is no file, has no lines. */
static bool read_file(struct reading *reading, struct journal *journal, uint64_t turns, int number, struct error *err)
{
	int fd = journal_open_older(journal, turns, number);
	struct stat info;
	bool is_fine = true;

	if (fd < 0)
		return errno == ENOENT || fail_errno(err, errno, "cannot open the journal '%s'", journal->path);
	if (fstat(fd, &info) != 0)
		is_fine = fail_errno(err, errno, "cannot look at the journal '%s'", journal->path);
	else if (S_ISREG(info.st_mode))
		is_fine = read_backwards(reading, fd, info.st_size, err);
	close(fd);
	return is_fine;
}

static json_t *oldest_first(const json_t *newest_first)
{
	json_t *list = json_array();

	for (size_t i = json_array_size(newest_first); i-- > 0;)
		json_array_append(list, json_array_get(newest_first, i));
	return list;
}

json_t *journal_read(struct journal *journal, const struct journal_filter *filter, struct error *err)
{
	struct reading reading = {
		.filter = filter,
		.found = json_array(),
		.ended = json_object(),
		.goes_on = filter->limit > 0,
		.bytes_left = filter->bytes_max ? (off_t)filter->bytes_max : INT64_MAX,
	};
	json_t *list = NULL;
	bool is_fine = true;
	uint64_t turns;

	pthread_mutex_lock(&journal->lock);
	turns = journal->turns;
	pthread_mutex_unlock(&journal->lock);
	for (int number = 0; is_fine && number < journal->files && reading.goes_on && reading.bytes_left > 0; number++)
		is_fine = read_file(&reading, journal, turns, number, err);
	if (is_fine)
		list = oldest_first(reading.found);
	json_decref(reading.found);
	json_decref(reading.ended);
	return list;
}
