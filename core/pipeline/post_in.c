/*
 * Entries of the dead-letter folder back into the job: those that this job wrote,
 * mended by somebody or not, and those of others in the original's form. The files
 * of a look are taken in one transaction of the store, then removed; one that cannot
 * be removed is not taken twice. Half a file is left until it is whole, or until
 * nobody has written to it for long; then its last line is a letter as it stands.
 */
#include "pipeline/post_private.h"

#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define AGAIN_MS 60000      /* what cannot be read or removed now */
#define GROWING_AGAIN_MS 1000 /* what is not whole yet */

/*
 * One entry
 */

static struct span text_copy(struct arena *arena, const json_t *value)
{
	return json_is_string(value) ? arena_copy(arena, span_make(json_string_value(value), json_string_length(value)))
	                             : (struct span){ NULL, 0 };
}

static void attributes_take(struct message *message, struct arena *arena, const json_t *list)
{
	struct attribute *attrs = arena_zalloc(arena, (json_array_size(list) + 1) * sizeof(*attrs));
	size_t i;
	const json_t *each;

	json_array_foreach((json_t *)list, i, each)
		attrs[i] = (struct attribute){ text_copy(arena, json_object_get(each, "key")),
		                               text_copy(arena, json_object_get(each, "value")) };
	message->attrs = attrs;
	message->attr_count = json_array_size(list);
}

/* The message's own bytes: as they stand in the line, as text, or coded. */
static bool body_take(struct message *message, struct arena *arena, const struct json_doc *doc)
{
	uint32_t coded = json_member(doc, 0, SPAN("payload_base64")), body = json_member(doc, 0, SPAN("message"));

	if (coded && json_is(doc, coded, JSON_STRING)) {
		struct span text = json_text(doc, coded, arena);
		char *bytes = arena_bytes(arena, text.len / 4 * 3 + 4);
		size_t len;

		if (base64_decode(text, bytes, &len)) {
			message->body = span_make(bytes, len);
			return true;
		}
	}
	if (!body)
		return false;
	message->body = json_is(doc, body, JSON_STRING) ? json_text(doc, body, arena) : json_slice(doc, body);
	return true;
}

/* How often it was tried again: our own member, else the original's in the message. */
static int64_t retries_of(const struct json_doc *doc)
{
	uint32_t own = json_member(doc, 0, SPAN("retry_count")), body = json_member(doc, 0, SPAN("message")), count = 0;
	int64_t number = 0;

	if (body && json_is(doc, body, JSON_OBJECT))
		count = json_member(doc, body, SPAN("_metadata_retry_count"));
	if ((own && json_int64(doc, own, &number)) || (count && json_int64(doc, count, &number)))
		return number > 0 ? number : 0;
	return 0;
}

/* "INCARNATION/7": a letter of this store. */
static bool is_own(struct post *post, const json_t *line, int64_t *out_letter)
{
	const char *name = json_string_value(json_object_get(line, "letter")), *slash = name ? strchr(name, '/') : NULL;

	return slash && span_equal(span_make(name, (size_t)(slash - name)), span_of(dlq_incarnation(post->dlq))) &&
	       span_int64(span_of(slash + 1), out_letter);
}

static void refusal_set(struct batch *batch, struct message *message, const json_t *line)
{
	struct refusal *why = arena_zalloc(batch->arena, sizeof(*why));
	const json_t *text = json_object_get(line, "error_message");
	char *other = json_is_string(text) ? NULL : json_dumps(text, JSON_ENCODE_ANY | JSON_COMPACT);

	why->stage = "folder";
	why->code = "from_dead_letter_folder";
	why->message = json_is_string(text) ? arena_string(batch->arena, text_copy(batch->arena, text))
	                                    : arena_printf(batch->arena, "%s", other ? other : "");
	free(other);
	message->refusal = why;
	message->fate = MESSAGE_REFUSED;
}

static void message_fill(struct post *post, struct batch *batch, struct message *message, const json_t *line,
                         const char *path, size_t number)
{
	struct arena *arena = batch->arena;

	message->id = text_copy(arena, json_object_get(line, "message_id"));
	message->publish = text_copy(arena, json_object_get(line, "publish_time"));
	message->key = text_copy(arena, json_object_get(line, "ordering_key"));
	attributes_take(message, arena, json_object_get(line, "attributes"));
	message->line = number;
	message->received_us = clock_utc_us();
	/* Without an id its place tells the row apart, so that it is written once; and what stands there, for names are used again. */
	if (!message->id.len) {
		unsigned char hash[SHA256_BYTES];
		char sum[SHA256_TEXT_BYTES];

		sha256(message->body, hash);
		sha256_text(hash, sum);
		message->id = span_of(arena_printf(arena, "%s#%zu-%.16s", path + strlen(post->folder), number, sum));
	}
	refusal_set(batch, message, line);
}

static bool entry_take(struct post *post, struct batch *batch, struct span text, const char *path, size_t number,
                       struct error *err)
{
	struct json_doc doc = { 0 };
	struct message *message;
	json_t *line = json_loadb(text.at, text.len, JSON_ALLOW_NUL, NULL);
	int64_t letter;
	size_t at;
	bool is_ours = false, is_fine = true;

