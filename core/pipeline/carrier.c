/*
 * The carrier between a job and its dead-letter folder: a thread that does one
 * errand after the other, so that neither rows nor letters wait for a folder that
 * is away. It remembers what it has handed over, so that no file comes twice in a
 * run; across runs the job's store does.
 */
#include "pipeline/folder_private.h"

#include "base/clock.h"
#include "base/crash.h"
#include "base/mailbox.h"
#include "google/storage.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_A_LOOK ((uint64_t)16 << 20)
#define HANDED_MAX 100000 /* files that were handed over and cannot be removed */
#define NEVER INT64_MAX

struct handed {
	char *which;
	int64_t again_ms; /* when it may be handed over again */
};

struct carrier {
	struct folder_setup own;
	const struct folder_ops *ops;
	struct folder *folder;        /* the thread's; NULL: not opened yet */
	struct mailbox *in, *out;
	pthread_t thread;
	bool has_thread, is_busy;
	atomic_bool should_end;
	pthread_mutex_t lock;         /* of what was handed over */
	struct handed *handed;        /* sorted by which */
	size_t handed_count, handed_room;
};

const struct folder_ops *folder_choose(const char *place)
{
	return storage_is_place(place) ? &folder_storage : &folder_local;
}

bool folder_passes_over(struct span name)
{
	return (name.len && name.at[0] == '.') || memmem(name.at, name.len, ".temp", 5);
}

/*
 * Errands
 */

struct errand *errand_new(enum errand_kind kind, size_t room)
{
	struct errand *errand = memory_zalloc(sizeof(*errand));

	errand->kind = kind;
	errand->arena = arena_new(16384);
	errand->room = room;
	errand->files = arena_zalloc(errand->arena, room * sizeof(*errand->files));
	return errand;
}

void errand_free(struct errand *errand)
{
	if (!errand)
		return;
	for (size_t i = 0; i < errand->count; i++)
		free(errand->files[i].content);
	arena_free(errand->arena);
	free(errand);
}

static const char *copy(struct errand *errand, const char *text)
{
	return text ? arena_string(errand->arena, span_of(text)) : NULL;
}

struct folder_file *errand_add(struct errand *errand, const struct folder_file *file)
{
	struct folder_file *to = &errand->files[errand->count];

	if (errand->count == errand->room)
		return NULL;
	*to = (struct folder_file){ .name = copy(errand, file->name), .which = copy(errand, file->which),
		                        .scratch = copy(errand, file->scratch), .generation = file->generation,
		                        .size_bytes = file->size_bytes, .is_left = file->is_left };
	errand->count++;
	return to;
}

/*
 * What was handed over
 */

/* Where it stands, or belongs. */
static size_t handed_place(const struct carrier *carrier, const char *which, bool *out_there)
{
	size_t low = 0, high = carrier->handed_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(carrier->handed[middle].which, which) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*out_there = low < carrier->handed_count && strcmp(carrier->handed[low].which, which) == 0;
	return low;
}

static void handed_add(struct carrier *carrier, size_t at, const char *which)
{
	if (carrier->handed_count == carrier->handed_room) {
		carrier->handed_room = carrier->handed_room ? carrier->handed_room * 2 : 64;
		carrier->handed = memory_grow(carrier->handed, carrier->handed_room * sizeof(*carrier->handed));
	}
	memmove(&carrier->handed[at + 1], &carrier->handed[at], (carrier->handed_count - at) * sizeof(*carrier->handed));
	carrier->handed[at] = (struct handed){ memory_string(which), NEVER };
	carrier->handed_count++;
}

static void handed_drop(struct carrier *carrier, const char *which)
{
	bool is_there;
	size_t at;

	pthread_mutex_lock(&carrier->lock);
	at = handed_place(carrier, which, &is_there);
	if (is_there) {
		free(carrier->handed[at].which);
		carrier->handed_count--;
		memmove(&carrier->handed[at], &carrier->handed[at + 1], (carrier->handed_count - at) * sizeof(*carrier->handed));
	}
	pthread_mutex_unlock(&carrier->lock);
}

void carrier_give_back(struct carrier *carrier, const char *which, int64_t after_ms)
{
	bool is_there;
	size_t at;

	pthread_mutex_lock(&carrier->lock);
	at = handed_place(carrier, which, &is_there);
	if (is_there)
		carrier->handed[at].again_ms = clock_mono_ms() + after_ms;
	pthread_mutex_unlock(&carrier->lock);
}

/* True: it is handed over now. */
static bool hand_over(struct carrier *carrier, const char *which)
{
	int64_t now_ms = clock_mono_ms();
	bool is_there, is_handed;
	size_t at;

	pthread_mutex_lock(&carrier->lock);
	at = handed_place(carrier, which, &is_there);
	is_handed = is_there ? carrier->handed[at].again_ms <= now_ms : carrier->handed_count < HANDED_MAX;
	if (is_handed && is_there)
		carrier->handed[at].again_ms = NEVER;
	else if (is_handed)
		handed_add(carrier, at, which);
	pthread_mutex_unlock(&carrier->lock);
	return is_handed;
}

