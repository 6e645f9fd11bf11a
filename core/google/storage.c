/* Cloud Storage: the client, one call at a time; places, pages, and what failures mean. */
#include "google/storage_private.h"

#include "base/text.h"

#include <jansson.h>
#include <stdlib.h>

#define WAIT_MS 60000
#define SLOWEST_BYTES_A_MS 100 /* a line of 100 KB/s is waited for */
#define HEAD "gs://"

struct storage *storage_open(const struct storage_setup *setup, struct error *err)
{
	struct rest_setup rest = { .ca_file = google_ca_file(setup->google) };
	struct storage *storage = memory_zalloc(sizeof(*storage));

	storage->setup = *setup;
	if (!storage->setup.wait_ms)
		storage->setup.wait_ms = WAIT_MS;
	storage->client = rest_open(&rest, err);
	if (storage->client)
		return storage;
	free(storage);
	return NULL;
}

void storage_close(struct storage *storage)
{
	if (!storage)
		return;
	rest_close(storage->client);
	free(storage);
}

/*
 * Places
 */

bool storage_is_place(const char *path)
{
	return path && strncmp(path, HEAD, strlen(HEAD)) == 0;
}

/* Buckets are lower case letters, digits, '-', '_' and '.': anything else would be another path of the API. */
static bool is_bucket(struct span name)
{
	for (size_t i = 0; i < name.len; i++) {
		if (!(name.at[i] >= 'a' && name.at[i] <= 'z') && !(name.at[i] >= '0' && name.at[i] <= '9') && !strchr("-_.", name.at[i]))
			return false;
	}
	return name.len >= 3 && name.len <= STORAGE_BUCKET_MAX && name.at[0] != '.';
}

bool storage_place_read(const char *path, struct storage_place *out, struct error *err)
{
	const char *bucket = path + strlen(HEAD), *slash = strchr(bucket, '/');
	struct span name = span_of(slash ? slash + 1 : "");

	while (name.len && name.at[name.len - 1] == '/')
		name.len--;
	if (!is_bucket(span_make(bucket, slash ? (size_t)(slash - bucket) : strlen(bucket))))
		return fail(err, ERROR_CONFIG, "bad_parameter", "'%s': a bucket has 3 to 222 lower case letters, digits, '-', '_' and '.'", path);
	if (name.len > STORAGE_NAME_MAX || strpbrk(bucket, "\r\n"))
		return fail(err, ERROR_CONFIG, "bad_parameter", "'%s': an object's name has at most 1,024 bytes and no line breaks", path);
	*out = (struct storage_place){ 0 };
	memcpy(out->bucket, bucket, slash ? (size_t)(slash - bucket) : strlen(bucket));
	memcpy(out->name, name.at, name.len);
	return true;
}

/*
 * Calls
 */

