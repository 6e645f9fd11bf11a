/* The table of topics, from topics.def. */
#include "base/log.h"
#include "control/control.h"

const struct topic topic_table[TOPICS] = {
#define TOPIC(id, name_, argument_, members_, help_) \
	[TOPIC_##id] = { .name = name_, .argument = argument_, .members = members_, .help = help_ },
#include "control/topics.def"
#undef TOPIC
};

/* The argument itself: a job's name or a level, whatever it is, fits into a fixed room. */
static bool take_argument(const struct topic *topic, const char *text, const char **out, struct error *err)
{
	enum log_level level;

	if (!*topic->argument && *text)
		return fail(err, ERROR_USAGE, "unknown_topic", "topic '%s' takes no argument", topic->name);
	*out = *text ? text + 1 : text;
	if (*topic->argument && (!**out || strlen(*out) >= TOPIC_ARGUMENT_BYTES))
		return fail(err, ERROR_USAGE, "unknown_topic", "topic '%s' is written %s:%s", topic->name, topic->name,
		            topic->argument);
	if (topic == &topic_table[TOPIC_logs] && !log_level_find(*out, &level))
		return fail(err, ERROR_USAGE, "unknown_topic", "'%s' is no level; there are error, warn, info and debug", *out);
	return true;
}

bool topic_find(const char *text, enum topic_id *out_topic, const char **out_argument, struct error *err)
{
	size_t len = strcspn(text, ":");

	for (int i = 0; i < TOPICS; i++) {
		if (strlen(topic_table[i].name) != len || strncmp(topic_table[i].name, text, len) != 0)
			continue;
		if (!take_argument(&topic_table[i], text + len, out_argument, err))
			return false;
		*out_topic = (enum topic_id)i;
		return true;
	}
	return fail(err, ERROR_USAGE, "unknown_topic", "there is no topic '%.80s'", text);
}
