/* `weir dlq show`, `weir dlq export`, `weir engine status | stop`: calls with something of their own. */
#include "cli/cli_private.h"

#include "base/arena.h"
#include "base/clean.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * show
 */

static void write_piece(void *context, const json_t *line)
{
	const json_t *piece = json_object_get(line, "b64");
	struct span text = { json_string_value(piece), json_string_length(piece) };
	char *bytes = memory_alloc(text.len + 1);
	size_t len;

	(void)context;
	if (text.at && base64_decode(text, bytes, &len))
		fwrite(bytes, 1, len, stdout);
	free(bytes);
}

/*
 * export: a list, then the exact envelope and bytes of each; lines of a feed that `weir run` reads again
 */

struct pieces {
	char *at;
	size_t len;
};

struct export {
	json_t *letters;
	struct pieces head, body;
	bool is_csv;
};

static void keep_letter(void *context, const json_t *line)
{
	struct export *export = context;

	json_array_append(export->letters, (json_t *)line);
}

static void add_piece(struct pieces *pieces, const json_t *piece)
{
	struct span text = { json_string_value(piece), json_string_length(piece) };
	size_t len;

	if (!text.at)
		return;
	pieces->at = memory_grow(pieces->at, pieces->len + text.len + 1);
	if (base64_decode(text, pieces->at + pieces->len, &len))
		pieces->len += len;
}

static void keep_piece(void *context, const json_t *line)
{
	struct export *export = context;

	add_piece(&export->head, json_object_get(line, "head_b64"));
	add_piece(&export->body, json_object_get(line, "b64"));
}

/* The head comes as it is to be written; the body may be hundreds of megabytes, a JSON library need not hold it. */
static void print_envelope(const struct export *export)
{
	char *text = memory_alloc(base64_room(export->body.len) + 1);

	fwrite(export->head.at, 1, export->head.len, stdout);
	fputs("\"data_b64\":\"", stdout);
	fwrite(text, 1, base64_encode(span_make(export->body.at, export->body.len), text), stdout);
	fputs("\"}\n", stdout);
	free(text);
}

static bool fetch_envelope(struct client *client, struct export *export, json_t *args, struct error *err)
{
	struct client_hooks hooks = { .on_line = keep_piece, .context = export };
	int ignored;

	export->head.len = export->body.len = 0;
	if (!client_call(client, "dlq.show", args, &hooks, &ignored, err))
		return false;
	if (export->head.len)
		return true;
	return fail(err, ERROR_BUG, "bad_answer", "the engine gave a letter without its envelope");
}

static int show_envelope(const struct home *home, const struct command_line *line)
{
	struct client_hooks hooks = { .on_note = cli_note };
	struct export export = { .is_csv = false };
	struct error err = { 0 };
	struct client *client = client_open_or_start(home, &hooks, &err);
	bool is_fine = client && fetch_envelope(client, &export, json_incref(line->args), &err);

	if (is_fine)
		print_envelope(&export);
	client_close(client);
	free(export.head.at);
	free(export.body.at);
	return is_fine ? 0 : cli_complain(&err, line);
}

int cli_show(const struct home *home, const struct command_line *line)
{
	struct client_hooks hooks = { .on_line = write_piece, .on_note = cli_note };
	struct error err = { 0 };
	struct client *client;
	int status = 0;
	bool is_fine;

	if (json_is_true(json_object_get(line->args, "envelope")))
		return show_envelope(home, line);
	if (!json_is_true(json_object_get(line->args, "bytes")))
		return cli_engine_command(home, line, line->command->call);
	client = client_open_or_start(home, &hooks, &err);
	is_fine = client && client_call(client, "dlq.show", json_incref(line->args), &hooks, &status, &err);
	client_close(client);
	return is_fine ? status : cli_complain(&err, line);
}

/*
 * CSV
 */

/* A spreadsheet passes over blanks in front of a formula. */
static bool is_formula(struct span text)
{
	size_t i = 0;

	while (i < text.len && ((unsigned char)text.at[i] <= ' ' || text.at[i] == 0x7f))
		i++;
	return i < text.len && text.at[i] && strchr("=+-@", text.at[i]);
}

/* Cleaned as for a terminal, for that is where `cat` shows it; what would be a formula gets a quote in front. */
static void print_cell(struct span text, bool is_last)
{
	OWNED(text) cleaned = text_new(text.len * 6 + 1);

	clean_text(cleaned, text);
	putchar('"');
	if (is_formula(text))
		putchar('\'');
	for (const char *at = cleaned->at; *at; at++) {
		if (*at == '"')
			putchar('"');
		putchar(*at);
	}
	fputs(is_last ? "\"\r\n" : "\",", stdout);
}

static const char *const csv_columns[] = { "id", "job", "group", "state", "stage", "code", "table", "column", "path",
	                                       "key", "message", "first", "last", "attempts", "bytes", "sha256" };
#define CSV_COLUMNS (sizeof(csv_columns) / sizeof(csv_columns[0]))

static void print_csv(const json_t *letter)
{
	for (size_t i = 0; i < CSV_COLUMNS; i++) {
		const json_t *value = json_object_get(letter, csv_columns[i]);
		char number[32];

		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		if (json_is_string(value))
			print_cell(span_make(json_string_value(value), json_string_length(value)), i + 1 == CSV_COLUMNS);
		else
			print_cell(span_of(json_is_integer(value) ? number : ""), i + 1 == CSV_COLUMNS);
	}
}

static bool export_letter(struct client *client, struct export *export, const json_t *letter, struct error *err)
{
	if (export->is_csv) {
		print_csv(letter);
		return true;
	}
	if (!fetch_envelope(client, export, json_pack("{s:O, s:O, s:b}", "id", json_object_get(letter, "id"), "job",
	                                              json_object_get(letter, "job"), "envelope", 1), err))
		return because(err, "letter %lld", (long long)json_integer_value(json_object_get(letter, "id")));
	print_envelope(export);
	return true;
}

/* One letter that cannot be had does not keep the others; what went wrong first is said at the end. */
static bool export_letters(struct client *client, struct export *export, struct error *err)
{
	bool is_fine = true;
	size_t i;
	json_t *letter;

	for (size_t c = 0; export->is_csv && c < CSV_COLUMNS; c++)
		print_cell(span_of(csv_columns[c]), c + 1 == CSV_COLUMNS);
	json_array_foreach(export->letters, i, letter) {
		struct error failure = { 0 };

		if (export_letter(client, export, letter, &failure))
			continue;
		if (is_fine)
			*err = failure;
		is_fine = false;
		if (failure.kind == ERROR_UNREACHABLE)
			break;
	}
	return is_fine;
}

int cli_export(const struct home *home, const struct command_line *line)
{
	struct export export = { .letters = json_array(), .is_csv = json_is_true(json_object_get(line->args, "csv")) };
	struct client_hooks hooks = { .on_line = keep_letter, .on_note = cli_note, .context = &export };
	struct error err = { 0 }, failure = { 0 };
	struct client *client = client_open_or_start(home, &hooks, &err);
	int status = 0;
	bool is_fine = client && client_call(client, "dlq.list", json_incref(line->args), &hooks, &status, &err);

	if ((is_fine || strcmp(err.code, "answer_too_large") == 0) && !export_letters(client, &export, &failure)) {
		err = is_fine ? failure : err;
		is_fine = false;
	}
	client_close(client);
	json_decref(export.letters);
	free(export.head.at);
	free(export.body.at);
	return is_fine ? status : cli_complain(&err, line);
}
