/*
 * Which letters a call means: --group, --state, --table and --code together, and
 * the place in a list from which on, each as it was typed.
 */
#include "engine/letter_choice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define GROUPS_AT_ONCE 20000 /* more than a job has */

/* Letters and groups are numbered from 1: a 0 is a slip, and would mean all of them. */
static bool number_read(const char *name, struct span text, int64_t *out, struct error *err)
{
	char digits[24], *end;

	snprintf(digits, sizeof(digits), "%.*s", text.len < sizeof(digits) ? (int)text.len : 0, text.at);
	errno = 0;
	*out = strtoll(digits, &end, 10);
	if (errno || *end || !*digits || *out < 0)
		return fail(err, ERROR_USAGE, "bad_argument", "'%.*s' is given for '%s', numbers from 1 are allowed",
		            text.len < 80 ? (int)text.len : 80, text.at, name);
	return *out > 0 || fail(err, ERROR_USAGE, "bad_argument", "0 is given for '%s', numbers from 1 are allowed", name);
}

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* "JOB/" in front of a number means that job's only; without it, every job's. */
static bool is_of_job(struct span *item, const char *job)
{
	const char *slash = memchr(item->at, '/', item->len);
	struct span name = { item->at, slash ? (size_t)(slash - item->at) : 0 };

	if (!slash)
		return true;
	*item = span_make(slash + 1, item->len - name.len - 1);
	return !job || span_is(name, job);
}

/* "7", or "7-9" for what lies between as well. */
static bool range_read(struct span item, int64_t *out_first, int64_t *out_last, struct error *err)
{
	const char *dash = memchr(item.at, '-', item.len);
	struct span first = { item.at, dash ? (size_t)(dash - item.at) : item.len };

	if (!number_read("group", first, out_first, err))
		return false;
	*out_last = *out_first;
	if (!dash)
		return true;
	if (!number_read("group", span_make(dash + 1, item.len - first.len - 1), out_last, err))
		return false;
	return (*out_last >= *out_first && *out_last - *out_first < GROUPS_AT_ONCE) ||
	       fail(err, ERROR_USAGE, "bad_argument", "'%.*s' is given for 'group', at most %d numbers from the smaller to the larger are "
	            "allowed", item.len < 80 ? (int)item.len : 80, item.at, GROUPS_AT_ONCE);
}

static bool groups_add(struct chosen_letters *out, int64_t first, int64_t last, struct error *err)
{
	size_t count = out->choice.group_count, more = (size_t)(last - first + 1);

	if (count + more > GROUPS_AT_ONCE)
		return fail(err, ERROR_USAGE, "bad_argument", "at most %d groups are allowed at once", GROUPS_AT_ONCE);
	out->groups = memory_grow(out->groups, (count + more) * sizeof(*out->groups));
	for (size_t i = 0; i < more; i++)
		out->groups[count + i] = first + (int64_t)i;
	out->choice.group_count += more;
	return true;
}

/* "1,7-9" or "shop/1,orders/7"; `job` NULL: only whether it can be read. */
static bool groups_read(const char *text, const char *job, struct chosen_letters *out, struct error *err)
{
	out->groups = memory_alloc(sizeof(*out->groups)); /* also where none of them is this job's: NULL would be all */
	for (const char *at = text;; at++) {
		struct span item = span_make(at, strcspn(at, ","));
		const char *end = at + item.len;
		bool is_meant = is_of_job(&item, job);
		int64_t first, last;

		if (!range_read(item, &first, &last, err) || (is_meant && !groups_add(out, first, last, err)))
			return false;
		at = end;
		if (!*at)
			break;
	}
	qsort(out->groups, out->choice.group_count, sizeof(*out->groups), compare_numbers);
	out->choice.groups = out->groups;
	return true;
}

static bool group_argument(struct call *call, const char *job, struct chosen_letters *out, struct error *err)
{
	const json_t *value = json_object_get(call->args, "group");
	char number[24];

	if (!value)
		return true;
	if (!json_is_integer(value))
		return groups_read(call_text_or(call, "group", ""), job, out, err);
	snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	return groups_read(number, job, out, err);
}

