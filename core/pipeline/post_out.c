/*
 * Letters into files of the dead-letter folder: one JSON object a line, as the
 * original writes it, with all that is needed to send the message again. A file is
 * written whole under another name, then the store says so, then it gets its name:
 * there is never half a file, and none is ever written over.
 */
#include "pipeline/post_private.h"

#include "base/clean.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define FILE_LETTERS_MAX 10000
#define LINE_BYTES_MAX (400u << 20) /* a body of 64 MiB, every byte escaped */

/* A message may stand in the line as it is if it is an object and one line. */
static bool is_object_line(struct span body)
{
	struct json_doc doc = { 0 };
	size_t at;
	bool is_one = body.len && body.at[0] == '{' && body.at[body.len - 1] == '}' && !memchr(body.at, '\n', body.len) &&
	              !memchr(body.at, '\r', body.len) && json_parse(&doc, body, &at) == JSON_FINE && json_is(&doc, 0, JSON_OBJECT);

	json_doc_free(&doc);
	return is_one;
}

static void payload_add(struct text *out, const struct message *message)
{
	struct span body = message->body;
	char *coded;

	text_add(out, "{\"message\":");
	if (is_object_line(body)) {
		text_add_span(out, body);
		return;
	}
	json_quote(out, body);
	if (utf8_is_valid(body))
		return;
	/* Text cannot hold these bytes. */
	coded = memory_alloc(base64_room(body.len) + 1);
	text_add(out, ",\"payload_base64\":\"");
	text_add_span(out, span_make(coded, base64_encode(body, coded)));
	text_add_char(out, '"');
	free(coded);
}

static void member_add(struct text *out, const char *name, struct span value)
{
	if (!value.len)
		return;
	text_add_format(out, ",\"%s\":", name);
	json_quote(out, value);
}

/* In the order received; names may stand twice. */
static void attributes_add(struct text *out, const struct message *message)
{
	if (!message->attr_count)
		return;
	text_add(out, ",\"attributes\":");
	message_attributes_text(message, out);
}

static bool line_add(struct text *out, struct dlq *dlq, const struct outbound_letter *letter)
{
	OWNED(text) why = text_new(16u << 10);

	payload_add(out, letter->message);
	text_add_format(why, "%s: %s", letter->code, letter->text);
	text_add(out, ",\"error_message\":");
	json_quote(out, text_span(why));
	member_add(out, "table", span_of(letter->table));
	member_add(out, "message_id", letter->message->id);
	member_add(out, "publish_time", letter->message->publish);
	member_add(out, "ordering_key", letter->message->key);
	attributes_add(out, letter->message);
	return text_add_format(out, ",\"retry_count\":%" PRId64 ",\"letter\":\"%s/%" PRId64 "\"}\n", letter->retries,
	                       dlq_incarnation(dlq), letter->letter);
}

/* The end of the window, in UTC. A job's name and its store's identity make the name the only one of its kind. */
static void name_make(const struct post *post, const char *below, int64_t first, int64_t last, struct text *out)
{
	time_t now = (time_t)(clock_utc_us() / 1000000);
	struct tm tm;

	gmtime_r(&now, &tm);
	text_add_format(out, "%s/%s/%04d/%02d/%02d/%02d/%02d/error-%s-%.8s-%" PRId64 "-%" PRId64 ".json",
	                post->folder, below, tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
	                post->options->name, dlq_incarnation(post->dlq), first, last);
}

/* What was made for a folder that the job has no more goes into the one that it has. */
static const char *name_now(const struct post *post, struct arena *arena, const char *name)
{
	static const char *const belows[] = { "/retry/", "/severe/" };
	size_t len = strlen(post->folder);

	if (strncmp(name, post->folder, len) == 0 && name[len] == '/')
		return name;
	for (size_t i = 0; i < 2; i++) {
		const char *at = strstr(name, belows[i]), *last = NULL;

		for (; at; at = strstr(at + 1, belows[i]))
			last = at;
		if (last)
			return arena_printf(arena, "%s%s", post->folder, last);
	}
	return name;
}

