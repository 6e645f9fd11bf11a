/* The table of metrics, what they are now, and rates. */
#include "engine/metrics_private.h"

#include "base/clock.h"

#define RATE_SECONDS 5

const struct metric metric_table[METRICS] = {
#define METRIC(id_, name_, unit_, kind_, scope_, kept_, help_)                                                        \
	[METRIC_##id_] = { .id = #id_, .name = name_, .unit = unit_, .kind = kind_, .scope = SCOPE_##scope_,          \
		           .kept = kept_, .help = help_ },
#include "engine/metrics.def"
#undef METRIC
};

static const char *const kind_names[METRIC_KINDS] = {
	[COUNTER] = "counter",
	[GAUGE] = "gauge",
	[HISTOGRAM] = "histogram",
};

static const struct {
	enum metric_id metric;
	enum latency latency;
} latencies[] = {
	{ METRIC_publish, LATENCY_PUBLISH }, { METRIC_receive, LATENCY_RECEIVE }, { METRIC_changelog, LATENCY_CHANGELOG },
	{ METRIC_replica, LATENCY_REPLICA }, { METRIC_end_to_end, LATENCY_LAG },  { METRIC_batch, LATENCY_BATCH },
};

const char *metric_kind_name(enum metric_kind kind)
{
	return kind_names[kind];
}

enum latency metric_latency(enum metric_id id)
{
	size_t i = 0;

	while (i < LATENCIES - 1 && latencies[i].metric != id)
		i++;
	return latencies[i].latency;
}

/*
 * Now
 */

void metrics_of_ledger(const struct ledger *ledger, struct metric_values *out)
{
	out->of[METRIC_received] = (double)ledger->received;
	out->of[METRIC_written] = (double)ledger->written;
	out->of[METRIC_filtered] = (double)ledger->filtered;
	out->of[METRIC_dead_lettered] = (double)ledger->dead_lettered;
	out->of[METRIC_parked] = (double)ledger->parked;
	out->of[METRIC_repeated] = (double)ledger->repeated;
	out->of[METRIC_rows] = (double)ledger->rows;
}

static double seconds(int64_t us)
{
	return us > 0 ? (double)us / 1e6 : 0;
}

void metrics_of_table(const struct table_progress *table, int64_t now_us, struct metric_values *out)
{
	*out = (struct metric_values){ 0 };
	metrics_of_ledger(&table->total, out);
	out->of[METRIC_bytes] = (double)table->bytes;
	out->of[METRIC_lag] = seconds(table->lag_us);
	out->of[METRIC_replica_waiting] = (double)table->waiting_changes;
	out->of[METRIC_replica_age] = table->waiting_since_us ? seconds(now_us - table->waiting_since_us) : 0;
	out->of[METRIC_committed_age] = table->committed_us ? seconds(now_us - table->committed_us) : 0;
}

static void add_waiting(struct progress *progress, int64_t now_us, struct metric_values *out)
{
	size_t count = progress_table_count(progress);

	for (size_t i = 0; i < count; i++) {
		struct table_progress table;
		double age;

		progress_table(progress, i, &table);
		age = table.waiting_since_us ? seconds(now_us - table.waiting_since_us) : 0;
		out->of[METRIC_replica_waiting] += (double)table.waiting_changes;
		if (age > out->of[METRIC_replica_age])
			out->of[METRIC_replica_age] = age;
	}
}

static void add_sink(struct progress *progress, struct metric_values *out)
{
	struct sink_figures *figures = progress_figures(progress);
	uint64_t requests = atomic_load(&figures->requests), answers = atomic_load(&figures->answers);

	out->of[METRIC_sink_requests] = (double)requests;
	out->of[METRIC_sink_in_flight] = requests > answers ? (double)(requests - answers) : 0;
	out->of[METRIC_sink_bytes] = (double)atomic_load(&figures->bytes);
}

void metrics_of_job(struct progress *progress, int64_t now_us, struct metric_values *out)
{
	struct progress_view view;

	progress_look(progress, &view);
	*out = (struct metric_values){ 0 };
	metrics_of_ledger(&view.total, out);
	out->of[METRIC_bytes] = (double)view.bytes;
	out->of[METRIC_written_bytes] = (double)view.written_bytes;
	out->of[METRIC_in_flight] = (double)view.in_flight;
	out->of[METRIC_batches] = (double)view.batches;
	out->of[METRIC_merges] = (double)view.merges;
	out->of[METRIC_retries] = (double)view.retries;
	out->of[METRIC_lag] = seconds(view.lag_us);
	out->of[METRIC_committed_age] = view.committed_us ? seconds(now_us - view.committed_us) : 0;
	add_waiting(progress, now_us, out);
	metrics_add_source(progress, now_us, out);
	add_sink(progress, out);
}

static size_t field_of(enum metric_id id, enum metric_kept least)
{
	size_t field = 0;

	for (int i = 0; i < (int)id; i++)
		field += metric_table[i].kept >= least;
	return field;
}

double metrics_sum(const struct job_metrics *metrics, enum metric_id id, int64_t seconds)
{
	double sum = 0;

	if (!metrics)
		return 0;
	for (int64_t i = 0; i < seconds && metrics->second - i >= metrics->begun_second; i++)
		sum += ring_get(&metrics->seconds, metrics->second - i, field_of(id, OF_JOB));
	return sum;
}

double metrics_rate(const struct job_metrics *metrics, enum metric_id id)
{
	int64_t count;

	if (!metrics)
		return 0;
	count = metrics->second - metrics->begun_second + 1;
	count = count < RATE_SECONDS ? count : RATE_SECONDS;
	return metrics_sum(metrics, id, count) / (double)count;
}
