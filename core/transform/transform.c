/* Which transform a job has. */
#include "transform/transform.h"

static const struct {
	enum job_template template;
	enum message_format format;
	const struct transform_ops *ops;
} transforms[] = {
	{ TEMPLATE_CDC, FORMAT_AUTO, &transform_debezium },
	{ TEMPLATE_CDC, FORMAT_DEBEZIUM_JSON, &transform_debezium },
	{ TEMPLATE_PUBSUB_CDC, FORMAT_AUTO, &transform_mapped },
	{ TEMPLATE_PUBSUB_CDC, FORMAT_JSON, &transform_mapped },
};

const struct transform_ops *transform_choose(const struct job_options *options, struct error *err)
{
	for (size_t i = 0; i < sizeof(transforms) / sizeof(transforms[0]); i++) {
		if (transforms[i].template == options->template && transforms[i].format == options->message_format)
			return transforms[i].ops;
	}
	fail(err, ERROR_CONFIG, "not_available_yet",
	     "this version reads Debezium JSON in jobs of template Cdc_To_BigQuery_Template (messageFormat auto or "
	     "debezium-json), and JSON rows in jobs of template PubSub_CDC_to_BigQuery (auto or json)");
	return NULL;
}
