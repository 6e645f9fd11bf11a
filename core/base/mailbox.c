/* A ring of pointers under one lock. Waits are measured by the clock that does not jump. */
#include "base/mailbox.h"

#include "base/arena.h"
#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct mailbox {
	pthread_mutex_t lock;
	pthread_cond_t has_room;
	pthread_cond_t has_mail;
	bool is_closed;
	size_t first; /* the oldest item */
	size_t count;
	size_t capacity;
	void *items[];
};

struct mailbox *mailbox_new(size_t capacity)
{
	assert(capacity > 0);
	struct mailbox *box = memory_zalloc(sizeof(*box) + capacity * sizeof(box->items[0]));

	box->capacity = capacity;
	pthread_mutex_init(&box->lock, NULL);
	clock_cond_init(&box->has_room);
	clock_cond_init(&box->has_mail);
	return box;
}

void mailbox_free(struct mailbox *box)
{
	if (!box)
		return;
	pthread_cond_destroy(&box->has_room);
	pthread_cond_destroy(&box->has_mail);
	pthread_mutex_destroy(&box->lock);
	free(box);
}

/* The moment `wait_ms` from now; waits longer than a century are for ever. */
static struct timespec deadline_after(int64_t wait_ms)
{
	const int64_t longest_ms = INT64_C(3155760000000);
	struct timespec until;

	if (wait_ms > longest_ms)
		wait_ms = longest_ms;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(wait_ms / 1000);
	until.tv_nsec += (long)(wait_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return until;
}

/* Waits until the count is no longer `blocked` or the box is closed; false: time is over. */
static bool mailbox_wait_locked(struct mailbox *box, pthread_cond_t *change, size_t blocked, int64_t wait_ms)
{
	struct timespec until = { 0 };
	bool is_over = wait_ms == 0;

	if (wait_ms > 0)
		until = deadline_after(wait_ms);
	while (box->count == blocked && !box->is_closed && !is_over) {
		if (wait_ms < 0)
			pthread_cond_wait(change, &box->lock);
		else
			is_over = pthread_cond_timedwait(change, &box->lock, &until) == ETIMEDOUT;
	}
	return box->count != blocked || box->is_closed;
}

static enum mail mailbox_post_locked(struct mailbox *box, void *item, bool is_first, int64_t wait_ms)
{
	if (!mailbox_wait_locked(box, &box->has_room, box->capacity, wait_ms))
		return MAIL_TIMEOUT;
	if (box->is_closed)
		return MAIL_CLOSED;
	if (is_first)
		box->first = (box->first + box->capacity - 1) % box->capacity;
	box->items[is_first ? box->first : (box->first + box->count) % box->capacity] = item;
	box->count++;
	pthread_cond_signal(&box->has_mail);
	return MAIL_TAKEN;
}

static enum mail post(struct mailbox *box, void *item, bool is_first, int64_t wait_ms)
{
	pthread_mutex_lock(&box->lock);
	enum mail answer = mailbox_post_locked(box, item, is_first, wait_ms);
	pthread_mutex_unlock(&box->lock);
	return answer;
}

enum mail mailbox_post(struct mailbox *box, void *item, int64_t wait_ms)
{
	return post(box, item, false, wait_ms);
}

enum mail mailbox_post_first(struct mailbox *box, void *item, int64_t wait_ms)
{
	return post(box, item, true, wait_ms);
}

static enum mail mailbox_take_locked(struct mailbox *box, void **out_item, int64_t wait_ms)
{
	if (!mailbox_wait_locked(box, &box->has_mail, 0, wait_ms))
		return MAIL_TIMEOUT;
	if (box->count == 0)
		return MAIL_CLOSED;
	*out_item = box->items[box->first];
	box->first = (box->first + 1) % box->capacity;
	box->count--;
	pthread_cond_signal(&box->has_room);
	return MAIL_TAKEN;
}

enum mail mailbox_take(struct mailbox *box, void **out_item, int64_t wait_ms)
{
	pthread_mutex_lock(&box->lock);
	enum mail answer = mailbox_take_locked(box, out_item, wait_ms);
	pthread_mutex_unlock(&box->lock);
	return answer;
}

void mailbox_close(struct mailbox *box)
{
	pthread_mutex_lock(&box->lock);
	box->is_closed = true;
	pthread_cond_broadcast(&box->has_room);
	pthread_cond_broadcast(&box->has_mail);
	pthread_mutex_unlock(&box->lock);
}

size_t mailbox_count(struct mailbox *box)
{
	pthread_mutex_lock(&box->lock);
	size_t count = box->count;
	pthread_mutex_unlock(&box->lock);
	return count;
}
