/* Shared by the checks of Pub/Sub. */
#ifndef WEIR_ENGINE_CHECK_SUBSCRIPTION_PRIVATE_H
#define WEIR_ENGINE_CHECK_SUBSCRIPTION_PRIVATE_H

#include "engine/check_private.h"
#include "source/subscription.h"

/* A line a fact of a subscription that is there. */
void check_facts(struct check *check, const char *parameter, const struct subscription *subscription);
/* Where its dead-letter policy sends messages: is it there, and may Pub/Sub's own account write to it? */
void check_dead_letter_topic(struct check *check, const struct subscription *subscription);

/* A permission, whether the job can do without, and for what it is needed. */
struct needed {
	const char *permission, *role, *why;
	bool is_wanted_only;
};
/* A line a permission on the resource. */
void check_rights(struct check *check, const char *parameter, enum pubsub_kind kind, const char *resource,
                  const struct needed *needed, size_t count);

#endif
