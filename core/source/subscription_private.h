/* Shared by the rooms of Pub/Sub's administration. */
#ifndef WEIR_SOURCE_SUBSCRIPTION_PRIVATE_H
#define WEIR_SOURCE_SUBSCRIPTION_PRIVATE_H

#include "google/google.h"
#include "source/subscription.h"

#define RETRY_UNAVAILABLE (1u << GRPC_UNAVAILABLE)
#define RETRY_READS (1u << GRPC_UNAVAILABLE | 1u << GRPC_ABORTED | 1u << GRPC_UNKNOWN)

struct admin_call {
	const char *path;
	const char *what;            /* in words */
	const char *key, *name;      /* of the routing header */
	const struct text *message;
	unsigned retried;            /* bits of codes */
	int64_t wait_ms;
};

/* The answer is the caller's. */
bool admin_call(struct google *google, const struct admin_call *call, struct grpc_message **out, enum grpc_code *out_code,
                struct error *err);
/* One whose answer says nothing. */
bool admin_call_only(struct google *google, const struct admin_call *call, enum grpc_code *out_code, struct error *err);
/* Always false. */
bool admin_broken(const char *what, struct error *err);

#endif
