/* Metrics in Prometheus' text form (version 0.0.4), from the objects that the engine answers. */
#include "control/control.h"

#include <math.h>

static const char *word(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* In HELP a backslash and a newline are escaped, in a label's value a quote too. */
static void add_escaped(struct text *out, const char *text, bool is_label)
{
	for (; *text; text++) {
		if (*text == '\n')
			text_add(out, "\\n");
		else if (*text == '\\' || (is_label && *text == '"'))
			text_add_format(out, "\\%c", *text);
		else
			text_add_char(out, *text);
	}
}

static void add_labels(struct text *out, const json_t *labels, const char *more, const char *more_value)
{
	char before = '{';
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)labels, name, value) {
		text_add_format(out, "%c%s=\"", before, name);
		add_escaped(out, json_string_value(value), true);
		text_add_char(out, '"');
		before = ',';
	}
	if (more)
		text_add_format(out, "%c%s=\"%s\"", before, more, more_value);
	if (more || before == ',')
		text_add_char(out, '}');
}

static void add_number(struct text *out, const json_t *value)
{
	if (json_is_integer(value))
		text_add_format(out, " %lld\n", (long long)json_integer_value(value));
	else
		text_add_format(out, " %.9g\n", json_real_value(value));
}

static void add_bucket(struct text *out, const char *name, const json_t *labels, const char *end, json_int_t count)
{
	text_add_format(out, "%s_bucket", name);
	add_labels(out, labels, "le", end);
	text_add_format(out, " %lld\n", (long long)count);
}

static void add_histogram(struct text *out, const char *name, const json_t *sample)
{
	const json_t *labels = json_object_get(sample, "labels");
	size_t i;
	json_t *bucket;
	char end[32];

	json_array_foreach(json_object_get(sample, "buckets"), i, bucket) {
		snprintf(end, sizeof(end), "%.9g", json_real_value(json_array_get(bucket, 0)));
		add_bucket(out, name, labels, end, json_integer_value(json_array_get(bucket, 1)));
	}
	add_bucket(out, name, labels, "+Inf", json_integer_value(json_object_get(sample, "count")));
	text_add_format(out, "%s_sum", name);
	add_labels(out, labels, NULL, NULL);
	add_number(out, json_object_get(sample, "sum"));
	text_add_format(out, "%s_count", name);
	add_labels(out, labels, NULL, NULL);
	add_number(out, json_object_get(sample, "count"));
}

bool exposition_text(const json_t *metric, const char *previous, struct text *out)
{
	const char *name = word(metric, "metric"), *kind = word(metric, "kind");
	size_t i;
	json_t *sample;

	if (strcmp(name, previous) != 0) {
		text_add_format(out, "# HELP %s ", name);
		add_escaped(out, word(metric, "help"), false);
		text_add_format(out, "\n# TYPE %s %s\n", name, kind);
	}
	json_array_foreach(json_object_get(metric, "samples"), i, sample) {
		if (strcmp(kind, "histogram") == 0) {
			add_histogram(out, name, sample);
			continue;
		}
		text_add(out, name);
		add_labels(out, json_object_get(sample, "labels"), NULL, NULL);
		add_number(out, json_object_get(sample, "value"));
	}
	return !out->is_full;
}
