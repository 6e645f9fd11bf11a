/*
 * Rows of a dead-letter table, wherever it is: the original's columns, with the
 * bytes and attributes that came, and which letter of which store it is.
 */
#include "sink/letters_private.h"

#include "base/clean.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <string.h>

static const struct bq_field attribute_fields[] = {
	{ { "key", 3 }, { .kind = BQ_STRING } },
	{ { "value", 5 }, { .kind = BQ_STRING } },
};

const struct letter_column letter_columns[LETTER_COLUMNS] = {
	{ "timestamp", "TEXT NOT NULL", { .kind = BQ_TIMESTAMP } },
	{ "payloadString", "TEXT NOT NULL", { .kind = BQ_STRING } },
	{ "payloadBytes", "BLOB NOT NULL", { .kind = BQ_BYTES } },
	{ "attributes", "TEXT", { .kind = BQ_STRUCT, .is_array = true, .fields = attribute_fields, .field_count = 2 } },
	{ "errorMessage", "TEXT", { .kind = BQ_STRING } },
	{ "stacktrace", "TEXT", { .kind = BQ_STRING } },
	{ "_weir_letter", "TEXT NOT NULL UNIQUE", { .kind = BQ_STRING } },
};

/* Malformed bytes become U+FFFD, as in the original; payloadBytes has them as they are. */
void letter_payload_text(struct span body, struct text *out)
{
	while (body.len) {
		uint32_t code;
		size_t step = utf8_step(body, &code);

		if (step)
			text_add_span(out, span_make(body.at, step));
		else
			text_add(out, "\xef\xbf\xbd");
		step = step ? step : 1;
		body = span_make(body.at + step, body.len - step);
	}
}

/* "2022-02-22T22:22:22.222000Z" as a TIMESTAMP's canonical text. */
void letter_time_text(int64_t utc_us, struct text *out)
{
	char text[CLOCK_TEXT_BYTES];

	clock_text(utc_us, text);
	text_add_span(out, span_make(text, 10));
	text_add_char(out, ' ');
	text_add_span(out, span_make(text + 11, 15));
	text_add(out, "+00");
}

/* A body that could not be read is told as the original tells it, what the destination refuses as a failed insert. */
void letter_error_text(const struct letter_row *row, struct text *out, struct text *trace)
{
	OWNED(text) why = text_new(16u << 10);

	text_add_format(why, "%s: %s", row->code, row->text);
	if (strcmp(row->stage, "decode") == 0 || strcmp(row->stage, "source") == 0) {
		text_add(out, "Failed to serialize json to table row: ");
		text_add_span(out, text_span(why));
		text_add_format(trace, "%s: %s\n\tat %s, line %llu", row->stage, row->code, *row->source ? row->source : "the source",
		                (unsigned long long)row->message->line);
		return;
	}
	text_add(out, "{\"errors\":[{\"message\":");
	json_quote(out, text_span(why));
	text_add(out, "}]}");
}
