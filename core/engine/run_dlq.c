/* `weir dlq groups | list | show`; `dlq export` is made of these by weir. */
#include "base/hash.h"
#include "base/regex.h"
#include "engine/commands_private.h"
#include "engine/letter_choice.h"
#include "engine/letter_replica.h"
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
	int64_t id;
	struct letter_place place;
	int64_t limit, sent;   /* objects; limit 0: all */
	struct letter_place last; /* of the one that was sent last */
	bool was_found, goes_on;
	struct regex *match;   /* NULL: no payload is searched */
	int64_t searched;
};

static bool send_letter(void *context, const char *json)
{
	struct letters *letters = context;
	json_t *line = json_loads(json, JSON_ALLOW_NUL, NULL);

	letters->was_found = true;
	letters->sent++;
	letters->last.id = json_integer_value(json_object_get(line, "id"));
	snprintf(letters->last.job, sizeof(letters->last.job), "%s", letters->options->name);
	letters->goes_on = call_line(letters->call, line) && letters->sent != letters->limit;
	return letters->goes_on;
}

/* There may be nothing to send for long. */
static bool search_goes_on(void *context)
{
	struct letters *letters = context;

	letters->searched++;
	letters->goes_on = letters->goes_on && call_goes_on(letters->call);
	return letters->goes_on;
}

static bool look_at(struct letters *letters, struct dlq *dlq, struct error *err)
{
	const char *name = letters->options->name;
	struct dlq_filter filter = { .job = name, .id = letters->id,
		                     .with_values = call_flag(letters->call, "values"), .ask_newer = letters_ask_newer, .add_row = letter_add_row, .context = &letters->setup };
	struct chosen_letters chosen;
	bool is_fine;

	if (!place_bounds(&letters->place, name, &filter.after, &filter.before))
		return true;
	if (!chosen_read(letters->call, name, &chosen, err))
		return false;
	filter.choice = chosen.choice;
	filter.match = letters->match;
	filter.goes_on = search_goes_on;
	is_fine = letters->look(dlq, &filter, letters->on_line, letters, err);
	chosen_clear(&chosen);
	return is_fine;
}

static bool look_in_job(struct call *call, const struct job_options *options, void *context, struct error *err)
{
	struct letters *letters = context;
	struct job_files files;
	bool is_fine = true;

	if (!letters->goes_on)
		return true;
	letters->options = options;
	letters->setup = (struct sink_setup){ .options = options, .warehouse = call->engine->home->warehouse };
	if (!files_open(&files, call->engine->home, options, err))
		return because(err, "job '%s'", options->name);
	if (files.dlq)
		is_fine = look_at(letters, files.dlq, err);
	files_close(&files);
	return is_fine;
}

static bool look_everywhere(struct call *call, struct letters *letters, struct error *err)
{
	letters->call = call;
	letters->home = call->engine->home;
	letters->goes_on = true;
	return (letters->place.is_back ? job_each_back : job_each)(call, call_text_or(call, "job", NULL), look_in_job, letters, err);
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

	return chosen_check(call, err) && look_everywhere(call, &page, err) && say_more(call, &page, "groups", count_group, err);
}

static void say_full(struct call *call, const struct letters *page)
{
	bool has_job = json_object_get(call->args, "job");

	call_note(call, "this page is full; --%s %s%s%lld goes on", page->place.is_back ? "before" : "after",
	          has_job ? "" : page->last.job, has_job ? "" : "/", (long long)page->last.id);
}

/* NULL without --match, and with an error. */
static struct regex *match_read(struct call *call, struct error *err)
{
	const char *text = call_text_or(call, "match", NULL);
	struct regex *match;
	struct regex_fault fault;

	if (!text)
		return NULL;
	match = regex_new(text, &fault);
	if (!match && fault.letter)
		fail(err, ERROR_USAGE, "bad_filter", "--match, character %zu: %s", fault.letter, fault.why);
	else if (!match)
		fail(err, ERROR_USAGE, "bad_filter", "--match: %s", fault.why);
	return match;
}

static bool search(struct call *call, struct letters *page, struct error *err)
{
	if (!look_everywhere(call, page, err))
		return false;
	call_note(call, "%lld letters searched, %lld found", (long long)page->searched, (long long)page->sent);
	return true;
}

/* Who goes through the letters page by page has no use for the count of all of them, each time. */
bool run_dlq_list(struct call *call, struct error *err)
{
	struct letters page = { .look = dlq_list, .on_line = send_letter, .limit = call_number(call, "limit", 0) };
	bool has_place, is_fine;

	page.match = match_read(call, err);
	if (!page.match && call_text_or(call, "match", NULL))
		return false;
	if (page.match) {
		is_fine = chosen_check(call, err) && place_read(call, &page.place, err) && search(call, &page, err);
		regex_free(page.match);
		return is_fine;
	}
	if (!chosen_check(call, err) || !place_read(call, &page.place, err) || !look_everywhere(call, &page, err))
		return false;
	has_place = page.place.is_back || json_object_get(call->args, "after");
	if (has_place && page.limit && page.sent == page.limit)
		say_full(call, &page);
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
	struct dlq_filter filter = { .job = options->name, .id = call_number(call, "id", 0) };
	struct chosen_letters chosen = { 0 };
	struct job_files files;
	bool found = false, is_fine;

	if (!files_open(&files, call->engine->home, options, err))
		return false;
	is_fine = chosen_read(call, options->name, &chosen, err);
	filter.choice = chosen.choice;
	if (is_fine && files.dlq)
		is_fine = dlq_list(files.dlq, &filter, has_letter, &found, err);
	if (found)
		json_array_append_new(owners, json_string(options->name));
	chosen_clear(&chosen);
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

/* "a group 3", "a letter 7", "such letters": what was asked for. */
static void what_text(struct call *call, char *out, size_t room)
{
	const json_t *group = json_object_get(call->args, "group");

	if (json_object_get(call->args, "id"))
		snprintf(out, room, "a letter %lld", (long long)call_number(call, "id", 0));
	else if (json_is_integer(group))
		snprintf(out, room, "a group %lld", (long long)json_integer_value(group));
	else if (group && !strchr(call_text_or(call, "group", ","), ','))
		snprintf(out, room, "a group %.24s", call_text_or(call, "group", ""));
	else
		snprintf(out, room, "such letters");
}

bool letters_choose_job(struct call *call, struct error *err)
{
	char what[48];
	json_t *owners;
	bool is_fine;

	if (!chosen_check(call, err))
		return false;
	if (json_object_get(call->args, "job"))
		return true;
	what_text(call, what, sizeof(what));
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
