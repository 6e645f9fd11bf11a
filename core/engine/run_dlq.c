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
	int64_t id;
	bool was_found, goes_on;
};

static bool send_letter(void *context, const char *json)
{
	struct letters *letters = context;

	letters->was_found = true;
	letters->goes_on = call_line(letters->call, json_loads(json, JSON_ALLOW_NUL, NULL));
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

bool run_dlq_groups(struct call *call, struct error *err)
{
	struct letters letters = { .look = dlq_groups, .on_line = send_letter };

	return look_everywhere(call, &letters, err);
}

bool run_dlq_list(struct call *call, struct error *err)
{
	struct letters letters = { .look = dlq_list, .on_line = send_letter };

	return look_everywhere(call, &letters, err);
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

bool letters_choose_job(struct call *call, struct error *err)
{
	const char *what = call_number(call, "group", 0) ? "group" : "letter";
	json_t *owners;
	bool is_fine;

	if (json_object_get(call->args, "job"))
		return true;
	owners = json_array();
	is_fine = job_each(call, NULL, count_owner, owners, err);
	if (is_fine && json_array_size(owners) > 1)
		is_fine = fail(err, ERROR_USAGE, "bad_argument",
		               "%zu jobs have a %s %lld (the first is '%s'); say which with --job", json_array_size(owners), what,
		               (long long)call_number(call, *what == 'g' ? "group" : "id", 0),
		               json_string_value(json_array_get(owners, 0)));
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
