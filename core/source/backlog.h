/*
 * What waits in a subscription, by Cloud Monitoring: sampled there once a minute and
 * seen minutes later, so each figure has a moment of its own, which is shown with it.
 */
#ifndef WEIR_SOURCE_BACKLOG_H
#define WEIR_SOURCE_BACKLOG_H

#include "base/error.h"
#include "base/span.h"

struct google;
struct rest_client;

#define BACKLOG_EVERY_MS 60000 /* asking more often tells nothing new */

struct backlog {
	int64_t messages;      /* not acknowledged; -1: not known (yet) */
	int64_t oldest_s;      /* age of the oldest of them; -1 */
	int64_t at_us;         /* the moment they are of; 0: none */
	int64_t server_utc_s;  /* what the answer said of the time; 0: nothing. Also where the call failed */
};

/* True also where Monitoring has no figure yet. False: `google_denied` (monitoring.timeSeries.list is missing) and whatever
 * else a call may say. */
bool backlog_ask(struct google *google, struct rest_client *rest, const char *subscription, int64_t wait_ms,
                 struct backlog *out, struct error *err);
/* Of an answer's body: the newest point, and its moment; false: it cannot be read. *out_value -1: there is none. */
bool backlog_read(struct span body, int64_t *out_value, int64_t *out_at_us);

#endif
