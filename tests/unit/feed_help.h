/*
 * For the tests of feeds: a folder of its own, a feed of given bytes, and what was
 * pulled as one line a message: "LINE@OFFSET id|key|publish|attrs|body".
 */
#ifndef WEIR_TESTS_FEED_HELP_H
#define WEIR_TESTS_FEED_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is another one: base/error.h */

#include "base/arena.h"
#include "base/clock.h"
#include "base/text.h"
#include "source/feed_private.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct bench {
	char folder[64];
	char path[96], big[96];
	struct job_options options;
	struct source_setup setup;
	struct source *source;
	struct batch *batch;
	struct error err;
};

static inline int bench_open(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	snprintf(b->folder, sizeof(b->folder), "/tmp/weir-feed-XXXXXX");
	if (!mkdtemp(b->folder))
		return -1;
	snprintf(b->path, sizeof(b->path), "%s/feed", b->folder);
	snprintf(b->big, sizeof(b->big), "%s/big", b->folder);
	b->options.name = (char[]){ "t" };
	b->options.input_file = b->path;
	b->options.max_record_bytes = 16 << 20;
	b->setup = (struct source_setup){ .options = &b->options, .big_folder = b->big };
	b->batch = batch_new();
	*state = b;
	return 0;
}

static inline void bench_stop(struct bench *b)
{
	if (b->source)
		b->source->ops->close(b->source);
	b->source = NULL;
}

static inline int bench_close(void **state)
{
	struct bench *b = *state;
	char command[128];
	int status;

	bench_stop(b);
	batch_free(b->batch);
	snprintf(command, sizeof(command), "rm -rf '%s'", b->folder);
	status = system(command);
	free(b);
	return status;
}

static inline void put(const char *path, int flags, struct span bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes.at, bytes.len), bytes.len);
	close(fd);
}

static inline void feed_is(struct bench *b, const char *text)
{
	put(b->path, O_TRUNC, span_of(text));
}

static inline void feed_grows(struct bench *b, const char *text)
{
	put(b->path, O_APPEND, span_of(text));
}

static inline bool start(struct bench *b, const struct source_position *from, size_t block)
{
	bench_stop(b);
	b->setup.from = from;
	b->err = (struct error){ 0 };
	b->source = source_feed.open(&b->setup, &b->err);
	if (b->source && block)
		feed_set_block(b->source, block);
	return b->source != NULL;
}

static inline enum pulled pull(struct bench *b, int64_t wait_ms)
{
	return b->source->ops->pull(b->source, b->batch, clock_mono_ms() + wait_ms, &b->err);
}

static inline void mark(struct bench *b)
{
	b->source->ops->mark(b->source, b->batch);
}

static inline struct message *last(struct bench *b)
{
	return &b->batch->messages[b->batch->message_count - 1];
}

static inline void show(struct text *out, const struct message *m)
{
	text_add_format(out, "%" PRIu64 "@%" PRIu64 " ", m->line, m->offset);
	text_add_span(out, m->id);
	text_add(out, "|");
	text_add_span(out, m->key);
	text_add(out, "|");
	text_add_span(out, m->publish);
	text_add(out, "|");
	for (size_t i = 0; i < m->attr_count; i++) {
		text_add_span(out, m->attrs[i].name);
		text_add(out, "=");
		text_add_span(out, m->attrs[i].value);
		text_add(out, ";");
	}
	text_add(out, "|");
	text_add_span(out, m->body);
	text_add(out, m->body_is_null ? "(null)" : "");
	if (m->refusal)
		text_add_format(out, "!%s/%s", m->refusal->stage, m->refusal->code);
	text_add(out, "\n");
}

/* Pulls to the end; a new batch begins after every `per_batch` messages. */
static inline enum pulled pull_all(struct bench *b, size_t per_batch, struct text *out)
{
	for (;;) {
		enum pulled pulled = pull(b, 0);

		if (pulled != PULLED_MESSAGE)
			return pulled;
		show(out, last(b));
		if (b->batch->message_count < per_batch)
			continue;
		mark(b);
		batch_reset(b->batch);
	}
}

/* A position that outlives its batch. */
static inline struct source_position keep(struct bench *b)
{
	struct source_position position;

	mark(b);
	position = b->batch->end;
	position.identity.at = memory_string_of(position.identity);
	return position;
}

static inline void drop(struct source_position *position)
{
	free((char *)position->identity.at);
	position->identity = (struct span){ 0 };
}

static inline void assert_feed_gives(struct bench *b, const char *text, const char *expected)
{
	OWNED(text) out = text_new(1 << 20);

	feed_is(b, text);
	batch_reset(b->batch);
	assert_true(start(b, NULL, 0));
	assert_int_equal(pull_all(b, 1000, out), PULLED_END);
	assert_string_equal(out->at, expected);
}

#define FEED_TEST(name) cmocka_unit_test_setup_teardown(name, bench_open, bench_close)

#endif
