/* Waits that grow, with jitter. */
#include "google/wait.h"

#include "base/clock.h"

#include <sys/random.h>

/* xorshift64*: jitter needs no secret, only that two processes differ. */
static uint64_t random_next(uint64_t *state)
{
	if (!*state && getrandom(state, sizeof(*state), GRND_NONBLOCK) != (ssize_t)sizeof(*state))
		*state = (uint64_t)clock_utc_us();
	*state |= *state == 0;
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static int64_t random_up_to(uint64_t *state, int64_t most)
{
	return most <= 0 ? 0 : (int64_t)(random_next(state) % ((uint64_t)most + 1));
}

int64_t backoff_next(struct backoff *backoff, int64_t asked_ms)
{
	int64_t bound = backoff->bound_ms ? backoff->bound_ms : backoff->first_ms;
	double grown = (double)bound * backoff->factor;
	int64_t wait = bound / 2 + random_up_to(&backoff->random, bound - bound / 2);

	backoff->bound_ms = grown < (double)backoff->most_ms ? (int64_t)grown : backoff->most_ms;
	if (asked_ms > wait)
		wait = asked_ms + random_up_to(&backoff->random, asked_ms / 10);
	return wait;
}

void backoff_reset(struct backoff *backoff)
{
	backoff->bound_ms = 0;
}
