/* Which sink a job's options ask for. */
#include "sink/sink.h"

#include "base/clock.h"

static const struct sink_ops *const sinks[] = {
	[WAREHOUSE_BIGQUERY] = &sink_bigquery,
	[WAREHOUSE_LOCAL] = &sink_local,
};

bool sink_has_many_files(const struct job_options *options)
{
	return options->warehouse == WAREHOUSE_LOCAL && !job_has_one_dataset(options);
}

const struct sink_ops *sink_choose(const struct job_options *options, struct error *err)
{
	size_t at = (size_t)options->warehouse;

	if (sink_has_many_files(options))
		return &sink_local_many;
	if (at < sizeof(sinks) / sizeof(sinks[0]) && sinks[at])
		return sinks[at];
	fail(err, ERROR_CONFIG, "not_available_yet", "job '%s': warehouse bigquery is not available yet; local is",
	     options->name);
	return NULL;
}

void sink_figures_answered(struct sink_figures *figures, uint64_t rows)
{
	atomic_fetch_add(&figures->answers, 1);
	atomic_fetch_add(&figures->rows, rows);
	atomic_store(&figures->answered_us, clock_utc_us());
}

void sink_figures_lost(struct sink_figures *figures)
{
	atomic_fetch_add(&figures->answers, 1);
}
