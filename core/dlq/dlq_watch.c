/* What a transaction has met for the first time, told to whoever listens when it is kept. */
#include "dlq/dlq_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define EVENTS_MAX 64 /* a transaction; a stream that invents a table a message must not fill the journal at once */

struct event {
	bool is_note;
	char table[256], code[40], sentence[640];
};

struct dlq_watch {
	dlq_event on_event, on_note;
	void *context;
	size_t count, unheard;
	struct event events[EVENTS_MAX];
};

void dlq_watch(struct dlq *dlq, dlq_event on_event, dlq_event on_note, void *context)
{
	if (!dlq->watch)
		dlq->watch = memory_zalloc(sizeof(*dlq->watch));
	dlq->watch->on_event = on_event;
	dlq->watch->on_note = on_note;
	dlq->watch->context = context;
}

void watch_free(struct dlq_watch *watch)
{
	free(watch);
}

/* NULL: nobody listens, or there were too many. */
static struct event *event_add(struct dlq_watch *watch, const char *table, const char *code)
{
	struct event *event;

	if (!watch)
		return NULL;
	if (watch->count == EVENTS_MAX) {
		watch->unheard++;
		return NULL;
	}
	event = &watch->events[watch->count++];
	event->is_note = false;
	snprintf(event->table, sizeof(event->table), "%s", table);
	snprintf(event->code, sizeof(event->code), "%s", code);
	return event;
}

void watch_add(struct dlq *dlq, const char *table, const char *code, const char *format, ...)
{
	struct event *event = event_add(dlq->watch, table, code);
	va_list args;

	if (!event)
		return;
	va_start(args, format);
	vsnprintf(event->sentence, sizeof(event->sentence), format, args);
	va_end(args);
}

void watch_add_note(struct dlq *dlq, const char *table, const char *code, const char *text)
{
	struct event *event = event_add(dlq->watch, table, code);

	if (!event)
		return;
	event->is_note = true;
	snprintf(event->sentence, sizeof(event->sentence), "%s", text);
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
	for (size_t i = 0; i < watch->count; i++) {
		const struct event *event = &watch->events[i];

		(event->is_note ? watch->on_note : watch->on_event)(watch->context, event->table, event->code, event->sentence);
	}
	tell_unheard(watch);
	watch_forget(dlq);
}
