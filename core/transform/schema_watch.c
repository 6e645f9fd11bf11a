/*
 * The schema file while a job runs: read when it opens, looked at every
 * schemaFileInterval, read again when it is another. A thread of its own does that,
 * for a bucket may be slow; whoever transforms only asks for news. What was read
 * last is kept beside the job's store: where the file is wrong, or away, when the
 * job opens again, that one is still in force.
 */
#include "transform/mapped_private.h"

#include "base/clock.h"
#include "base/file.h"
#include "google/storage.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX ((size_t)16 << 20)
#define KEPT_BYTES_MAX ((size_t)128 << 20) /* the same in a JSON string */
#define WAIT_MS 30000
#define OPEN_WAIT_MS 3000 /* where there is one to go on with: rows wait */
#define WHICH_BYTES 128

struct schema_watch {
	const struct job_options *options;
	struct google *google;
	char *kept_path;            /* NULL: nothing is kept */
	char *text;                 /* of the file in force */
	size_t len;
	char which[WHICH_BYTES];    /* what tells the file that was read last from others of its name; the thread's */
	bool is_opening;
	char told[512];             /* what was said of a failed look; "": it went well */

	pthread_t thread;
	bool has_begun, has_thread; /* it was tried; it runs */
	pthread_mutex_t lock;       /* of all below */
	pthread_cond_t end;
	atomic_bool should_end, has_news;
	struct schema_file *file;   /* news, not taken yet */
	struct error failure;
};

/*
 * Looking and reading
 */

/* What is read, and which it was. */
struct file_now {
	char *text;
	size_t len;
	char which[WHICH_BYTES];
};

