/* `weir dlq groups | list | show`; `dlq export` is made of these by weir. */
#include "base/hash.h"
#include "engine/commands_private.h"
#include "engine/result_private.h"
#include "pipeline/pipeline.h"

#include <stdlib.h>

struct letters {
	struct call *call;
	const struct home *home;
	const struct job_options *options;
	struct sink_setup setup;
	bool (*look)(struct dlq *, const struct dlq_filter *, dlq_line, void *, struct error *);
	dlq_line on_line;
	int64_t id, after, before;
	int64_t limit, sent;   /* objects; limit 0: all */
	int64_t last;          /* id of the one that was sent last */
	bool was_found, goes_on;
};

/* Letters and groups are numbered from 1: a 0 is a slip, and would mean all of them. */
static bool numbers_are_from_1(struct call *call, struct error *err)
{
	static const char *const names[] = { "group", "id" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (json_object_get(call->args, names[i]) && call_number(call, names[i], 0) <= 0)
			return fail(err, ERROR_USAGE, "bad_argument", "0 is given for '%s', numbers from 1 are allowed", names[i]);
	}
	return true;
}

static bool send_letter(void *context, const char *json)
{
	struct letters *letters = context;
	json_t *line = json_loads(json, JSON_ALLOW_NUL, NULL);

	letters->was_found = true;
	letters->sent++;
	letters->last = json_integer_value(json_object_get(line, "id"));
	letters->goes_on = call_line(letters->call, line) && letters->sent != letters->limit;
	return letters->goes_on;
}

static bool is_newer(void *context, const char *table, struct span key, const unsigned char *position)
{
	struct letters *letters = context;
	struct error ignored = { 0 };
	const char *dot = strchr(table, '.');
	bool newer = false;

	return dot && warehouse_has_newer(&letters->setup, dot + 1, key, position, &newer, &ignored) && newer;
}

static bool look_in_job(struct call *call, const struct job_options *options, void *context, struct error *err)
{
	struct letters *letters = context;
	struct dlq_filter filter = {
		.job = options->name,
		.group = call_number(call, "group", 0),
		.state = call_text_or(call, "state", NULL),
		.id = letters->id,
		.after = letters->after,
		.before = letters->before,
		.is_newer = is_newer,
		.context = letters,
	};
	struct job_files files;
	bool is_fine = true;

	if (!letters->goes_on)
		return true;
	letters->options = options;
	letters->setup = (struct sink_setup){ .options = options, .warehouse = call->engine->home->warehouse };
	if (!files_open(&files, call->engine->home, options, err))
		return because(err, "job '%s'", options->name);
	if (files.dlq)
		is_fine = letters->look(files.dlq, &filter, letters->on_line, letters, err);
	files_close(&files);
	return is_fine;
}

static bool look_everywhere(struct call *call, struct letters *letters, struct error *err)
{
	letters->call = call;
	letters->home = call->engine->home;
	letters->goes_on = true;
	return job_each(call, call_text_or(call, "job", NULL), look_in_job, letters, err);
}

static bool count_group(void *context, const char *json)
{
	struct letters *groups = context;

	(void)json;
	groups->sent++;
	return true;
}

static bool count_letters(void *context, const char *json)
{
	struct letters *groups = context;
	json_t *group = json_loads(json, JSON_ALLOW_NUL, NULL);

	groups->sent += json_integer_value(json_object_get(group, "count"));
	json_decref(group);
	return true;
}

/* A page was asked for and is full: how many there are beside it, by the groups' own counts. */
static bool say_more(struct call *call, const struct letters *page, const char *what, dlq_line count, struct error *err)
{
	struct letters all = { .look = dlq_groups, .on_line = count };

	if (!page->limit || page->sent < page->limit)
		return true;
	if (!look_everywhere(call, &all, err))
		return false;
	if (all.sent > page->sent)
		call_note(call, "%lld more %s; --limit 0 shows all", (long long)(all.sent - page->sent), what);
	return true;
}

bool run_dlq_groups(struct call *call, struct error *err)
{
	struct letters page = { .look = dlq_groups, .on_line = send_letter, .limit = call_number(call, "limit", 0) };

	return numbers_are_from_1(call, err) && look_everywhere(call, &page, err) &&
	       say_more(call, &page, "groups", count_group, err);
}

/* A place in a list is one of a job's: each numbers its letters by itself. */
static bool place_is_clear(struct call *call, struct error *err)
{
	bool has_after = json_object_get(call->args, "after"), has_before = json_object_get(call->args, "before");

	if (!has_after && !has_before)
		return true;
	if (has_after && has_before)
		return fail(err, ERROR_USAGE, "bad_argument", "--after and --before are given, one of them is allowed");
	if (has_after && call_number(call, "after", 0) < 0)
		return fail(err, ERROR_USAGE, "bad_argument", "--after is less than 0");
	if (has_before && call_number(call, "before", 0) <= 0)
		return fail(err, ERROR_USAGE, "bad_argument", "--before is less than 1");
	return json_object_get(call->args, "job") ||
	       fail(err, ERROR_USAGE, "job_not_named", "letters are numbered by job, and --%s does not say of which",
	            has_after ? "after" : "before");
}

