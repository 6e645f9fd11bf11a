/* Which source a job's options ask for. */
#include "source/source.h"

#include <stddef.h>

const struct source_ops *source_choose(const struct job_options *options, struct error *err)
{
	if (options->input_file)
		return &source_feed;
	if (options->input_subscriptions || options->input_topics) {
		fail(err, ERROR_CONFIG, "not_available_yet",
		     "job '%s': %s cannot be read yet; a recorded stream can (inputFile)", options->name,
		     options->input_subscriptions ? "a subscription" : "a topic");
		return NULL;
	}
	fail(err, ERROR_CONFIG, "bad_parameter", "job '%s' has no source; allowed: inputFile with a path or '-'",
	     options->name);
	return NULL;
}
