/*
 * Cloud Storage: reads and removals, several under way at once. A large object is
 * read in parts, of the one generation that was listed.
 */
#include "google/storage_private.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

/* One errand under way. */
struct way {
	struct storage *storage;
	const char *bucket;
	struct storage_errand *errand; /* NULL: this way is free */
	bool is_removal, is_second;    /* the token was not taken once already */
	struct rest_call *call;
	uint64_t token;
	struct text *content;
};

static bool is_in_parts(const struct way *way)
{
	return way->errand->object.size_bytes > STORAGE_PART_BYTES;
}

static void request_read(struct way *way, struct rest_request *request, struct rest_pair *range, char room[80])
{
	request->answer_bytes = way->errand->limit + 1;
	if (!is_in_parts(way))
		return;
	snprintf(room, 80, "bytes=%zu-%zu", way->content->len, way->content->len + STORAGE_PART_BYTES - 1);
	*range = (struct rest_pair){ "Range", room };
	request->headers = range;
	request->header_count = 1;
}

static bool way_call(struct way *way)
{
	const struct storage_object *object = &way->errand->object;
	OWNED(text) path = text_new(STORAGE_PATH_BYTES);
	OWNED(text) what = text_new(STORAGE_PATH_BYTES);
	struct rest_request request = { .may_repeat = true, .ends_at = 412 };
	struct rest_pair range;
	char room[80];

	storage_path_add(path, way->bucket, object->name);
	text_add_format(path, way->is_removal ? "?ifGenerationMatch=%lld" : "?alt=media&generation=%lld", (long long)object->generation);
	text_add_format(what, "%s 'gs://%s/%s'", way->is_removal ? "removing" : "reading", way->bucket, object->name);
	request.method = way->is_removal ? "DELETE" : "GET";
	request.url = path->at;
	request.what = what->at;
	storage_limit(way->storage, way->is_removal ? 0 : STORAGE_PART_BYTES, &request);
	if (!way->is_removal)
		request_read(way, &request, &range, room);
	way->call = google_rest_start(way->storage->setup.google, way->storage->client, SERVICE_STORAGE, &request, &way->token,
	                              &way->errand->failure);
	return way->call != NULL;
}

static void way_end(struct way *way, bool is_done)
{
	way->errand->is_done = is_done;
	if (is_done && !way->is_removal) {
		way->errand->len = way->content->len;
		way->errand->content = text_take(way->content);
	}
	text_free(way->content);
	way->content = NULL;
	way->errand = NULL;
}

static bool way_begin(struct way *way, struct storage_errand *errand)
{
	*errand = (struct storage_errand){ .object = errand->object, .limit = errand->limit };
	way->errand = errand;
	way->is_second = false;
	if (!way->is_removal && errand->object.size_bytes > errand->limit) {
		fail(&errand->failure, ERROR_CONFIG, "file_too_large", "'gs://%s/%s' has %llu bytes, %zu are allowed", way->bucket,
		     errand->object.name, (unsigned long long)errand->object.size_bytes, errand->limit);
		way_end(way, false);
		return false;
	}
	if (!way->is_removal)
		way->content = text_new(errand->limit);
	if (way_call(way))
		return true;
	way_end(way, false);
	return false;
}

/* What came of it; true: the errand goes on with another call. */
static bool way_take(struct way *way, const struct rest_answer *answer)
{
	bool is_whole;

	if (way->is_removal) {
		way_end(way, true);
		return false;
	}
	if (!text_add_span(way->content, answer->body)) {
		fail(&way->errand->failure, ERROR_CONFIG, "file_too_large", "'gs://%s/%s' has more than the %zu bytes that are allowed",
		     way->bucket, way->errand->object.name, way->errand->limit);
		way_end(way, false);
		return false;
	}
	/* An answer that is no part is the whole: contents that were stored compressed have no parts. */
	is_whole = !is_in_parts(way) || answer->status != 206 || way->content->len >= way->errand->object.size_bytes || !answer->body.len;
	if (!is_whole && way_call(way))
		return true;
	way_end(way, is_whole);
	return false;
}

