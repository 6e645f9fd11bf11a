/* Jobs: their registered files, and which of them run here. */
#include "base/arena.h"
#include "base/clean.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "engine/engine.h"
#include "pipeline/pipeline.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#define JOB_FILE_MAX (1 << 20)

static char *registered_path(const struct home *home, const char *name)
{
	OWNED(text) file = text_new(256);

	text_add_format(file, "%s.json", name);
	return path_join(home->jobs_config, file->at);
}

static bool is_job_name(const char *text)
{
	size_t len = strlen(text);

	if (!len || len > JOB_NAME_MAX || text[0] == '-' || text[0] == '_')
		return false;
	return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

/* A name with a dot or a slash is a file; a plain word is a registered job, or a file of that name. */
static char *job_path(const struct home *home, const char *name_or_file)
{
	char *path;

	if (!is_job_name(name_or_file))
		return memory_string(name_or_file);
	path = registered_path(home, name_or_file);
	if (access(path, F_OK) == 0 || access(name_or_file, F_OK) != 0)
		return path;
	free(path);
	return memory_string(name_or_file);
}

/* The nearest of the registered names is what was meant, mostly; also by a file's name where a job's belongs. True: that name
 * itself is there, of a job that was registered while we looked. */
static bool job_unknown(const struct home *home, const char *name, struct error *err)
{
	json_t *known = job_names(home);
	const char **names = memory_zalloc((json_array_size(known) + 1) * sizeof(*names));
	const char *slash = strrchr(name, '/'), *near;
	char *plain = memory_string(slash ? slash + 1 : name);
	bool has_come;
	size_t i;
	json_t *each;

	plain[strcspn(plain, ".")] = '\0';
	json_array_foreach(known, i, each)
		names[i] = json_string_value(each);
	near = nearest_word(plain, names, json_array_size(known));
	has_come = near && strcmp(near, name) == 0;
	if (!has_come)
		fail(err, ERROR_CONFIG, "job_unknown", "there is no job '%.100s'%s%s%s", name, near ? "; did you mean '" : "",
		     near ? near : "", near ? "'?" : "");
	free(names);
	free(plain);
	json_decref(known);
	return has_come;
}

bool job_is_registered(const struct home *home, const char *name, struct error *err)
{
	char *path = registered_path(home, name);
	bool exists = is_job_name(name) && access(path, F_OK) == 0;

	free(path);
	return exists || job_unknown(home, name, err);
}

/* Alone the file would do: then what was set beside it is to blame. */
static bool is_sound(const char *path)
{
	struct option_problems problems = { 0 };
	struct job_options *options = job_options_load(path, NULL, 0, &problems);

	option_problems_free(&problems);
	job_options_free(options);
	return options != NULL;
}

struct job_options *job_load_named(const struct home *home, const char *name, struct error *err)
{
	return job_is_registered(home, name, err) ? job_load(home, name, NULL, 0, err) : NULL;
}

struct job_options *job_load(const struct home *home, const char *name_or_file, const char *const *overrides,
                             size_t override_count, struct error *err)
{
	struct option_problems problems = { 0 };
	char *path = job_path(home, name_or_file);
	struct job_options *options;

	if (is_job_name(name_or_file) && access(path, F_OK) != 0 && !job_unknown(home, name_or_file, err)) {
		free(path);
		return NULL;
	}
	options = job_options_load(path, overrides, override_count, &problems);
	if (!options)
		option_problems_error(&problems, override_count && is_sound(path) ? NULL : path, err);
	option_problems_free(&problems);
	free(path);
	return options;
}

/* A job has run once its store exists. */
static bool has_run(const struct home *home, const char *name)
{
	struct job_paths paths;
	bool exists;

	job_paths_make(&paths, home, name);
	exists = access(paths.store, F_OK) == 0;
	job_paths_clear(&paths);
	return exists;
}

/* A line a difference becomes a list. */
static char *one_line(char *lines)
{
	size_t len = strlen(lines);

	if (len && lines[len - 1] == '\n')
		lines[len - 1] = '\0';
	for (char *at = lines; (at = strchr(at, '\n')); at++)
		*at = ';';
	return lines;
}

static bool may_replace(const struct home *home, const struct job_options *options, const char *old_text,
                        const char *new_text, bool replace, struct error *err)
{
	char *difference;

	if (replace || !has_run(home, options->name))
		return true;
	difference = one_line(job_options_difference(old_text, new_text));
	fail(err, ERROR_CONFIG, "job_differs", "job '%s' is registered with other content (%s); --replace takes the new one",
	     options->name, difference);
	free(difference);
	return false;
}

static bool write_registered(const char *path, const char *text, struct error *err)
{
	if (!file_replace(path, span_of(text), err))
		return because(err, "registering the job");
	crash_point(job_registered);
	return true;
}

static bool register_held(const struct home *home, const struct job_options *options, bool replace,
                          struct error *err)
{
	char *path = registered_path(home, options->name);
	char *text = job_options_text(options);
	char *old_text = NULL;
	size_t old_len;
	bool is_fine = true;

	if (access(path, F_OK) == 0 && !file_read(path, JOB_FILE_MAX, &old_text, &old_len, err))
		is_fine = false;
	else if (old_text && strcmp(old_text, text) == 0)
		is_fine = true;
	else if (old_text && !may_replace(home, options, old_text, text, replace, err))
		is_fine = false;
	else
		is_fine = write_registered(path, text, err);
	free(old_text);
	free(text);
	free(path);
	return is_fine;
}

bool job_register(struct engine *engine, const struct job_options *options, bool replace, struct error *err)
{
	bool is_fine;

	if (!job_hold_name(engine, options->name, err))
		return false;
	is_fine = register_held(engine->home, options, replace, err);
	job_let_name(engine, options->name);
	return is_fine;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t read_names(DIR *folder, char ***out)
{
	char **names = NULL;
	size_t count = 0;
	struct dirent *entry;

	while ((entry = readdir(folder))) {
		size_t len = strlen(entry->d_name);

		if (len < 6 || strcmp(entry->d_name + len - 5, ".json") != 0)
			continue;
		names = memory_grow(names, (count + 1) * sizeof(*names));
		names[count++] = memory_string_of(span_make(entry->d_name, len - 5));
	}
	if (count)
		qsort(names, count, sizeof(*names), compare_names);
	*out = names;
	return count;
}

json_t *job_names(const struct home *home)
{
	DIR *folder = opendir(home->jobs_config);
	json_t *list = json_array();
	char **names;
	size_t count;

	if (!folder)
		return list;
	count = read_names(folder, &names);
	closedir(folder);
	for (size_t i = 0; i < count; i++) {
		if (is_job_name(names[i]))
			json_array_append_new(list, json_string(names[i]));
		free(names[i]);
	}
	free(names);
	return list;
}
