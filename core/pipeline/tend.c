/* Tables with trouble of their own: how each stands is shown, begin and end are told, and when one may be tried again what
 * was parked of it comes back (unpark.c) before anything newer. */
#include "base/clock.h"
#include "pipeline/pipeline_private.h"

#include <stdlib.h>

#define TELL_AGAIN_MS 60000 /* the same trouble of a table that comes back sooner is no news */

/* What was told last of a table. */
struct table_told {
	bool has_trouble;          /* it began, and its end is to be told */
	bool needs_you;
	char code[64];             /* of its error */
	int64_t since_us, told_ms; /* clock_utc_us, clock_mono_ms */
};

static struct table_told *told_of(struct pipeline *p, uint32_t table)
{
	if (table >= p->told_count) {
		size_t had = p->told_count;

		p->told_count = p->table_count;
		p->told = memory_grow(p->told, p->told_count * sizeof(*p->told));
		memset(p->told + had, 0, (p->told_count - had) * sizeof(*p->told));
	}
	return &p->told[table];
}

static void tell_trouble(struct pipeline *p, uint32_t table, struct table_told *told, const struct sink_trouble *trouble)
{
	int64_t now_ms = clock_mono_ms();
	bool is_same = told->needs_you == trouble->needs_you && strcmp(told->code, trouble->error->code) == 0;
	char words[1200];

	if (is_same && (told->has_trouble || (told->told_ms && now_ms - told->told_ms < TELL_AGAIN_MS)))
		return;
	if (!told->has_trouble)
		told->since_us = trouble->since_us;
	told->has_trouble = true;
	told->needs_you = trouble->needs_you;
	told->told_ms = now_ms;
	snprintf(told->code, sizeof(told->code), "%s", trouble->error->code);
	snprintf(words, sizeof(words), "%s: %s: %s; its rows are parked", trouble->needs_you ? "needs you" : "waits",
	         trouble->error->code, trouble->error->message);
	p->on_event(p->context, pipeline_table_name(p, table), trouble->needs_you ? "table_needs_you" : "table_waiting", words);
}

static void tell_end(struct pipeline *p, uint32_t table, struct table_told *told)
{
	int64_t tenths = (clock_utc_us() - told->since_us) / 100000;
	char words[80];

	told->has_trouble = false;
	snprintf(words, sizeof(words), "goes on after %lld.%lld s", (long long)(tenths / 10), (long long)(tenths % 10));
	p->on_event(p->context, pipeline_table_name(p, table), "table_goes_on", words);
}

/* Begin, another cause, end; not each try. */
static void tell(struct pipeline *p, uint32_t table, const struct sink_trouble *trouble)
{
	struct table_told *told;

	if (!p->on_event || (!trouble && (table >= p->told_count || !p->told[table].has_trouble)))
		return;
	told = told_of(p, table);
	if (trouble)
		tell_trouble(p, table, told, trouble);
	else
		tell_end(p, table, told);
}

static void tend_table(struct pipeline *p, uint32_t table, struct pipeline_troubles *troubles)
{
	struct sink_trouble trouble;
	bool has_trouble = p->sink->ops->trouble(p->sink, table, &trouble);

	progress_set_trouble(p->progress, table, has_trouble ? &trouble : NULL);
	tell(p, table, has_trouble ? &trouble : NULL);
	if (!has_trouble)
		return;
	p->troubled_count++;
	troubles->passing += !trouble.needs_you;
}

void pipeline_tend(struct pipeline *p, struct pipeline_troubles *out)
{
	size_t before = p->troubled_count;

	*out = (struct pipeline_troubles){ .again_ms = -1 };
	if (!p->sink->ops->tend)
		return;
	out->again_ms = p->sink->ops->tend(p->sink, &out->may_come_back);
	p->troubled_count = 0;
	for (size_t i = 0; (before || out->again_ms >= 0) && i < p->table_count; i++)
		tend_table(p, (uint32_t)i, out);
}

void pipeline_free_tables(struct pipeline *p)
{
	p->sink->ops->free_tables(p->sink);
}
