/*
 * Tries that were refused: a line for the first of a user and command, a count for
 * those that follow within a minute. Who may only look must not be able to fill the
 * disk, and one line tells as much as ten thousand.
 */
#include "engine/journal_private.h"

#include "base/clock.h"
#include "engine/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNTED_MS 60000

/* True: it is one of many, and is counted. Where all places are taken by what was tried within a minute, too. */
static bool count_locked(struct refused_tries *tries, const struct call *call, const char *what, int64_t now_ms)
{
	struct refused_try *free_place = NULL, *one;

	for (size_t i = 0; i < REFUSED_TRIES; i++) {
		one = &tries->of[i];
		if (one->what == what && one->uid == call->peer.uid && now_ms < one->until_ms) {
			one->more++;
			return true;
		}
		if (!one->more && now_ms >= one->until_ms)
			free_place = one;
	}
	if (!free_place) {
		tries->others++;
		return true;
	}
	*free_place = (struct refused_try){ .what = what, .uid = call->peer.uid, .until_ms = now_ms + COUNTED_MS };
	snprintf(free_place->who, sizeof(free_place->who), "%s", call->peer.user);
	return false;
}

bool journal_refused_counts(struct journal *journal, const struct call *call, const char *what)
{
	int64_t now_ms = clock_mono_ms();
	bool is_counted;

	journal_refused_settle(journal, false);
	pthread_mutex_lock(&journal->lock);
	is_counted = count_locked(&journal->refused, call, what, now_ms);
	pthread_mutex_unlock(&journal->lock);
	return is_counted;
}

static json_t *count_line(const struct refused_try *one)
{
	char message[120], text[160];

	snprintf(message, sizeof(message), "%" PRIu64 " more tries within a minute", one->more);
	snprintf(text, sizeof(text), "%s: %s", one->what, message);
	return json_pack("{s:s, s:s, s:s, s:I, s:s, s:s, s:s, s:s, s:I}", "kind", "act", "phase", "refused", "who", one->who,
	                 "uid", (json_int_t)one->uid, "what", one->what, "text", text, "code", "not_allowed", "message",
	                 message, "more", (json_int_t)one->more);
}

/* One whose minute is over, or, where all are asked for, one that has a count; false: there is none. */
static bool take_locked(struct refused_tries *tries, bool all, int64_t now_ms, struct refused_try *out)
{
	for (size_t i = 0; i < REFUSED_TRIES; i++) {
		struct refused_try *one = &tries->of[i];

		if (!one->more || (!all && now_ms < one->until_ms))
			continue;
		*out = *one;
		one->more = 0;
		return true;
	}
	if (!all || !tries->others)
		return false;
	*out = (struct refused_try){ .what = "-", .uid = -1, .more = tries->others };
	tries->others = 0;
	return true;
}

void journal_refused_settle(struct journal *journal, bool all)
{
	int64_t now_ms = clock_mono_ms();
	struct refused_try one;
	bool has_one = true;

	while (has_one) {
		struct error ignored = { 0 };

		pthread_mutex_lock(&journal->lock);
		has_one = take_locked(&journal->refused, all, now_ms, &one);
		pthread_mutex_unlock(&journal->lock);
		if (has_one)
			journal_add(journal, count_line(&one), false, &ignored);
	}
}
