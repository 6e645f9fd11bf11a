/*
 * Subscriptions of Pub/Sub as a source. The reader takes here what the keeper (a thread
 * of the source's own, pubsub_keeper.c) has received; messages are numbered as they
 * come, and a position is such a number: all before it are safe. Numbers of an earlier
 * run say nothing to the server. What it gave and did not see acknowledged comes again.
 */
#include "base/clock.h"
#include "source/pubsub_private.h"

#include <errno.h>
#include <stdlib.h>
#include <sodium.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define IDENTITY "{\"pubsub\":"

/*
 * Pulling
 */

/* In an idle stretch the reader also wakes for words and the end. */
static bool wait_locked(struct pubsub *pubsub, int64_t until_ms)
{
	struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
	bool is_over;

	pubsub->is_waited_for = true;
	is_over = pthread_cond_timedwait(&pubsub->more, &pubsub->lock, &until) != 0;
	pubsub->is_waited_for = false;
	return !is_over;
}

/* What cannot pass by itself ends a run that was to end by itself; one that follows says it and goes on trying. */
static bool is_hopeless_locked(const struct pubsub *pubsub)
{
	return !pubsub->is_followed && pubsub->trouble.kind != ERROR_NONE && !failure_passes(&pubsub->trouble);
}

static struct arrival *take_locked(struct pubsub *pubsub)
{
	struct arrival *arrival = pubsub->first;

	pubsub->first = arrival->next;
	if (!pubsub->first)
		pubsub->last = NULL;
	pubsub->queued_bytes -= arrival->message->len;
	return arrival;
}

/* The next delivery as the current one; else why there is none. */
static enum pulled next_arrival(struct pubsub *pubsub, int64_t until_ms, struct error *err)
{
	enum pulled pulled = PULLED_NOTHING;

	pthread_mutex_lock(&pubsub->lock);
	while (!pubsub->first && !pubsub->has_ended && !is_hopeless_locked(pubsub) && wait_locked(pubsub, until_ms))
		continue;
	if (pubsub->first) {
		pubsub->current = take_locked(pubsub);
		pulled = PULLED_MESSAGE;
	} else if (is_hopeless_locked(pubsub)) {
		*err = pubsub->trouble;
		pulled = PULLED_FAILED;
	} else if (pubsub->has_ended) {
		pulled = PULLED_END;
	}
	pthread_mutex_unlock(&pubsub->lock);
	return pulled;
}

static enum pulled pubsub_pull(struct source *source, struct batch *into, int64_t until_ms, struct error *err)
{
	struct pubsub *pubsub = (struct pubsub *)source;

	for (;;) {
		enum pulled pulled;

		if (pubsub->current && arrival_next(pubsub, into))
			return PULLED_MESSAGE;
		arrival_drop(pubsub->current);
		pubsub->current = NULL;
		pubsub->lent_to = NULL;
		pulled = next_arrival(pubsub, until_ms, err);
		/* Messages that are in the batch leave first. */
		if (pulled == PULLED_FAILED && into->message_count)
			return PULLED_NOTHING;
		if (pulled != PULLED_MESSAGE)
			return pulled;
		pubsub->cursor = proto_open(span_make(pubsub->current->message->bytes, pubsub->current->message->len));
		pubsub->next_number = pubsub->current->first;
	}
}

static void pubsub_mark(struct source *source, struct batch *batch)
{
	struct pubsub *pubsub = (struct pubsub *)source;

	batch->end.identity = arena_copy(batch->arena, span_of(pubsub->identity));
	batch->end.offset = pubsub->next_number;
	batch->end.line = 0;
}

/* From any thread. */
static bool pubsub_confirm(struct source *source, const struct source_position *position, struct error *err)
{
	struct pubsub *pubsub = (struct pubsub *)source;

	(void)err;
	atomic_store(&pubsub->confirmed, position->offset);
	pubsub_ring(pubsub);
	return true;
}

static bool pubsub_note(struct source *source, struct error *out_note)
{
	(void)source;
	(void)out_note;
	return false;
}

static bool pubsub_has_news(struct source *source)
{
	struct pubsub *pubsub = (struct pubsub *)source;
	bool has_news;

	pthread_mutex_lock(&pubsub->lock);
	has_news = pubsub->current || pubsub->first || pubsub->trouble.kind != ERROR_NONE;
	pthread_mutex_unlock(&pubsub->lock);
	return has_news;
}

static const char *pubsub_channel(struct source *source, size_t index)
{
	struct pubsub *pubsub = (struct pubsub *)source;

	return index < pubsub->channel_count ? pubsub->channels[index].name : NULL;
}

static bool pubsub_trouble(struct source *source, struct error *out)
{
	struct pubsub *pubsub = (struct pubsub *)source;

	pthread_mutex_lock(&pubsub->lock);
	*out = pubsub->trouble;
	pthread_mutex_unlock(&pubsub->lock);
	return out->kind != ERROR_NONE;
}

static void pubsub_look(struct source *source, struct source_view *out)
{
	struct pubsub *pubsub = (struct pubsub *)source;

	pthread_mutex_lock(&pubsub->lock);
	*out = pubsub->view;
	pthread_mutex_unlock(&pubsub->lock);
}

/*
 * Opening and closing
 */

static void free_queue(struct pubsub *pubsub)
{
	while (pubsub->first)
		arrival_drop(take_locked(pubsub));
	while (pubsub->fresh) {
		struct arrival *arrival = pubsub->fresh;

		pubsub->fresh = arrival->next;
		arrival_drop(arrival);
	}
	arrival_drop(pubsub->current);
}