/* Who goes through the letters page by page has no use for the count of all of them, each time. */
bool run_dlq_list(struct call *call, struct error *err)
{
	struct letters page = { .look = dlq_list, .on_line = send_letter, .limit = call_number(call, "limit", 0),
		                .after = call_number(call, "after", 0), .before = call_number(call, "before", 0) };
	bool has_place = page.before || json_object_get(call->args, "after");

	if (!numbers_are_from_1(call, err) || !place_is_clear(call, err) || !look_everywhere(call, &page, err))
		return false;
	if (has_place && page.limit && page.sent == page.limit)
		call_note(call, "this page is full; --%s %lld goes on", page.before ? "before" : "after", (long long)page.last);
	return has_place || say_more(call, &page, "letters", count_letters, err);
}

/*
 * show
 */

static bool send_encoded(struct letters *letters, const char *member, struct span piece)
{
	char *text = memory_alloc(base64_room(piece.len) + 1);
	json_t *line = json_pack("{s:s%}", member, text, (int)base64_encode(piece, text));

	free(text);
	letters->was_found = true;
	letters->goes_on = call_line(letters->call, line);
	return letters->goes_on;
}

static bool send_piece(void *context, struct span piece)
{
	return send_encoded(context, "b64", piece);
}

static bool send_head(void *context, struct span piece)
{
	return send_encoded(context, "head_b64", piece);
}

/* Several jobs may have a letter of that number: the first that has it, unless --job says which. */
static bool show_bytes(struct dlq *dlq, const struct dlq_filter *filter, dlq_line on_line, void *context,
                       struct error *err)
{
	struct letters *letters = context;
	struct error unknown = { 0 };
	struct job_paths paths;
	bool is_fine;

	(void)on_line;
	job_paths_make(&paths, letters->home, letters->options->name);
	is_fine = (!call_flag(letters->call, "envelope") || dlq_envelope(dlq, filter->id, send_head, letters, &unknown)) &&
	          dlq_bytes(dlq, filter->id, paths.big, send_piece, letters, &unknown);
	job_paths_clear(&paths);
	letters->was_found = letters->was_found || is_fine;
	if (is_fine || strcmp(unknown.code, "letter_unknown") == 0)
		return true;
	*err = unknown;
	return false;
}

static bool show_letter(struct dlq *dlq, const struct dlq_filter *filter, dlq_line on_line, void *context,
                        struct error *err)
{
	struct error unknown = { 0 };

	if (dlq_show(dlq, filter, on_line, context, &unknown) || strcmp(unknown.code, "letter_unknown") == 0)
		return true;
	*err = unknown;
	return false;
}

static bool has_letter(void *context, const char *json)
{
	(void)json;
	*(bool *)context = true;
	return false;
}

/* The job that has the letter or group, when none was named: both are numbered by job. */
static bool count_owner(struct call *call, const struct job_options *options, void *context, struct error *err)
{
	json_t *owners = context;
	struct dlq_filter filter = { .job = options->name, .id = call_number(call, "id", 0),
		                     .group = call_number(call, "group", 0) };
	struct job_files files;
	bool found = false, is_fine = true;

	if (!files_open(&files, call->engine->home, options, err))
		return false;
	if (files.dlq)
		is_fine = dlq_list(files.dlq, &filter, has_letter, &found, err);
	if (found)
		json_array_append_new(owners, json_string(options->name));
	files_close(&files);
	return is_fine;
}

/* "orders, shop, stock", as many as have room. */
static void add_names(struct text *out, const json_t *names)
{
	size_t i;
	json_t *name;

	json_array_foreach(names, i, name)
		text_add_format(out, "%s%s", i ? ", " : "", json_string_value(name));
}

bool job_is_one(const json_t *owners, const char *what, struct error *err)
{
	OWNED(text) names = text_new(300);

	if (json_array_size(owners) < 2)
		return true;
	add_names(names, owners);
	return fail(err, ERROR_USAGE, "job_not_named", "%zu jobs have %s: %s", json_array_size(owners), what, names->at);
}

bool letters_choose_job(struct call *call, struct error *err)
{
	bool is_group = call_number(call, "group", 0) != 0;
	char what[48];
	json_t *owners;
	bool is_fine;

	if (!numbers_are_from_1(call, err))
		return false;
	if (json_object_get(call->args, "job"))
		return true;
	snprintf(what, sizeof(what), "a %s %lld", is_group ? "group" : "letter",
	         (long long)call_number(call, is_group ? "group" : "id", 0));
	owners = json_array();
	is_fine = job_each(call, NULL, count_owner, owners, err);
	is_fine = is_fine && job_is_one(owners, what, err);
	if (is_fine && json_array_size(owners) == 1)
		json_object_set(call->args, "job", json_array_get(owners, 0));
	json_decref(owners);
	return is_fine;
}

bool run_dlq_show(struct call *call, struct error *err)
{
	struct letters letters = { .look = show_letter, .on_line = send_letter, .id = call_number(call, "id", 0) };

	if (letters.id <= 0)
		return fail(err, ERROR_USAGE, "bad_argument", "'dlq show' needs the id of a letter, a number from 1");
	if (call_flag(call, "bytes") || call_flag(call, "envelope"))
		letters.look = show_bytes;
	if (!letters_choose_job(call, err) || !look_everywhere(call, &letters, err))
		return false;
	if (!letters.was_found)
		return fail(err, ERROR_USAGE, "letter_unknown", "there is no letter %lld", (long long)letters.id);
	return true;
}
