/* A filter that is asked of the engine; see asked.h. */
#include "view/asked.h"
#include "base/arena.h"

#include <inttypes.h>
#include <stdlib.h>

#define GROUPS_BYTES_MAX (512u << 10) /* of a call; a frame takes 1 MiB */

static const char *const group_fields[] = { "job", "group", "table", "code" };
static const char *const states[] = {
#define LETTER_STATE(id, word, urgency, is_open, needs_you, is_over) word,
#include "base/letter_states.def"
#undef LETTER_STATE
};

static bool has_job(const struct asked *asked)
{
	return strcmp(asked->job, "-") != 0;
}

static uint64_t bit_of(const struct asked *asked, const char *name)
{
	for (size_t i = 0; asked->fields[i]; i++) {
		if (strcmp(asked->fields[i], name) == 0)
			return UINT64_C(1) << i;
	}
	return 0;
}

static uint64_t group_bits(const struct asked *asked)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < sizeof(group_fields) / sizeof(*group_fields); i++)
		bits |= bit_of(asked, group_fields[i]);
	return bits;
}

static uint64_t asked_bits(const struct asked *asked)
{
	return group_bits(asked) | bit_of(asked, "state");
}

static const bool are_open[] = {
#define LETTER_STATE(id, word, urgency, is_open, needs_you, is_over) is_open,
#include "base/letter_states.def"
#undef LETTER_STATE
};

/* A group or a word of a state as a row of the list, of which only these fields are looked at. */
struct trial {
	const struct asked *asked;
	const json_t *group;
	const char *state;
	char number[24];
};

static const char *trial_text(const void *context, size_t field)
{
	struct trial *trial = (struct trial *)context;
	const char *name = trial->asked->fields[field];

	if (trial->state)
		return trial->state;
	if (strcmp(name, "group") != 0)
		return member_text(trial->group, name);
	snprintf(trial->number, sizeof(trial->number), "%" PRId64, member_int(trial->group, "group"));
	return trial->number;
}

static bool trial_number(const void *context, size_t field, double *out)
{
	const struct trial *trial = context;

	if (trial->state || strcmp(trial->asked->fields[field], "group") != 0)
		return false;
	*out = member_number(trial->group, "group");
	return true;
}

static bool holds(const struct asked *asked, const json_t *group, const char *state, uint64_t bits)
{
	struct trial trial = { .asked = asked, .group = group, .state = state };
	struct filter_row row = { asked->fields, trial_text, trial_number, &trial };

	return !asked->filter || filter_holds_in(asked->filter, &row, bits);
}

/* Letters beyond the limit of groups share one a code, which has no table: each of them says its own. */
static bool is_shared(const json_t *group)
{
	return json_is_null(json_object_get(group, "stage"));
}

static bool group_holds(const struct asked *asked, const json_t *group)
{
	uint64_t bits = group_bits(asked);

	if (asked->group && member_int(group, "group") != asked->group)
		return false;
	return holds(asked, group, NULL, is_shared(group) ? bits & ~bit_of(asked, "table") : bits);
}

/*
 * The filter
 */

void asked_clear(struct asked *asked)
{
	filter_free(asked->filter);
	free(asked->groups);
	asked->filter = NULL;
	asked->groups = NULL;
}

static void states_make(struct asked *asked)
{
	uint64_t bit = bit_of(asked, "state");
	OWNED(text) words = text_new(sizeof(asked->states));
	size_t count = 0;

	asked->states[0] = '\0';
	asked->is_none = false;
	if (!asked->filter || !(filter_fields(asked->filter) & bit))
		return;
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		if (!holds(asked, NULL, states[i], bit))
			continue;
		text_add_format(words, "%s%s", count ? "," : "", states[i]);
		count++;
	}
	asked->is_none = !count;
	if (count < sizeof(states) / sizeof(*states))
		snprintf(asked->states, sizeof(asked->states), "%s", words->at);
}

void asked_filter(struct asked *asked, const char *text)
{
	struct error ignored = { 0 };
	struct filter *filter = filter_read(text, asked->fields, &ignored);

	if (!filter && ignored.kind != ERROR_NONE)
		return;
	filter_free(asked->filter);
	asked->filter = filter;
	asked->is_part = filter && filter_fields(filter) & asked_bits(asked);
	asked->is_whole = !filter || !(filter_fields(filter) & ~asked_bits(asked));
	asked->is_made = false;
	states_make(asked);
}

bool asked_is_none(const struct asked *asked)
{
	return asked->is_none || (asked->groups && !*asked->groups);
}

bool asked_is_ready(const struct asked *asked)
{
	return asked->is_made || !asked->filter || !(filter_fields(asked->filter) & group_bits(asked));
}

