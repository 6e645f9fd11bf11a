/* `weir dlq show`, `weir dlq export`, `weir engine status | stop`: calls with something of their own. */
#include "cli/cli_private.h"

#include "base/arena.h"
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

int cli_show(const struct home *home, const struct command_line *line)
{
	struct client_hooks hooks = { .on_line = write_piece, .on_note = cli_note };
	struct error err = { 0 };
	struct client *client;
	int status = 0;
	bool is_fine;

	if (!json_is_true(json_object_get(line->args, "bytes")))
		return cli_engine_command(home, line, line->command->call);
	client = client_open_or_start(home, &hooks, &err);
	is_fine = client && client_call(client, "dlq.show", json_incref(line->args), &hooks, &status, &err);
	client_close(client);
	return is_fine ? status : cli_complain(&err, line);
}

/*
 * export: a list, then the exact bytes of each; lines of a feed that `weir run` reads again
 */

struct export {
	json_t *letters;
	char *bytes;
	size_t len;
	bool is_csv;
};

static void keep_letter(void *context, const json_t *line)
{
	struct export *export = context;

	json_array_append(export->letters, (json_t *)line);
}

static void keep_piece(void *context, const json_t *line)
{
	struct export *export = context;
	const json_t *piece = json_object_get(line, "b64");
	struct span text = { json_string_value(piece), json_string_length(piece) };
	size_t len;

	export->bytes = memory_grow(export->bytes, export->len + text.len + 1);
	if (text.at && base64_decode(text, export->bytes + export->len, &len))
		export->len += len;
}

/* Written piece by piece: a body may be hundreds of megabytes, a JSON library need not hold it. */
static void print_member(const char *name, const json_t *value)
{
	char *line;

	if (!value || json_is_null(value))
		return;
	line = json_line(value);
	printf("\"%s\":%.*s,", name, (int)strcspn(line, "\n"), line);
	free(line);
}

static void print_envelope(const struct export *export, const json_t *letter)
{
	static const char *const members[][2] = {
		{ "ordering_key", "key" }, { "attrs", "attrs" }, { "publish", "publish" },
	};
	char *text = memory_alloc(base64_room(export->len) + 1);

	putchar('{');
	print_member("id", json_object_get(json_object_get(letter, "source"), "message_id"));
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		print_member(members[i][1], json_object_get(letter, members[i][0]));
	fputs("\"data_b64\":\"", stdout);
	fwrite(text, 1, base64_encode(span_make(export->bytes, export->len), text), stdout);
	fputs("\"}\n", stdout);
	free(text);
}

/* A cell that a spreadsheet would take for a formula gets a quote in front. */
static void print_cell(const char *text, bool is_last)
{
	if (!text)
		text = "";
	putchar('"');
	if (*text && strchr("=+-@\t\r", *text))
		putchar('\'');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
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
			print_cell(json_string_value(value), i + 1 == CSV_COLUMNS);
		else
			print_cell(json_is_integer(value) ? number : "", i + 1 == CSV_COLUMNS);
	}
}

static bool export_letter(struct client *client, struct export *export, const json_t *letter, struct error *err)
{
	struct client_hooks hooks = { .on_line = keep_piece, .context = export };
	json_t *args = json_pack("{s:O, s:O, s:b}", "id", json_object_get(letter, "id"), "job",
	                         json_object_get(letter, "job"), "bytes", 1);
	int ignored;

	if (export->is_csv) {
		json_decref(args);
		print_csv(letter);
		return true;
	}
	export->len = 0;
	if (!client_call(client, "dlq.show", args, &hooks, &ignored, err))
		return false;
	print_envelope(export, letter);
	return true;
}

int cli_export(const struct home *home, const struct command_line *line)
{
	struct export export = { .letters = json_array(), .is_csv = json_is_true(json_object_get(line->args, "csv")) };
	struct client_hooks hooks = { .on_line = keep_letter, .on_note = cli_note, .context = &export };
	struct error err = { 0 };
	struct client *client = client_open_or_start(home, &hooks, &err);
	int status = 0;
	bool is_fine = client && client_call(client, "dlq.list", json_incref(line->args), &hooks, &status, &err);
	size_t i;
	json_t *letter;

	for (size_t c = 0; is_fine && export.is_csv && c < CSV_COLUMNS; c++)
		print_cell(csv_columns[c], c + 1 == CSV_COLUMNS);
	json_array_foreach(export.letters, i, letter) {
		if (!is_fine)
			break;
		is_fine = export_letter(client, &export, letter, &err);
	}
	client_close(client);
	json_decref(export.letters);
	free(export.bytes);
	return is_fine ? status : cli_complain(&err, line);
}

/* These never start an engine only to ask or end it. */
int cli_engine_status(const struct home *home, const struct command_line *line)
{
	struct error err = { 0 };
	struct client *client = client_open(home, &err);

	if (!client)
		return cli_complain(&err, line);
	client_close(client);
	return cli_engine_command(home, line, line->command->call);
}
