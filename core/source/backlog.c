/* Cloud Monitoring v3, projects.timeSeries.list: the two metrics of a subscription. */
#include "source/backlog.h"

#include "base/clock.h"
#include "base/text.h"
#include "google/google.h"
#include "google/wait.h"
#include "source/subscription.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <jansson.h>

#define WINDOW_US (INT64_C(10) * 60 * 1000000) /* a point may be four minutes old before it is seen */

static void add_escaped(struct text *out, const char *value)
{
	for (const char *at = value; *at; at++) {
		if ((*at >= '0' && *at <= '9') || ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z') || strchr("-_.~", *at))
			text_add_char(out, *at);
		else
			text_add_format(out, "%%%02X", (unsigned)(unsigned char)*at);
	}
}

static void add_path(struct text *out, const char *subscription, const char *metric)
{
	int64_t now_us = clock_utc_us();
	char begin[CLOCK_TEXT_BYTES], end[CLOCK_TEXT_BYTES], filter[PUBSUB_NAME_BYTES + 200];

	clock_text(now_us - WINDOW_US, begin);
	clock_text(now_us, end);
	snprintf(filter, sizeof(filter),
	         "metric.type=\"pubsub.googleapis.com/subscription/%s\" AND resource.labels.subscription_id=\"%s\"", metric,
	         pubsub_short_name(subscription));
	text_add_format(out, "/projects/%.*s/timeSeries?filter=", SPAN_ARG(pubsub_project(subscription)));
	add_escaped(out, filter);
	text_add(out, "&interval.startTime=");
	add_escaped(out, begin);
	text_add(out, "&interval.endTime=");
	add_escaped(out, end);
	text_add(out, "&view=FULL&pageSize=10");
}

/*
 * Answers
 */

static int64_t moment_us(const char *text)
{
	struct tm tm = { 0 };

	if (!text || !strptime(text, "%Y-%m-%dT%H:%M:%S", &tm))
		return 0;
	return (int64_t)timegm(&tm) * 1000000;
}

/* int64 is text in JSON; a mean is a double. */
static int64_t value_of(const json_t *value)
{
	const json_t *whole = json_object_get(value, "int64Value"), *mean = json_object_get(value, "doubleValue");

	if (json_is_string(whole))
		return strtoll(json_string_value(whole), NULL, 10);
	if (json_is_integer(whole))
		return json_integer_value(whole);
	return json_is_number(mean) ? (int64_t)json_number_value(mean) : -1;
}

bool backlog_read(struct span body, int64_t *out_value, int64_t *out_at_us)
{
	json_error_t ignored;
	json_t *root = json_loadb(body.at, body.len, JSON_REJECT_DUPLICATES, &ignored);
	const json_t *series, *point, *interval;
	bool is_read = json_is_object(root);

	*out_value = -1;
	*out_at_us = 0;
	/* Newest first. */
	series = json_array_get(json_object_get(root, "timeSeries"), 0);
	point = json_array_get(json_object_get(series, "points"), 0);
	if (point) {
		interval = json_object_get(point, "interval");
		*out_value = value_of(json_object_get(point, "value"));
		*out_at_us = moment_us(json_string_value(json_object_get(interval, "endTime")));
	}
	json_decref(root);
	return is_read;
}

static int64_t date_of(struct rest_call *call)
{
	const char *date = call ? rest_header(call, "date") : NULL;
	int64_t utc_s = 0;

	return date && wait_read_date(span_of(date), clock_utc_us(), &utc_s) ? utc_s : 0;
}

static bool ask(struct google *google, struct rest_client *rest, const char *subscription, const char *metric,
                int64_t wait_ms, int64_t *out_value, struct backlog *backlog, struct error *err)
{
	OWNED(text) path = text_new(4096);
	OWNED(text) what = text_new(1024);
	struct rest_request request = { .may_repeat = true, .try_ms = wait_ms, .deadline_ms = wait_ms, .try_count_max = 2,
		                            .answer_bytes = 1 << 20 };
	struct rest_call *call = NULL;
	struct rest_answer answer = { 0 };
	int64_t at_us;
	bool is_fine;

	add_path(path, subscription, metric);
	text_add_format(what, "asking Monitoring for %s of %s", metric, subscription);
	request.what = what->at;
	request.url = path->at;
	is_fine = google_rest(google, rest, SERVICE_MONITORING, &request, &call, &answer, err);
	backlog->server_utc_s = date_of(call);
	if (is_fine && !backlog_read(answer.body, out_value, &at_us))
		is_fine = fail(err, ERROR_TRANSIENT, "google_bad_answer", "%s: the answer cannot be read", what->at);
	else if (is_fine && at_us)
		backlog->at_us = at_us;
	rest_call_free(call);
	return is_fine;
}

bool backlog_ask(struct google *google, struct rest_client *rest, const char *subscription, int64_t wait_ms,
                 struct backlog *out, struct error *err)
{
	*out = (struct backlog){ .messages = -1, .oldest_s = -1 };
	return ask(google, rest, subscription, "num_undelivered_messages", wait_ms, &out->messages, out, err) &&
	       ask(google, rest, subscription, "oldest_unacked_message_age", wait_ms, &out->oldest_s, out, err);
}