bool post_next_file(struct post *post, struct errand **out_errand, struct error *err)
{
	struct errand *errand = errand_new(ERRAND_PLACE, 1);
	struct folder_file file = { 0 };

	*out_errand = NULL;
	if (!dlq_file_first(post->dlq, errand->arena, &file.scratch, &file.name, err) || !file.scratch) {
		errand_free(errand);
		return err->kind == ERROR_NONE;
	}
	file.name = name_now(post, errand->arena, file.name);
	errand_add(errand, &file);
	*out_errand = errand;
	return true;
}

bool post_placed(struct post *post, const struct errand *errand, struct error *err)
{
	crash_point(letters_placed);
	return dlq_file_named(post->dlq, errand->files[0].scratch, err);
}

/* What one file will hold. Those that were tried too often go below severe, in a file of their own. */
struct parcel {
	struct text *retry, *severe;
	int64_t first, last;
	size_t count;
};

static bool parcel_fill(struct post *post, struct parcel *parcel, struct error *err)
{
	struct batch *batch = batch_new();
	struct outbound_letter letter = { 0 };
	size_t most = carrier_folder(post->carrier)->file_bytes;
	bool is_fine = true;

	/* One that is larger alone is a file of its own. */
	while (parcel->count < FILE_LETTERS_MAX && parcel->retry->len + parcel->severe->len < most) {
		is_fine = dlq_outbound_next(post->dlq, OUTBOUND_FOLDER, parcel->last, batch, &letter, err);
		if (!is_fine || !letter.id)
			break;
		line_add(letter.retries >= post->options->dead_letter_retries ? parcel->severe : parcel->retry, post->dlq,
		         &letter);
		parcel->first = parcel->first ? parcel->first : letter.id;
		parcel->last = letter.id;
		parcel->count++;
		batch_reset(batch);
	}
	batch_free(batch);
	return is_fine;
}

static bool part_write(struct post *post, const char *below, const struct text *lines, const struct parcel *parcel,
                       struct text *scratch, struct text *name, struct error *err)
{
	char *folder;
	bool is_fine;

	if (!lines->len)
		return true;
	name_make(post, below, parcel->first, parcel->last, name);
	text_add_format(scratch, "%s/.temp-%s-%.8s-%s-%" PRId64, post->scratch, post->options->name, dlq_incarnation(post->dlq), below,
	                parcel->first);
	folder = path_folder(scratch->at);
	is_fine = folder_make(folder, err) && file_replace(scratch->at, text_span(lines), err);
	free(folder);
	return is_fine;
}

static bool parcel_note(struct post *post, const struct parcel *parcel, const struct text *scratches[2],
                        const struct text *names[2], struct error *err)
{
	bool is_fine = dlq_begin(post->dlq, err);

	for (int i = 0; is_fine && i < 2; i++)
		is_fine = !scratches[i]->len || dlq_file_made(post->dlq, scratches[i]->at, names[i]->at, err);
	is_fine = is_fine && dlq_outbound_done(post->dlq, OUTBOUND_FOLDER, parcel->last, err) && dlq_commit(post->dlq, err);
	if (!is_fine)
		dlq_rollback(post->dlq);
	return is_fine;
}

bool post_parcel(struct post *post, struct error *err)
{
	OWNED(text) retry = text_new(LINE_BYTES_MAX);
	OWNED(text) severe = text_new(LINE_BYTES_MAX);
	OWNED(text) retry_scratch = text_new(8192);
	OWNED(text) severe_scratch = text_new(8192);
	OWNED(text) retry_name = text_new(8192);
	OWNED(text) severe_name = text_new(8192);
	const struct text *scratches[2] = { retry_scratch, severe_scratch }, *names[2] = { retry_name, severe_name };
	struct parcel parcel = { .retry = retry, .severe = severe };

	if (!parcel_fill(post, &parcel, err))
		return false;
	if (!parcel.count)
		return true;
	if (!part_write(post, "retry", retry, &parcel, retry_scratch, retry_name, err) ||
	    !part_write(post, "severe", severe, &parcel, severe_scratch, severe_name, err))
		return false;
	crash_point(letters_filed);
	if (!parcel_note(post, &parcel, scratches, names, err))
		return false;
	crash_point(letters_sent);
	return true;
}
