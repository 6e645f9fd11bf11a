/* Tables with trouble of their own: how each stands is shown, and when one may be tried again what was parked of it comes
 * back (unpark.c) before anything newer. */
#include "pipeline/pipeline_private.h"

static void tend_table(struct pipeline *p, uint32_t table, struct pipeline_troubles *troubles)
{
	struct sink_trouble trouble;
	bool has_trouble = p->sink->ops->trouble(p->sink, table, &trouble);

	progress_set_trouble(p->progress, table, has_trouble ? &trouble : NULL);
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