bool chosen_read(struct call *call, const char *job, struct chosen_letters *out, struct error *err)
{
	const char *states = call_text_or(call, "state", NULL);
	struct chosen_letters chosen = { .choice = { .table = call_text_or(call, "table", NULL),
		                                     .code = call_text_or(call, "code", NULL) } };

	if (group_argument(call, job, &chosen, err) && (!states || dlq_states_read(states, &chosen.choice.states, err))) {
		*out = chosen;
		return true;
	}
	chosen_clear(&chosen);
	return false;
}

void chosen_clear(struct chosen_letters *chosen)
{
	free(chosen->groups);
	*chosen = (struct chosen_letters){ 0 };
}

bool chosen_check(struct call *call, struct error *err)
{
	struct chosen_letters ignored = { 0 };
	int64_t id;

	if (!chosen_read(call, NULL, &ignored, err))
		return false;
	chosen_clear(&ignored);
	if (!json_object_get(call->args, "id"))
		return true;
	id = call_number(call, "id", 0);
	return id > 0 || fail(err, ERROR_USAGE, "bad_argument", "0 is given for 'id', numbers from 1 are allowed");
}

/*
 * Places
 */

/* "ID", or "JOB/ID" where a list goes over all jobs. */
static bool place_text(struct call *call, const char *name, const char *text, struct letter_place *out, struct error *err)
{
	const char *job = call_text_or(call, "job", NULL), *slash = strchr(text, '/');
	const char *digits = slash ? slash + 1 : text;
	char *end;

	errno = 0;
	out->id = strtoll(digits, &end, 10);
	if (errno || *end || !*digits || out->id < 0)
		return fail(err, ERROR_USAGE, "bad_argument", "'%.80s' is given for '--%s', the number of a letter is allowed, or "
		            "JOB/NUMBER", text, name);
	snprintf(out->job, sizeof(out->job), "%.*s", slash && slash - text < (int)sizeof(out->job) ? (int)(slash - text) : 0, text);
	if (out->job[0] && job && strcmp(job, out->job) != 0)
		return fail(err, ERROR_USAGE, "bad_argument", "'%.80s' is given for '--%s', and --job says '%.64s'", text, name, job);
	if (!slash && !job)
		return fail(err, ERROR_USAGE, "job_not_named", "letters are numbered by job, and --%s does not say of which", name);
	if (!slash)
		snprintf(out->job, sizeof(out->job), "%s", job);
	return true;
}

static bool place_argument(struct call *call, const char *name, struct letter_place *out, struct error *err)
{
	const json_t *value = json_object_get(call->args, name);
	char number[24];

	if (!json_is_integer(value))
		return place_text(call, name, call_text_or(call, name, ""), out, err);
	snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	return place_text(call, name, number, out, err);
}

bool place_read(struct call *call, struct letter_place *out, struct error *err)
{
	bool has_after = json_object_get(call->args, "after"), has_before = json_object_get(call->args, "before");
	bool is_newest = call_flag(call, "newest");

	*out = (struct letter_place){ .is_back = has_before || is_newest, .is_end = is_newest };
	if (has_after + has_before + is_newest > 1)
		return fail(err, ERROR_USAGE, "bad_argument", is_newest ? "--newest is given with a place, one of them is allowed" :
		            "--after and --before are given, one of them is allowed");
	if (has_after)
		return place_argument(call, "after", out, err);
	if (!has_before)
		return true;
	return place_argument(call, "before", out, err) &&
	       (out->id > 0 || fail(err, ERROR_USAGE, "bad_argument", "--before is less than 1"));
}

bool place_bounds(const struct letter_place *place, const char *job, int64_t *out_after, int64_t *out_before)
{
	int order = place->job[0] ? strcmp(job, place->job) : 0;

	*out_after = *out_before = 0;
	if (!place->job[0] || order) {
		*out_before = place->is_back ? INT64_MAX : 0;
		return place->is_back ? order <= 0 : order >= 0;
	}
	*out_after = place->is_back ? 0 : place->id;
	*out_before = place->is_back ? place->id : 0;
	return true;
}