void storage_escape(struct text *out, const char *text)
{
	for (const char *at = text; *at; at++) {
		if ((*at >= '0' && *at <= '9') || ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z') || strchr("-_.~", *at))
			text_add_char(out, *at);
		else
			text_add_format(out, "%%%02X", (unsigned)(unsigned char)*at);
	}
}

void storage_path_add(struct text *out, const char *bucket, const char *name)
{
	text_add(out, "/b/");
	storage_escape(out, bucket);
	text_add(out, "/o");
	if (!name)
		return;
	text_add_char(out, '/');
	storage_escape(out, name);
}

void storage_limit(const struct storage *storage, size_t bytes, struct rest_request *request)
{
	request->deadline_ms = storage->setup.wait_ms + (int64_t)(bytes / SLOWEST_BYTES_A_MS);
	/* A connection that says nothing leaves time for another. */
	request->try_ms = request->deadline_ms / 2;
}

bool storage_should_end(const struct storage *storage)
{
	return storage->setup.should_end && atomic_load(storage->setup.should_end);
}

bool storage_give_up(struct error *err)
{
	return fail(err, ERROR_CANCELLED, "cancelled", "the call to Cloud Storage was given up");
}

/* As google_rest, but it ends when somebody wishes so. */
static bool call_once(struct storage *storage, const struct rest_request *request, struct rest_call **out_call,
                      struct rest_answer *out, bool *out_again, struct error *err)
{
	uint64_t token;
	struct rest_call *call, *done = NULL;

	*out_again = false;
	*out_call = call = google_rest_start(storage->setup.google, storage->client, SERVICE_STORAGE, request, &token, err);
	if (!call)
		return false;
	while (!done) {
		if (storage_should_end(storage))
			return storage_give_up(err);
		done = rest_wait(storage->client, storage->setup.should_end ? 100 : -1);
	}
	return google_rest_result(storage->setup.google, call, token, out, out_again, err);
}

bool storage_call(struct storage *storage, const struct rest_request *request, struct rest_call **out_call,
                  struct rest_answer *out, struct error *err)
{
	struct error failure = { 0 };
	bool again, is_fine = call_once(storage, request, out_call, out, &again, &failure);

	if (!is_fine && again) {
		rest_call_free(*out_call);
		failure = (struct error){ 0 };
		is_fine = call_once(storage, request, out_call, out, &again, &failure);
	}
	if (!is_fine)
		*err = failure;
	return is_fine;
}

/*
 * Failures
 */

/* Which of the two is not there? The service says it in words alone, so the bucket is asked. */
static bool has_bucket(struct storage *storage, const char *bucket)
{
	OWNED(text) path = text_new(STORAGE_PATH_BYTES);
	struct rest_request request = { .what = "looking for the bucket", .may_repeat = true, .try_count_max = 2, .answer_bytes = 1 << 20 };
	struct rest_call *call = NULL;
	struct rest_answer answer = { 0 };
	struct error ignored = { 0 };

	storage_path_add(path, bucket, NULL);
	text_add(path, "?maxResults=1&fields=kind");
	request.url = path->at;
	storage_limit(storage, 0, &request);
	storage_call(storage, &request, &call, &answer, &ignored);
	rest_call_free(call);
	return answer.status != 404;
}

bool storage_fail(struct storage *storage, const char *bucket, const char *name, int status, struct error *err)
{
	if (status != 404)
		return false;
	if (!name || !has_bucket(storage, bucket))
		return fail(err, ERROR_CONFIG, "bucket_missing", "there is no bucket 'gs://%s'", bucket);
	return fail(err, ERROR_CONFIG, "no_such_file", "there is no object 'gs://%s/%s'", bucket, name);
}

/*
 * Looking
 */

static int64_t number_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? strtoll(text, NULL, 10) : json_integer_value(json_object_get(object, name));
}

static bool bad_answer(struct error *err, const char *what)
{
	return fail(err, ERROR_TRANSIENT, "google_bad_answer", "%s: the answer cannot be read", what);
}

/* What the service says of the object, or of the bucket where `name` is NULL; the caller lets go of it. NULL: failed. */
static json_t *ask(struct storage *storage, struct rest_request *request, const char *bucket, const char *name, struct error *err)
{
	struct rest_call *call = NULL;
	struct rest_answer answer = { 0 };
	json_t *said = NULL;

	request->may_repeat = true;
	storage_limit(storage, 0, request);
	if (!storage_call(storage, request, &call, &answer, err))
		storage_fail(storage, bucket, name, answer.status, err);
	else if (!(said = json_loadb(answer.body.at, answer.body.len, JSON_ALLOW_NUL, NULL)))
		bad_answer(err, request->what);
	rest_call_free(call);
	return said;
}

