/* What a list shows of a letter's payload: the value that its error points at, else the beginning of its row. */
#include "dlq/dlq_private.h"

#include "base/event_path.h"
#include "base/json_path.h"
#include "base/clean.h"
#include "base/regex.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>

#define PATH_BYTES 2048
#define VALUE_SHOWN 200 /* bytes: more than a row of the widest screens takes */

/* Not in the middle of a character. */
static struct span beginning(struct span text)
{
	size_t len = text.len < VALUE_SHOWN ? text.len : VALUE_SHOWN;

	while (len && len < text.len && ((unsigned char)text.at[len] & 0xc0) == 0x80)
		len--;
	return span_make(text.at, len);
}

static struct span value_in(struct span body, const char *path, const char *column)
{
	OWNED(text) room = text_new(PATH_BYTES);
	const char *found = event_path(body, path, column, room);

	return found ? json_path_value(body, found) : event_row(body, NULL);
}

static void value_of(struct text *out, sqlite3_stmt *row, struct span body)
{
	char *path = memory_string_of(store_text(row, COL_PATH)), *column = memory_string_of(store_text(row, COL_COLUMN));
	struct span value = value_in(body, path, column), shown = beginning(value);

	if (shown.len && utf8_is_valid(shown)) {
		json_quote(out, shown);
		if (shown.len < value.len) {
			out->len--; /* the quote */
			text_add(out, "\xe2\x80\xa6\"");
		}
	} else {
		text_add(out, "null");
	}
	free(path);
	free(column);
}

bool letter_value_json(struct dlq *dlq, struct text *out, sqlite3_stmt *row, struct error *err)
{
	sqlite3_stmt *body = dlq_statement(dlq, LIST_HEAD, err);
	bool has_row = false;

	if (!body)
		return false;
	sqlite3_bind_int64(body, 1, sqlite3_column_int64(row, COL_ID));
	if (!dlq_row(dlq, body, &has_row, err))
		return false;
	member_name(out, "value");
	value_of(out, row, has_row ? store_blob(body, 0) : span_make(NULL, 0));
	sqlite3_reset(body);
	return true;
}

bool letter_matches(struct dlq *dlq, int64_t id, struct regex *match, bool *out_is_match, struct error *err)
{
	sqlite3_stmt *body = dlq_statement(dlq, LIST_HEAD, err);
	int64_t used_ns = 0;
	bool has_row = false;

	if (!body)
		return false;
	sqlite3_bind_int64(body, 1, id);
	if (!dlq_row(dlq, body, &has_row, err))
		return false;
	*out_is_match = has_row && sqlite3_column_bytes(body, 0) && regex_finds(match, store_blob(body, 0), &used_ns);
	sqlite3_reset(body);
	return used_ns <= REGEX_CPU_NS_MAX ||
	       fail(err, ERROR_USAGE, "regex_too_slow", "letter %" PRId64 ": the regex took more than %d ms, or too much memory", id,
	            REGEX_CPU_NS_MAX / 1000000);
}
