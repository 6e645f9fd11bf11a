/*
 * Entries of the dead-letter folder back into the job: those that this job wrote,
 * mended by somebody or not, and those of others in the original's form. A file is
 * taken in one transaction of the store, then removed; one that cannot be removed
 * is not taken twice. Half a file is left until it is whole.
 */
#include "pipeline/post_private.h"

#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILES_A_LOOK 500         /* then the writer writes again */
#define FOLDER_DEPTH_MAX 16
#define FILE_BYTES_MAX (256u << 20)
#define SETTLED_S 1              /* who writes a file in pieces is not done with it */

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
	/* Without an id its place tells the row apart, so that it is written once. */
	if (!message->id.len)
		message->id = span_of(arena_printf(arena, "%s#%zu", path + strlen(post->options->dead_letter_folder), number));
	refusal_set(batch, message, line);
}

static bool entry_take(struct post *post, struct batch *batch, struct span text, const char *path, size_t number,
                       struct error *err)
{
	struct json_doc doc = { 0 };
	struct message *message;
	json_t *line = json_loadb(text.at, text.len, 0, NULL);
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
		is_fine = dlq_take_foreign(post->dlq, post->options->dead_letter_folder, batch, message,
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

static bool remove_file(struct post *post, const char *path, const char *which, struct error *err)
{
	if (unlink(path) != 0 && errno != ENOENT)
		return fail_errno(err, errno, "cannot remove '%s'", path);
	crash_point(letters_file_removed);
	return dlq_inbound_drop(post->dlq, which, err);
}

static bool content_take(struct post *post, const char *path, const char *which, struct span content, struct error *err)
{
	bool is_fine = dlq_begin(post->dlq, err) && lines_take(post, path, content, err) && dlq_inbound_add(post->dlq, which, err);

	is_fine = is_fine && dlq_commit(post->dlq, err);
	if (!is_fine)
		dlq_rollback(post->dlq);
	return is_fine;
}

/* Names are used again by others: a file is known by what it is, too. False: it is gone, or somebody still writes it. */
static bool which_file(const char *path, char *out, size_t room)
{
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_mtime + SETTLED_S >= time(NULL))
		return false;
	snprintf(out, room, "%s %" PRIu64 " %" PRId64 " %" PRId64 ".%09ld", path, (uint64_t)st.st_ino, (int64_t)st.st_size,
	         (int64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	return true;
}

static bool read_and_take(struct post *post, const char *path, const char *which, bool *out_taken, struct error *err)
{
	struct error failure = { 0 };
	char *content;
	size_t len;
	bool is_fine = true;

	if (!file_read(path, FILE_BYTES_MAX, &content, &len, &failure))
		return strcmp(failure.code, "no_such_file") == 0 || (*err = failure, false);
	*out_taken = is_whole(span_make(content, len));
	if (*out_taken)
		is_fine = content_take(post, path, which, span_make(content, len), err);
	free(content);
	if (is_fine && *out_taken)
		crash_point(letters_taken);
	return is_fine;
}

/* A file that goes while it is looked at has been taken by somebody else. */
static bool file_take(struct post *post, const char *path, bool *out_taken, struct error *err)
{
	char which[5000];
	bool is_known;

	*out_taken = false;
	if (!which_file(path, which, sizeof(which)))
		return true;
	if (!dlq_inbound_known(post->dlq, which, &is_known, err))
		return false;
	if (!is_known && !read_and_take(post, path, which, out_taken, err))
		return false;
	if (!is_known && !*out_taken)
		return true;
	*out_taken = true;
	return remove_file(post, path, which, err);
}

/*
 * The folder
 */

struct look {
	struct post *post;
	size_t taken;
	bool has_more;
	struct error *err;
};

static bool folder_look(struct look *look, const char *path, unsigned depth)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool is_fine = true;

	if (!folder)
		return errno == ENOENT || fail_errno(look->err, errno, "cannot look through '%s'", path);
	while (is_fine && (entry = readdir(folder))) {
		char *inner;
		struct stat st;
		bool was_taken = false;

		if (entry->d_name[0] == '.' || strstr(entry->d_name, ".temp"))
			continue;
		if (look->taken >= FILES_A_LOOK) {
			look->has_more = true;
			break;
		}
		inner = path_join(path, entry->d_name);
		if (lstat(inner, &st) == 0 && S_ISDIR(st.st_mode) && depth < FOLDER_DEPTH_MAX)
			is_fine = folder_look(look, inner, depth + 1);
		else if (S_ISREG(st.st_mode))
			is_fine = file_take(look->post, inner, &was_taken, look->err);
		look->taken += was_taken;
		free(inner);
	}
	closedir(folder);
	return is_fine;
}

bool post_take_files(struct post *post, bool *out_more, struct error *err)
{
	struct look look = { .post = post, .err = err };
	char *retry = path_join(post->options->dead_letter_folder, "retry");
	bool is_fine = folder_look(&look, retry, 0);

	free(retry);
	*out_more = look.has_more;
	return is_fine;
}