	batch_reset(batch);
	message = batch_add_message(batch);
	/* What is no entry is a letter as it stands: it is tried, fails with its reason, and goes below severe in the end. */
	if (!json_is_object(line) || json_parse(&doc, text, &at) != JSON_FINE || !body_take(message, batch->arena, &doc))
		message->body = text;
	message_fill(post, batch, message, line, path, number);
	if (is_own(post, line, &letter))
		is_fine = dlq_take_own(post->dlq, letter, message, &is_ours, err);
	if (is_fine && !is_ours)
		is_fine = dlq_take_foreign(post->dlq, post->folder, batch, message,
		                           doc.count ? retries_of(&doc) : 0, err);
	json_doc_free(&doc);
	json_decref(line);
	return is_fine;
}

/*
 * One file
 */

static bool lines_take(struct post *post, const char *path, struct span rest, struct error *err)
{
	struct batch *batch = batch_new();
	size_t number = 0;
	bool is_fine = true;

	while (is_fine && rest.len) {
		const char *end = memchr(rest.at, '\n', rest.len);
		struct span line = { rest.at, end ? (size_t)(end - rest.at) : rest.len };
		size_t used = line.len + (end != NULL), blank = 0;

		number++;
		while (blank < line.len && strchr(" \t\r", line.at[blank]))
			blank++;
		if (blank < line.len)
			is_fine = entry_take(post, batch, line, path, number, err);
		rest = span_make(rest.at + used, rest.len - used);
	}
	batch_free(batch);
	return is_fine;
}

/* Ends it like a whole one? The last line has its newline, or is complete. */
static bool is_whole(struct span content)
{
	struct json_doc doc = { 0 };
	const char *last;
	size_t at;
	bool is_fine;

	if (!content.len || content.at[content.len - 1] == '\n')
		return true;
	last = memrchr(content.at, '\n', content.len);
	last = last ? last + 1 : content.at;
	is_fine = json_parse(&doc, span_make(last, content.len - (size_t)(last - content.at)), &at) == JSON_FINE;
	json_doc_free(&doc);
	return is_fine;
}

static void leave(struct post *post, const struct folder_file *file, size_t room)
{
	if (!post->leaving)
		post->leaving = errand_new(ERRAND_REMOVE, room);
	errand_add(post->leaving, file);
}

/* What cannot be read now is looked at again later, and holds nobody else up. */
static void pass_over(struct post *post, const struct folder_file *file)
{
	bool is_gone = strcmp(file->failure.code, "no_such_file") == 0;

	carrier_give_back(post->carrier, file->which, is_gone ? 0 : AGAIN_MS);
	if (is_gone)
		return;
	post->stuck_until_ms = clock_mono_ms() + 2 * AGAIN_MS;
	post_warn(post, &file->failure);
}

static bool file_take(struct post *post, const struct folder_file *file, bool *out_taken, struct error *err)
{
	struct span content = { file->content, file->len };
	bool is_known;

	*out_taken = false;
	if (!dlq_inbound_known(post->dlq, file->which, &is_known, err))
		return false;
	*out_taken = is_known || !carrier_folder(post->carrier)->may_grow || file->is_left || is_whole(content);
	if (is_known || !*out_taken)
		return true;
	return lines_take(post, file->name, content, err) && dlq_inbound_add(post->dlq, file->which, err);
}

/* All files of a look in one transaction: a commit for each would cost more than all else. `taken` says which may go. */
static bool files_take(struct post *post, struct errand *errand, bool *taken, struct error *err)
{
	bool is_fine = dlq_begin(post->dlq, err);

	for (size_t i = 0; is_fine && i < errand->count; i++) {
		struct folder_file *file = &errand->files[i];

		is_fine = !file->is_done || file_take(post, file, &taken[i], err);
		/* Many are held at once: each only as long as it is needed. */
		free(file->content);
		file->content = NULL;
	}
	is_fine = is_fine && dlq_commit(post->dlq, err);
	if (!is_fine)
		dlq_rollback(post->dlq);
	return is_fine;
}

bool post_take_files(struct post *post, struct errand *errand, struct error *err)
{
	bool *taken = arena_zalloc(errand->arena, (errand->count + 1) * sizeof(*taken));
	bool is_fine = files_take(post, errand, taken, err);

	for (size_t i = 0; i < errand->count; i++) {
		const struct folder_file *file = &errand->files[i];

		if (is_fine && taken[i]) {
			crash_point(letters_taken);
			leave(post, file, errand->count);
		} else if (is_fine && !file->is_done) {
			pass_over(post, file);
		} else {
			carrier_give_back(post->carrier, file->which, is_fine ? GROWING_AGAIN_MS : 0);
		}
	}
	return is_fine;
}

/* What cannot be removed is known to the store: it comes again with a later look, and is not taken twice. */
static void stays(struct post *post, const struct errand *errand)
{
	const struct error *failure = NULL;

	for (size_t i = 0; i < errand->count; i++) {
		if (errand->files[i].is_done)
			continue;
		failure = &errand->files[i].failure;
		carrier_give_back(post->carrier, errand->files[i].which, AGAIN_MS);
	}
	if (!failure)
		return;
	post->stuck_until_ms = clock_mono_ms() + 2 * AGAIN_MS;
	post_warn(post, failure);
}

bool post_removed(struct post *post, const struct errand *errand, struct error *err)
{
	bool is_fine = dlq_begin(post->dlq, err);

	for (size_t i = 0; is_fine && i < errand->count; i++)
		is_fine = !errand->files[i].is_done || dlq_inbound_drop(post->dlq, errand->files[i].which, err);
	is_fine = is_fine && dlq_commit(post->dlq, err);
	if (!is_fine)
		dlq_rollback(post->dlq);
	stays(post, errand);
	return is_fine;
}
