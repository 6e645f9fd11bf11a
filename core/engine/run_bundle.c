/*
 * `weir debug bundle`: what somebody who helps needs to see, as a tar archive. The
 * answer is the archive in pieces; weir writes the file. Never in it: payloads,
 * keys and attributes of messages, rows, the vault.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "engine/bundle_private.h"
#include "engine/commands_private.h"
#include "engine/journal_private.h"
#include "engine/tar.h"
#include "engine/version.h"

#include <stdlib.h>

#define FOLDER "weir-debug/"
#define RECORD_LINES 1000
#define PART_MAX ((size_t)32 << 20) /* of one file in the archive */
#define PIECE ((size_t)256 << 10)
#define JOB_FILE_MAX ((size_t)1 << 20)

struct bundle {
	struct call *call;
	struct tar tar;
};

static bool send_piece(struct call *call, struct span piece)
{
	char *text = memory_alloc(base64_room(piece.len) + 1);
	json_t *line = json_pack("{s:s%}", "b64", text, (int)base64_encode(piece, text));

	free(text);
	return call_line(call, line);
}

static bool write_bytes(void *context, struct span bytes)
{
	struct bundle *bundle = context;
	bool goes_on = true;

	while (goes_on && bytes.len) {
		size_t len = bytes.len < PIECE ? bytes.len : PIECE;

		goes_on = send_piece(bundle->call, span_make(bytes.at, len));
		bytes = span_make(bytes.at + len, bytes.len - len);
	}
	return goes_on;
}

static bool add_part(struct bundle *bundle, const char *name, const struct text *content)
{
	return tar_add(&bundle->tar, name, text_span(content));
}

void bundle_add(struct text *out, json_t *object)
{
	char *line = json_line(object);

	text_add(out, line ? line : "");
	free(line);
	json_decref(object);
}

static bool add_object(struct bundle *bundle, const char *name, json_t *object)
{
	OWNED(text) out = text_new(PART_MAX);

	bundle_add(out, object);
	return add_part(bundle, name, out);
}

/*
 * What commands answer
 */

static bool keep_line(struct call *call, json_t *line)
{
	bundle_add(call->context, line);
	return true;
}

static void drop_note(struct call *call, const char *sentence)
{
	(void)call;
	(void)sentence;
}

/* A command that only looks, asked as the one who wants the bundle. What fails is a line of the part. */
static bool add_command(struct bundle *bundle, const char *name, const char *command, json_t *args)
{
	OWNED(text) out = text_new(PART_MAX);
	struct call call = {
		.engine = bundle->call->engine,
		.args = args,
		.access = VIEW,
		.send_line = keep_line,
		.send_note = drop_note,
		.context = out,
		.peer = bundle->call->peer,
	};
	struct error err = { 0 };

	if (!call_dispatch(&call, command, &err))
		bundle_add(out, json_pack("{s:o}", "error", error_to_json(&err)));
	json_decref(args);
	return add_part(bundle, name, out);
}

/* What is told of groups, without the keys that are rows of somebody's table. */
static bool add_commands(struct bundle *bundle)
{
	return add_command(bundle, FOLDER "engine.jsonl", "engine.status", json_object()) &&
	       add_command(bundle, FOLDER "jobs.jsonl", "job.list", json_object()) &&
	       add_command(bundle, FOLDER "tables.jsonl", "tables", json_pack("{s:b}", "schema", 1)) &&
	       add_command(bundle, FOLDER "dlq-groups.jsonl", "dlq.groups", json_object());
}

/*
 * Job files
 */

/* Texts anywhere in a value, hidden where they look like secrets. A new reference. */
static json_t *without_secrets(const char *name, const json_t *value)
{
	json_t *copy;
	const char *key;
	size_t i;
	json_t *item;

	if (json_is_object(value)) {
		copy = json_object();
		json_object_foreach((json_t *)value, key, item)
			json_object_set_new(copy, key, without_secrets(key, item));
		return copy;
	}
	if (json_is_array(value)) {
		copy = json_array();
		json_array_foreach(value, i, item)
			json_array_append_new(copy, without_secrets(name, item));
		return copy;
	}
	return json_is_string(value) ? journal_safe_text(name, json_string_value(value)) : json_incref((json_t *)value);
}