/*
 * On the thread
 */

struct look {
	struct carrier *carrier;
	struct errand *errand;
	uint64_t bytes;
};

static bool is_enough(const struct look *look, const struct folder_file *next)
{
	return look->errand->count == look->errand->room || (look->errand->count && look->bytes + next->size_bytes > BYTES_A_LOOK);
}

/* One that does not fit any more may have been handed over before: then it is none of the others. */
static bool offer(void *context, const struct folder_file *file)
{
	struct look *look = context;
	bool is_full = is_enough(look, file);

	if (!hand_over(look->carrier, file->which))
		return true;
	if (is_full) {
		carrier_give_back(look->carrier, file->which, 0);
		look->errand->has_more = true;
		return false;
	}
	errand_add(look->errand, file);
	look->bytes += file->size_bytes;
	return true;
}

static bool look_through(struct carrier *carrier, struct errand *errand)
{
	struct look look = { .carrier = carrier, .errand = errand };

	if (!carrier->ops->list(carrier->folder, offer, &look, &errand->failure)) {
		for (size_t i = 0; i < errand->count; i++)
			carrier_give_back(carrier, errand->files[i].which, 0);
		return false;
	}
	carrier->ops->read_all(carrier->folder, errand->files, errand->count);
	return true;
}

static void remove_all(struct carrier *carrier, struct errand *errand)
{
	carrier->ops->remove_all(carrier->folder, errand->files, errand->count);
	for (size_t i = 0; i < errand->count; i++) {
		if (!errand->files[i].is_done)
			continue;
		crash_point(letters_file_removed);
		handed_drop(carrier, errand->files[i].which);
	}
}

static bool place_all(struct carrier *carrier, struct errand *errand)
{
	for (size_t i = 0; i < errand->count; i++) {
		errand->files[i].is_done = carrier->ops->place(carrier->folder, &errand->files[i], &errand->failure);
		if (!errand->files[i].is_done)
			return false;
	}
	return true;
}

static void errand_do(struct carrier *carrier, struct errand *errand)
{
	if (!carrier->folder)
		carrier->folder = carrier->ops->open(&carrier->own, &errand->failure);
	if (!carrier->folder)
		return;
	errand->is_done = true;
	if (errand->kind == ERRAND_LOOK)
		errand->is_done = look_through(carrier, errand);
	else if (errand->kind == ERRAND_REMOVE)
		remove_all(carrier, errand);
	else
		errand->is_done = place_all(carrier, errand);
}

static void *carrier_main(void *context)
{
	struct carrier *carrier = context;
	void *errand;

	while (mailbox_take(carrier->in, &errand, -1) == MAIL_TAKEN) {
		errand_do(carrier, errand);
		if (mailbox_post(carrier->out, errand, -1) != MAIL_TAKEN)
			errand_free(errand);
	}
	if (carrier->folder)
		carrier->ops->close(carrier->folder);
	return NULL;
}

/*
 * The job's side
 */

struct carrier *carrier_open(const struct folder_setup *setup)
{
	struct carrier *carrier = memory_zalloc(sizeof(*carrier));

	carrier->own = *setup;
	carrier->own.should_end = &carrier->should_end;
	carrier->ops = folder_choose(setup->place);
	carrier->in = mailbox_new(1);
	carrier->out = mailbox_new(1);
	pthread_mutex_init(&carrier->lock, NULL);
	return carrier;
}

static void box_free(struct mailbox *box)
{
	void *errand;

	while (mailbox_take(box, &errand, 0) == MAIL_TAKEN)
		errand_free(errand);
	mailbox_free(box);
}

void carrier_close(struct carrier *carrier)
{
	if (!carrier)
		return;
	atomic_store(&carrier->should_end, true);
	mailbox_close(carrier->in);
	mailbox_close(carrier->out);
	if (carrier->has_thread)
		pthread_join(carrier->thread, NULL);
	box_free(carrier->in);
	box_free(carrier->out);
	for (size_t i = 0; i < carrier->handed_count; i++)
		free(carrier->handed[i].which);
	free(carrier->handed);
	pthread_mutex_destroy(&carrier->lock);
	free(carrier);
}

const struct folder_ops *carrier_folder(const struct carrier *carrier)
{
	return carrier->ops;
}

bool carrier_send(struct carrier *carrier, struct errand *errand, struct error *err)
{
	int failed = carrier->has_thread ? 0 : pthread_create(&carrier->thread, NULL, carrier_main, carrier);

	if (failed) {
		errand_free(errand);
		return fail(err, ERROR_TRANSIENT, "no_threads", "cannot make a thread for the dead-letter folder: %s", strerror(failed));
	}
	carrier->has_thread = carrier->is_busy = true;
	mailbox_post(carrier->in, errand, -1);
	return true;
}

bool carrier_is_busy(const struct carrier *carrier)
{
	return carrier->is_busy;
}

struct errand *carrier_take(struct carrier *carrier, int64_t wait_ms)
{
	void *errand;

	if (mailbox_take(carrier->out, &errand, wait_ms) != MAIL_TAKEN)
		return NULL;
	carrier->is_busy = false;
	return errand;
}