static bool way_fail(struct way *way, const struct rest_answer *answer, bool again)
{
	struct storage_errand *errand = way->errand;

	if (again && !way->is_second) {
		way->is_second = true;
		errand->failure = (struct error){ 0 };
		if (way_call(way))
			return true;
	}
	/* Gone, or another one by now. */
	if (way->is_removal && (answer->status == 404 || answer->status == 412)) {
		errand->failure = (struct error){ 0 };
		way_end(way, true);
		return false;
	}
	way_end(way, false);
	return false;
}

static bool way_result(struct way *way)
{
	struct rest_answer answer = { 0 };
	struct rest_call *call = way->call;
	bool again, goes_on;

	way->call = NULL;
	if (google_rest_result(way->storage->setup.google, call, way->token, &answer, &again, &way->errand->failure))
		goes_on = way_take(way, &answer);
	else
		goes_on = way_fail(way, &answer, again);
	rest_call_free(call);
	return goes_on;
}

static size_t begin_some(struct way *ways, struct storage_errand *errands, size_t count, size_t *next)
{
	size_t under_way = 0;

	for (size_t i = 0; i < STORAGE_AT_ONCE; i++) {
		while (!ways[i].errand && *next < count && !way_begin(&ways[i], &errands[(*next)++]))
			;
		under_way += ways[i].errand != NULL;
	}
	return under_way;
}

static void give_up(struct way *ways, struct storage_errand *errands, size_t count, size_t next)
{
	for (size_t i = 0; i < STORAGE_AT_ONCE; i++) {
		rest_call_free(ways[i].call);
		if (!ways[i].errand)
			continue;
		storage_give_up(&ways[i].errand->failure);
		way_end(&ways[i], false);
	}
	for (; next < count; next++)
		storage_give_up(&errands[next].failure);
}

static void do_all(struct storage *storage, const char *bucket, struct storage_errand *errands, size_t count, bool is_removal)
{
	const atomic_bool *should_end = storage->setup.should_end;
	struct way ways[STORAGE_AT_ONCE];
	size_t next = 0;

	for (size_t i = 0; i < STORAGE_AT_ONCE; i++)
		ways[i] = (struct way){ .storage = storage, .bucket = bucket, .is_removal = is_removal };
	while (begin_some(ways, errands, count, &next)) {
		struct rest_call *done = rest_wait(storage->client, should_end ? 100 : -1);

		if (should_end && atomic_load(should_end)) {
			give_up(ways, errands, count, next);
			return;
		}
		for (size_t i = 0; done && i < STORAGE_AT_ONCE; i++) {
			if (ways[i].call == done) {
				way_result(&ways[i]);
				break;
			}
		}
	}
}

void storage_read_all(struct storage *storage, const char *bucket, struct storage_errand *errands, size_t count)
{
	do_all(storage, bucket, errands, count, false);
	for (size_t i = 0; i < count; i++) {
		if (!errands[i].is_done && strcmp(errands[i].failure.code, "google_not_found") == 0)
			storage_fail(storage, bucket, errands[i].object.name, 404, &errands[i].failure);
	}
}

void storage_remove_all(struct storage *storage, const char *bucket, struct storage_errand *errands, size_t count)
{
	do_all(storage, bucket, errands, count, true);
}

bool storage_read(struct storage *storage, const char *bucket, const struct storage_object *object, size_t limit, char **out,
                  size_t *out_len, struct error *err)
{
	struct storage_errand errand = { .object = *object, .limit = limit };

	storage_read_all(storage, bucket, &errand, 1);
	if (!errand.is_done) {
		*err = errand.failure;
		return false;
	}
	*out = errand.content;
	*out_len = errand.len;
	return true;
}

bool storage_remove(struct storage *storage, const char *bucket, const struct storage_object *object, struct error *err)
{
	struct storage_errand errand = { .object = *object };

	storage_remove_all(storage, bucket, &errand, 1);
	if (!errand.is_done)
		*err = errand.failure;
	return errand.is_done;
}