bool storage_look(struct storage *storage, const char *bucket, const char *name, struct storage_object *out, struct error *err)
{
	OWNED(text) path = text_new(STORAGE_PATH_BYTES);
	OWNED(text) what = text_new(STORAGE_PATH_BYTES);
	struct storage_object found;
	json_t *said;

	storage_path_add(path, bucket, name);
	text_add(path, "?fields=generation,size");
	text_add_format(what, "looking at 'gs://%s/%s'", bucket, name);
	said = ask(storage, &(struct rest_request){ .url = path->at, .what = what->at, .answer_bytes = 1 << 20 }, bucket, name, err);
	if (!said)
		return false;
	found = (struct storage_object){ name, number_of(said, "generation"), (uint64_t)number_of(said, "size") };
	json_decref(said);
	if (!found.generation)
		return bad_answer(err, what->at);
	*out = found;
	return true;
}

/*
 * Listing
 */

static bool page_read(const json_t *said, struct arena *arena, struct storage_page *out)
{
	const json_t *items = json_object_get(said, "items"), *each;
	const char *next = json_string_value(json_object_get(said, "nextPageToken"));
	size_t i;

	if (!json_is_object(said))
		return false;
	*out = (struct storage_page){ .objects = arena_zalloc(arena, (json_array_size(items) + 1) * sizeof(*out->objects)) };
	json_array_foreach((json_t *)items, i, each) {
		const char *name = json_string_value(json_object_get(each, "name"));

		/* A name with a NUL in it is none of ours. */
		if (!name || strlen(name) != json_string_length(json_object_get(each, "name")))
			continue;
		out->objects[out->count++] = (struct storage_object){ arena_string(arena, span_of(name)), number_of(each, "generation"),
		                                                      (uint64_t)number_of(each, "size") };
	}
	out->next = next && *next ? arena_string(arena, span_of(next)) : NULL;
	return true;
}

static void list_path(struct text *out, const char *bucket, const char *prefix, const char *token, size_t limit)
{
	storage_path_add(out, bucket, NULL);
	text_add_format(out, "?maxResults=%zu&fields=items(name,generation,size),nextPageToken&prefix=", limit);
	storage_escape(out, prefix);
	if (token) {
		text_add(out, "&pageToken=");
		storage_escape(out, token);
	}
}

bool storage_list(struct storage *storage, const char *bucket, const char *prefix, const char *token, size_t limit,
                  struct arena *arena, struct storage_page *out, struct error *err)
{
	OWNED(text) path = text_new(STORAGE_PATH_BYTES);
	OWNED(text) what = text_new(STORAGE_PATH_BYTES);
	json_t *said;
	bool is_fine;

	list_path(path, bucket, prefix, token, limit < STORAGE_PAGE_MAX ? limit : STORAGE_PAGE_MAX);
	text_add_format(what, "listing 'gs://%s/%s'", bucket, prefix);
	said = ask(storage, &(struct rest_request){ .url = path->at, .what = what->at }, bucket, NULL, err);
	is_fine = said && (page_read(said, arena, out) || bad_answer(err, what->at));
	json_decref(said);
	return is_fine;
}

/*
 * Writing
 */

bool storage_write(struct storage *storage, const char *bucket, const char *name, const char *content_type,
                   struct span content, bool *out_was_there, struct error *err)
{
	OWNED(text) path = text_new(STORAGE_PATH_BYTES);
	OWNED(text) what = text_new(STORAGE_PATH_BYTES);
	struct rest_request request = { .method = "POST", .content_type = content_type, .body = content, .may_repeat = true,
		                            .goes_up = true, .ends_at = 412, .answer_bytes = 1 << 20 };
	struct rest_call *call = NULL;
	struct rest_answer answer = { 0 };
	bool is_fine;

	storage_path_add(path, bucket, NULL);
	text_add(path, "?uploadType=media&ifGenerationMatch=0&fields=generation&name=");
	storage_escape(path, name);
	text_add_format(what, "writing 'gs://%s/%s'", bucket, name);
	request.url = path->at;
	request.what = what->at;
	storage_limit(storage, content.len, &request);
	is_fine = storage_call(storage, &request, &call, &answer, err);
	rest_call_free(call);
	*out_was_there = answer.status == 412;
	if (!is_fine && !*out_was_there)
		storage_fail(storage, bucket, NULL, answer.status, err);
	return is_fine || *out_was_there;
}
