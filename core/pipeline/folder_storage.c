/* A dead-letter folder on Cloud Storage: an object is whole when it is seen, and is never written over. */
#include "pipeline/folder_private.h"

#include "google/storage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALL_MS 15000              /* the carrier comes again by itself */
#define WRITTEN_BYTES ((size_t)7 << 20) /* with the last line mostly under 8 MiB, which is one request */
#define ARENA_BYTES 65536

struct storage_folder {
	struct folder base;
	struct storage *storage;
	struct storage_place place;
	const char *whole; /* gs://BUCKET/NAME; lent */
};

static struct folder *storage_folder_open(const struct folder_setup *setup, struct error *err)
{
	struct storage_setup storage = { .google = setup->google, .wait_ms = CALL_MS, .should_end = setup->should_end };
	struct storage_folder *at = memory_zalloc(sizeof(*at));

	at->base.ops = &folder_storage;
	at->whole = setup->place;
	if (!setup->google)
		fail(err, ERROR_CONFIG, "internal_error", "'%s' is asked of a job that has nothing of Google", setup->place);
	else if (storage_place_read(setup->place, &at->place, err))
		at->storage = storage_open(&storage, err);
	if (at->storage)
		return &at->base;
	free(at);
	return NULL;
}

static void storage_folder_close(struct folder *folder)
{
	struct storage_folder *at = (struct storage_folder *)folder;

	storage_close(at->storage);
	free(at);
}

/* "gs://BUCKET/" is not the object's name. */
static const char *object_name(const struct storage_folder *at, const char *name)
{
	return name + strlen("gs://") + strlen(at->place.bucket) + 1;
}

/*
 * Looking through
 */

/* Any part of the path may be hidden. */
static bool passes_over(const char *name)
{
	for (const char *part = name; part; part = strchr(part, '/'), part = part ? part + 1 : NULL) {
		const char *end = strchrnul(part, '/');

		if (folder_passes_over(span_make(part, (size_t)(end - part))))
			return true;
	}
	return !*name || name[strlen(name) - 1] == '/';
}

static bool offer_page(struct storage_folder *at, const struct storage_page *page, const char *prefix, struct arena *arena,
                       bool (*offer)(void *, const struct folder_file *), void *context)
{
	for (size_t i = 0; i < page->count; i++) {
		const struct storage_object *object = &page->objects[i];
		struct folder_file file = { .generation = object->generation, .size_bytes = object->size_bytes };

		if (passes_over(object->name + strlen(prefix)))
			continue;
		file.name = arena_printf(arena, "gs://%s/%s", at->place.bucket, object->name);
		file.which = arena_printf(arena, "%s %" PRId64, file.name, object->generation);
		if (!offer(context, &file))
			return false;
	}
	return true;
}

static bool storage_folder_list(struct folder *folder, bool (*offer)(void *, const struct folder_file *), void *context,
                                struct error *err)
{
	struct storage_folder *at = (struct storage_folder *)folder;
	struct arena *arena = arena_new(ARENA_BYTES);
	char prefix[STORAGE_NAME_MAX + 10], token[4096] = "";
	struct storage_page page;
	bool is_fine, goes_on = true;

	snprintf(prefix, sizeof(prefix), "%s%sretry/", at->place.name, *at->place.name ? "/" : "");
	do {
		arena_reset(arena);
		is_fine = storage_list(at->storage, at->place.bucket, prefix, *token ? token : NULL, STORAGE_PAGE_MAX, arena, &page, err);
		goes_on = is_fine && offer_page(at, &page, prefix, arena, offer, context) && page.next;
		if (goes_on)
			snprintf(token, sizeof(token), "%s", page.next);
	} while (goes_on);
	arena_free(arena);
	return is_fine;
}

/*
 * Reading and removing
 */

static struct storage_errand *errands_of(struct storage_folder *at, const struct folder_file *files, size_t count)
{
	struct storage_errand *errands = memory_zalloc((count + 1) * sizeof(*errands));

	for (size_t i = 0; i < count; i++) {
		errands[i].object = (struct storage_object){ object_name(at, files[i].name), files[i].generation, files[i].size_bytes };
		errands[i].limit = FOLDER_FILE_BYTES_MAX;
	}
	return errands;
}

static void outcomes_take(struct storage_errand *errands, struct folder_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		files[i].is_done = errands[i].is_done;
		files[i].failure = errands[i].failure;
		files[i].content = errands[i].content;
		files[i].len = errands[i].len;
	}
	free(errands);
}

static void storage_folder_read_all(struct folder *folder, struct folder_file *files, size_t count)
{
	struct storage_folder *at = (struct storage_folder *)folder;
	struct storage_errand *errands = errands_of(at, files, count);

	storage_read_all(at->storage, at->place.bucket, errands, count);
	outcomes_take(errands, files, count);
}

static void storage_folder_remove_all(struct folder *folder, struct folder_file *files, size_t count)
{
	struct storage_folder *at = (struct storage_folder *)folder;
	struct storage_errand *errands = errands_of(at, files, count);

	storage_remove_all(at->storage, at->place.bucket, errands, count);
	outcomes_take(errands, files, count);
}

/*
 * Placing
 */

/* An object that is there already is this one: the name is the only one of its kind, and an earlier try or the run before may have
 * written it. */
static bool storage_folder_place(struct folder *folder, const struct folder_file *file, struct error *err)
{
	struct storage_folder *at = (struct storage_folder *)folder;
	struct error failure = { 0 };
	bool was_there, is_fine;

	is_fine = storage_write_file(at->storage, at->place.bucket, object_name(at, file->name), "application/json", file->scratch,
	                             &was_there, &failure);
	if (!is_fine && strcmp(failure.code, "no_such_file") == 0)
		return true;
	if (!is_fine)
		*err = failure;
	if (is_fine)
		unlink(file->scratch);
	return is_fine;
}

const struct folder_ops folder_storage = {
	.file_bytes = WRITTEN_BYTES,
	.open = storage_folder_open,
	.list = storage_folder_list,
	.read_all = storage_folder_read_all,
	.remove_all = storage_folder_remove_all,
	.place = storage_folder_place,
	.close = storage_folder_close,
};