static bool local_which(const char *path, char out[WHICH_BYTES], struct error *err)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return errno == ENOENT ? fail(err, ERROR_CONFIG, "no_such_file", "there is no file '%s'", path)
		                       : fail_errno(err, errno, "cannot look at '%s'", path);
	snprintf(out, WHICH_BYTES, "%" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 ".%09ld", (uint64_t)st.st_dev, (uint64_t)st.st_ino,
	         (int64_t)st.st_size, (int64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	return true;
}

/* Looked at before it is read: who writes it meanwhile makes it another one, which the next look finds. */
static bool local_read(const struct schema_watch *watch, struct file_now *out, struct error *err)
{
	const char *path = watch->options->schema_file;

	return local_which(path, out->which, err) &&
	       (strcmp(out->which, watch->which) == 0 || file_read(path, FILE_BYTES_MAX, &out->text, &out->len, err));
}

static bool storage_file_read(const struct schema_watch *watch, struct file_now *out, struct error *err)
{
	struct storage_setup setup = { .google = watch->google, .wait_ms = watch->is_opening && watch->text ? OPEN_WAIT_MS : WAIT_MS,
		                           .should_end = &watch->should_end };
	struct storage *storage;
	struct storage_place place;
	struct storage_object object;
	bool is_fine;

	if (!watch->google)
		return fail(err, ERROR_CONFIG, "internal_error", "'%s' is asked of a job that has nothing of Google", watch->options->schema_file);
	if (!storage_place_read(watch->options->schema_file, &place, err) || !(storage = storage_open(&setup, err)))
		return false;
	is_fine = storage_look(storage, place.bucket, place.name, &object, err);
	if (is_fine)
		snprintf(out->which, WHICH_BYTES, "%" PRId64, object.generation);
	if (is_fine && strcmp(out->which, watch->which) != 0)
		is_fine = storage_read(storage, place.bucket, &object, FILE_BYTES_MAX, &out->text, &out->len, err);
	storage_close(storage);
	return is_fine;
}

static struct schema_file *parse(const struct schema_watch *watch, const char *text, size_t len, struct error *err)
{
	return schema_file_parse(watch->options->schema_file, span_make(text, len), watch->options->schema_file_reading, err);
}

/* *out_file NULL and true: it is the one that is known. */
static bool read_changed(struct schema_watch *watch, struct schema_file **out_file, struct error *err)
{
	struct file_now now = { 0 };
	bool is_there = storage_is_place(watch->options->schema_file) ? storage_file_read(watch, &now, err) : local_read(watch, &now, err);

	*out_file = NULL;
	if (!is_there)
		return because(err, "reading schemaFilePath");
	if (!now.text)
		return true;
	/* One that is wrong is not read again before it changes. */
	memcpy(watch->which, now.which, WHICH_BYTES);
	*out_file = parse(watch, now.text, now.len, err);
	if (!*out_file) {
		free(now.text);
		return false;
	}
	free(watch->text);
	watch->text = now.text;
	watch->len = now.len;
	return true;
}

/*
 * What is kept
 */

/* Of another path it says nothing. */
static void kept_read(struct schema_watch *watch)
{
	struct error ignored = { 0 };
	char *whole;
	size_t len;
	json_t *kept;
	const char *which, *told;

	if (!watch->kept_path || !file_read(watch->kept_path, KEPT_BYTES_MAX, &whole, &len, &ignored))
		return;
	kept = json_loadb(whole, len, 0, NULL);
	free(whole);
	which = json_string_value(json_object_get(kept, "which"));
	told = json_string_value(json_object_get(kept, "told"));
	if (which && told && json_is_string(json_object_get(kept, "text")) &&
	    span_equal(span_of(json_string_value(json_object_get(kept, "path"))), span_of(watch->options->schema_file))) {
		watch->len = json_string_length(json_object_get(kept, "text"));
		watch->text = memory_string_of(span_make(json_string_value(json_object_get(kept, "text")), watch->len));
		snprintf(watch->which, WHICH_BYTES, "%s", which);
		snprintf(watch->told, sizeof(watch->told), "%s", told);
	}
	json_decref(kept);
}

/* What cannot be kept is read anew next time. */
static void kept_write(const struct schema_watch *watch)
{
	struct error ignored = { 0 };
	json_t *kept = watch->kept_path && watch->text ? json_pack("{s:s, s:s, s:s, s:s%}", "path", watch->options->schema_file, "which",
	                                                           watch->which, "told", watch->told, "text", watch->text, watch->len)
	                                               : NULL;
	char *whole = kept ? json_dumps(kept, JSON_COMPACT) : NULL, *folder = whole ? path_folder(watch->kept_path) : NULL;

	if (whole && folder_make_last(folder, &ignored))
		file_replace(watch->kept_path, span_of(whole), &ignored);
	free(folder);
	free(whole);
	json_decref(kept);
}

/*
 * The thread
 */

static void tell(struct schema_watch *watch, struct schema_file *file, const struct error *failure)
{
	pthread_mutex_lock(&watch->lock);
	schema_file_free(watch->file);
	watch->file = file;
	watch->failure = failure ? *failure : (struct error){ 0 };
	atomic_store(&watch->has_news, true);
	pthread_mutex_unlock(&watch->lock);
}

/* What passes by itself is no news, and a lasting trouble is said once. True: there is something to tell. */
static bool is_news(struct schema_watch *watch, bool is_fine, bool is_changed, const struct error *failure)
{
	bool is_passing = failure->kind == ERROR_TRANSIENT || failure->kind == ERROR_UNREACHABLE || failure->kind == ERROR_CANCELLED;
	bool is_told = strcmp(watch->told, failure->message) == 0;

	if (!is_fine && (is_passing || is_told))
		return false;
	if (!is_fine || *watch->told || is_changed) {
		snprintf(watch->told, sizeof(watch->told), "%s", failure->message);
		kept_write(watch);
	}
	return !is_fine || is_changed;
}

static void look(struct schema_watch *watch)
{
	struct schema_file *file;
	struct error failure = { 0 };
	bool is_fine = read_changed(watch, &file, &failure);

	if (is_news(watch, is_fine, file != NULL, &failure))
		tell(watch, file, is_fine ? NULL : &failure);
}

static void *watch_main(void *context)
{
	struct schema_watch *watch = context;
	int64_t interval_ms = watch->options->schema_file_interval_ms;

	for (;;) {
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += interval_ms / 1000;
		pthread_mutex_lock(&watch->lock);
		while (!atomic_load(&watch->should_end) && pthread_cond_timedwait(&watch->end, &watch->lock, &until) == 0)
			;
		pthread_mutex_unlock(&watch->lock);
		if (atomic_load(&watch->should_end))
			return NULL;
		look(watch);
	}
}

/*
 * The job's side
 */

/* Where the file is not what it should be, the kept one is in force, and that is the first news. */
static bool open_file(struct schema_watch *watch, struct schema_file **out_file, struct error *err)
{
	struct error failure = { 0 };
	bool was_kept = watch->text != NULL, is_fine, is_changed;

	watch->is_opening = true;
	is_fine = read_changed(watch, out_file, &failure);
	watch->is_opening = false;
	is_changed = *out_file != NULL;
	if (!is_fine && !was_kept) {
		*err = failure;
		return false;
	}
	if (is_news(watch, is_fine, is_changed, &failure) && was_kept)
		tell(watch, NULL, &failure);
	return is_changed || (*out_file = parse(watch, watch->text, watch->len, err));
}

struct schema_watch *schema_watch_open(const struct transform_setup *setup, struct schema_file **out_file, struct error *err)
{
	struct schema_watch *watch = memory_zalloc(sizeof(*watch));

	watch->options = setup->options;
	watch->google = setup->google;
	watch->kept_path = memory_string(setup->kept_schema);
	pthread_mutex_init(&watch->lock, NULL);
	clock_cond_init(&watch->end);
	kept_read(watch);
	if (open_file(watch, out_file, err))
		return watch;
	schema_watch_close(watch);
	return NULL;
}

void schema_watch_close(struct schema_watch *watch)
{
	if (!watch)
		return;
	pthread_mutex_lock(&watch->lock);
	atomic_store(&watch->should_end, true);
	pthread_cond_signal(&watch->end);
	pthread_mutex_unlock(&watch->lock);
	if (watch->has_thread)
		pthread_join(watch->thread, NULL);
	schema_file_free(watch->file);
	free(watch->text);
	free(watch->kept_path);
	pthread_cond_destroy(&watch->end);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}

bool schema_watch_news(struct schema_watch *watch, struct schema_file **out_file, struct error *out_failure)
{
	/* Without a thread the file stays what it is, as in the original. */
	if (!watch->has_begun)
		watch->has_thread = pthread_create(&watch->thread, NULL, watch_main, watch) == 0;
	watch->has_begun = true;
	if (!atomic_load_explicit(&watch->has_news, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&watch->lock);
	*out_file = watch->file;
	*out_failure = watch->failure;
	watch->file = NULL;
	atomic_store(&watch->has_news, false);
	pthread_mutex_unlock(&watch->lock);
	return true;
}