static void pubsub_free(struct pubsub *pubsub)
{
	for (size_t i = 0; i < pubsub->channel_count; i++)
		channel_end(&pubsub->channels[i]);
	free_queue(pubsub);
	held_clear(&pubsub->held);
	if (pubsub->bell >= 0)
		close(pubsub->bell);
	pthread_cond_destroy(&pubsub->more);
	pthread_mutex_destroy(&pubsub->lock);
	free(pubsub->channels);
	free(pubsub->ids_seen);
	free(pubsub->identity);
	free(pubsub);
}

static void pubsub_close(struct source *source)
{
	struct pubsub *pubsub = (struct pubsub *)source;

	if (!pubsub)
		return;
	atomic_store(&pubsub->is_ending, true);
	pubsub_ring(pubsub);
	pthread_join(pubsub->keeper, NULL);
	pubsub_free(pubsub);
}

/* A random UUID: the server knows a client that comes again by it. */
static void make_client_id(char out[40])
{
	unsigned char b[16];

	randombytes_buf(b, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	snprintf(out, 40, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3], b[4],
	         b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static char *identity_of(const struct pubsub_names *names)
{
	struct text *text = text_new(PUBSUB_SUBSCRIPTIONS_MAX * (PUBSUB_NAME_BYTES + 4));
	char *identity;

	text_add(text, IDENTITY "[");
	for (size_t i = 0; i < names->count; i++)
		text_add_format(text, "%s\"%s\"", i ? "," : "", names->items[i]);
	text_add(text, "]}");
	identity = text_take(text);
	text_free(text);
	return identity;
}

/* Numbers go on over runs, so that what a run that died had parked is told from what is parked now. */
static uint64_t first_number(const struct source_position *from)
{
	size_t len = sizeof(IDENTITY) - 1;

	if (!from || from->identity.len < len || memcmp(from->identity.at, IDENTITY, len) != 0)
		return 1;
	return from->offset ? from->offset : 1;
}

static struct pubsub *pubsub_new(const struct source_setup *setup, const struct pubsub_names *names)
{
	struct pubsub *pubsub = memory_zalloc(sizeof(*pubsub));

	pubsub->source.ops = &source_pubsub;
	pubsub->google = setup->google;
	pubsub->is_followed = setup->is_followed;
	pubsub->was_killed = setup->was_killed;
	pubsub->on_news = setup->on_news;
	pubsub->context = setup->context;
	pubsub->on_event = setup->on_event;
	pubsub->event_context = setup->event_context;
	pubsub->record_bytes_max = (size_t)setup->options->max_record_bytes;
	pubsub->identity = identity_of(names);
	make_client_id(pubsub->client_id);
	pubsub->next_number = first_number(setup->from);
	held_begin(&pubsub->held, pubsub->next_number);
	pubsub->fresh_end = &pubsub->fresh;
	pubsub->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&pubsub->lock, NULL);
	clock_cond_init(&pubsub->more);
	pubsub->view.is_emulated = google_is_emulated(setup->google, SERVICE_PUBSUB);
	pubsub->channel_count = names->count;
	pubsub->channels = memory_zalloc(names->count * sizeof(*pubsub->channels));
	for (uint32_t i = 0; i < names->count; i++)
		channel_begin(&pubsub->channels[i], pubsub, i, names->items[i], google_project(setup->google));
	return pubsub;
}

static bool begin(struct pubsub *pubsub, struct error *err)
{
	int failed;

	if (pubsub->bell < 0)
		return fail_errno(err, errno, "cannot make a bell for the subscriptions");
	failed = pthread_create(&pubsub->keeper, NULL, keeper_main, pubsub);
	return failed == 0 || fail(err, ERROR_TRANSIENT, "no_threads", "cannot make a thread for the subscriptions: %s",
	                           strerror(failed));
}

/* Said and not refused: a store that was lost, or a home that was copied, looks the same. */
static void tell_shared(void *context, const char *name)
{
	const struct source_setup *setup = context;
	char sentence[640];

	if (!setup->on_event)
		return;
	snprintf(sentence, sizeof(sentence), "subscription %.400s was made for a job '%s' of another home: if that runs, each gets a part "
	         "of the messages", name, setup->options->name);
	setup->on_event(setup->event_context, "-", "subscription_shared", sentence);
}

/* Nothing is sent here, unless the job's own subscriptions are to be made: what does not exist or may not be read is found
 * by the keeper, and said by the first pull. */
static struct source *pubsub_open(const struct source_setup *setup, struct error *err)
{
	struct pubsub_names names;
	struct pubsub *pubsub;

	if (!subscriptions_make_own(setup->options, setup->google, setup->incarnation, tell_shared, (void *)setup, err) ||
	    !subscription_names_of(setup->options, setup->google, &names, err))
		return NULL;
	pubsub = pubsub_new(setup, &names);
	pubsub_names_free(&names);
	if (begin(pubsub, err))
		return &pubsub->source;
	pubsub_free(pubsub);
	return NULL;
}

const struct source_ops source_pubsub = {
	.name = "pubsub",
	.help = "Subscriptions of Pub/Sub, read by StreamingPull.",
	.open = pubsub_open,
	.pull = pubsub_pull,
	.mark = pubsub_mark,
	.confirm = pubsub_confirm,
	.note = pubsub_note,
	.close = pubsub_close,
	.has_news = pubsub_has_news,
	.rings = true,
	.confirms_at_once = true,
	.channel = pubsub_channel,
	.trouble = pubsub_trouble,
	.look = pubsub_look,
};
