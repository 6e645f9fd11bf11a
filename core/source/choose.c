/* Which source a job's options ask for. */
#include "source/source.h"

const struct source_ops *source_choose(const struct job_options *options, struct error *err)
{
	if (options->input_file)
		return &source_feed;
	if (options->input_subscriptions || options->input_subscription || options->input_topics)
		return &source_pubsub;
	fail(err, ERROR_CONFIG, "bad_parameter", "job '%s' has no source; allowed: inputSubscriptions, inputTopics, or inputFile with a path or '-'",
	     options->name);
	return NULL;
}