static const struct answer *groups_ask(struct view *view, const struct asked *asked)
{
	json_t *args = json_object();
	char topics[256];

	asked_topics(asked, topics, sizeof(topics));
	if (has_job(asked))
		json_object_set_new(args, "job", json_string(asked->job));
	if (asked->states[0])
		json_object_set_new(args, "state", json_string(asked->states));
	return model_ask(console_model(view->console), LANE_LETTERS, "dlq.groups", args, topics);
}

/* Neighbours are written as from-to. */
struct numbers {
	struct text *text;
	const char *job;       /* "" where the list is of one job */
	int64_t first, last;   /* not written yet; 0: none */
};

static void numbers_end(struct numbers *numbers)
{
	if (!numbers->first)
		return;
	text_add_format(numbers->text, "%s%s%s%" PRId64, numbers->text->len ? "," : "", numbers->job, *numbers->job ? "/" : "",
	                numbers->first);
	if (numbers->last > numbers->first)
		text_add_format(numbers->text, "-%" PRId64, numbers->last);
	numbers->first = 0;
}

static void numbers_add(struct numbers *numbers, const char *job, int64_t group)
{
	if (!numbers->first || group != numbers->last + 1 || strcmp(numbers->job, job) != 0) {
		numbers_end(numbers);
		numbers->job = job;
		numbers->first = group;
	}
	numbers->last = group;
}

static void groups_make(struct asked *asked, const json_t *lines)
{
	OWNED(text) text = text_new(GROUPS_BYTES_MAX);
	struct numbers numbers = { .text = text, .job = "" };
	const json_t *group;
	bool is_all = !asked->group;
	size_t i;

	asked->total = asked->open = 0;
	if (asked->filter)
		filter_begin(asked->filter);
	json_array_foreach(lines, i, group) {
		if (!group_holds(asked, group)) {
			is_all = false;
			continue;
		}
		asked->total += member_int(group, "count");
		asked->open += member_int(group, "open");
		asked->is_whole &= !(is_shared(group) && asked->filter && filter_fields(asked->filter) & bit_of(asked, "table"));
		numbers_add(&numbers, has_job(asked) ? "" : member_text(group, "job"), member_int(group, "group"));
	}
	numbers_end(&numbers);
	free(asked->groups);
	asked->groups = is_all ? NULL : memory_string(text->at);
}

void asked_update(struct view *view, struct asked *asked)
{
	const struct answer *answer = groups_ask(view, asked);

	if (asked->is_made && asked->generation == answer->generation)
		return;
	asked->total = -1;
	if (!answer->is_known || answer->error.kind != ERROR_NONE)
		return;
	groups_make(asked, answer->lines);
	asked->generation = answer->generation;
	asked->is_made = true;
}

json_t *asked_args(const struct asked *asked)
{
	json_t *args = json_object();

	if (has_job(asked))
		json_object_set_new(args, "job", json_string(asked->job));
	if (asked->group)
		json_object_set_new(args, "group", json_integer(asked->group));
	else if (asked->groups)
		json_object_set_new(args, "group", json_string(asked->groups));
	if (asked->states[0])
		json_object_set_new(args, "state", json_string(asked->states));
	return args;
}

void asked_topics(const struct asked *asked, char *out, size_t room)
{
	snprintf(out, room, has_job(asked) ? "journal dlq:%s" : "journal", asked->job);
}

/*
 * Subjects
 */

/* Acts are on open letters alone: the other states need not be said, and none if all that are open are meant. */
static void open_states(const struct asked *asked, char *out, size_t room)
{
	OWNED(text) words = text_new(room);
	uint64_t bit = bit_of(asked, "state");
	size_t count = 0, open = 0;

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		open += are_open[i];
		if (!are_open[i] || !holds(asked, NULL, states[i], bit))
			continue;
		text_add_format(words, "%s%s", count ? "," : "", states[i]);
		count++;
	}
	snprintf(out, room, "%s", count == open ? "" : words->at);
}

static void subject_make(const struct asked *asked, const json_t *group, struct subject *out)
{
	snprintf(out->job, sizeof(out->job), "%s", member_text(group, "job"));
	snprintf(out->table, sizeof(out->table), "%s", member_text(group, "table"));
	snprintf(out->code, sizeof(out->code), "%s", member_text(group, "code"));
	snprintf(out->state, sizeof(out->state), "%s", member_text(group, "state"));
	open_states(asked, out->states, sizeof(out->states));
	out->group = member_int(group, "group");
	out->count = member_int(group, "open");
	out->first = member_int(group, "sample");
}

void asked_subjects(struct view *view, const struct asked *asked, struct subjects *out)
{
	const json_t *lines = groups_ask(view, asked)->lines, *group;
	size_t i;

	out->count = 0;
	out->letters = asked->total;
	if (asked->filter)
		filter_begin(asked->filter);
	out->subject = memory_zalloc((json_array_size(lines) + 1) * sizeof(*out->subject));
	json_array_foreach(lines, i, group) {
		if (group_holds(asked, group))
			subject_make(asked, group, &out->subject[out->count++]);
	}
}
