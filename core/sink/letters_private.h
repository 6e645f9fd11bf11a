/* Columns of a dead-letter table and their texts, the same in BigQuery and in the local warehouse (letters_text.c). */
#ifndef WEIR_SINK_LETTERS_PRIVATE_H
#define WEIR_SINK_LETTERS_PRIVATE_H

#include "record/type.h"
#include "sink/sink.h"

/* Those of the original, and behind them ours. */
#define LETTER_ORIGINALS 6
#define LETTER_COLUMNS 7
struct letter_column {
	const char *name;
	const char *declaration; /* of the local column */
	struct bq_type type;
};
extern const struct letter_column letter_columns[LETTER_COLUMNS];

void letter_payload_text(struct span body, struct text *out);
void letter_time_text(int64_t utc_us, struct text *out);
/* `trace` stays empty where nothing could be wrong with the body. */
void letter_error_text(const struct letter_row *row, struct text *out, struct text *trace);

#endif
