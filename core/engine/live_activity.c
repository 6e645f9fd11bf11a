/* What each thread of a running job does and asks of others, as JSON, from memory alone. */
#include "engine/metrics_private.h"
#include "pipeline/pipeline.h"

#include <stdlib.h>
#include <string.h>

/* A wait is of the whole job: the writer holds the batch, the source waits behind it. */
static json_t *waiting_json(const struct progress_view *view)
{
	OWNED(text) doing = text_new(1024);

	text_add_format(doing, "%s for %s: %s", view->state == STATE_RETRYING ? "retrying" : "waiting", view->code,
	                view->sentence);
	return json_pack("{s:s, s:s, s:o, s:o}", "thread", "job", "doing", doing->at, "since", live_time(view->since_us),
	                 "until", live_time(view->until_us));
}

/* What each thread asks of others. */
static const char *const request_kinds[JOB_THREADS] = {
	[THREAD_READER] = "read",
	[THREAD_WRITER] = "append",
	[THREAD_MERGER] = "merge",
};

static json_t *target_json(const struct job *job, enum job_thread thread)
{
	const struct job_options *options = job->options;
	const char *feed = options->input_file ? options->input_file : "", *slash = strrchr(feed, '/');

	if (thread == THREAD_READER)
		return json_string(slash ? slash + 1 : feed);
	return json_sprintf("%s.*", thread == THREAD_WRITER && *options->change_log_dataset ? options->change_log_dataset :
	                                                                                    options->replica_dataset);
}

static json_t *thread_json(const struct job *job, enum job_thread thread, const struct activity_view *activity)
{
	char doing[80];

	activity_text(activity, doing, sizeof(doing));
	return json_pack("{s:s, s:s, s:o, s:i, s:s, s:o, s:o}", "thread", job_thread_name(thread), "kind", request_kinds[thread],
	                 "target", target_json(job, thread), "in_flight", activity_is_request(activity->what), "doing", doing,
	                 "since", live_time(activity->since_us), "answered", live_time(activity->answered_us));
}

json_t *live_activity(const struct job *job)
{
	json_t *list = json_array();
	struct progress_view view;

	if (!job->is_running)
		return list;
	progress_look(job->progress, &view);
	if (view.state == STATE_WAITING || view.state == STATE_RETRYING)
		json_array_append_new(list, waiting_json(&view));
	for (int i = 0; i < JOB_THREADS; i++) {
		struct activity_view activity;

		progress_activity(job->progress, (enum job_thread)i, &activity);
		if (activity.what != ACTIVITY_NONE)
			json_array_append_new(list, thread_json(job, (enum job_thread)i, &activity));
	}
	return list;
}

/* Threads that wait for somebody's answer: else nobody were told that a job has come to rest between two samples. */
int live_requests(const struct job *job)
{
	int count = 0;

	for (int i = 0; job->is_running && i < JOB_THREADS; i++) {
		struct activity_view activity;

		progress_activity(job->progress, (enum job_thread)i, &activity);
		count += activity_is_request(activity.what);
	}
	return count;
}
