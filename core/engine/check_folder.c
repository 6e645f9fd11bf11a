/*
 * Checks of files that lie elsewhere: where Cloud Storage is reached, the schema
 * file there, and the dead-letter folder, tried with a file of its own that no job
 * reads (its name is hidden).
 */
#include "base/clock.h"
#include "base/file.h"
#include "engine/check_private.h"
#include "google/storage.h"
#include "transform/transform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char trial[] = "a file of weir check, which may be removed\n";

bool check_has_folder(const struct job_options *options)
{
	return options->dead_letter_folder != NULL;
}

bool check_has_schema_in_storage(const struct job_options *options)
{
	return options->auto_map_tables && storage_is_place(options->schema_file);
}

void check_storage_place(struct check *check)
{
	const struct finding about = { .tried = "the endpoint of Cloud Storage" };

	check->has_storage = check_endpoint(check, SERVICE_STORAGE, &about, "Cloud Storage");
}

/* What helps where a bucket is missing, or the account lacks a right. */
static void fix_for(struct check *check, const char *bucket, const char *role, const struct error *why, char fix[CHECK_FIX_BYTES])
{
	char member[320];

	check_member(check, member);
	*fix = '\0';
	if (strcmp(why->code, "bucket_missing") == 0)
		snprintf(fix, CHECK_FIX_BYTES, "gcloud storage buckets create gs://%s", bucket);
	else if (why->kind == ERROR_ACCESS)
		snprintf(fix, CHECK_FIX_BYTES, "gcloud storage buckets add-iam-policy-binding gs://%s --member %s --role %s", bucket, member, role);
}

static void storage_fails(struct check *check, struct finding about, const char *bucket, const char *role, const struct error *why)
{
	char fix[CHECK_FIX_BYTES];

	fix_for(check, bucket, role, why, fix);
	about.fix = fix;
	check_fails(check, &about, why);
}

/*
 * The schema file
 */

/* Read as the job reads it, without what it may have kept. */
void check_schema_file(struct check *check)
{
	const struct job_options *options = check->options;
	struct finding about = { .parameter = "schemaFilePath", .tried = options->schema_file };
	struct transform_setup setup = { .options = options, .google = check->google };
	const struct transform_ops *ops;
	struct transform *transform;
	struct storage_place place;
	struct error why = { 0 };

	if (!check->has_storage)
		return;
	if (!storage_place_read(options->schema_file, &place, &why) || !(ops = transform_choose(options, &why))) {
		check_fails(check, &about, &why);
	} else if ((transform = ops->open(&setup, &why))) {
		ops->close(transform);
		check_ok(check, &about, "schema file '%s' is there and can be read", options->schema_file);
	} else {
		storage_fails(check, about, place.bucket, "roles/storage.objectViewer", &why);
	}
}

/*
 * The dead-letter folder
 */

/* One on Cloud Storage: an object is written, listed, read and removed; *out_step is the first that failed. */
static bool try_objects(struct storage *storage, const struct storage_place *place, const char **out_step, struct error *err)
{
	char name[STORAGE_NAME_MAX + 100], prefix[STORAGE_NAME_MAX + 10];
	struct arena *arena = arena_new(4096);
	struct storage_object object;
	struct storage_page page;
	char *content = NULL;
	size_t len;
	bool was_there, is_fine;

	snprintf(prefix, sizeof(prefix), "%s%sretry/", place->name, *place->name ? "/" : "");
	snprintf(name, sizeof(name), "%s.weir-check-%lld", prefix, (long long)clock_utc_us());
	*out_step = "objects.insert";
	is_fine = storage_write(storage, place->bucket, name, "text/plain", span_of(trial), &was_there, err);
	if (is_fine) {
		*out_step = "objects.list";
		is_fine = storage_list(storage, place->bucket, prefix, NULL, 1, arena, &page, err);
	}
	if (is_fine) {
		*out_step = "objects.get";
		is_fine = storage_look(storage, place->bucket, name, &object, err) &&
		          storage_read(storage, place->bucket, &object, sizeof(trial), &content, &len, err);
	}
	free(content);
	if (is_fine) {
		*out_step = "objects.delete";
		is_fine = storage_remove(storage, place->bucket, &object, err);
	}
	arena_free(arena);
	return is_fine;
}

static void check_bucket(struct check *check, const char *path)
{
	struct finding about = { .parameter = "deadLetterQueueDirectory", .tried = path };
	struct storage_setup setup = { .google = check->google, .wait_ms = check_wait_ms(check) };
	struct storage_place place;
	struct storage *storage;
	struct error why = { 0 };

	if (!check->has_storage)
		return;
	if (!storage_place_read(path, &place, &why) || !(storage = storage_open(&setup, &why))) {
		check_fails(check, &about, &why);
		return;
	}
	if (try_objects(storage, &place, &about.tried, &why)) {
		about.tried = "objects.insert, list, get, delete";
		check_ok(check, &about, "dead-letter folder '%s': an object was written, listed, read and removed", path);
	} else {
		storage_fails(check, about, place.bucket, "roles/storage.objectUser", &why);
	}
	storage_close(storage);
}

/* The folder, or what is there of its way: the job makes the rest. */
static char *what_is_there(const char *path)
{
	char *at = memory_string(path);

	while (access(at, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR) && strcmp(at, "/") != 0 && strcmp(at, ".") != 0) {
		char *above = path_folder(at);

		free(at);
		at = above;
	}
	return at;
}

static bool try_file(const char *folder, struct error *err)
{
	char name[40];
	char *path;
	bool is_fine;

	snprintf(name, sizeof(name), ".weir-check-%lld", (long long)clock_utc_us());
	path = path_join(folder, name);
	is_fine = file_replace(path, span_of(trial), err);
	if (is_fine && unlink(path) != 0)
		is_fine = fail_errno(err, errno, "cannot remove '%s'", path);
	free(path);
	return is_fine;
}

static void check_disk(struct check *check, const char *path)
{
	struct finding about = { .parameter = "deadLetterQueueDirectory", .tried = "a file written and removed" };
	struct error why = { 0 };
	char *there = what_is_there(path);
	struct stat st;
	bool is_whole = strcmp(there, path) == 0;

	if (stat(there, &st) != 0 || !S_ISDIR(st.st_mode)) {
		fail(&why, ERROR_CONFIG, "not_a_folder", "dead-letter folder '%s': '%s' is no folder", path, there);
		check_fails(check, &about, &why);
	} else if (is_whole ? !try_file(there, &why) : access(there, W_OK | X_OK) != 0) {
		if (!is_whole)
			fail_errno(&why, errno, "dead-letter folder '%s' is not there, and cannot be made in '%s'", path, there);
		check_fails(check, &about, &why);
	} else if (is_whole) {
		check_ok(check, &about, "dead-letter folder '%s': a file was written and removed", path);
	} else {
		about.tried = NULL;
		check_ok(check, &about, "dead-letter folder '%s' is not there yet; the job makes it", path);
	}
	free(there);
}

void check_letter_folder(struct check *check)
{
	const char *path = check->options->dead_letter_folder;

	if (storage_is_place(path))
		check_bucket(check, path);
	else
		check_disk(check, path);
}
