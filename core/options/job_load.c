/*
 * Job files on disk, and the search for keys in them: a job file is shown,
 * compared and copied, so that a secret in it would be everywhere soon.
 */
#include "base/arena.h"
#include "base/file.h"
#include "options/job_file_private.h"
#include "options/job_scan_private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const secret_marks[] = { "-----BEGIN ", "private_key" };
#define SECRET_MARKS (sizeof secret_marks / sizeof *secret_marks)
#define SECRET_MESSAGE "it holds a private key; secrets are not allowed in a job file"
#define SECRET_FIX "Take it out, put it into the vault with `weir secret put`, and make a new key: this one has been written down."

static bool is_secret(const char *text)
{
	for (size_t i = 0; text && i < SECRET_MARKS; i++) {
		if (strstr(text, secret_marks[i]))
			return true;
	}
	return false;
}

/* The written text: finds keys in broken files too, and knows the place. */
static bool text_holds_secret(struct draft *draft)
{
	bool is_found = false;

	for (size_t i = 0; draft->text.len && i < SECRET_MARKS; i++) {
		const char *at = memmem(draft->text.at, draft->text.len, secret_marks[i], strlen(secret_marks[i]));
		struct json_place place;

		if (!at)
			continue;
		place = json_place(draft->text, (size_t)(at - draft->text.at));
		problem_add_at(draft, "secret_in_job_file", place.line, place.column, NULL, SECRET_FIX, SECRET_MESSAGE);
		is_found = true;
	}
	return is_found;
}

/* The same after unescaping: a '\u002d' hides nothing. */
static bool value_holds_secret(const json_t *value)
{
	const char *name;
	json_t *each;
	size_t i;

	if (json_is_string(value))
		return is_secret(json_string_value(value));
	json_array_foreach((json_t *)value, i, each) {
		if (value_holds_secret(each))
			return true;
	}
	json_object_foreach((json_t *)value, name, each) {
		if (is_secret(name) || value_holds_secret(each))
			return true;
	}
	return false;
}

bool draft_holds_secret(struct draft *draft, const char *const *overrides, size_t override_count)
{
	bool is_found;

	/* What was found before may quote it. */
	struct option_problems earlier = *draft->problems;

	*draft->problems = (struct option_problems){ 0 };
	is_found = text_holds_secret(draft);
	if (!is_found && value_holds_secret(draft->root)) {
		problem_add(draft, "secret_in_job_file", "", NULL, SECRET_FIX, "%s", SECRET_MESSAGE);
		is_found = true;
	}
	for (size_t i = 0; i < override_count && !is_found; i++) {
		is_found = is_secret(overrides[i]);
		if (is_found)
			problem_add(draft, "secret_in_job_file", NULL, NULL, SECRET_FIX,
			            "a value on the command line holds a private key; secrets are not allowed there");
	}
	if (is_found)
		option_problems_free(&earlier);
	else
		*draft->problems = earlier;
	return is_found;
}

/*
 * From disk.
 */
static bool load_refused(const char *code, const char *message, struct option_problems *out_problems)
{
	struct draft draft = { .problems = out_problems };

	problem_add_at(&draft, code, 0, 0, NULL, NULL, message);
	return false;
}

static bool load_text(const char *path, char **out, size_t *out_len, struct option_problems *out_problems)
{
	struct stat info;
	struct error err;
	bool is_there = stat(path, &info) == 0;

	if (!is_there && (errno == ENOENT || errno == ENOTDIR))
		return load_refused("no_such_file", "there is no such file; give the path of a job file", out_problems);
	if (access(path, R_OK) != 0 && (errno == EACCES || errno == EPERM))
		return load_refused("no_permission", "the file may not be read by this user", out_problems);
	if (is_there && S_ISDIR(info.st_mode))
		return load_refused("not_a_file", "this is a folder; give the path of a job file", out_problems);
	if (file_read(path, JOB_FILE_MAX, out, out_len, &err))
		return true;
	if (strcmp(err.code, "file_too_large") == 0)
		return load_refused(err.code, "the file is larger than 1 MiB, which is the most for a job file", out_problems);
	return load_refused(err.code, err.message, out_problems);
}

/* The folder's true name: the same file reached on two ways gives the same absolute paths. */
static char *true_folder(const char *path)
{
	char *folder = path_folder(path), *whole = realpath(folder, NULL);

	if (!whole)
		return folder;
	free(folder);
	return whole;
}

struct job_options *job_options_load(const char *path, const char *const *overrides, size_t override_count,
                                     struct option_problems *out_problems)
{
	struct job_options *options;
	char *text, *folder;
	size_t len;

	*out_problems = (struct option_problems){ 0 };
	if (!load_text(path, &text, &len, out_problems))
		return NULL;
	folder = true_folder(path);
	options = job_options_read(span_make(text, len), path, folder, overrides, override_count, out_problems);
	free(folder);
	free(text);
	return options;
}