static json_t *read_job_file(const char *path)
{
	struct error err = { 0 };
	json_t *whole = NULL, *safe;
	char *bytes = NULL;
	size_t len = 0;

	if (!file_read(path, JOB_FILE_MAX, &bytes, &len, &err))
		return json_pack("{s:o}", "error", error_to_json(&err));
	whole = json_loadb(bytes, len, 0, NULL);
	free(bytes);
	if (!whole)
		return json_pack("{s:s, s:I}", "error", "not JSON", "bytes", (json_int_t)len);
	safe = without_secrets("", whole);
	json_decref(whole);
	return safe;
}

static bool add_job_file(struct bundle *bundle, const char *name)
{
	OWNED(text) file = text_new(256);
	OWNED(text) part = text_new(256);
	bool is_fine;
	char *path;

	text_add_format(file, "%s.json", name);
	text_add_format(part, FOLDER "jobs/%s.json", name);
	path = path_join(bundle->call->engine->home->jobs_config, file->at);
	is_fine = add_object(bundle, part->at, read_job_file(path));
	free(path);
	return is_fine;
}

static bool add_job_files(struct bundle *bundle)
{
	json_t *names = job_names(bundle->call->engine->home);
	bool is_fine = true;
	size_t i;
	json_t *name;

	json_array_foreach(names, i, name)
		is_fine = is_fine && add_job_file(bundle, json_string_value(name));
	json_decref(names);
	return is_fine;
}

/*
 * Journal and log
 */

static bool add_journal(struct bundle *bundle)
{
	OWNED(text) out = text_new(PART_MAX);
	struct journal_filter filter = { .limit = RECORD_LINES };
	struct error err = { 0 };
	json_t *lines = journal_read(bundle->call->engine->journal, &filter, &err);
	size_t i;
	json_t *line;

	if (!lines)
		bundle_add(out, json_pack("{s:o}", "error", error_to_json(&err)));
	json_array_foreach(lines, i, line)
		bundle_add(out, json_incref(line));
	json_decref(lines);
	return add_part(bundle, FOLDER "journal.jsonl", out);
}

static bool add_log(struct bundle *bundle)
{
	OWNED(text) out = text_new(PART_MAX);
	struct log *log = bundle->call->engine->log;
	struct log_filter filter = { .least = LEVEL_DEBUG };
	uint64_t seq = log_back(log, &filter, RECORD_LINES), skipped;
	char *json;

	while ((json = log_next(log, &filter, &seq, &skipped))) {
		text_add_format(out, "%s\n", json);
		free(json);
	}
	return add_part(bundle, FOLDER "log.jsonl", out);
}

static bool add_machine(struct bundle *bundle)
{
	const struct home *home = bundle->call->engine->home;
	OWNED(text) files = text_new(PART_MAX);

	bundle_files(files, home);
	return add_part(bundle, FOLDER "files.jsonl", files) &&
	       add_object(bundle, FOLDER "system.json", bundle_system(home));
}

bool run_debug_bundle(struct call *call, struct error *err)
{
	struct bundle bundle = { .call = call };

	(void)err;
	bundle.tar = (struct tar){ .write = write_bytes, .context = &bundle, .time_s = clock_utc_us() / 1000000 };
	/* When nobody reads any more there is nobody to tell it. */
	if (add_object(&bundle, FOLDER "version.json", version_json()) && add_commands(&bundle) &&
	    add_job_files(&bundle) && add_journal(&bundle) && add_log(&bundle) && add_machine(&bundle))
		tar_end(&bundle.tar);
	return true;
}
