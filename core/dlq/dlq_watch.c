/* What a transaction has met for the first time, told to whoever listens when it is kept. */
#include "dlq/dlq_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define EVENTS_MAX 64 /* a transaction; a stream that invents a table a message must not fill the journal at once */

struct event {
	char table[256], code[40], sentence[640];
};

struct dlq_watch {
	dlq_event on_event;
	void *context;
	size_t count, unheard;
	struct event events[EVENTS_MAX];
};

void dlq_watch(struct dlq *dlq, dlq_event on_event, void *context)
{
	if (!dlq->watch)
		dlq->watch = memory_zalloc(sizeof(*dlq->watch));
	dlq->watch->on_event = on_event;
	dlq->watch->context = context;
}

void watch_free(struct dlq_watch *watch)
{
	free(watch);
}

void watch_add(struct dlq *dlq, const char *table, const char *code, const char *format, ...)
{
	struct dlq_watch *watch = dlq->watch;
	struct event *event;
	va_list args;

	if (!watch)
		return;
	if (watch->count == EVENTS_MAX) {
		watch->unheard++;
		return;
	}
	event = &watch->events[watch->count++];
	snprintf(event->table, sizeof(event->table), "%s", table);
	snprintf(event->code, sizeof(event->code), "%s", code);
	va_start(args, format);
	vsnprintf(event->sentence, sizeof(event->sentence), format, args);
	va_end(args);
}

void watch_forget(struct dlq *dlq)
{
	if (dlq->watch)
		dlq->watch->count = dlq->watch->unheard = 0;
}

static void tell_unheard(const struct dlq_watch *watch)
{
	char sentence[100];

	if (!watch->unheard)
		return;
	snprintf(sentence, sizeof(sentence), "%zu more groups of letters, schema changes or notes in the same batch",
	         watch->unheard);
	watch->on_event(watch->context, NULL, "more_events", sentence);
}

void watch_tell(struct dlq *dlq)
{
	struct dlq_watch *watch = dlq->watch;

	if (!watch)
		return;
	for (size_t i = 0; i < watch->count; i++)
		watch->on_event(watch->context, watch->events[i].table, watch->events[i].code,
		                watch->events[i].sentence);
	tell_unheard(watch);
	watch_forget(dlq);
}
