/* Which source a job's options ask for, and which subscriptions. */
#include "google/google.h"
#include "source/pubsub_private.h"

const struct source_ops *source_choose(const struct job_options *options, struct error *err)
{
	if (options->input_file)
		return &source_feed;
	if (options->input_subscriptions || options->input_subscription)
		return &source_pubsub;
	if (options->input_topics) {
		fail(err, ERROR_CONFIG, "not_available_yet",
		     "job '%s': a topic cannot be read yet; a subscription can (inputSubscriptions)", options->name);
		return NULL;
	}
	fail(err, ERROR_CONFIG, "bad_parameter", "job '%s' has no source; allowed: inputSubscriptions, or inputFile with a path or '-'",
	     options->name);
	return NULL;
}

bool pubsub_job_names(const struct job_options *options, struct google *google, struct pubsub_names *out,
                      struct error *err)
{
	const char *list = options->input_subscriptions ? options->input_subscriptions : options->input_subscription;

	return pubsub_names_read(PUBSUB_SUBSCRIPTION, list, google_project(google), out, err);
}
